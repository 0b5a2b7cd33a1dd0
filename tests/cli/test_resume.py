# SPDX-License-Identifier: Apache-2.0
"""Manifests, and batches that go on after they were cut off."""
import fcntl
import json
import os
import random
import shutil
import signal
import subprocess
import time

from support import TAMIS, Case, pattern, pgm_bytes, png_bytes

CHAIN = "median=ksize=3,gaussian=sigma=1"
MANIFEST = "tamis-manifest.jsonl"


class Resume(Case):
    COUNT = 12

    def setUp(self):
        super().setUp()
        os.makedirs(self.path("in/sub"))
        os.mkdir(self.path("out"))
        for i in range(self.COUNT):
            name = "in/%sf%02d.%s" % ("sub/" if i % 4 == 0 else "", i, "pgm" if i % 3 else "png")
            rows = pattern(40 + i, 30, 1, i + 1)
            self.write(name, (pgm_bytes if i % 3 else png_bytes)(
                40 + i, 30, *(() if i % 3 else (1,)), rows))

    def run_on(self, *more, chain=CHAIN, out="out", code=0):
        result = json.loads(self.tamis("run", chain, "in", "-o", out, "--recursive", "--resume",
                                       "--json", *more, code=code).stdout)
        return result["done"], result["skipped"], result["failed"]

    def tree(self, folder):
        found = {}
        for base, _, names in os.walk(self.path(folder)):
            for name in names:
                path = os.path.join(base, name)
                found[os.path.relpath(path, self.path(folder))] = self.read(path)
        return found

    def pictures(self, folder):
        return {n: d for n, d in self.tree(folder).items() if not n.endswith(".jsonl")}

    def lines(self, name="out/" + MANIFEST):
        return [json.loads(line) for line in self.read(name).splitlines()]

    def undisturbed(self, chain=CHAIN):
        os.mkdir(self.path("want"))
        self.tamis("run", chain, "in", "-o", "want", "--recursive")
        return self.pictures("want")


class GoesOn(Resume):
    def test_nothing_is_done_twice(self):
        self.assertEqual(self.run_on(), (self.COUNT, 0, 0))
        before = self.tree("out")
        self.assertEqual(self.run_on(), (0, self.COUNT, 0))
        self.assertEqual(self.tree("out"), before)

    def test_line_of_a_file(self):
        self.run_on()
        lines = self.lines()
        self.assertEqual(len(lines), 2 * self.COUNT)
        line = [x for x in lines if x["outcome"] == "done"][0]
        st = os.stat(line["input"])
        self.assertEqual((line["size"], line["mtime_ns"]), (st.st_size, st.st_mtime_ns))
        self.assertEqual(line["output_size"], os.path.getsize(line["output"]))
        self.assertEqual(line["chain"], "median,gaussian=sigma=1")
        self.assertTrue(line["input"].startswith("/") and line["version"] and line["time"])

    def test_what_has_changed_is_done_again(self):
        self.run_on()
        names = sorted(self.pictures("out"))
        self.write("in/" + names[0], self.read("in/" + names[4]))   # another size
        os.utime(self.path("in/" + names[1]), ns=(1, 12345))       # another time
        os.remove(self.path("out/" + names[2]))                    # the result is gone
        self.write("out/" + names[3], b"cut")                      # or no longer that
        self.assertEqual(self.run_on(), (4, self.COUNT - 4, 0))
        self.assertEqual(self.pictures("out"), self.undisturbed())

    def test_another_chain_option_or_version(self):
        self.run_on()
        self.assertEqual(self.run_on("--strip"), (self.COUNT, 0, 0))
        self.assertEqual(self.run_on("--strip"), (0, self.COUNT, 0))
        self.assertEqual(self.run_on("--strip", "--level", "9"), (self.COUNT, 0, 0))
        self.assertEqual(self.run_on(chain="box"), (self.COUNT, 0, 0))
        self.assertEqual(self.pictures("out"), self.undisturbed("box"))
        self.assertEqual(self.run_on(chain="box=ksize=5"), (self.COUNT, 0, 0))
        text = self.read("out/" + MANIFEST).replace(b'"version":"', b'"version":"9.')
        self.write("out/" + MANIFEST, text)
        self.assertEqual(self.run_on(chain="box=ksize=5"), (self.COUNT, 0, 0))

    def test_the_newest_line_counts(self):
        """A chain, then another, of results that are as large: the first is no longer done."""
        self.run_on(chain="gaussian")
        self.run_on(chain="box")
        self.assertEqual(self.run_on(chain="gaussian"), (self.COUNT, 0, 0))

    def test_failures_are_tried_again(self):
        good = self.read("in/f01.pgm")
        self.write("in/f01.pgm", b"no picture")
        self.assertEqual(self.run_on(code=1), (self.COUNT - 1, 0, 1))
        self.assertIn("not a picture",
                      [x for x in self.lines() if x["outcome"] == "failed"][0]["message"])
        self.assertEqual(self.run_on(code=1), (0, self.COUNT - 1, 1))
        self.write("in/f01.pgm", good)
        self.assertEqual(self.run_on(), (1, self.COUNT - 1, 0))

    def test_last_line_cut_off(self):
        self.run_on()
        text = self.read("out/" + MANIFEST)
        lost = json.loads(text.splitlines()[-1])["input"]
        self.write("out/" + MANIFEST, text[:-20])
        self.assertEqual(self.run_on(), (1, self.COUNT - 1, 0))
        self.assertEqual(self.run_on(), (0, self.COUNT, 0))
        self.assertEqual(len([x for x in self.lines_that_are_whole() if x["input"] == lost and
                              x["outcome"] == "done"]), 1)

    def lines_that_are_whole(self):
        whole = []
        for line in self.read("out/" + MANIFEST).splitlines():
            try:
                whole.append(json.loads(line))
            except ValueError:
                pass
        return whole

    def test_files_of_others_are_not_replaced(self):
        self.write("out/f01.pgm", b"mine")
        self.assertEqual(self.run_on(code=1), (self.COUNT - 1, 0, 1))
        self.assertEqual(self.run_on(code=1), (0, self.COUNT - 1, 1))
        self.assertEqual(self.read("out/f01.pgm"), b"mine")
        self.assertEqual(self.run_on("--overwrite"), (1, self.COUNT - 1, 0))

    def test_failed_files_are_not_ours(self):
        """What was begun and has failed says nothing of the file that is there now."""
        self.run_on()
        lines = [x for x in self.lines() if not x["input"].endswith("f01.pgm")]
        mine = [x for x in self.lines() if x["input"].endswith("f01.pgm")]
        failed = dict(mine[1], outcome="failed", message="no")
        self.write("out/f01.pgm", b"mine")
        for story, code in (([mine[0], failed], 1), ([mine[0]], 0), ([mine[1], failed], 0)):
            self.write("out/" + MANIFEST,
                       b"".join(json.dumps(x).encode() + b"\n" for x in lines + story))
            self.write("out/f01.pgm", b"mine")
            self.run_on(code=code)
            self.assertEqual(self.read("out/f01.pgm") == b"mine", code == 1)

    def test_clock_set_back(self):
        """The last line is the newest, whatever time it gives."""
        self.run_on(chain="gaussian")
        first = len(self.lines())
        self.run_on(chain="box")
        lines = self.lines()
        for line in lines[first:]:
            line["time"] = "2001" + line["time"][4:]
        self.write("out/" + MANIFEST, b"".join(json.dumps(x).encode() + b"\n" for x in lines))
        self.assertEqual(self.run_on(chain="box"), (0, self.COUNT, 0))

    def test_files_of_1970(self):
        os.utime(self.path("in/f01.pgm"), ns=(0, 0))
        self.run_on()
        self.assertEqual(self.run_on(), (0, self.COUNT, 0))

    def test_stop_is_said_of_one_file(self):
        self.tamis("run", "", "in.png", "-o", "q.png")
        run = self.tamis("run", "", "in.png", "-o", "q.png", "--skip_existing", "--manifest",
                         "/dev/full", code=4)
        self.assertIn("stopped early: /dev/full: cannot write", run.err)

    def test_from_another_folder(self):
        self.run_on()
        run = self.tamis("run", CHAIN, self.path("in"), "-o", self.path("out"), "--recursive",
                         "--resume", "--json")
        self.assertEqual(json.loads(run.stdout)["skipped"], self.COUNT)
        self.assertEqual(self.run_on(out="./in/../out/"), (0, self.COUNT, 0))

    def test_names_of_any_bytes(self):
        name = os.fsencode(self.path("in")) + b"/n\xff\xfe.png"
        try:
            shutil.copy(os.fsencode(self.path("in.png")), name)
        except OSError:
            self.skipTest("the file system takes no such names")
        self.assertEqual(self.run_on(), (self.COUNT + 1, 0, 0))
        self.assertEqual(self.run_on(), (0, self.COUNT + 1, 0))

    def test_results_are_no_inputs(self):
        more = ["in/f01.pgm", "in/f02.pgm", "-o", "in/{stem}_x.pgm", "--manifest", "m.jsonl"]
        self.tamis("gaussian", *more, "--resume")
        run = self.tamis("gaussian", *more, "in/f01_x.pgm", "--resume")
        self.assertIn("in/f01_x.pgm: left out", run.err)
        self.assertFalse(os.path.exists(self.path("in/f01_x_x.pgm")))

    def test_dry_run(self):
        self.run_on()
        os.remove(self.path("out/f01.pgm"))
        before = self.tree("out")
        self.assertEqual(self.run_on("--dry_run"), (1, self.COUNT - 1, 0))
        self.assertEqual(self.tree("out"), before)

    def test_guide(self):
        self.write("guide.pgm", pgm_bytes(40, 30, pattern(40, 30, 1, 1)))
        args = ["bilateral", "--guide", "guide.pgm", "in/sub/f00.png", "-o", "out", "--resume",
                "--json"]
        self.assertEqual(json.loads(self.tamis(*args).stdout)["done"], 1)
        self.assertEqual(json.loads(self.tamis(*args).stdout)["done"], 0)
        self.write("guide.pgm", pgm_bytes(40, 30, pattern(40, 30, 1, 2)))
        self.assertEqual(json.loads(self.tamis(*args).stdout)["done"], 1)


class Places(Resume):
    def test_manifest_alone(self):
        """It is appended to, and nothing is left out."""
        for _ in range(2):
            self.tamis("gaussian", "in", "-o", "out", "--manifest", "m.jsonl", "--overwrite")
        done = [x for x in self.lines("m.jsonl") if x["outcome"] == "done"]
        self.assertEqual(len(done), 2 * (self.COUNT - self.COUNT // 4))
        self.assertNotIn(MANIFEST, os.listdir(self.path("out")))

    def test_refused(self):
        for args in (["in.png", "-o", "-", "--resume"], ["in", "--in_place", "--resume"],
                     ["in", "-o", "out", "--resume", "--skip_existing"],
                     ["in", "-o", "in", "--resume", "--overwrite"]):
            self.tamis("gaussian", *args, code=2)
        run = self.tamis("gaussian", "in", "-o", "out", "--manifest", "no/m.jsonl", code=4)
        self.assertIn("no/m.jsonl", run.err)
        self.assertEqual(self.pictures("out"), {})

    def test_one_run_at_a_time(self):
        with open(self.path("m.jsonl"), "w", encoding="utf-8") as f:
            fcntl.flock(f, fcntl.LOCK_EX)
            run = self.tamis("gaussian", "in", "-o", "out", "--manifest", "m.jsonl", code=4)
        self.assertIn("another run", run.err)

    def test_shares(self):
        """Each share has its manifest, and all are read when shares are cut anew."""
        done = [self.run_on("--shard", "%d/3" % i)[0] for i in (1, 2, 3)]
        self.assertEqual(sum(done), self.COUNT)
        self.assertEqual(self.pictures("out"), self.undisturbed())
        manifests = [n for n in os.listdir(self.path("out")) if n.endswith(".jsonl")]
        self.assertEqual(sorted(manifests), ["tamis-manifest.%d-of-3.jsonl" % i for i in (1, 2, 3)])
        self.assertEqual(self.run_on("--shard", "2/3"), (0, done[1], 0))
        self.assertEqual(self.run_on(), (0, self.COUNT, 0))
        self.assertEqual(self.run_on("--shard", "1/2")[0], 0)


class Killed(Resume):
    COUNT = 40

    def start(self):
        return subprocess.Popen([TAMIS, "run", CHAIN, "in", "-o", "out", "--recursive", "--resume",
                                 "--cpu", "c"], cwd=self.dir, stderr=subprocess.DEVNULL,
                                env=dict(os.environ, TAMIS_DEVICE="cpu"))

    def wait_for(self, count):
        limit = time.monotonic() + 60
        while time.monotonic() < limit:
            names = os.listdir(self.path("out"))
            if len([n for n in names if not n.startswith(".")]) >= count:
                return
            time.sleep(0.001)

    def test_killed_again_and_again(self):
        for i in range(self.COUNT):
            self.write("in/k%02d.pgm" % i, pgm_bytes(400, 300, pattern(400, 1, 1, i + 1) * 300))
        want = self.undisturbed()
        for count in (5, 20, 41, 55):
            with self.start() as run:
                self.wait_for(count)
                run.send_signal(signal.SIGKILL)
                run.wait()
            for name, data in self.pictures("out").items():
                if not os.path.basename(name).startswith(".tamis-"):
                    self.assertEqual(data, want[name], name)
        self.write("out/.tamis-00000000-1-1.tmp", b"of another machine")
        self.assertEqual(self.run_on()[2], 0)
        self.assertEqual(self.read("out/.tamis-00000000-1-1.tmp"), b"of another machine")
        os.remove(self.path("out/.tamis-00000000-1-1.tmp"))
        self.assertEqual(self.pictures("out"), want)
        self.assertEqual(self.run_on()[0], 0)

    def test_unfinished_files_are_removed(self):
        self.write("in/a.pgm", pgm_bytes(3000, 3000, pattern(3000, 1) * 3000))
        with subprocess.Popen([TAMIS, "gaussian", "--sigma", "300", "--cpu", "c", "in/a.pgm", "-o",
                               "out", "--resume"], cwd=self.dir, stderr=subprocess.DEVNULL,
                              env=dict(os.environ, TAMIS_DEVICE="cpu")) as run:
            limit = time.monotonic() + 60
            while not [n for n in os.listdir(self.path("out")) if n.endswith(".tmp")]:
                self.assertLess(time.monotonic(), limit)
                time.sleep(0.002)
            other = self.tamis("gaussian", "in/f01.pgm", "-o", "out", "--resume", "--manifest",
                               "m.jsonl", "-v")
            self.assertNotIn("removed", other.err)  # the other one runs
            run.send_signal(signal.SIGKILL)
            os.waitid(os.P_PID, run.pid, os.WEXITED | os.WNOWAIT)  # a zombie is no more, either
            self.write("in/a.pgm", self.read("in/f01.pgm"))
            other = self.tamis("gaussian", "in/a.pgm", "-o", "out", "--resume", "-v")
        self.assertIn("1 unfinished files", other.err)
        self.assertEqual(sorted(os.listdir(self.path("out"))), ["a.pgm", "f01.pgm", MANIFEST])


class Film(Case):
    """A long video goes on where it was cut off, with the frames of one that was not."""
    CHAIN = "nlmeans=frames=1:search=3:patch=3:h=30"
    JOURNAL = ".out.mkv.tamis-journal"
    FRAMES = 640

    def setUp(self):
        super().setUp()
        noise = random.Random(3)
        frame = b"FRAME\n"
        self.write("in.y4m", b"YUV4MPEG2 W32 H20 F25:1 Cmono\n" + b"".join(
            frame + noise.randbytes(32 * 20) for _ in range(self.FRAMES)))
        if self.tamis("run", "", "in.y4m", "-o", "x.mkv", code=tuple(range(9))).returncode:
            self.skipTest("no video module")
        os.remove(self.path("x.mkv"))

    def film(self, *more):
        return ["run", self.CHAIN, "in.y4m", "-o", "out.mkv", "--codec", "ffv1", "--resume",
                "--cpu", "c", "--device", "cpu", *more]

    def kill_after(self, segments):
        with subprocess.Popen([TAMIS, *self.film()], cwd=self.dir,
                              stderr=subprocess.DEVNULL) as run:
            limit = time.monotonic() + 60
            while time.monotonic() < limit and run.poll() is None:
                if os.path.exists(self.path(self.JOURNAL)) and \
                        self.read(self.JOURNAL).count(b"ENDS") >= segments:
                    break
                time.sleep(0.002)
            run.send_signal(signal.SIGKILL)
            self.assertEqual(run.wait(), -signal.SIGKILL)

    def check_whole(self):
        if not os.path.exists(self.path("want.y4m")):
            self.tamis("run", self.CHAIN, "in.y4m", "-o", "want.y4m", "--cpu", "c")
        self.tamis("run", "", "out.mkv", "-o", "got.y4m", "--overwrite")
        want, got = self.read("want.y4m"), self.read("got.y4m")
        self.assertEqual(got[got.index(b"\n"):], want[want.index(b"\n"):])
        self.assertNotIn(self.JOURNAL, os.listdir(self.dir))

    def test_goes_on(self):
        self.kill_after(1)
        self.kill_after(2)
        self.assertNotIn("out.mkv", os.listdir(self.dir))
        run = self.tamis(*self.film())
        self.assertIn("goes on at frame 500", run.err)
        self.check_whole()
        self.assertIn("done already", self.tamis(*self.film()).err)

    def test_codecs_without_headers(self):
        self.tamis("run", "", "in.y4m", "-o", "p.mkv", "--codec", "png", "--resume")
        self.tamis("run", "", "p.mkv", "-o", "p.y4m")
        before, after = self.read("in.y4m"), self.read("p.y4m")
        self.assertEqual(after[after.index(b"\n"):], before[before.index(b"\n"):])

    def test_what_is_damaged_or_of_another_run_is_made_again(self):
        self.kill_after(2)
        kept = self.read(self.JOURNAL)
        damaged = bytearray(kept)
        damaged[kept.rindex(b"ENDS") - 1000] ^= 1
        self.write(self.JOURNAL, bytes(damaged))
        self.assertIn("goes on at frame 250", self.tamis(*self.film()).err)
        self.check_whole()
        self.write(self.JOURNAL, kept.replace(b"h=30", b"h=31"))
        os.remove(self.path("out.mkv"))
        self.assertNotIn("goes on", self.tamis(*self.film()).err)
        self.check_whole()


class FullDisk(Resume):
    def setUp(self):
        super().setUp()
        if os.geteuid() != 0 or subprocess.run(
                ["mount", "-t", "tmpfs", "-o", "size=200k", "none", self.path("out")],
                capture_output=True, check=False).returncode != 0:
            self.skipTest("no file system can be mounted here")
        self.addCleanup(subprocess.run, ["umount", self.path("out")], check=False)

    def test_stops_early_and_goes_on(self):
        for i in range(60):
            self.write("in/z%02d.pgm" % i, pgm_bytes(200, 100, pattern(200, 1, 1, i + 1) * 100))
        want = self.undisturbed()
        run = self.tamis("run", CHAIN, "in", "-o", "out", "--recursive", "--manifest", "m.jsonl",
                         "--jobs", "2", code=4)
        self.assertIn("No space left", run.err)
        self.assertIn("stopped early", run.err)
        self.assertLess(len(run.err.splitlines()), 10, run.err)
        done = self.pictures("out")
        self.assertTrue(0 < len(done) < len(want))
        self.assertTrue(all(want[n] == d for n, d in done.items()))
        subprocess.run(["mount", "-o", "remount,size=8m", self.path("out")], check=True)
        self.run_on("--manifest", "m.jsonl")
        self.assertEqual(self.pictures("out"), want)
