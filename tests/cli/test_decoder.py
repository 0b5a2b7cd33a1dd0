# SPDX-License-Identifier: Apache-2.0
"""--decoder: videos decoded on a device, with a driver and a decoder for tests alone."""
import os
import shutil
import subprocess
import unittest

from support import Case

MODULE = os.environ.get("TAMIS_EMULATED", "")
DRIVER = os.environ.get("TAMIS_EMULATED_DRIVER", "")
FFMPEG = shutil.which("ffmpeg")
W, H = 50, 38
NLMEANS = "nlmeans=search=3:patch=3:frames=1"


def ffmpeg(*args):
    return subprocess.run([FFMPEG, "-v", "error", "-y", *args], check=True,
                          capture_output=True).stdout


@unittest.skipUnless(MODULE and FFMPEG, "no emulated device, or no program ffmpeg")
class Without(Case):
    """A device whose driver decodes nothing, or is not there."""

    def test_software_takes_over(self):
        env = {"TAMIS_CUDA_MODULE": MODULE, "TAMIS_DEVICE": "cuda"}
        if "libavcodec" not in self.tamis("doctor").text:
            self.skipTest("no video module")
        ffmpeg("-f", "lavfi", "-i", f"testsrc2=s={W}x{H}:d=0.2", "-c:v", "ffv1",
               self.path("in.mkv"))
        run = "run", "gaussian", "in.mkv", "-o", "out.y4m", "--overwrite"
        self.tamis(*run, "--device", "cpu")
        want = self.read("out.y4m")
        for decoder in "auto", "software", "cuda":
            err = self.tamis(*run, "--decoder", decoder, env=env).err
            self.assertEqual("warning" in err, decoder == "cuda", err)
            self.assertEqual(self.read("out.y4m"), want)
        self.assertIn("decoded by software (not cuda:0: ", self.tamis(*run, "-v", env=env).err)
        self.tamis(*run, "--decoder", "gpu", code=2)

    def test_why_it_is_software(self):
        if "libavcodec" not in self.tamis("doctor").text:
            self.skipTest("no video module")
        ffmpeg("-f", "lavfi", "-i", f"testsrc2=s={W}x{H}:d=0.2", "-c:v", "ffv1",
               self.path("in.mkv"))
        run = ("run", "gaussian", "in.mkv", "-o", "out.y4m", "--overwrite", "--decoder", "cuda",
               "--device")
        self.assertIn("since the filters run on the CPU", self.tamis(*run, "cpu").err)
        none = {"TAMIS_CUDA_MODULE": self.path("none.so")}
        self.assertIn("there is no GPU that can be used", self.tamis(*run, "auto", env=none).err)


@unittest.skipUnless(MODULE and DRIVER and FFMPEG, "no emulated decoder, or no program ffmpeg")
class Decoder(Case):
    def make(self, name, codec, pixels, *more):
        """A clip with sound, and its pictures for the decoder."""
        try:
            ffmpeg("-f", "lavfi", "-i", f"testsrc2=s={W}x{H}:d=0.6", "-f", "lavfi", "-i",
                   "sine=d=0.6", "-vf", "noise=alls=20:allf=t", "-pix_fmt", pixels, "-c:v", codec,
                   "-g", "100", *more, "-c:a", "flac", self.path(name))
        except subprocess.CalledProcessError:
            self.skipTest("ffmpeg has no " + codec)
        ffmpeg("-i", self.path(name), "-f", "rawvideo", self.path(name + ".raw"))

    def run_on(self, name, chain, out, *more, **env):
        env = {"TAMIS_EMULATE_" + key: value for key, value in env.items()}
        return self.tamis("run", chain, name, "-o", out, "--overwrite", *more, env={
            "TAMIS_CUDA_MODULE": MODULE, "TAMIS_DEVICE": "cuda", "LD_LIBRARY_PATH": DRIVER,
            "TAMIS_EMULATE_VIDEO": f"{W}x{H}:{self.path(name)}.raw", **env}).err

    def all_of(self, name):
        """What is in every packet once it is decoded, with its time."""
        return ffmpeg("-i", self.path(name), "-map", "0", "-f", "framemd5", "-")

    def compare(self, name, chain, *more, out="mkv"):
        codec = ["--codec", "ffv1"] if out == "mkv" else []
        err = self.run_on(name, chain, "a." + out, "-v", *codec, *more)
        self.assertIn("decoded by cuda:0\n", err)
        err = self.run_on(name, chain, "b." + out, "-v", "--decoder", "software", *codec, *more)
        self.assertIn("decoded by software\n", err)
        if out == "mkv":
            self.assertEqual(self.all_of("a.mkv"), self.all_of("b.mkv"))
        self.assertEqual(len(self.read("a." + out)), len(self.read("b." + out)))
        if out != "mkv":
            self.assertEqual(self.read("a." + out), self.read("b." + out))

    def test_same_bits(self):
        self.make("in.mkv", "libx264", "yuv420p", "-bf", "2")
        self.compare("in.mkv", NLMEANS)
        self.compare("in.mkv", "bilateral=sigma_color=auto", out="y4m")
        self.compare("in.mkv", "gaussian", "--planes", "y", "--start", "0.2", "--frame_range",
                     "1-6", out="y4m")
        self.compare("in.mkv", "unsharp")  # chroma stays

    def test_same_bits_of_ten(self):
        self.make("in.mkv", "libx265", "yuv420p10", "-x265-params", "log-level=none:keyint=100")
        self.compare("in.mkv", NLMEANS)

    def test_failure_in_the_middle(self):
        self.make("in.mkv", "libx264", "yuv420p", "-bf", "2")
        self.run_on("in.mkv", NLMEANS, "b.mkv", "--codec", "ffv1", "--decoder", "software")
        for picture in "7", "14":
            err = self.run_on("in.mkv", NLMEANS, "a.mkv", "--codec", "ffv1", VIDEO_FAIL=picture)
            self.assertRegex(err, r"warning: in.mkv: decoded by cuda:0, from frame \d+ on software")
            self.assertEqual(self.all_of("a.mkv"), self.all_of("b.mkv"))

    def test_what_the_device_cannot_decode(self):
        self.make("in.mkv", "libx264", "yuv420p")
        for env in {"VIDEO_LACKS": "1"}, {"VIDEO_FAIL": "0"}:
            err = self.run_on("in.mkv", "gaussian", "a.y4m", "-v", **env)
            self.assertIn("decoded by software (not cuda:0: ", err)
        self.make("other.mkv", "ffv1", "yuv420p")
        err = self.run_on("other.mkv", "gaussian", "a.y4m", "-v")
        self.assertIn("decoded by software (not cuda:0: FFmpeg decodes ffv1 in software", err)

    def test_chains_that_stay_on_the_cpu(self):
        self.make("in.mkv", "libx264", "yuv420p")
        err = self.run_on("in.mkv", "", "a.y4m", "-v")
        self.assertIn("decoded by software\n", err)

    def test_doctor(self):
        env = {"TAMIS_CUDA_MODULE": MODULE, "LD_LIBRARY_PATH": DRIVER}
        line = next(line for line in self.tamis("doctor", env=env).text.splitlines()
                    if "decodes video" in line)
        self.assertRegex(line, r"\bh264\b.*\bhevc\b|\bhevc\b.*\bh264\b")
