# SPDX-License-Identifier: Apache-2.0
"""Folders with folders in them, results among the inputs, shares of the inputs."""
import json
import os

from support import Case, pattern, pgm_bytes, png_bytes


class Folders(Case):
    def setUp(self):
        super().setUp()
        for folder in ("in/b/deep", "in/empty", "in/.hidden", "out"):
            os.makedirs(self.path(folder))
        for i, name in enumerate(("in/z.png", "in/a.png", "in/b/a.png", "in/b/deep/q.png",
                                  "in/.hidden/h.png", "in/.h.png")):
            self.write(name, png_bytes(9 + i, 8, 1, pattern(9 + i, 8, 1, i + 1)))
        self.write("in/b/notes.txt", b"notes")

    def tree(self, folder):
        found = []
        for base, _, names in os.walk(self.path(folder)):
            found += [os.path.relpath(os.path.join(base, n), self.path(folder)) for n in names]
        return sorted(found)

    ALL = ["a.png", "b/a.png", "b/deep/q.png", "z.png"]


class Recursive(Folders):
    def test_tree_is_kept(self):
        run = self.tamis("gaussian", "in", "-o", "out", "--recursive", "-v")
        self.assertEqual(self.tree("out"), self.ALL)
        self.assertFalse(os.path.exists(self.path("out/empty")))
        for name in ("in/.h.png", "in/.hidden", "in/b/notes.txt"):
            self.assertIn(name + ": left out", run.err)
        for name in self.ALL:
            self.tamis("gaussian", "in/" + name, "-o", "want.png", "--overwrite")
            self.assertEqual(self.read("out/" + name), self.read("want.png"))

    def test_order(self):
        result = self.json("gaussian", "in/", "-o", "out/", "--recursive")
        self.assertEqual([f["input"] for f in result["files"]], ["in/" + n for n in self.ALL])
        self.assertEqual(result["files"][2]["output"], "out/b/deep/q.png")

    def test_only_when_asked(self):
        run = self.tamis("gaussian", "in", "-o", "out", "-v")
        self.assertEqual(self.tree("out"), ["a.png", "z.png"])
        self.assertIn("--recursive", run.err)

    def test_dry_run_makes_no_folders(self):
        self.tamis("gaussian", "in", "-o", "out", "--recursive", "--dry_run")
        self.assertEqual(os.listdir(self.path("out")), [])

    def test_links_to_folders_are_not_followed(self):
        os.symlink("..", self.path("in/b/up"))
        os.symlink("a.png", self.path("in/link.png"))
        self.tamis("gaussian", "in", "-o", "out", "--recursive")
        self.assertEqual(self.tree("out"), sorted(self.ALL + ["link.png"]))

    def test_nothing_in_it(self):
        self.assertIn("no pictures", self.tamis("gaussian", "in/empty", "-o", "out", "--recursive",
                                                code=3).err)

    def test_in_place(self):
        self.tamis("gaussian", "in", "-o", "out", "--recursive")
        self.tamis("gaussian", "in", "--in_place", "--recursive")
        for name in self.ALL:
            self.assertEqual(self.read("in/" + name), self.read("out/" + name))

    def locked(self, *args, code):
        """Runs the command while in/b/deep cannot be read."""
        more = {}
        if os.geteuid() == 0:
            os.chmod(self.dir, 0o755)
            os.chmod(self.path("out"), 0o777)
            more["user"] = 65534
        os.chmod(self.path("in/b/deep"), 0)
        try:
            return self.tamis(*args, code=code, **more)
        except PermissionError:
            self.skipTest("the command cannot be run as another user here")
        finally:
            os.chmod(self.path("in/b/deep"), 0o755)

    def test_unreadable_folder_is_named_and_the_rest_goes_on(self):
        rest = [n for n in self.ALL if "deep" not in n]
        run = self.locked("gaussian", "in", "-o", "out", "--recursive", code=1)
        self.assertIn("in/b/deep: cannot read the folder", run.err)
        self.assertIn("3 of 3 files done, 0 skipped, 0 failed, 1 folder not read:", run.err)
        self.assertTrue(run.err.endswith("  not read: in/b/deep\n"))
        self.assertEqual(self.tree("out"), rest)
        result = json.loads(self.locked("gaussian", "in", "-o", "out", "--recursive", "--overwrite",
                                        "--json", code=1).stdout)
        self.assertEqual([u["folder"] for u in result["unread"]], ["in/b/deep"])
        self.assertEqual(result["exit_code"], 1)

    def test_one_folder_of_several_gives_nothing(self):
        """One that cannot be read or holds no pictures, named or found by a glob."""
        self.locked("gaussian", "in/b/deep", "-o", "out", code=3)
        run = self.locked("gaussian", "in/b/deep", "in/a.png", "-o", "out", code=1)
        self.assertIn("  not read: in/b/deep\n", run.err)
        self.assertEqual(self.tree("out"), ["a.png"])
        run = self.tamis("gaussian", "in/[ez]*", "-o", "out", code=1)
        self.assertIn("in/empty: the folder holds no pictures", run.err)
        self.assertEqual(self.tree("out"), ["a.png", "z.png"])
        for command in ("info", "estimate"):
            result = self.json(command, "in/empty", "in", code=1)
            self.assertEqual([u["folder"] for u in result["unread"]], ["in/empty"])
            self.assertEqual(len(result["files"]), 2)
            self.assertEqual(self.json(command, "in")["unread"], [])

    def test_file_in_the_way_of_a_folder(self):
        self.write("out/b", b"a file")
        run = self.tamis("gaussian", "in", "-o", "out", "--recursive", code=1)
        self.assertIn("out/b", run.err)
        self.assertEqual(self.tree("out"), ["a.png", "b", "z.png"])


class Results(Folders):
    """What a run has written is no input of the next."""

    def test_folder_for_results_inside(self):
        os.mkdir(self.path("in/out"))
        for _ in range(2):
            self.tamis("gaussian", "in", "-o", "in/out", "--recursive", "--overwrite")
        self.assertEqual(self.tree("in/out"), self.ALL)

    def test_results_beside_the_inputs(self):
        template = "{dir}/{stem}_x{ext}"
        self.tamis("gaussian", "in", "-o", template, "--recursive", "--manifest", "m.jsonl")
        before = self.tree("in")
        for more in (("--skip_existing",), ("--resume", "--manifest", "m.jsonl", "--overwrite")):
            run = self.tamis("gaussian", "in", "-o", template, "--recursive", *more)
            self.assertIn("4 files left out", run.err)
            self.assertEqual(self.tree("in"), before)

    def test_originals_with_the_names_of_results(self):
        """Replaced only when a manifest says that they are results."""
        template = "{dir}/{stem}_x{ext}"
        self.write("in/a_x.png", b"an original")
        for more in ((), ("--resume", "--manifest", "m.jsonl")):
            run = self.tamis("gaussian", "in", "-o", template, "--overwrite", *more, code=2)
            self.assertIn("in/a.png would be written over in/a_x.png", run.err)
            self.assertEqual(self.read("in/a_x.png"), b"an original")

    def test_originals_that_differ_by_extension(self):
        self.write("in/a.pgm", pgm_bytes(9, 8, pattern(9, 8)))
        before = self.read("in/a.png")
        run = self.tamis("run", "", "in", "-o", "in", "--format", "png", "--overwrite", code=2)
        self.assertIn("would both be written to in/a.png", run.err)
        self.assertEqual(self.read("in/a.png"), before)

    def test_names_of_one_file(self):
        os.link(self.path("in/a.png"), self.path("in/link.png"))
        os.symlink("z.png", self.path("in/y.png"))
        before = self.read("in/a.png")
        run = self.tamis("gaussian", "in", "--in_place", code=2)
        self.assertIn("are the same file", run.err)
        self.assertEqual(self.read("in/a.png"), before)
        self.tamis("gaussian", "in", "-o", "out")

    def test_pipes_are_left_out(self):
        os.mkfifo(self.path("in/b.png"))
        run = self.tamis("gaussian", "in", "-o", "out", "-v")
        self.assertIn("in/b.png: left out, no regular file", run.err)
        self.assertEqual(self.tree("out"), ["a.png", "z.png"])


class Shards(Folders):
    def setUp(self):
        super().setUp()
        for i in range(40):
            self.write("in/b/n%d.png" % i, self.read("in.png"))

    def share(self, text, *names):
        result = self.json("gaussian", *names, "-o", "out", "--recursive", "--dry_run", "--shard",
                           text)
        self.assertEqual(result["shard"], text)
        return [f["input"] for f in result["files"]]

    def test_each_once(self):
        everything = sorted(["in/" + n for n in self.ALL] + ["in/b/n%d.png" % i for i in range(40)])
        for n in (1, 2, 5):
            shares = [self.share("%d/%d" % (i + 1, n), "in") for i in range(n)]
            self.assertEqual(sorted(sum(shares, [])), everything)
            self.assertTrue(all(len(s) > 44 // n // 3 for s in shares), shares)

    def test_does_not_depend_on_the_place(self):
        want = self.share("2/3", "in")
        self.assertEqual(self.share("2/3", "./in/"), ["./" + n for n in want])
        self.assertEqual([os.path.relpath(n, self.dir) for n in self.share("2/3", self.path("in"))],
                         want)

    def test_stable(self):
        """The hash that the first release had: FNV-1a, then a mix of its high bits."""
        def share_of(name, count):
            h = 0xcbf29ce484222325
            for c in name.encode():
                h = (h ^ c) * 0x100000001b3 % 2**64
            h = (h ^ h >> 33) * 0xff51afd7ed558ccd % 2**64
            return (h ^ h >> 33) % count
        names = ["b/n%d.png" % i for i in range(40)] + self.ALL
        self.assertEqual(sorted(self.share("3/4", "in")),
                         sorted("in/" + n for n in names if share_of(n, 4) == 2))

    def test_named_files(self):
        names = ["in/b/n%d.png" % i for i in range(40)]
        self.assertEqual(sorted(self.share("1/2", *names) + self.share("2/2", *names)),
                         sorted(names))

    def test_nothing_in_the_share(self):
        taken = [bool(self.share("%d/3" % i, "in.png")) for i in (1, 2, 3)]
        self.assertEqual(sum(taken), 1)

    def test_refused(self):
        for text in ("0/3", "4/3", "1", "1/3x", "a/b", "-1/2", "1/0"):
            self.assertIn("--shard", self.tamis("gaussian", "in", "-o", "out", "--shard", text,
                                                code=2).err)
