# SPDX-License-Identifier: Apache-2.0
"""Many files in one run: workers, order, failures among them, interruption, progress."""
import fcntl
import json
import os
import pty
import signal
import struct
import subprocess
import termios
import time

from support import TAMIS, Case, pattern, pgm_bytes, png_bytes, tiff_bytes

CHAIN = "median=ksize=3,gaussian=sigma=1"


class Batch(Case):
    """A folder of small pictures of several sizes and types, one of them broken."""

    def setUp(self):
        super().setUp()
        os.mkdir(self.path("in"))
        for i in range(23):
            w, h, channels = 9 + i % 4 * 7, 8 + i % 3 * 5, 1 + i % 4
            self.write("in/f%02d.png" % i, png_bytes(w, h, channels, pattern(w, h, channels, i)))
        for i in range(4):
            self.write("in/g%d.pgm" % i, pgm_bytes(31, 17, pattern(31, 17, 1, 50 + i)))
        self.write("in/f10x.png", b"no picture")

    def contents(self, folder):
        names = sorted(os.listdir(self.path(folder)))
        return {name: self.read(os.path.join(folder, name)) for name in names}

    def run_into(self, folder, *more, code=1):
        if not os.path.isdir(self.path(folder)):
            os.mkdir(self.path(folder))
        return self.tamis("run", CHAIN, "in", "-o", folder, *more, code=code)

    def children(self):
        """Names of the inputs without the broken one, as outputs."""
        return sorted(n for n in os.listdir(self.path("in")) if n != "f10x.png")


class Workers(Batch):
    def test_results_do_not_depend_on_jobs(self):
        self.run_into("one", "--jobs", "1", "--threads", "1")
        want = self.contents("one")
        self.assertEqual(sorted(want), self.children())
        for jobs, threads in ((2, 1), (3, 4), (64, 2)):
            folder = "j%dt%d" % (jobs, threads)
            self.run_into(folder, "--jobs", str(jobs), "--threads", str(threads))
            self.assertEqual(self.contents(folder), want)

    def test_one_by_one(self):
        self.run_into("out")
        for name in ("f00.png", "f09.png", "g3.pgm"):
            self.tamis("run", CHAIN, "in/" + name, "-o", "alone", "--format", name[-3:],
                       "--overwrite")
            self.assertEqual(self.read("alone"), self.read("out/" + name))

    def test_order_of_reports(self):
        """Text and JSON come in the order of the inputs, whoever is done first."""
        self.write("in/a_big.pgm", pgm_bytes(900, 700, pattern(900, 1) * 700))
        run = self.run_into("out", "-v", "--jobs", "4")
        lines = [line.split()[1] for line in run.err.splitlines() if "->" in line]
        self.assertEqual(lines, ["in/" + n for n in self.children()])
        at = [i for i, line in enumerate(run.err.splitlines()) if "f10x.png: not a picture" in line]
        self.assertIn("in/f10.png ->", run.err.splitlines()[at[0] - 1])
        result = json.loads(self.run_into("out", "--json", "--overwrite", "--jobs", "4").stdout)
        self.assertEqual([f["input"] for f in result["files"]],
                         ["in/" + n for n in sorted(os.listdir(self.path("in")))])
        self.assertEqual(result["jobs"], 4)

    def test_failures_keep_their_own_texts(self):
        """Many files that fail for different reasons at the same time."""
        for name in os.listdir(self.path("in")):
            os.remove(self.path("in/" + name))
        for i in range(40):
            data = [b"no picture", self.read("in.png")[:40 + i], b"P5\n9 9\n255\n" + bytes(3)]
            data = data[i % 3]
            self.write("in/b%02d.png" % i, data)
        result = json.loads(self.run_into("out", "--json", "--jobs", "8").stdout)
        for i, file in enumerate(result["files"]):
            self.assertTrue(file["error"].startswith("in/b%02d.png: " % i), file)
            self.assertEqual("not a picture" in file["error"], i % 3 == 0, file)
        self.assertEqual(result["failed"], 40)

    def test_memory_limit_is_for_all_files_in_work(self):
        """Pictures that fit one by one are all filtered, however many might be in work."""
        for i in range(8):
            self.write("in/m%d.pgm" % i, pgm_bytes(1000, 1000, pattern(1000, 1, 1, i) * 1000))
        self.run_into("want")
        result = json.loads(self.run_into("out", "--jobs", "12", "--max_memory", "6M",
                                          "--json").stdout)
        self.assertEqual(result["failed"], 1, result["files"])
        self.assertLessEqual(result["peak_bytes"], 6 << 20)
        self.assertEqual(self.contents("out"), self.contents("want"))

    def test_too_large_for_the_limit(self):
        self.write("in/m.pgm", pgm_bytes(1000, 1000, pattern(1000, 1) * 1000))
        result = json.loads(self.run_into("out", "--max_memory", "1M", "--json").stdout)
        failed = {f["input"]: f for f in result["files"] if f["status"] == "failed"}
        self.assertEqual(sorted(failed), ["in/f10x.png", "in/m.pgm"])
        self.assertEqual(failed["in/m.pgm"]["code"], 8)


    def test_pages_of_several_sizes(self):
        """Small first pages say little of what the next ones take."""
        pages = [(50, 40, bytes(2000), 0), (1500, 1000, bytes(1500000), 0)]
        os.mkdir(self.path("many"))
        for i in range(6):
            self.write("many/m%d.tif" % i, tiff_bytes(pages))
        os.mkdir(self.path("out"))
        result = self.json("gaussian", "many", "-o", "out", "--jobs", "6", "--max_memory", "9M")
        self.assertEqual([f["pages"] for f in result["files"]], [2] * 6)

    def test_standard_input_is_read_once(self):
        data = png_bytes(1000, 1000, 1, [os.urandom(1000) for _ in range(1000)])
        run = self.tamis("gaussian", "-", "-o", "x.png", "--max_memory", "2M", data=data, code=8)
        self.assertIn("the memory limit is", run.err)

    def test_short_names_are_named(self):
        self.write("n", self.read("in.png"))
        run = self.tamis("gaussian", "n", "-o", "e.png", "--max_memory", "1K", code=8)
        self.assertTrue(run.err.startswith("tamis: error: n: "), run.err)


class Progress(Batch):
    def test_json_lines(self):
        run = self.run_into("out", "--progress", "json", "--jobs", "3")
        last = [json.loads(line) for line in run.err.splitlines() if line.startswith("{")][-1]
        self.assertEqual((last["finished"], last["files"], last["failed"]), (28, 28, 1))
        self.assertEqual(last["share"], 1)
        self.assertGreater(last["files_per_second"], 0)

    def test_bar_stays_on_its_line(self):
        """Whatever is in a name, and cut between characters."""
        name = "a\nbc" + "\u00e9" * 60
        os.mkfifo(self.path(name))
        screen, terminal = pty.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("4H", 24, 60, 0, 0))
        with subprocess.Popen([TAMIS, "run", "", name, "-o", "x.png", "--progress", "bar"],
                              cwd=self.dir, stderr=terminal) as run:
            time.sleep(0.4)  # it waits for its input
            self.write(name, self.read("in.png"))
            self.assertEqual(run.wait(20), 0)
        shown = os.read(screen, 4096).decode("utf-8")
        os.close(screen)
        os.close(terminal)
        self.assertIn(" a?bc\u00e9\u00e9", shown)
        self.assertNotIn("\n", shown)
        self.assertLess(max(len(line.encode()) for line in shown.split("\r")), 60 + 3)

    def test_share_grows(self):
        self.write("in/z.pgm", pgm_bytes(1200, 1200, pattern(1200, 1) * 1200))
        os.mkdir(self.path("out"))
        run = self.tamis("median", "--ksize", "15", "--cpu", "c", "in", "-o", "out", "--progress",
                         "json", code=1)
        lines = [json.loads(line) for line in run.err.splitlines() if line.startswith("{")]
        shares = [line["share"] for line in lines]
        self.assertEqual(shares, sorted(shares))
        self.assertTrue(any(0 < line["done"] < line["total"] for line in lines), lines)


class Interrupted(Batch):
    def test_ends_cleanly(self):
        """Files in work are dropped, those done stay, nothing else is left."""
        for i in range(4):
            self.write("in/h%d.pgm" % i, pgm_bytes(1500, 1500, pattern(1500, 1) * 1500))
        os.mkdir(self.path("out"))
        with subprocess.Popen([TAMIS, "nlmeans", "--cpu", "c", "--tile", "32x32", "--jobs",
                               "4", "in",
                               "-o", "out"], cwd=self.dir, stderr=subprocess.PIPE,
                              env=dict(os.environ, TAMIS_DEVICE="cpu")) as run:
            limit = time.monotonic() + 60
            small = [n for n in self.children() if n[0] != "h"]
            while not set(small) <= set(os.listdir(self.path("out"))) and time.monotonic() < limit:
                time.sleep(0.02)
            run.send_signal(signal.SIGINT)
            start = time.monotonic()
            err = run.stderr.read().decode()
            self.assertEqual(run.wait(), 130, err)
        self.assertLess(time.monotonic() - start, 30)
        self.assertEqual(sorted(os.listdir(self.path("out"))), small)
        self.assertIn("27 of 32 files done", err)

    def test_second_time_at_once(self):
        self.write("big.pgm", pgm_bytes(1500, 1500, pattern(1500, 1) * 1500))
        with subprocess.Popen([TAMIS, "run", "", "--cpu", "c", "big.pgm", "-o", "-", "--format",
                               "pnm"], cwd=self.dir, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as run:
            time.sleep(0.5)
            run.send_signal(signal.SIGINT)  # it waits for its reader
            time.sleep(0.6)
            run.send_signal(signal.SIGTERM)
            self.assertEqual(run.wait(20), -signal.SIGTERM)

    def interrupted(self, source, target, given=b""):
        """What waits for its input, or for who reads its output, ends at the first signal."""
        with subprocess.Popen([TAMIS, "gaussian", "--cpu", "c", source, "-o", target],
                              cwd=self.dir, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as run:
            run.stdin.write(given)
            run.stdin.flush()
            time.sleep(0.4)
            self.assertIsNone(run.poll(), source)
            run.send_signal(signal.SIGINT)
            self.assertEqual(run.wait(20), 130, source)
        self.assertNotIn("x.png", os.listdir(self.dir))

    def test_what_waits_for_others_ends(self):
        os.mkfifo(self.path("pipe.png"))
        os.mkfifo(self.path("pipe.y4m"))
        clip = b"YUV4MPEG2 W4 H2 F25:1 Cmono\n" + b"FRAME\n12345678" * 3 + b"FRAME\n"
        for source, target, given in (("-", "x.png", b""), ("-", "x.png", b"P5\n9 9\n255\n"),
                                      ("pipe.png", "x.png", b""), ("in.png", "pipe.png", b""),
                                      ("pipe.y4m", "x.y4m", b""), ("-", "x.y4m", clip)):
            self.interrupted(source, target, given)
        hold = os.open(self.path("pipe.y4m"), os.O_RDWR)  # a writer that gives nothing
        self.interrupted("pipe.y4m", "x.y4m")
        os.close(hold)

    def test_a_full_disk_waits_for_nobody(self):
        clip = b"YUV4MPEG2 W640 H480 F25:1 Cmono\n" + (b"FRAME\n" + bytes(640 * 480)) * 3
        with subprocess.Popen([TAMIS, "gaussian", "--cpu", "c", "-", "-o", "/dev/full", "--format",
                               "y4m"], cwd=self.dir, stdin=subprocess.PIPE,
                              stderr=subprocess.PIPE) as run:
            run.stdin.write(clip)
            run.stdin.flush()
            self.assertNotIn(run.wait(20), (0, 130))
            self.assertIn(b"/dev/full", run.stderr.read())


class FullDisk(Case):
    """A file system of 64 KB beside the one that the test is on."""

    def setUp(self):
        super().setUp()
        os.mkdir(self.path("small"))
        mount = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none",
                                self.path("small")], capture_output=True, check=False)
        if mount.returncode:
            self.skipTest("no file system can be mounted here")
        self.addCleanup(subprocess.run, ["umount", self.path("small")], check=True)
        self.write("small/a.pgm", pgm_bytes(200, 150, pattern(200, 150)))
        for name in ("b", "c", "d"):
            os.link(self.path("small/a.pgm"), self.path("small/%s.pgm" % name))
            self.write(name + ".pgm", pgm_bytes(20, 10, pattern(20, 10)))

    def test_the_rest_goes_on(self):
        names = ["small/%s.pgm" % n for n in "abcd"] + ["b.pgm", "c.pgm", "d.pgm"]
        args = ("median", *names, "-o", "{dir}/{stem}_x.pgm", "--jobs", "1", "--resume",
                "--manifest", "m.jsonl")
        run = self.tamis(*args, code=4)
        self.assertIn("small/b_x.pgm: cannot write: No space left", run.err)
        self.assertIn("4 of 7 files done, 0 skipped, 1 failed, 2 not begun", run.err)
        self.assertEqual(sorted(os.listdir(self.path("small"))),
                         ["a.pgm", "a_x.pgm", "b.pgm", "c.pgm", "d.pgm"])
        for name in "bcd":
            self.assertIn(name + "_x.pgm", self.names())
        subprocess.run(["mount", "-o", "remount,size=1m", self.path("small")], check=True)
        self.assertIn("4 of 7 files are done already", self.tamis(*args).err)
        self.assertEqual(self.read("small/d_x.pgm"), self.read("small/a_x.pgm"))
