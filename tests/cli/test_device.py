# SPDX-License-Identifier: Apache-2.0
"""--device: without any, and on the CUDA module that works on the CPU."""
import json
import os
import unittest

from support import Case, pattern, png_bytes

MODULE = os.environ.get("TAMIS_EMULATED", "")
NONE = {"TAMIS_DEVICE": "", "TAMIS_CUDA_MODULE": "/nowhere/tamis_cuda.so"}
THERE = {"TAMIS_DEVICE": "", "TAMIS_CUDA_MODULE": MODULE}
GAUSSIAN = ("gaussian", "--sigma", "2", "in.png", "-o", "out.png", "--overwrite")


class Without(Case):
    """A machine with no device, as most are."""

    def tamis(self, *args, env=None, **more):
        return super().tamis(*args, env=env or NONE, **more)

    def test_cuda_is_refused(self):
        for device in "cuda", "cuda:1":
            err = self.tamis(*GAUSSIAN, "--device", device, code=6).err
            for word in "--device " + device, "/nowhere/tamis_cuda.so", "--device cpu":
                self.assertIn(word, err)
        self.tamis("bench", "--device", "cuda", code=6)
        self.tamis("verify", "--device", "cuda", code=6)
        self.assertEqual(self.names(), ["in.png"])

    def test_wrong_names(self):
        for device in "tpu", "cuda:", "cuda:x", "cuda:-1", "cuda0", "":
            if device:
                self.assertIn(device, self.tamis(*GAUSSIAN, "--device", device, code=2).err)
        env = dict(NONE, TAMIS_DEVICE="tpu")
        self.assertIn("TAMIS_DEVICE: 'tpu'", self.tamis(*GAUSSIAN, env=env, code=2).err)
        self.tamis("info", "in.png", "--device", "cpu", code=2)

    def test_auto_takes_the_cpu_and_says_why(self):
        err = self.tamis(*GAUSSIAN, "-v").err
        self.assertIn("on the CPU", err)
        self.assertIn("/nowhere/tamis_cuda.so", err)
        self.assertEqual(self.tamis(*GAUSSIAN).err, "")
        for more in [], ["--device", "auto"], ["--device", "cpu"]:
            result = self.json(*GAUSSIAN, *more)
            self.assertEqual(result["device"], "cpu")
            self.assertEqual(result["files"][0]["device"], "cpu")

    def test_environment(self):
        env = dict(NONE, TAMIS_DEVICE="cuda")
        self.tamis(*GAUSSIAN, env=env, code=6)
        self.tamis(*GAUSSIAN, "--device", "cpu", env=env)
        self.tamis("info", "in.png", env=env)

    def test_doctor(self):
        text = self.tamis("doctor").text
        line = next(line for line in text.splitlines() if line.startswith("CUDA"))
        self.assertIn("/nowhere/tamis_cuda.so", line)
        result = self.json("doctor")
        self.assertIs(result["cuda"], False)
        self.assertIn("/nowhere/tamis_cuda.so", result["cuda_text"])
        self.assertEqual(result["devices"], [])

    def test_verify_says_what_it_skips(self):
        result = self.json("verify", "--filter", "alpha")
        self.assertIsNone(result["device"])
        self.assertIn("tamis_cuda.so", result["skipped"][0])


@unittest.skipUnless(MODULE, "the emulated module is not built")
class Emulated(Case):
    def tamis(self, *args, env=None, **more):
        return super().tamis(*args, env=env or THERE, **more)

    def test_same_picture_on_both(self):
        self.tamis("run", "gaussian=sigma=2", "in.png", "-o", "cpu.png", "--device", "cpu")
        for device in "cuda", "cuda:0", "auto":
            result = self.json("run", "gaussian=sigma=2", "in.png", "-o", "out.png", "--overwrite",
                               "--device", device)
            self.assertEqual(result["device"], "cuda:0")
            self.assertEqual(result["files"][0]["device"], "cuda:0")
            self.tamis("compare", "cpu.png", "out.png", "--max_abs", "0")

    def test_what_ran_is_said(self):
        self.assertIn("on cuda:0 (", self.tamis(*GAUSSIAN, "-v").err)
        self.assertIn("on the CPU (", self.tamis(*GAUSSIAN, "-v", "--device", "cpu").err)
        self.assertEqual(self.json("explain", "gaussian")["device"], "cuda:0")
        self.assertEqual(self.json(*GAUSSIAN, "--dry_run")["device"], "cuda:0")

    def test_several_devices(self):
        env = dict(THERE, TAMIS_EMULATE_DEVICES="3")
        run = ["run", "gaussian=sigma=2", "in.png", "--overwrite"]
        self.tamis(*run, "-o", "cpu.png", "--device", "cpu")
        for device, name in ("cuda:all", "cuda:0,1,2"), ("cuda:2,0", "cuda:2,0"):
            for tile in [], ["--tile", "9x4"]:
                args = ["-o", "out.png", "-v", "--device", device, *tile]
                err = self.tamis(*run, *args, env=env).err
                self.assertIn(f"on {name} (emulated device {name[5]} and others)", err)
                self.tamis("compare", "cpu.png", "out.png", "--max_abs", "0")
        text = self.tamis("explain", "gaussian", "--device", "cuda:all", env=env).text
        self.assertIn("in bands on cuda:0,1,2", text)
        self.assertIn("3 devices", self.tamis("doctor", env=env).text)
        for device in "cuda:0,0", "cuda:,1", "cuda:1,", "cuda:any":
            self.assertIn(device, self.tamis(*GAUSSIAN, "--device", device, code=2, env=env).err)
        self.assertIn("device 3",
                      self.tamis(*GAUSSIAN, "--device", "cuda:0,3", code=6, env=env).err)

    def test_batch(self):
        """Several files at a time on one device and on two: the bytes of the CPU, in order."""
        for folder in "in", "want", "one", "two":
            os.mkdir(self.path(folder))
        for i in range(14):
            w, h, channels = 20 + i % 3 * 30, 30 + i % 2, 1 + i % 4
            self.write("in/f%02d.png" % i, png_bytes(w, h, channels, pattern(w, h, channels, i)))
        run = ["run", "median=ksize=3,gaussian=sigma=1", "in", "--jobs", "5"]
        self.tamis(*run, "-o", "want", "--device", "cpu")
        for folder, device in ("one", "cuda"), ("two", "cuda:all"):
            text = self.tamis(*run, "-o", folder, "--device", device, "--json",
                              env=dict(THERE, TAMIS_EMULATE_DEVICES="2")).stdout
            files = [f["output"] for f in json.loads(text)["files"]]
            self.assertEqual(files, ["%s/f%02d.png" % (folder, i) for i in range(14)])
            for i in range(14):
                self.assertEqual(self.read("%s/f%02d.png" % (folder, i)),
                                 self.read("want/f%02d.png" % i))

    def test_no_such_device(self):
        err = self.tamis(*GAUSSIAN, "--device", "cuda:63", code=6).err
        self.assertIn("63", err)

    def test_doctor(self):
        text = self.tamis("doctor").text
        line = next(line for line in text.splitlines() if line.startswith("cuda:0"))
        for word in "compute capability", "GiB", "driver", "runtime":
            self.assertIn(word, line)
        result = self.json("doctor")
        self.assertIs(result["cuda"], True)
        self.assertIsNone(result["cuda_text"])
        device = result["devices"][0]
        self.assertEqual(device["device"], "cuda:0")
        self.assertGreater(device["memory_bytes"], 0)

    def test_verify(self):
        args = ("verify", "--filter", "gaussian", "--type", "u8", "--size", "19x11")
        result = self.json(*args)
        rows = [row for row in result["rows"] if row["kernel"] == "cuda"]
        self.assertGreater(sum(row["cases"] for row in rows), 10)
        for row in rows:
            self.assertEqual(row["failures"], 0)
            self.assertLessEqual(row["max_abs"], row["tolerance"])
        self.assertEqual(result["skipped"], [])
        self.assertTrue(result["device"].startswith("cuda:0"))
        result = self.json(*args, "--device", "cpu")
        self.assertNotIn("cuda", [row["kernel"] for row in result["rows"]])

    def test_bench(self):
        args = ("bench", "--filter", "gaussian", "--size", "64x48", "--repeat", "2")
        row = self.json(*args, "--device", "cuda")["results"][0]
        self.assertEqual(row["device"], "cuda:0")
        for key in "on_device", "with_copies":
            self.assertGreater(row[key]["best_seconds"], 0)
        text = self.tamis(*args).text
        self.assertIn("cuda:0", text)
        self.assertIn("to the GPU and back", text)
        row = self.json(*args, "--device", "cpu")["results"][0]
        self.assertEqual(row["device"], "cpu")
        self.assertGreater(row["one_thread"]["best_seconds"], 0)
        env = dict(THERE, TAMIS_EMULATE_DEVICES="3")
        text = self.tamis(*args, "--device", "cuda:2,0", env=env).text
        self.assertIn("cuda:2,0", text)

    def test_bench_with_little_memory(self):
        """As many pictures as the device holds, and one at least."""
        args = ("bench", "--filter", "gaussian", "--size", "60x40", "--repeat", "1", "--device",
                "cuda")
        text = self.tamis(*args, env=dict(THERE, TAMIS_EMULATE_BYTES="100000")).text
        self.assertIn("on the GPU", text)
        err = self.tamis(*args, env=dict(THERE, TAMIS_EMULATE_BYTES="20000"), code=8).err
        self.assertIn("device memory", err)
