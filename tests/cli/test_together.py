# SPDX-License-Identifier: Apache-2.0
"""Small pictures that a device filters many at a time, on the module that works on the CPU."""
import json
import os
import struct
import unittest
import zlib

from support import Case, pattern, pgm_bytes, png_bytes, tiff_bytes

MODULE = os.environ.get("TAMIS_EMULATED", "")
THERE = {"TAMIS_DEVICE": "", "TAMIS_CUDA_MODULE": MODULE}
RUN = ("run", "median=ksize=3,gaussian=sigma=1", "in")
SIZES = ((40, 30), (31, 22), (40, 31))
COUNT = 60


@unittest.skipUnless(MODULE, "the emulated module is not built")
class Together(Case):
    """Three sizes by turns and a file that is none among them."""

    def setUp(self):
        super().setUp()
        for folder in "in", "want", "out":
            os.mkdir(self.path(folder))
        for i in range(COUNT):
            w, h = SIZES[i % 3]
            self.write("in/f%02d.pgm" % i, pgm_bytes(w, h, pattern(w, h, 1, i)))
        self.write("in/f20x.pgm", b"no picture")
        self.tamis(*RUN, "-o", "want", "--device", "cpu", code=1)

    def tamis(self, *args, env=THERE, **more):
        return super().tamis(*args, env=env, **more)

    def run_out(self, *more, code=1, env=THERE):
        text = self.tamis(*RUN, "-o", "out", "--device", "cuda", "--json", *more, code=code,
                          env=env).stdout
        return json.loads(text)

    def same(self):
        names = sorted(os.listdir(self.path("want")))
        self.assertEqual(len(names), COUNT)
        self.assertEqual(sorted(n for n in os.listdir(self.path("out")) if n.endswith("pgm")),
                         names)
        for name in names:
            self.assertEqual(self.read("out/" + name), self.read("want/" + name), name)

    def test_many_in_a_call(self):
        result = self.run_out("--jobs", "1")
        self.same()
        self.assertEqual(result["failed"], 1)
        inputs = [f["input"] for f in result["files"]]
        self.assertEqual(inputs, sorted(inputs))
        self.assertEqual(len(inputs), COUNT + 1)
        together = [f.get("together", 1) for f in result["files"]]
        self.assertGreaterEqual(max(together), 10)
        self.assertEqual(together[inputs.index("in/f20x.pgm")], 1)
        for f in result["files"]:
            if f["status"] == "done":
                self.assertEqual(f["device"], "cuda:0")

    def test_workers_and_limits(self):
        for more in (["--jobs", "3"], ["--jobs", "64"], ["--jobs", "4", "--max_memory", "400K"]):
            self.run_out(*more, "--overwrite")
            self.same()

    def test_cpu_filters_one_by_one(self):
        text = self.tamis(*RUN, "-o", "out", "--json", "--device", "cpu", code=1).stdout
        self.assertEqual({f.get("together", 1) for f in json.loads(text)["files"]}, {1})

    def test_more_sizes_than_are_kept(self):
        for i in range(24):
            self.write("in/s%02d.pgm" % i, pgm_bytes(9 + i, 9, pattern(9 + i, 9, 1, i)))
        self.tamis(*RUN, "-o", "want", "--device", "cpu", "--overwrite", code=1)
        self.run_out("--jobs", "1")
        for name in os.listdir(self.path("want")):
            self.assertEqual(self.read("out/" + name), self.read("want/" + name), name)

    def test_a_device_that_fails(self):
        result = self.run_out(env=dict(THERE, TAMIS_EMULATE_FAIL="0"))
        self.assertEqual(result["done"], 0)
        self.assertEqual(result["failed"], COUNT + 1)
        for f in result["files"]:
            self.assertIn(f["input"] + ": ", f["error"])
        self.assertEqual(os.listdir(self.path("out")), [])

    def test_little_memory_on_the_device(self):
        self.run_out("--jobs", "2", env=dict(THERE, TAMIS_EMULATE_BYTES="20000"))
        self.same()

    def test_results_that_cannot_be_written(self):
        os.mkdir(self.path("out/f03.pgm"))
        result = self.run_out("--jobs", "1", "--overwrite")
        self.assertEqual(result["failed"], 2)
        message = result["files"][3]["error"]
        self.assertIn("out/f03.pgm", message)
        os.rmdir(self.path("out/f03.pgm"))
        self.write("out/f03.pgm", self.read("want/f03.pgm"))
        self.same()

    def test_manifest_and_resume(self):
        for i in range(0, COUNT, 7):
            os.rename(self.path("in/f%02d.pgm" % i), self.path("f%02d.pgm" % i))
        self.run_out("--resume")
        for i in range(0, COUNT, 7):
            os.rename(self.path("f%02d.pgm" % i), self.path("in/f%02d.pgm" % i))
        result = self.run_out("--resume")
        self.assertEqual(result["done"], len(range(0, COUNT, 7)))
        self.same()
        lines = [json.loads(line) for line in self.read("out/tamis-manifest.jsonl").splitlines()]
        begun = {}
        for line in lines:
            self.assertIn(line["outcome"], ("started", "done", "failed"))
            if line["outcome"] == "done":
                self.assertEqual(begun.pop(line["input"]), "started")
            else:
                begun[line["input"]] = line["outcome"]

    def test_mixed_formats_and_metadata(self):
        text = b"\0\0\0\x0btEXtTitle\0hello"
        chunk = text + struct.pack(">I", zlib.crc32(text[4:]))
        for i in range(8):
            self.write("in/h%d.png" % i, png_bytes(20, 20, 1 + i % 2 * 2,
                                                   pattern(20, 20, 1 + i % 2 * 2, i), extra=chunk))
        self.tamis(*RUN, "-o", "want", "--device", "cpu", "--overwrite", code=1)
        self.run_out("--jobs", "1")
        for i in range(8):
            self.assertEqual(self.read("out/h%d.png" % i), self.read("want/h%d.png" % i))
            self.assertIn(b"hello", self.read("out/h%d.png" % i))

    def test_memory_kept_from_file_to_file(self):
        """Files of two pages go one by one; the last ones are of another size."""
        run = ("run", "median=ksize=3", "pages", "-o")
        os.mkdir(self.path("pages"))
        for i in range(6):
            w = 40 + i // 4
            pages = [(w, 30, b"".join(pattern(w, 30, 1, 2 * i + k)), 0) for k in range(2)]
            self.write("pages/%d.tif" % i, tiff_bytes(pages))
        self.tamis(*run, "want", "--device", "cpu")
        for more in ["--jobs", "1"], ["--jobs", "2", "--overwrite"], ["--overwrite", "--max_memory",
                                                                      "100M"]:
            files = json.loads(self.tamis(*run, "out", "--device", "cuda", "--json", *more).stdout)
            self.assertEqual({f["together"] for f in files["files"]}, {1})
            for i in range(6):
                self.assertEqual(self.read("out/%d.tif" % i), self.read("want/%d.tif" % i))
