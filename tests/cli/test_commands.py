# SPDX-License-Identifier: Apache-2.0
"""Commands, options and messages."""
import json
import math
import os
import pty
import re
import shutil
import signal
import subprocess
import time
import unittest

from support import TAMIS, Case, pattern, pgm_bytes, png_bytes, read_pgm

COMMANDS = ["run", "explain", "list", "help", "info", "estimate", "compare", "report", "serve",
            "noise", "presets", "verify", "bench", "doctor", "docs", "man", "completion", "version"]


def filters():
    run = subprocess.run([TAMIS, "list", "--json"], capture_output=True, check=True)
    return json.loads(run.stdout)["filters"]


class Usage(Case):
    def says(self, *args, words, code=2):
        err = self.tamis(*args, code=code).err
        for word in words:
            self.assertIn(word, err)

    def test_no_arguments(self):
        self.says(words=["usage", "tamis help"])

    def test_unknown_filter_suggests(self):
        self.says("gausian", "in.png", "-o", "x.png", words=["gausian", "gaussian"])
        self.says("help", "gausian", words=["gaussian"])

    def test_flattening_names_the_parameter(self):
        for scale in ("0", "2,0"):
            self.says("affine", "--scale", scale, "in.png", "-o", "x.png", words=["scale = 0"])

    def test_sizes_no_memory_holds(self):
        """Refused before tables are made for so many columns."""
        self.says("resize", "--size", "50000000", "in.png", "-o", "x.png", code=8,
                  words=["50000000x50000000", "TiB"])

    def test_unknown_option_suggests(self):
        self.says("gaussian", "--sigmma", "2", "in.png", "-o", "x.png", words=["--sigma"])
        self.says("gaussian", "--over-write", "in.png", "-o", "x.png", words=["--overwrite"])

    def test_bad_parameter(self):
        self.says("gaussian", "--sigma", "-3", "in.png", "-o", "x.png", words=["sigma", "-3", ".."])
        self.says("gaussian", "--ksize", "4", "in.png", "-o", "x.png", words=["ksize", "4", "odd"])
        self.says("gaussian", "--border", "mirror", "in.png", "-o", "x.png",
                  words=["border", "mirror", "reflect101"])
        self.says("run", "gaussian=sigma=nan", "in.png", "-o", "x.png", words=["sigma", "nan"])
        self.assertEqual(self.names(), ["in.png"])

    def test_bad_option_value(self):
        self.says("gaussian", "--threads", "0", "in.png", "-o", "x.png",
                  words=["threads", "'0'", "1024"])
        self.says("gaussian", "--progress", "yes", "in.png", "-o", "x.png",
                  words=["progress", "json"])
        self.says("gaussian", "--cpu", "z80", "in.png", "-o", "x.png", words=["z80", "avx2"])
        self.says("gaussian", "--tile", "0x5", "in.png", "-o", "x.png", words=["tile", "0x5"])
        self.says("gaussian", "--max-memory", "lots", "in.png", "-o", "x.png", words=["lots"])
        self.says("gaussian", "--overwrite=1", "in.png", "-o", "x.png", words=["no value"])
        self.says("gaussian", "in.png", "-o", words=["needs a value"])

    def test_missing_names(self):
        self.says("gaussian", "in.png", words=["-o"])
        self.says("gaussian", "-o", "x.png", words=["no input"])
        self.says("run", words=["chain"])
        self.says("compare", "in.png", words=["two"])
        self.says("list", "gaussian", words=["list", "gaussian"])
        self.says("compare", "a", "b", "c", words=["'c'"])

    def test_bad_chain(self):
        self.says("run", "gaussian=sigma", "in.png", "-o", "x.png", words=["character"])
        self.says("explain", "gaussian,", words=["character"])

    def test_option_after_inputs_and_both_spellings(self):
        self.tamis("gaussian", "in.png", "-o", "a.png", "--border_value=7", "--border", "constant")
        self.tamis("gaussian", "--border-value", "7", "--border=constant", "-o", "b.png", "in.png")
        self.assertEqual(self.read("a.png"), self.read("b.png"))

    def test_bad_output_option(self):
        """Refused at once, not file by file."""
        for more, words in ((["--format", "foo"], ["foo", "png", "tiff", "raw"]),
                            (["--compression", "zip"], ["zip", "lzw"]),
                            (["--tiff-tile", "17"], ["17", "16"])):
            for files in (["in.png", "-o", "x.png"], ["in.png", "in.png", "-o", "{stem}_x"],
                          ["in.png", "-o", "x.png", "--dry-run"], ["missing.png", "-o", "-"]):
                self.says("gaussian", *files, *more, words=words)
            self.says("noise", "in.png", "-o", "x.png", *more, words=words)
        self.assertEqual(self.names(), ["in.png"])

    def test_given_twice(self):
        self.says("gaussian", "--sigma", "1", "--sigma=2", "in.png", "-o", "x.png",
                  words=["--sigma is given twice"])
        self.says("gaussian", "--border_value", "1", "in.png", "-o", "x.png", "--border-value", "1",
                  words=["--border_value is given twice"])
        self.says("gaussian", "in.png", "-o", "x.png", "-o", "y.png",
                  words=["--out is given twice"])
        self.says("run", "gaussian=sigma=1:sigma=2", "in.png", "-o", "x.png",
                  words=["gaussian: sigma is given twice"])
        self.assertEqual(self.names(), ["in.png"])
        self.tamis("gaussian", "in.png", "-o", "x.png", "--overwrite", "--overwrite", "-vv")

    def test_guide_needs_a_filter_that_takes_one(self):
        self.tamis("run", "gaussian", "--guide", "in.png", "in.png", "-o", "x.png", code=2)


class ExitCodes(Case):
    def test_unsupported(self):
        self.tamis("gaussian", "in.png", "-o", "x.foo", code=5)
        self.tamis("gaussian", "in.png", "-o", "x.pgm", code=5)

    def test_memory(self):
        run = self.tamis("gaussian", "in.png", "-o", "x.png", "--max-memory", "1K", code=8)
        self.assertIn("limit", run.err)
        self.tamis("gaussian", "in.png", "-o", "x.png", "--max-memory", "1G")

    def test_standard_output_that_takes_nothing(self):
        for args in (["list"], ["list", "--json"], ["help"], ["man"]):
            with open("/dev/full", "wb") as full:
                run = subprocess.run([TAMIS, *args], stdout=full, stderr=subprocess.PIPE,
                                     check=False)
            self.assertEqual(run.returncode, 4, run.stderr)


class Help(Case):
    def test_every_filter(self):
        for f in filters():
            text = self.tamis("help", f["name"]).text
            self.assertEqual(text, self.tamis(f["name"], "--help").text)
            self.assertIn(f["brief"], text)
            for p in f["params"]:
                self.assertRegex(text, r"--%s\b" % p["name"])
                self.assertIn(p["doc"].split()[0], text)
            if any(p["name"] == "border" for p in f["params"]):
                self.assertIn("dcb|abcd|cba", text)
                self.assertIn("cba|abcd|dcb", text)

    def test_every_command(self):
        overview = self.tamis("help").text
        for name in COMMANDS:
            self.assertIn(name, overview)
            self.assertIn("Usage: tamis " + name, self.tamis("help", name).text)
        self.assertEqual(overview, self.tamis("--help").text)

    def test_no_parameter_hides_an_option(self):
        options = set(re.findall(r"--(\w+)", self.tamis("help", "run").text))
        for f in filters():
            self.assertFalse(options & {p["name"] for p in f["params"]}, f["name"])

    def test_docs(self):
        for f in filters():
            text = self.tamis("docs", f["name"]).text
            for p in f["params"]:
                self.assertIn("| `%s` |" % p["name"], text)
            prose = text.split("```text\n")[1].split("```")[0]
            self.assertGreater(len(prose), 200)

    def test_man(self):
        text = self.tamis("man").stdout
        self.assertTrue(text.startswith(b".TH TAMIS 1"))
        if not shutil.which("groff"):
            self.skipTest("groff was not found")
        run = subprocess.run(["groff", "-man", "-Tascii", "-ww"], input=text, capture_output=True,
                             check=True)
        self.assertEqual(run.stderr, b"")

    @unittest.skipUnless(shutil.which("bash"), "bash was not found")
    def test_completion(self):
        self.write("script", self.tamis("completion", "bash").stdout)

        def complete(*words):
            """What bash would offer for the last word."""
            line = ("source ./script; COMP_WORDS=(tamis %s); COMP_CWORD=%d; _tamis tamis '%s' '%s';"
                    "printf '%%s\\n' \"${COMPREPLY[@]}\"")
            previous = words[-2] if len(words) > 1 else "tamis"
            text = line % (" ".join(words), len(words), words[-1], previous)
            run = subprocess.run(["bash", "-c", text], cwd=self.dir, capture_output=True,
                                 check=True)
            return run.stdout.decode().split()

        self.assertEqual(complete("gauss"), ["gaussian"])
        self.assertIn("--sigma_x", complete("gaussian", "--sig"))
        self.assertEqual(complete("gaussian", "--border", "refl"), ["reflect101", "reflect"])
        self.assertEqual(complete("noise", "--kind", "p"), ["poisson"])

    def test_version(self):
        self.assertRegex(self.tamis("--version").text, r"^tamis \d+\.\d+\.\d+\n$")


class Json(Case):
    def test_one_object_each(self):
        self.tamis("gaussian", "in.png", "-o", "out.png")
        for args in (["list"], ["info", "in.png"], ["info", "-v", "in.png"], ["doctor"],
                     ["version"],
                     ["compare", "in.png", "out.png"], ["explain", "gaussian"],
                     ["noise", "in.png", "-o", "noisy.png"], ["gaussian", "in.png", "-o", "g.png"],
                     ["run", "gaussian,gaussian=sigma=2", "in.png", "-o", "h.png"],
                     ["bench", "--filter", "gaussian", "--size", "64x48", "--repeat", "2"],
                     ["verify", "--filter", "gaussian", "--size", "21x17", "--type", "u8"]):
            self.assertEqual(self.json(*args)["command"], args[0])

    def test_list_describes_parameters(self):
        gaussian = next(f for f in filters() if f["name"] == "gaussian")
        params = {p["name"]: p for p in gaussian["params"]}
        self.assertEqual(params["border"]["default"], "reflect101")
        self.assertEqual(len(params["border"]["choices"]), 6)
        self.assertEqual(params["sigma"]["unit"], "px")

    def test_names_that_are_not_utf8(self):
        name = os.path.join(os.fsencode(self.dir), b"b\xff.png")
        with open(name, "wb") as f:
            f.write(self.read("in.png"))
        run = self.tamis("info", name, "--json")
        self.assertTrue(json.loads(run.stdout)["files"][0]["file"].endswith("b?.png"))


class Chains(Case):
    def test_prints_back_to_itself(self):
        chain = "gaussian=sigma=2:border=wrap,gaussian=ksize=5x3"
        self.assertEqual(self.json("explain", chain)["chain"], chain)
        for f in filters():
            for p in f["params"]:
                for value in p.get("choices", []):
                    text = "%s=%s=%s" % (f["name"], p["name"], value)
                    want = f["name"] if value == p["default"] else text
                    # Some choices want other pictures; that is no matter here.
                    run = self.tamis("explain", text, "--size", "200x200", "--json", code=(0, 2, 5))
                    if run.returncode == 0:
                        self.assertEqual(json.loads(run.stdout)["chain"], want)
                    else:
                        self.assertIn(f["name"], run.err)

    def test_same_as_one_by_one(self):
        self.tamis("gaussian", "--sigma", "1", "in.png", "-o", "a.png")
        self.tamis("gaussian", "--sigma", "2", "a.png", "-o", "b.png")
        self.tamis("run", "gaussian=sigma=1,gaussian=sigma=2", "in.png", "-o", "c.png")
        self.assertEqual(self.read("b.png"), self.read("c.png"))

    def test_threads_tiles_and_kernels_do_not_matter(self):
        self.tamis("gaussian", "--sigma", "2", "in.png", "-o", "want.png")
        for more in (["--threads", "1"], ["--threads", "3"], ["--threads", "8"], ["--tile", "7x5"],
                     ["--tile", "16"], ["--cpu", "c"], ["--cpu", "base"]):
            self.tamis("gaussian", "--sigma", "2", "in.png", "-o", "got.png", "--overwrite", *more)
            self.assertEqual(self.read("got.png"), self.read("want.png"), more)

    def test_explain(self):
        text = self.tamis("explain", "gaussian=sigma=2", "in.png").text
        self.assertIn("u8x3", text)
        self.assertIn("48x33", text)
        self.assertIn("halo", text)
        self.assertIn("f32x2", self.tamis("explain", "gaussian", "--type", "f32x2").text)
        self.tamis("explain", "gaussian", "--type", "u9", code=2)


class Types(Case):
    """Filters that widen samples, and formats that cannot hold those."""

    def test_hint(self):
        wide = (["laplacian"], ["sobel", "--output", "dx"], ["scharr", "--output", "dy"],
                ["prewitt", "--output", "dx"], ["run", "gaussian,laplacian"])
        for way in wide:
            err = self.tamis(*way, "in.png", "-o", "x.png", code=5).err
            self.assertIn("png cannot hold s16 samples in 3 channels (tiff", err)
            self.assertIn(" makes s16 of u8: with its parameter type=same the result is u8", err)
        self.tamis("laplacian", "--type", "same", "in.png", "-o", "x.png")
        # An angle is no whole number, and other samples are not for type=same to choose.
        for way in (["sobel", "--output", "direction"], ["laplacian", "--type", "s16"]):
            err = self.tamis(*way, "in.png", "-o", "y.png", code=5).err
            self.assertIn("cannot hold", err)
            self.assertNotIn("type=same", err)
        err = self.tamis("laplacian", "in.png", "-o", "y.pfm", code=5).err
        self.assertNotIn("type=same", err)
        self.assertNotIn("y.p", "".join(self.names()))


class Kernels(Case):
    """Numbers from the command line and from files."""

    def test_files(self):
        self.write("k.txt", b"# a comment\n\n1 2  3\r\n4 5 6 # and one here\n7 8 9\n")
        self.write("k.csv", b"\xef\xbb\xbf1,2,3\n4, 5,6\n7,8,9\n")
        self.tamis("convolve", "--kernel", "1 2 3; 4 5 6; 7 8 9", "in.png", "-o", "want.png")
        self.tamis("run", "convolve=kernel=1,2,3;4,5,6;7,8,9", "in.png", "-o", "a.png")
        self.tamis("convolve", "--kernel", "@k.txt", "in.png", "-o", "b.png")
        self.tamis("convolve", "--kernel=@k.csv", "in.png", "-o", "c.png")
        self.tamis("run", "gaussian=sigma=0.1:ksize=3,convolve=kernel=@k.csv:border=reflect101",
                   "in.png", "-o", "d.png")
        for name in "abcd":
            self.assertEqual(self.read(name + ".png"), self.read("want.png"), name)
        self.write("product.txt", b"1 2 1x+1. .5 1e0\n")
        self.tamis("convolve", "--kernel", "1,2,1;.5 1 .5;1,2,1", "in.png", "-o", "e.png")
        self.tamis("convolve", "--kernel", "@product.txt", "in.png", "-o", "f.png")
        self.assertEqual(self.read("e.png"), self.read("f.png"))

    def test_large_files(self):
        self.write("ones.csv", b"\n".join([b",".join([b"1.000000000000000000e+00"] * 255)] * 255))
        self.tamis("convolve", "--kernel", "@ones.csv", "in.png", "-o", "a.png")
        self.tamis("box", "--ksize", "255", "in.png", "-o", "want.png")
        self.assertEqual(self.read("a.png"), self.read("want.png"))
        self.write("more.csv", b"\n".join([b",".join([b"1"] * 257)] * 256))
        err = self.tamis("convolve", "--kernel", "@more.csv", "in.png", "-o", "x.png", code=3).err
        self.assertIn("more.csv: cannot read numbers: the file holds 65792; allowed: up to 65536 "
                      "numbers", err)
        row = ",".join(["1"] * 1025)
        err = self.tamis("convolve", "--kernel", row + "x" + row, "in.png", "-o", "x.png",
                         code=2).err
        self.assertIn("1025x1025 numbers; allowed: up to 1048576", err)

    def test_bad_files(self):
        self.write("empty", b"")
        self.write("words", b"1 two\n")
        self.write("comment", b"# 1 2 3\n")
        self.write("more", b"1 2 3:flip=on,gaussian\n")
        self.write("uneven", b"# two rows\n1 2\n\n3\n")
        self.write("lone", b"1 2 x\n3 4 5\n")
        self.write("two", b"1 2\n3 4x1 2\n")
        self.write("twice", b"1x2x3\n")
        self.write("sign", b"1 2\n3 -\n")
        self.write("itself", b"@itself\n")
        self.tamis("convolve", "--kernel", "@none.txt", "in.png", "-o", "x.png", code=3)
        self.tamis("run", "convolve=kernel=@none.txt", "in.png", "-o", "x.png", code=3)
        self.tamis("convolve", "--kernel", "@empty", "in.png", "-o", "x.png", code=3)
        for name, says in (("words", 'line 1: "two" is no number'), ("comment", "holds none"),
                           ("more", 'line 1: "3:flip=on" is no number'),
                           ("itself", 'line 1: "@itself" is no number'),
                           ("uneven", "line 4 has 1 number, line 2 has 2"),
                           ("lone", 'line 1: "x" is no number'),
                           ("two", "line 2: a product ROWxCOLUMN is one line"),
                           ("twice", 'line 1: "1x2x3" is no number'),
                           ("sign", 'line 2: "-" is no number')):
            for way in (["convolve", "--kernel", "@" + name], ["run", "convolve=kernel=@" + name]):
                err = self.tamis(*way, "in.png", "-o", "x.png", code=3).err
                self.assertIn(says, err)
                self.assertIn(name + ": cannot read numbers: ", err)
        self.write("large", b"1 1e10\n")
        err = self.tamis("convolve", "--kernel", "@large", "in.png", "-o", "x.png", code=2).err
        self.assertIn("large: convolve: kernel = 1,1e10 is not allowed", err)
        self.assertNotIn("x.png", self.names())


class Compare(Case):
    def setUp(self):
        super().setUp()
        self.a, self.b = pattern(40, 30, seed=1), pattern(40, 30, seed=2)
        self.write("a.pgm", pgm_bytes(40, 30, self.a))
        self.write("b.pgm", pgm_bytes(40, 30, self.b))

    def test_same(self):
        result = self.json("compare", "a.pgm", "a.pgm", "--min-ssim", "1", "--min-psnr", "200")
        self.assertTrue(result["identical"])
        self.assertEqual((result["max_abs"], result["mse"], result["psnr"], result["ssim"]),
                         (0, 0, None, 1))

    def test_numbers(self):
        d = [x - y for p, q in zip(self.a, self.b) for x, y in zip(p, q)]
        mse = sum(x * x for x in d) / len(d)
        result = self.json("compare", "a.pgm", "b.pgm")
        self.assertEqual(result["max_abs"], max(abs(x) for x in d))
        self.assertAlmostEqual(result["mse"], mse, places=6)
        self.assertAlmostEqual(result["psnr"], 10 * math.log10(255 * 255 / mse), places=9)
        self.assertAlmostEqual(result["ssim"], self.ssim(), places=9)
        self.assertIn("Wang 2004", result["ssim_variant"])

    def ssim(self):
        """The definition, window by window."""
        weight = [math.exp(-((i - 5)**2 + (j - 5)**2) / 4.5) for j in range(11) for i in range(11)]
        total = sum(weight)
        c1, c2, values = 2.55**2, 7.65**2, []
        for y in range(20):
            for x in range(30):
                p = [v for row in self.a[y:y + 11] for v in row[x:x + 11]]
                q = [v for row in self.b[y:y + 11] for v in row[x:x + 11]]
                mp = sum(w * v for w, v in zip(weight, p)) / total
                mq = sum(w * v for w, v in zip(weight, q)) / total
                vp = sum(w * (v - mp)**2 for w, v in zip(weight, p)) / total
                vq = sum(w * (v - mq)**2 for w, v in zip(weight, q)) / total
                cov = sum(w * (u - mp) * (v - mq) for w, u, v in zip(weight, p, q)) / total
                values.append((2 * mp * mq + c1) * (2 * cov + c2) /
                              ((mp * mp + mq * mq + c1) * (vp + vq + c2)))
        return sum(values) / len(values)

    def test_thresholds(self):
        for limit in (["--max-abs", "1"], ["--max-mse", "1"], ["--min-psnr", "50"],
                      ["--min-ssim", "0.9"]):
            self.assertIn(limit[0][2:5],
                          self.tamis("compare", "a.pgm", "b.pgm", *limit, code=7).err)
        self.tamis("compare", "a.pgm", "b.pgm", "--max-abs", "255", "--min-psnr", "1")

    def test_difference_picture(self):
        self.tamis("compare", "a.pgm", "b.pgm", "--diff", "d.pgm", "--diff-gain", "2")
        _, _, data = read_pgm(self.path("d.pgm"))
        want = bytes(min(255, 2 * abs(x - y)) for p, q in zip(self.a, self.b) for x, y in zip(p, q))
        self.assertEqual(data, want)
        self.tamis("compare", "a.pgm", "b.pgm", "--diff", "d.pgm", code=4)

    def test_shapes_differ(self):
        run = self.tamis("compare", "a.pgm", "in.png", code=5)
        self.assertIn("40x30", run.err)

    def test_tiny(self):
        self.write("t.png", png_bytes(3, 3, 1, pattern(3, 3)))
        self.assertIsNone(self.json("compare", "t.png", "t.png")["ssim"])


class Noise(Case):
    def setUp(self):
        super().setUp()
        self.write("flat.pgm", pgm_bytes(200, 150, [bytes([100]) * 200] * 150))

    def noisy(self, *args):
        self.tamis("noise", "flat.pgm", "-o", "n.pgm", "--overwrite", *args)
        return read_pgm(self.path("n.pgm"))[2]

    def moments(self, data):
        mean = sum(data) / len(data)
        return mean, math.sqrt(sum((v - mean)**2 for v in data) / len(data))

    def test_gaussian(self):
        mean, sigma = self.moments(self.noisy("--sigma", "20"))
        self.assertAlmostEqual(mean, 100, delta=0.5)
        self.assertAlmostEqual(sigma, 20, delta=0.4)
        _, sigma = self.moments(self.noisy("--sigma", "4%"))
        self.assertAlmostEqual(sigma, 10.2, delta=0.2)

    def test_salt_and_pepper(self):
        data = self.noisy("--kind", "saltpepper", "--amount", "0.2")
        self.assertEqual(set(data), {0, 100, 255})
        self.assertAlmostEqual(data.count(0) / len(data), 0.1, delta=0.01)
        self.assertAlmostEqual(data.count(255) / len(data), 0.1, delta=0.01)

    def test_poisson(self):
        mean, sigma = self.moments(self.noisy("--kind", "poisson"))
        self.assertAlmostEqual(mean, 100, delta=0.3)
        self.assertAlmostEqual(sigma, 10, delta=0.3)

    def test_speckle(self):
        mean, sigma = self.moments(self.noisy("--kind", "speckle", "--sigma", "15%"))
        self.assertAlmostEqual(mean, 100, delta=0.5)
        self.assertAlmostEqual(sigma, 15, delta=0.4)

    def test_seed(self):
        a, b = self.noisy("--seed", "5"), self.noisy("--seed", "5", "--threads", "7")
        self.assertEqual(a, b)
        self.assertNotEqual(a, self.noisy("--seed", "6"))

    def test_skipped(self):
        self.noisy()
        result = self.json("noise", "flat.pgm", "-o", "n.pgm", "--skip-existing")
        self.assertTrue(result["skipped"])

    def test_bad_values(self):
        for args in (["--sigma", "x"], ["--kind", "saltpepper", "--amount", "2"], ["--seed", "-1"],
                     ["--seed", "9223372036854775808"],
                     ["--kind", "pink"], ["--kind", "poisson", "--amount", "0"]):
            self.tamis("noise", "flat.pgm", "-o", "n.pgm", *args, code=2)


class Measure(Case):
    def test_verify(self):
        result = self.json("verify", "--size", "13x11")  # sanitizers are slow
        self.assertEqual(result["failures"], 0)
        self.assertTrue(any(row["cases"] for row in result["rows"]))
        self.assertIn("cuda", result["skipped"][0])

    def test_bench(self):
        result = self.json("bench", "--size", "100x80", "--repeat", "2", "--type", "u8")
        alone = [f["name"] for f in filters() if f["min_inputs"] == 1]
        self.assertEqual([row["chain"] for row in result["results"]], alone)
        for row in result["results"]:
            self.assertGreater(row["one_thread"]["ns_per_pixel"], 0)
            self.assertEqual("chosen" in row, row["chain"] == "denoise")  # stands for others
        text = self.tamis("bench", "--size", "100x80", "--repeat", "1", "--filter",
                          "median,nlmeans=h=auto:search=5").text
        self.assertIn("ns/pix", text)
        self.assertIn("ms to choose   median,nlmeans=h=", text)

    def test_bench_of_slow_filters(self):
        """One run that takes seconds is enough, but it counts."""
        with subprocess.Popen([TAMIS, "bench", "--filter", "nlmeans=search=35:patch=9", "--type",
                               "u8", "--size", "40x40", "--repeat", "1", "--threads", "1", "--cpu",
                               "c", "--device", "cpu", "--json"],
                              cwd=self.dir, stdout=subprocess.PIPE) as bench:
            used = 0
            while used < 0.2 * os.sysconf("SC_CLK_TCK") and bench.poll() is None:
                with open(f"/proc/{bench.pid}/stat", encoding="ascii") as f:
                    used = int(f.read().split()[13])
                time.sleep(0.01)
            bench.send_signal(signal.SIGSTOP)  # most likely while it warms up
            time.sleep(5.1)
            bench.send_signal(signal.SIGCONT)
            result = json.loads(bench.communicate()[0])["results"][0]
        for key in "one_thread", "all_threads":
            self.assertEqual(result[key]["runs"], 1)
            self.assertGreater(result[key]["best_seconds"], 0)

    def test_bench_published(self):
        """Its chains are read before anything is measured; there is no memory for more here."""
        self.tamis("bench", "--table", "published", "--max-memory", "64K", code=8)

    def test_doctor(self):
        text = self.tamis("doctor", env={"TAMIS_CPU": "base"}).text
        self.assertIn("base in use", text)
        self.assertIn("CUDA", text)
        self.assertEqual(self.json("doctor", "--threads", "3")["threads"], 3)


class Messages(Case):
    def on_terminal(self, env):
        """What the command writes to a terminal."""
        leader, follower = pty.openpty()
        surroundings = dict(os.environ, TERM="xterm", **env)
        run = subprocess.Popen([TAMIS, "gaussian", "missing.png", "-o", "x.png"], stderr=follower,
                               env=surroundings, cwd=self.dir)
        run.wait()
        os.close(follower)
        text = os.read(leader, 4096)
        os.close(leader)
        return text

    def test_color_only_where_wanted(self):
        self.assertIn(b"\033[", self.on_terminal({}))
        self.assertNotIn(b"\033[", self.on_terminal({"NO_COLOR": "1"}))
        self.assertNotIn("\033[", self.tamis("gaussian", "missing.png", "-o", "x.png", code=3).err)

    def test_quiet_unless_asked(self):
        run = self.tamis("gaussian", "in.png", "-o", "x.png")
        self.assertEqual((run.text, run.err), ("", ""))
        self.assertIn("in.png -> y.png", self.tamis("gaussian", "in.png", "-o", "y.png", "-v").err)

    def test_progress_json(self):
        run = self.tamis("gaussian", "in.png", "-o", "x.png", "--progress", "json")
        last = json.loads(run.err.splitlines()[-1])
        self.assertEqual(last["done"], last["total"])
