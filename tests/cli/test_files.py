# SPDX-License-Identifier: Apache-2.0
"""Files in and out: names, templates, batches, pipes, what may be overwritten, broken files."""
import json
import os
import resource
import signal
import struct
import subprocess
import time
import unittest

from support import TAMIS, Case, chunk, pattern, pgm_bytes, png_bytes, tiff_bytes

ODD_NAMES = ["-blur.png", "--help.png", "two words.png", "grüße-日本.png", "[a]*.png"]


class Names(Case):
    def setUp(self):
        super().setUp()
        for name in ODD_NAMES:
            self.write(name, self.read("in.png"))

    def test_after_double_dash(self):
        for name in ODD_NAMES:
            self.tamis("gaussian", "-o", "out.png", "--overwrite", "--", name)

    def test_with_folder(self):
        for name in ODD_NAMES:
            self.tamis("gaussian", "./" + name, "-o", "out.png", "--overwrite")

    def test_as_output(self):
        self.tamis("gaussian", "in.png", "-o", "want.png")
        os.mkdir(self.path("out"))
        for name in ODD_NAMES:
            self.tamis("gaussian", "in.png", "-o", "out/" + name)
            self.assertEqual(self.read("out/" + name), self.read("want.png"))

    def test_in_batch(self):
        os.mkdir(self.path("out"))
        self.tamis("gaussian", "-o", "out", "--", *ODD_NAMES)
        self.assertEqual(sorted(os.listdir(self.path("out"))), sorted(ODD_NAMES))

    def test_messages_hold_the_whole_name(self):
        for name in ODD_NAMES:
            self.write(name, b"no picture")
            run = self.tamis("gaussian", "-o", "out.png", "--", name, code=3)
            self.assertIn(name, run.err)

    def test_existing_name_before_glob(self):
        self.write("[a]*.png", png_bytes(5, 5, 1, pattern(5, 5)))
        self.write("ab.png", png_bytes(6, 6, 1, pattern(6, 6)))
        info = self.json("info", "[a]*.png")
        self.assertEqual([f["file"] for f in info["files"]], ["[a]*.png"])

    def test_dash_word_is_explained(self):
        run = self.tamis("gaussian", "-blur.png", "-o", "x.png", code=2)
        self.assertIn("./", run.err)


class SameFile(Case):
    def test_refused(self):
        os.mkdir(self.path("sub"))
        os.symlink("../in.png", self.path("sub/link.png"))
        before = self.read("in.png")
        for out in ("in.png", "./in.png", "sub/../in.png", "sub/link.png"):
            run = self.tamis("gaussian", "in.png", "-o", out, code=4)
            self.assertIn("itself", run.err)
        self.assertEqual(self.read("in.png"), before)

    def test_with_overwrite(self):
        self.tamis("gaussian", "in.png", "-o", "want.png")
        self.tamis("gaussian", "in.png", "-o", "in.png", "--overwrite")
        self.assertEqual(self.read("in.png"), self.read("want.png"))

    def test_in_place(self):
        self.tamis("gaussian", "in.png", "-o", "want.png")
        self.tamis("gaussian", "in.png", "--in-place")
        self.assertEqual(self.read("in.png"), self.read("want.png"))
        self.assertEqual(self.names(), ["in.png", "want.png"])

    def test_output_that_is_another_input(self):
        self.write("in_x.png", self.read("in.png"))
        before = self.read("in_x.png")
        self.tamis("gaussian", "in.png", "in_x.png", "-o", "{stem}_x.png", "--overwrite", code=2)
        self.assertEqual(self.read("in_x.png"), before)


class Existing(Case):
    def test_refused_and_untouched(self):
        self.write("old.png", b"old")
        run = self.tamis("gaussian", "in.png", "-o", "old.png", code=4)
        self.assertIn("--overwrite", run.err)
        self.assertEqual(self.read("old.png"), b"old")

    def test_skip(self):
        self.write("old.png", b"old")
        self.tamis("gaussian", "in.png", "-o", "old.png", "--skip-existing")
        self.assertEqual(self.read("old.png"), b"old")

    def test_overwrite(self):
        self.write("old.png", b"old")
        self.tamis("gaussian", "in.png", "-o", "old.png", "--overwrite")
        self.assertTrue(self.read("old.png").startswith(b"\x89PNG"))

    def test_skip_and_overwrite(self):
        self.tamis("gaussian", "in.png", "-o", "x.png", "--skip_existing", "--overwrite", code=2)

    def test_old_file_survives_a_failure(self):
        self.write("old.png", b"old")
        self.write("bad.png", b"no picture")
        self.tamis("gaussian", "bad.png", "-o", "old.png", "--overwrite", code=3)
        self.assertEqual(self.read("old.png"), b"old")


class Batches(Case):
    def setUp(self):
        super().setUp()
        for folder in ("a", "b", "out"):
            os.mkdir(self.path(folder))
        self.write("a/one.png", self.read("in.png"))
        self.write("a/two.png", png_bytes(20, 9, 1, pattern(20, 9)))
        self.write("b/one.png", png_bytes(7, 7, 4, pattern(7, 7, 4)))

    def test_template(self):
        self.tamis("gaussian", "a", "b", "-o", "{dir}/{stem}_clean{ext}")
        self.assertEqual(sorted(os.listdir(self.path("a"))),
                         ["one.png", "one_clean.png", "two.png", "two_clean.png"])
        self.assertTrue(os.path.exists(self.path("b/one_clean.png")))

    def test_name_field_and_braces(self):
        self.tamis("gaussian", "a/one.png", "-o", "out/{{x}}{name}")
        self.assertEqual(os.listdir(self.path("out")), ["{x}one.png"])

    def test_extension_of_a_format(self):
        for name, file in (("jpeg", "one.jpg"), ("jpg", "one.jpg"), ("tif", "one.tif")):
            self.tamis("gaussian", "a/one.png", "-o", "out", "--format", name, "--overwrite")
            self.assertIn(file, os.listdir(self.path("out")))

    def test_unknown_field(self):
        self.assertIn("{dir}", self.tamis("gaussian", "a", "-o", "{foo}", code=2).err)

    def test_folder_and_glob(self):
        self.tamis("gaussian", "a/t*.png", "b", "-o", "out/")
        self.assertEqual(sorted(os.listdir(self.path("out"))), ["one.png", "two.png"])

    def test_folder_leaves_out_what_is_no_picture(self):
        self.write("a/notes.txt", b"notes")
        self.tamis("gaussian", "a", "-o", "out")
        self.assertEqual(sorted(os.listdir(self.path("out"))), ["one.png", "two.png"])

    def test_two_results_for_one_name(self):
        run = self.tamis("gaussian", "a/one.png", "b/one.png", "-o", "out", code=2)
        self.assertIn("a/one.png", run.err)
        self.assertIn("b/one.png", run.err)
        self.assertEqual(os.listdir(self.path("out")), [])

    def test_one_output_for_two(self):
        self.tamis("gaussian", "a", "-o", "out.png", code=2)

    def test_bad_file_among_good_ones(self):
        self.write("a/bad.png", b"no picture")
        for name in ("one", "two"):
            self.tamis("gaussian", "a/%s.png" % name, "-o", "%s_alone.png" % name)
        run = self.tamis("gaussian", "a", "-o", "out", code=1)
        self.assertIn("a/bad.png", run.err.splitlines()[-1])
        self.assertEqual(sorted(os.listdir(self.path("out"))), ["one.png", "two.png"])
        for name in ("one", "two"):
            self.assertEqual(self.read("out/%s.png" % name), self.read("%s_alone.png" % name))

    def test_json_of_a_batch(self):
        self.write("a/bad.png", b"no picture")
        result = self.json("gaussian", "a", "-o", "out", code=1)
        self.assertEqual([f["status"] for f in result["files"]], ["failed", "done", "done"])
        self.assertEqual((result["done"], result["failed"], result["exit_code"]), (2, 1, 1))

    def test_dry_run_writes_nothing(self):
        run = self.tamis("gaussian", "a", "-o", "out", "--dry-run")
        self.assertIn("a/one.png -> out/one.png", run.text)
        self.assertEqual(os.listdir(self.path("out")), [])

    def test_dry_run_finds_what_would_fail(self):
        self.write("a/bad.png", b"no picture")
        self.tamis("gaussian", "a", "-o", "out", "--dry-run", code=1)

    def test_dry_run_checks_what_the_output_holds(self):
        for out, words in (("out.jpg", "jpeg cannot hold s16"), ("out.xyz", "extension '.xyz'")):
            err = self.tamis("run", "sobel=output=dx", "in.png", "-o", out, "--dry-run", code=5).err
            self.assertIn(words, err)
            self.assertEqual(err, self.tamis("run", "sobel=output=dx", "in.png", "-o", out,
                                             code=5).err)
        self.write("two.tif", tiff_bytes([(4, 3, bytes(12), 0), (4, 3, bytes(12), 0)]))
        err = self.tamis("box", "two.tif", "-o", "out.png", "--dry-run", code=5).err
        self.assertIn("out.png: png holds one picture only", err)
        self.assertEqual(err, self.tamis("box", "two.tif", "-o", "out.png", code=5).err)
        self.tamis("box", "two.tif", "-o", "out.tif", "--dry-run")
        self.assertFalse(os.path.exists(self.path("out.png")))

    def test_empty_folder(self):
        self.tamis("gaussian", "out", "-o", "x.png", code=3)


class Pipes(Case):
    def test_same_bytes_and_nothing_else(self):
        self.tamis("gaussian", "in.png", "-o", "out.png")
        for more in ([], ["-v"], ["-v", "-v", "--progress", "json"], ["--progress", "bar"]):
            run = self.tamis("gaussian", "-", "-o", "-", *more, data=self.read("in.png"))
            self.assertEqual(run.stdout, self.read("out.png"))
        self.assertEqual(self.names(), ["in.png", "out.png"])

    def test_format(self):
        self.tamis("gaussian", "in.png", "-o", "out.ppm")
        run = self.tamis("gaussian", "in.png", "-o", "-", "--format", "pnm")
        self.assertEqual(run.stdout, self.read("out.ppm"))

    def test_empty_input(self):
        self.tamis("gaussian", "-", "-o", "-", data=b"", code=3)

    def test_json_and_picture(self):
        self.tamis("gaussian", "in.png", "-o", "-", "--json", code=2)

    def into_closed_pipe(self, *args, **more):
        out, into = os.pipe()
        os.close(out)
        run = subprocess.run([TAMIS, *args], cwd=self.dir, stdout=into, stderr=subprocess.PIPE,
                             check=False, **more)
        os.close(into)
        return run.returncode, run.stderr.decode()

    def test_closed_pipe(self):
        """A reader that has had enough ends the command as it ends other tools: without a word."""
        for args in (["help"], ["man"], ["list", "--json"], ["compare", "in.png", "in.png"],
                     ["gaussian", "--help"], ["bench", "--size", "64x48", "--filter", "gaussian"],
                     ["gaussian", "in.png", "-o", "-"], ["noise", "in.png", "-o", "-"],
                     ["gaussian", "in.png", "-o", "-", "--format", "tiff"],
                     ["gaussian", "in.png", "-o", "x.png", "--overwrite", "--json"]):
            for restore in (True, False):  # also where the shell has SIGPIPE ignored
                self.assertEqual(self.into_closed_pipe(*args, restore_signals=restore),
                                 (-signal.SIGPIPE, ""), args)
        self.assertEqual(self.names(), ["in.png", "x.png"])

    def test_pipe_closed_half_way(self):
        self.write("big.pgm", pgm_bytes(1200, 900, pattern(1200, 1) * 900))
        with subprocess.Popen([TAMIS, "gaussian", "big.pgm", "-o", "-"], cwd=self.dir,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
            run.stdout.read(5)
            run.stdout.close()
            self.assertEqual(run.stderr.read(), b"")
            self.assertEqual(run.wait(), -signal.SIGPIPE)

    def test_closed_pipe_hides_no_other_error(self):
        code, err = self.into_closed_pipe("gaussian", "missing.png", "-o", "-")
        self.assertEqual(code, 3)
        self.assertIn("missing.png", err)


class Folders(Case):
    def test_missing(self):
        for out in ("no/x.png", "no/"):
            run = self.tamis("gaussian", "in.png", "-o", out, code=4)
            self.assertIn("no/", run.err)
        self.assertEqual(self.names(), ["in.png"])

    def test_without_permission(self):
        os.mkdir(self.path("closed"))
        os.chmod(self.path("closed"), 0o555)
        os.chmod(self.dir, 0o755)
        more = {"user": 65534} if os.geteuid() == 0 else {}
        try:
            self.tamis("gaussian", "in.png", "-o", "closed/x.png", code=4, **more)
        except PermissionError:
            self.skipTest("the command cannot be run as another user here")
        self.assertEqual(os.listdir(self.path("closed")), [])


class BrokenFiles(Case):
    def refused(self, name, code=3, memory_mib=256):
        """A clean refusal: named, quick, small, nothing left."""
        before = self.names()
        with subprocess.Popen([TAMIS, "gaussian", name, "-o", "out.png"], cwd=self.dir,
                              stderr=subprocess.PIPE) as run:
            err = run.stderr.read().decode()
            _, status, usage = os.wait4(run.pid, 0)
            run.returncode = os.waitstatus_to_exitcode(status)
        self.assertIn(run.returncode, code if isinstance(code, tuple) else (code,), err)
        self.assertIn(name, err)
        self.assertEqual(len(err.splitlines()), 1, err)
        self.assertLess(usage.ru_utime + usage.ru_stime, 2)  # whatever else the machine does
        self.assertLess(usage.ru_maxrss, memory_mib * 1024)
        self.assertEqual(self.names(), before)

    def test_empty_and_text(self):
        self.write("empty.png", b"")
        self.write("text.png", b"This is not a picture.\n")
        self.refused("empty.png")
        self.refused("text.png")
        self.refused("missing.png")

    def test_boastful(self):
        """Headers that promise more than their files hold: broken files, not a lack of memory."""
        most = 2**31 - 1
        for w, h, bits in ((most, most, 8), (most, most, 16), (60000, 60000, 16), (most, 1, 8)):
            head = struct.pack(">IIBBBBB", w, h, bits, 6, 0, 0, 0)
            self.write("huge.png", b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) +
                       chunk(b"IDAT", b"x") + chunk(b"IEND", b""))
            self.refused("huge.png")
            for kind, data in (("P4", b""), ("P5", b"255\n"), ("P6", b"65535\n"), ("P2", b"7\n1 2"),
                               ("PF", b"-1\n"), ("Pf", b"1.0\n")):
                self.write("huge.pnm", b"%s\n%d %d\n%s" % (kind.encode(), w, h, data))
                self.refused("huge.pnm")
            self.write("huge.pam", b"P7\nWIDTH %d\nHEIGHT %d\nDEPTH 4\nMAXVAL 65535\nENDHDR\n" %
                       (w, h))
            self.refused("huge.pam")
            for order in (b"False", b"True"):
                text = b"{'descr': '<f4', 'fortran_order': %s, 'shape': (%d, %d, 4), }" % (
                    order, h, w)
                self.write("huge.npy", b"\x93NUMPY\1\0" + struct.pack("<H", 118) + text.ljust(118))
                self.refused("huge.npy")
            for compression in (1, 4, 5, 8, 50000):
                for tags in ((278, 0), (278, h), (322, 4096)):
                    self.write("huge.tif", boastful_tiff(w, h, compression, *tags))
                    self.refused("huge.tif", code=3 if compression != 50000 else (3, 5))
        for kind in (0xC0, 0xC2, 0xC9):  # baseline, progressive, arithmetic
            self.write("huge.jpg", boastful_jpeg(kind))
            self.refused("huge.jpg")

    def test_truncated(self):
        data = self.read("in.png")
        for part in (20, 50, len(data) // 2, len(data) - 20):
            self.write("cut.png", data[:part])
            self.refused("cut.png")

    def test_mislabeled(self):
        self.write("really_png.jpg", self.read("in.png"))
        self.tamis("gaussian", "really_png.jpg", "-o", "out.png")
        self.tamis("gaussian", "in.png", "-o", "want.png")
        self.assertEqual(self.read("out.png"), self.read("want.png"))


def boastful_tiff(w, h, compression, tag, value):
    """A TIFF without pixels; tag 278 gives rows per strip, 322 the side of square tiles."""
    bits = 16 if compression in (1, 5, 8) else 1
    rows = [(256, w), (257, h), (258, bits), (259, compression), (262, 1), (277, 1)]
    if tag == 278:
        rows += [(273, 8), (278, value), (279, 1)]
    else:
        rows += [(322, value), (323, value), (324, 8), (325, 1)]
    return (b"II*\0\x08\0\0\0" + struct.pack("<H", len(rows)) +
            b"".join(struct.pack("<HHII", t, 4, 1, v) for t, v in rows) + b"\0\0\0\0")


def boastful_jpeg(kind):
    """65500 x 65500 RGB with an empty scan."""
    def segment(marker, data):
        return b"\xff" + bytes([marker]) + struct.pack(">H", len(data) + 2) + data
    end = b"\0\0\0" if kind == 0xC2 else b"\0\x3f\0"
    return (b"\xff\xd8" + segment(0xDB, b"\0" + b"\1" * 64) +
            segment(kind, struct.pack(">BHHB", 8, 65500, 65500, 3) +
                    b"\1\x11\0\2\x11\0\3\x11\0") +
            segment(0xC4, b"\0\1" + b"\0" * 15 + b"\0") +
            segment(0xC4, b"\x10\1" + b"\0" * 15 + b"\0") +
            segment(0xDA, b"\3\1\0\2\0\3\0" + end) + b"\xff\xd9")


class FullDisk(Case):
    @unittest.skipUnless(os.path.exists("/dev/full"), "there is no /dev/full")
    def test_dev_full(self):
        for name in ("png", "pnm", "jpeg", "tiff", "npy"):
            run = self.tamis("gaussian", "in.png", "-o", "/dev/full", "--format", name, code=4)
            self.assertIn("/dev/full", run.err)
            self.assertIn("No space left", run.err)

    def test_short_write(self):
        """A file size limit makes a write fail half-way, as a full disk does."""
        self.write("big.pgm", pgm_bytes(300, 300, pattern(300, 300)))
        self.write("old.pgm", b"old")

        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))

        for out in ("new.pgm", "old.pgm"):
            run = self.tamis("gaussian", "big.pgm", "-o", out, "--overwrite", code=4,
                             preexec_fn=limit)
            self.assertIn(out, run.err)
        self.assertEqual(self.names(), ["big.pgm", "in.png", "old.pgm"])
        self.assertEqual(self.read("old.pgm"), b"old")


def cpu_seconds():
    """Of programs that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Interrupt(Case):
    def test_what_writes_nothing_ends_at_once(self):
        """Even while it waits for its input."""
        for words in (["compare", "-", "in.png"], ["estimate", "-"], ["info", "-"],
                      ["report", "-", "in.png", "-o", "x.html"]):
            with subprocess.Popen([TAMIS, *words], cwd=self.dir, stdin=subprocess.PIPE,
                                  stderr=subprocess.PIPE) as run:
                time.sleep(0.5)
                run.send_signal(signal.SIGINT)
                self.assertEqual(run.wait(20), 130, words)
                self.assertIn(b"interrupted", run.stderr.read())
            self.assertEqual(self.names(), ["in.png"])

    def test_ends_cleanly(self):
        self.write("big.pgm", pgm_bytes(6000, 6000, pattern(6000, 1) * 6000))
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            before = cpu_seconds()
            with subprocess.Popen([TAMIS, "gaussian", "--cpu", "c", "--sigma", "400", "--progress",
                                   "json", "big.pgm", "in.png", "-o", "{stem}_out.pgm"],
                                  cwd=self.dir, stderr=subprocess.PIPE) as run:
                json.loads(run.stderr.readline())  # it is at work
                run.send_signal(number)
                rest = run.stderr.read().decode()
                self.assertEqual(run.wait(), 130, rest)
            # Of two minutes that the whole run takes; the clock tells more of a busy machine.
            self.assertLess(cpu_seconds() - before, 40)
            self.assertEqual(self.names(), ["big.pgm", "in.png"])
