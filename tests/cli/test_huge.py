# SPDX-License-Identifier: Apache-2.0
"""Pictures that are large, and files made for them."""
import os
import random
import signal
import subprocess
import time

from support import TAMIS, Case, pattern, pgm_bytes, tiff_bytes

W, H = 2100, 1500  # with its result more than half of the memory that is allowed
FEW = ("--threads", "2", "--max-memory")  # each thread takes some


class ByParts(Case):
    def setUp(self):
        super().setUp()
        self.write("big.pgm", b"P5\n%d %d\n255\n" % (W, H) + random.Random(1).randbytes(W * H))

    def compare(self, chain, out, *options, given="big.pgm", memory="11M"):
        """The same bytes by parts as whole."""
        self.tamis("run", chain, given, "-o", "want" + out, *options)
        file = self.json("run", chain, given, "-o", "got" + out, *FEW, memory,
                         *options)["files"][0]
        self.assertTrue(file["by_parts"])
        self.assertEqual(self.read("got" + out), self.read("want" + out))
        os.remove(self.path("got" + out))
        os.remove(self.path("want" + out))

    def test_outputs(self):
        for out, *options in ((".tif",), (".tif", "--tiff-tile", "64"), (".pgm",), (".npy",),
                              (".tif", "--tiff-tile", "48", "--pyramid", "--compression", "none")):
            self.compare("gaussian=sigma=3", out, *options)

    def test_pyramid_within_little_memory(self):
        """Smaller copies are made in the same memory, the same in a file of another order."""
        self.write("big.ppm", b"P6\n5000 1500\n255\n" + random.Random(3).randbytes(15000) * 1500)
        pyramid = ("--pyramid", "--level", "1", "--overwrite")
        self.tamis("gaussian", "big.ppm", "-o", "out.tif", *pyramid)
        self.tamis("run", "", "out.tif", "-o", "want.tif")
        for memory in ("10M", "30M"):
            file = self.json("gaussian", "big.ppm", "-o", "out.tif", *pyramid, *FEW,
                             memory)["files"][0]
            self.assertTrue(file["by_parts"])
            self.tamis("run", "", "out.tif", "-o", "got.tif", "--overwrite")
            self.assertEqual(self.read("got.tif"), self.read("want.tif"))

    def test_inputs(self):
        for options in (("--tiff-tile", "112"), ("--compression", "lzw"),
                        ("--compression", "none")):
            self.tamis("box", "big.pgm", "-o", "in.tif", "--overwrite",
                       *options)
            self.compare("gaussian", ".pgm", given="in.tif")

    def test_chains(self):
        for chain, memory in (("median=ksize=5,sobel", "12M"), ("canny", "12M"),
                              ("rotate=angle=30", "12M"), ("resize=scale=0.4", "6M"),
                              ("gaussian=sigma=25", "12M")):
            self.compare(chain, ".npy", memory=memory)

    def test_formats_that_are_written_whole(self):
        self.tamis("box", "big.pgm", "-o", "want.png")
        file = self.json("box", "big.pgm", "-o", "got.png", *FEW, "12M")["files"][0]
        self.assertFalse(file["by_parts"])
        self.assertEqual(self.read("got.png"), self.read("want.png"))

    def test_more_than_memory_allows(self):
        """A picture ten times as large as memory may be."""
        self.write("big.pgm", b"P5\n5000 4000\n255\n" + bytes(20000000))
        self.tamis("box", "big.pgm", "-o", "out.pgm", *FEW, "4M")
        self.assertEqual(self.read("out.pgm"), self.read("big.pgm"))

    def test_it_is_said_beforehand(self):
        for args in ("box", "big.pgm", "-o", "out.pgm"), ("run", "box", "big.pgm", "-o", "out.tif"):
            err = self.tamis(*args, "--dry-run", "-v", *FEW, "12M").err
            self.assertIn("big.pgm: by parts, in about ", err)
            self.assertNotIn("by parts", self.tamis(*args, "--dry-run", "-v").err)
        err = self.tamis("box", "big.pgm", "-o", "out.png", "--dry-run", "-v", *FEW, "12M").err
        self.assertNotIn("by parts", err)
        self.assertIn("by parts, in about 6", self.tamis("explain", "box", "--size", "9000x9000",
                                                         "--type", "u8").text)
        self.assertNotIn("by parts", self.tamis("explain", "box").text)
        result = self.json("explain", "box", "--size", "9000x9000")
        self.assertTrue(result["by_parts"])
        self.assertGreater(result["parts_bytes"], 60000000)
        self.assertIsNone(self.json("explain", "box")["parts_bytes"])

    def test_damage_is_named(self):
        self.tamis("box", "big.pgm", "-o", "in.tif", "--tiff-tile", "64")
        data = bytearray(self.read("in.tif"))
        middle = len(data) // 2
        data[middle:middle + 20000] = bytes(20000)
        self.write("in.tif", data)
        err = self.tamis("box", "in.tif", "-o", "out.tif", *FEW, "11M", code=3).err
        self.assertIn("in.tif: TIFF: ", err)
        self.assertEqual(err.count("\n"), 1)
        self.assertNotIn("out.tif", self.names())

    def test_interrupt_leaves_nothing(self):
        before = self.names()
        with subprocess.Popen([TAMIS, "median", "--cpu", "c", "--ksize", "25", "big.pgm", "-o",
                               "out.tif", *FEW, "11M", "--progress", "json"], cwd=self.dir,
                              stderr=subprocess.PIPE,
                              env=dict(os.environ, TAMIS_DEVICE="cpu")) as run:
            run.stderr.readline()  # it is at work
            time.sleep(0.1)
            run.send_signal(signal.SIGINT)
            run.communicate(timeout=60)
        self.assertEqual(run.returncode, 130)
        self.assertEqual(self.names(), before)


class Pyramids(Case):
    def sizes(self, name):
        pages = self.json("info", name)["files"][0]["pages"]
        return [(p["width"], p["height"], p["reduced"]) for p in pages]

    def test_each_half_of_the_one_before(self):
        self.write("in.pgm", pgm_bytes(150, 101, pattern(150, 101)))
        self.tamis("median", "in.pgm", "-o", "out.tif", "--pyramid", "--tiff-tile", "32")
        want = [(150, 101, False), (75, 51, True), (38, 26, True), (19, 13, True)]
        self.assertEqual(self.sizes("out.tif"), want)
        self.assertIn("page 1: tiff 75x51 u8x1 packed, 8 bit, smaller copy",
                      self.tamis("info", "out.tif").text)

    def test_replaces_that_of_the_input(self):
        self.write("in.pgm", pgm_bytes(150, 101, pattern(150, 101)))
        self.tamis("box", "in.pgm", "-o", "one.tif", "--pyramid", "--tiff-tile", "64")
        self.tamis("median", "one.tif", "-o", "two.tif", "--pyramid", "--tiff-tile", "64")
        self.assertEqual(self.sizes("two.tif"), self.sizes("one.tif"))
        self.tamis("box", "in.pgm", "-o", "flat.tif", "--tiff-tile", "64")
        self.tamis("median", "flat.tif", "-o", "want.tif", "--pyramid", "--tiff-tile", "64")
        self.assertEqual(self.read("two.tif"), self.read("want.tif"))

    def test_only_page_is_a_copy(self):
        """NewSubfileType 1 on the one page there is."""
        self.write("copy.tif", tiff_bytes([(150, 101, b"".join(pattern(150, 101)), 1)]))
        self.tamis("median", "copy.tif", "-o", "out.tif", "--pyramid", "--tiff-tile", "32")
        self.assertEqual(self.sizes("out.tif")[0][:2], (150, 101))

    def test_small_pictures_have_none(self):
        self.tamis("median", "in.png", "-o", "out.tif", "--pyramid")
        self.assertEqual(self.sizes("out.tif"), [(48, 33, False)])
        info = self.json("info", "out.tif")["files"][0]["pages"][0]
        self.assertEqual((info["block_width"], info["block_height"]), (256, 256))


class Estimate(Case):
    def test_same_by_parts(self):
        """A PNG is measured whole, a tiled TIFF with less memory than it has samples."""
        w, h = 1500, 900
        self.write("in.pgm", b"P5\n%d %d\n255\n" % (w, h) + random.Random(2).randbytes(w * h))
        self.tamis("gaussian", "in.pgm", "-o", "a.tif", "--tiff-tile", "64")
        self.tamis("gaussian", "in.pgm", "-o", "a.png")
        whole = self.json("estimate", "a.png")["files"][0]["pages"]
        parts = self.json("estimate", "a.tif", *FEW, "1M")["files"][0]["pages"]
        self.assertEqual(parts, whole)


class Info(Case):
    def test_blocks(self):
        self.tamis("box", "in.png", "-o", "a.tif", "--tiff-tile", "16")
        for name, want in (("a.tif", (16, 16)), ("in.png", (0, 0))):
            page = self.json("info", name)["files"][0]["pages"][0]
            self.assertEqual((page["block_width"], page["block_height"]), want)
