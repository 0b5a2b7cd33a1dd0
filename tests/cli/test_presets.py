# SPDX-License-Identifier: Apache-2.0
"""Presets: tamis's own and those of a file, in chains, lists and help."""
import os
import re
import shutil
import subprocess
import unittest

from support import TAMIS, Case, pattern, png_bytes

SCENES = ("photo", "portrait", "low_light", "scan", "ct", "astronomy", "satellite")
LEVELS = ("denoise10", "denoise25", "denoise50")
VIDEO = ("video_light", "video_medium", "video_strong")
# Presets that try settings of denoise on the picture, which takes sanitizers minutes.
SLOW = ("photo", "scan")


class Own(Case):
    def test_list(self):
        text = self.tamis("presets").text
        names = re.findall(r"^@(\S+) +\S", text, re.M)
        self.assertEqual(names, [*SCENES, *LEVELS, *VIDEO])
        chains = self.tamis("presets", "-v").text
        self.assertIn("\n    nlmeans=frames=1", chains)

    def test_json(self):
        found = {p["name"]: p for p in self.json("presets")["presets"]}
        self.assertEqual(set(found), {*SCENES, *LEVELS, *VIDEO})
        for group, names in (("scene", SCENES), ("noise", LEVELS), ("video", VIDEO)):
            for name in names:
                self.assertEqual((found[name]["group"], found[name]["source"]), (group, "tamis"))
        photo = found["photo"]["filters"]
        self.assertEqual([f["filter"] for f in photo], ["denoise", "unsharp"])
        self.assertEqual(photo[1]["values"]["threshold"], "1%")
        one = self.json("presets", "@low-light")["presets"]
        self.assertEqual(one, [found["low_light"]])

    def test_one_prints_the_chain_it_stands_for(self):
        for name in (*SCENES, *LEVELS, *VIDEO):
            chain = self.tamis("presets", name).text.strip()
            self.assertEqual(self.tamis("presets", "@" + name).text.strip(), chain)
            if name in SLOW:
                continue
            explained = self.json("explain", "@" + name, "in.png")
            plain = self.json("explain", chain, "in.png")
            self.assertEqual(explained["chain"], plain["chain"])

    def test_same_bytes_as_the_chain(self):
        for name in set(SCENES + LEVELS) - set(SLOW):
            chain = self.tamis("presets", name).text.strip()
            self.tamis("run", "@" + name, "in.png", "-o", "preset.png", "--overwrite")
            self.tamis("run", chain, "in.png", "-o", "chain.png", "--overwrite")
            self.assertEqual(self.read("preset.png"), self.read("chain.png"), name)
            self.assertNotEqual(self.read("preset.png"), self.read("in.png"), name)
        self.tamis("run", "median,@denoise25,unsharp", "in.png", "-o", "a.png")
        chain = self.tamis("presets", "denoise25").text.strip()
        self.tamis("run", "median,%s,unsharp" % chain, "in.png", "-o", "b.png")
        self.assertEqual(self.read("a.png"), self.read("b.png"))

    def test_every_type(self):
        """One preset for 8 bit, 16 bit and float: levels that are 257 or 1/255 times as large."""
        self.write("in.ppm", b"P6\n40 30\n255\n" + b"".join(pattern(40, 30, 3)))
        rows = b"".join(bytes(v for v in row for _ in (0, 1)) for row in pattern(40, 30, 3))
        self.write("wide.ppm", b"P6\n40 30\n65535\n" + rows)
        self.tamis("run", "@denoise25", "in.ppm", "-o", "out.ppm")
        self.tamis("run", "@denoise25", "wide.ppm", "-o", "wide_out.ppm")
        small = self.read("out.ppm")[-3600:]
        wide = self.read("wide_out.ppm")[-7200:]
        for i in range(0, 3600, 7):
            self.assertLessEqual(abs(small[i] - (wide[2 * i] * 256 + wide[2 * i + 1]) / 257), 1.1)

    def test_explain_shows_the_chain(self):
        self.assertTrue(self.tamis("explain", "@denoise10").text.startswith("nlmeans=h=3%"))
        run = self.tamis("explain", "@photo", code=2)  # which is left to a picture
        self.assertTrue(run.text.startswith("denoise,unsharp"))
        self.assertIn("chosen from a picture", run.err)

    def test_chroma_takes_one(self):
        self.write("in.y4m", b"YUV4MPEG2 W16 H8 F25:1 C420jpeg\nFRAME\n" + bytes(16 * 8 * 3 // 2))
        self.tamis("run", "@denoise10", "in.y4m", "-o", "out.y4m", "--chroma", "@denoise25")
        self.tamis("run", "@denoise10", "in.y4m", "-o", "x.y4m", "--chroma", "@nothing", code=2)

    def test_help(self):
        self.assertIn("@portrait", self.tamis("help").text)
        text = self.tamis("help", "@portrait").text
        self.assertIn("bilateral=sigma_space=3", text)
        self.assertIn("--presets FILE", self.tamis("help", "run").text)
        manual = self.tamis("man").text
        for name in (*SCENES, *LEVELS, *VIDEO):
            self.assertIn("@" + name, manual)

    def test_mistakes(self):
        for args, words in ((["run", "@potrait", "in.png", "-o", "x.png"], ["potrait", "portrait"]),
                            (["run", "portrait", "in.png", "-o", "x.png"], ["@portrait"]),
                            (["@portrait", "in.png", "-o", "x.png"], ["tamis run @portrait"]),
                            (["run", "@photo=a=1", "in.png", "-o", "x.png"], ["no parameters"]),
                            (["presets", "potrait"], ["did you mean portrait"]),
                            (["presets", "zzzzzz"], ["zzzzzz", "tamis presets"]),
                            (["help", "@potrait"], ["did you mean portrait"]),
                            (["presets", "a", "b"], ["'b'"])):
            err = self.tamis(*args, code=2).err
            for word in words:
                self.assertIn(word, err)
        self.assertEqual(self.names(), ["in.png"])


@unittest.skipUnless(shutil.which("bash"), "bash was not found")
class Completion(Case):
    def complete(self, line, breaks=" \t\n\"'@><=;|&(:"):
        """What bash would offer; as it splits the words where @ ends one."""
        self.write("script", self.tamis("completion", "bash").stdout)
        word = line.split(" ")[-1]
        code = ('source ./script; COMP_WORDBREAKS=$3 COMP_LINE=$1 COMP_POINT=${#1};'
                'COMP_WORDS=("$TAMIS" run "$2"); COMP_CWORD=2; _tamis tamis "$2" run;'
                'echo "${COMPREPLY[*]}"')
        run = subprocess.run(["bash", "-c", code, "bash", line, word, breaks], cwd=self.dir,
                             capture_output=True, check=True,
                             env=dict(os.environ, TAMIS=TAMIS, TAMIS_PRESETS=self.path("own")))
        return run.stdout.decode().split()

    def test_names(self):
        self.write("own", b"podium = box\n")
        self.assertEqual(self.complete("tamis run @po"), ["@podium", "@portrait"])
        self.assertEqual(self.complete("tamis run median,@po"), ["@podium", "@portrait"])
        self.assertEqual(self.complete("tamis run median,@port", " \t\n"), ["median,@portrait"])
        self.assertEqual(self.complete("tamis run 'median,@port"), ["median,@portrait"])
        self.assertEqual(self.complete("tamis run med"), [])


class File(Case):
    """Presets of the user's own."""

    def own(self, text, *args, code=0, **more):
        self.write("own", text.encode())
        return self.tamis(*args, "--presets", "own", code=code, **more)

    def refused(self, text, *words, args=("presets",)):
        err = self.own(text, *args, code=2).err
        for word in words:
            self.assertIn(word, err)

    def test_lines(self):
        text = ("\ufeff# a comment\n\n  soft = gaussian=sigma=2 , median   # for my slides \r\n"
                "both=@soft,@sharp\nsharp\t=\tunsharp=amount=0.3#no blank\n"
                "kernel = convolve=kernel=1,2,1;2,4,2;1,2,1")
        listed = self.own(text, "presets").text.splitlines()
        self.assertEqual([line.split()[0] for line in listed[:4]],
                         ["@soft", "@both", "@sharp", "@kernel"])
        self.assertRegex(listed[0], "^@soft +for my slides$")
        self.assertEqual(listed[1], "@both")
        self.assertEqual(len(listed), 4 + len(SCENES) + len(LEVELS) + len(VIDEO))
        self.assertEqual(self.own(text, "presets", "both").text,
                         "gaussian=sigma=2,median,unsharp=amount=0.3\n")
        for chain, out in (("@both,@kernel", "a.png"),
                           ("gaussian=sigma=2,median,unsharp=amount=0.3,"
                            "convolve=kernel=1,2,1;2,4,2;1,2,1", "b.png")):
            self.own(text, "run", chain, "in.png", "-o", out)
        self.assertEqual(self.read("a.png"), self.read("b.png"))

    def test_own_names_come_first(self):
        run = self.own("\nlow-light = box\n", "presets", "-v")
        self.assertIn("own:2: preset low-light, instead of tamis's own", run.err)
        self.assertNotIn("@low_light", run.text)
        self.assertEqual(self.own("low-light = box", "presets", "low_light").text, "box\n")
        self.assertEqual(self.own("low-light = box", "presets").err, "")

    def test_which_file(self):
        for name in ("given", "variable", "xdg/tamis/presets", "home/.config/tamis/presets"):
            os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
            self.write(name, b"mine = box # of " + name.encode())
        home, xdg = self.path("home"), self.path("xdg")
        for want, args, env in (
                ("given", ["--presets", "given"], {"TAMIS_PRESETS": "variable"}),
                ("variable", [], {"TAMIS_PRESETS": "variable", "XDG_CONFIG_HOME": xdg}),
                ("xdg/tamis/presets", [], {"TAMIS_PRESETS": None, "XDG_CONFIG_HOME": xdg,
                                           "HOME": home}),
                ("home/.config/tamis/presets", [], {"TAMIS_PRESETS": None, "HOME": home,
                                                    "XDG_CONFIG_HOME": None}),
                ("home/.config/tamis/presets", [], {"TAMIS_PRESETS": None, "HOME": home,
                                                    "XDG_CONFIG_HOME": "relative"})):
            self.assertIn("@mine           of %s\n" % want,
                          self.tamis("presets", *args, env=env).text)
        for env in ({"TAMIS_PRESETS": "", "XDG_CONFIG_HOME": xdg},
                    {"TAMIS_PRESETS": None, "XDG_CONFIG_HOME": self.path("nothing")},
                    {"TAMIS_PRESETS": None, "XDG_CONFIG_HOME": None, "HOME": None}):
            self.assertNotIn("@mine", self.tamis("presets", env=env).text)

    def test_faults_name_the_line(self):
        self.refused("\nsoft gaussian", "own:2: expected NAME = CHAIN", "soft gaussian")
        self.refused("a = box\n9a = box", "own:2: '9a' is no name")
        self.refused("@a = box", "own:1: '@a' is no name")
        self.refused("= box", "own:1: '' is no name")
        self.refused("a =  # nothing", "own:1: a has no chain")
        self.refused("a-b = box\n\na_b = box", "own:3: a_b is given twice; first in line 1")
        self.refused("a = box\nb = median,gausian", "own:2: preset b: ", "gausian")
        self.refused("a = box=ksize=0", "own:1: preset a: box: ksize = 0")
        self.refused("a = @b\nb = @c", "own:1: preset a: preset b: ", "no preset \"c\"")
        self.refused("a = box,@a", "own:1: ", "@a stands in itself")
        self.refused("x = box\na = @b\nb = @a", "own:2: ", "@a stands in itself, by way of @b")
        self.refused("b = nothing", "own:1: ", args=("run", "@photo", "in.png", "-o", "x.png"))
        self.assertNotIn("x.png", self.names())

    def test_files_that_are_none(self):
        self.write("binary", b"a = box\0")
        for name, words in (("missing", "missing: cannot read presets: No such file"),
                            (".", ".: cannot read presets: Is a directory"),
                            ("binary", "binary: cannot read presets: it is no text")):
            self.assertIn(words, self.tamis("presets", "--presets", name, code=3).err)
        self.assertIn("--presets", self.tamis("presets", "--presets=", code=2).err)
        self.assertIn("missing", self.tamis("presets", env={"TAMIS_PRESETS": "missing"},
                                            code=3).err)
        self.write("empty", b"")
        self.assertEqual(self.tamis("presets", "--presets", "empty").text,
                         self.tamis("presets").text)

    def test_a_broken_file_stops_only_what_needs_it(self):
        self.write("own", b"broken\n")
        env = {"TAMIS_PRESETS": "own"}
        self.tamis("median", "in.png", "-o", "a.png", env=env)
        self.tamis("run", "median", "in.png", "-o", "b.png", env=env)
        self.write("kernel", b"1 2 1\n")
        self.tamis("run", "convolve=kernel=@kernel", "in.png", "-o", "c.png", env=env)
        self.tamis("run", "@denoise10", "in.png", "-o", "d.png", env=env, code=2)
        self.tamis("presets", env=env, code=2)

    def test_json_and_batches(self):
        self.write("own", b"mine = @denoise10,unsharp\n")
        one = self.json("presets", "mine", "--presets", "own")["presets"][0]
        self.assertEqual((one["chain"], one["group"], one["source"], one["about"]),
                         ("@denoise10,unsharp", "own", "own:1", None))
        self.assertEqual(one["expanded"], self.tamis("presets", "denoise10").text.strip() +
                         ",unsharp")
        self.write("two.png", png_bytes(20, 10, 1, pattern(20, 10)))
        os.mkdir(self.path("out"))
        self.own("mine = @denoise10,unsharp\n", "run", "@mine", "in.png", "two.png", "-o", "out/",
                 "--manifest", "m.jsonl")
        self.assertIn(b"nlmeans=h=3%", self.read("m.jsonl"))  # what was done, not a name
        self.assertEqual(sorted(os.listdir(self.path("out"))), ["in.png", "two.png"])
