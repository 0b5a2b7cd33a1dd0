# SPDX-License-Identifier: Apache-2.0
"""Videos: Y4M and raw frames through chains, plane by plane."""
import json
import os
import random
import signal
import struct
import subprocess
import time

from support import TAMIS, Case, pattern, png_bytes

# Tag, bits, columns and rows of luma for one chroma sample (0: gray), alpha.
KINDS = (("420jpeg", 8, 2, 2, 0), ("420mpeg2", 8, 2, 2, 0), ("422", 8, 2, 1, 0),
         ("444", 8, 1, 1, 0), ("411", 8, 4, 1, 0), ("mono", 8, 0, 0, 0), ("444alpha", 8, 1, 1, 1),
         ("420p10", 10, 2, 2, 0), ("422p10", 10, 2, 1, 0), ("444p12", 12, 1, 1, 0),
         ("mono16", 16, 0, 0, 0), ("420p16", 16, 2, 2, 0), ("420p9", 9, 2, 2, 0))


def planes_of(kind, w, h):
    """Names and sizes of a frame's planes."""
    _, _, x, y, alpha = kind
    planes = [("y", w, h)]
    if x:
        planes += [(c, -(-w // x), -(-h // y)) for c in "uv"]
    return planes + [("a", w, h)] * alpha


def frame_bytes(kind, w, h):
    return sum(pw * ph for _, pw, ph in planes_of(kind, w, h)) * (2 if kind[1] > 8 else 1)


def noise_frame(kind, w, h, rng):
    bits, count = kind[1], frame_bytes(kind, w, h)
    if bits == 8:
        return rng.randbytes(count)
    return struct.pack("<%dH" % (count // 2),
                       *(rng.getrandbits(bits) for _ in range(count // 2)))


def y4m(kind, w, h, frames, extra=""):
    head = "YUV4MPEG2 W%d H%d F25:1 Ip A1:1 C%s%s\n" % (w, h, kind[0], extra)
    return head.encode() + b"".join(b"FRAME\n" + f for f in frames)


def read_y4m(data):
    """Header words, frames."""
    head, _, rest = data.partition(b"\n")
    words, frames = head.decode().split()[1:], []
    tag = [w[1:] for w in words if w[0] == "C"][0]
    kind = [k for k in KINDS if k[0] == tag][0]
    w, h = (int([x[1:] for x in words if x[0] == c][0]) for c in "WH")
    size = frame_bytes(kind, w, h)
    while rest:
        assert rest[:6] == b"FRAME\n", rest[:20]
        frames.append(rest[6:6 + size])
        rest = rest[6 + size:]
    return (w, h, kind), frames


def split(kind, w, h, frame):
    """A frame's planes as bytes, by name."""
    size, at, out = (2 if kind[1] > 8 else 1), 0, {}
    for name, pw, ph in planes_of(kind, w, h):
        out[name] = frame[at:at + pw * ph * size]
        at += pw * ph * size
    return out


def levels(kind, data):
    return list(data) if kind[1] == 8 else list(struct.unpack("<%dH" % (len(data) // 2), data))


def flat_frame(kind, w, h, values):
    """Every plane of one level."""
    size = 2 if kind[1] > 8 else 1
    return b"".join(values[n].to_bytes(size, "little") * (pw * ph)
                    for n, pw, ph in planes_of(kind, w, h))


class VideoCase(Case):
    def setUp(self):
        super().setUp()
        self.rng = random.Random(5)

    def clip(self, name, kind=KINDS[0], w=19, h=13, count=3, extra=""):
        frames = [noise_frame(kind, w, h, self.rng) for _ in range(count)]
        self.write(name, y4m(kind, w, h, frames, extra))
        return frames

    def frames(self, name):
        return read_y4m(self.read(name))[1]


class Planes(VideoCase):
    def test_an_empty_chain_keeps_every_byte(self):
        for kind in KINDS:
            for w, h in ((16, 8), (17, 9), (1, 1)):
                with self.subTest(kind=kind, w=w, h=h):
                    self.clip("in.y4m", kind, w, h, extra=" XYSCSS=X XCOLORRANGE=FULL XMORE=1")
                    self.tamis("run", "", "in.y4m", "-o", "out.y4m", "--overwrite")
                    self.assertEqual(self.read("out.y4m"), self.read("in.y4m"))

    def plane_filtered(self, kind, w, h, data, chain):
        """What the command makes of a plane as a picture of its own."""
        bits = "u8" if kind[1] == 8 else "u16"
        self.write("plane.raw", data)
        self.tamis("run", chain, "plane.raw", "-o", "result.raw", "--overwrite", "--raw",
                   "%dx%d:%s" % (w, h, bits))
        return self.read("result.raw")

    def check_planes(self, chain, kind, expected, *options, limit=True):
        """Each plane is as the picture command makes it with that chain; None: it stays."""
        w, h = 37, 23
        source = self.clip("in.y4m", kind, w, h, 2)
        self.tamis("run", chain, "in.y4m", "-o", "out.y4m", "--overwrite", *options)
        highest = (1 << kind[1]) - 1
        for before, after in zip(source, self.frames("out.y4m")):
            old, new = split(kind, w, h, before), split(kind, w, h, after)
            for name, pw, ph in planes_of(kind, w, h):
                part = expected["uv" if name in "uv" else name]
                want = old[name]
                if part is not None:
                    want = self.plane_filtered(kind, pw, ph, want, part)
                want = levels(kind, want)
                if limit:
                    want = [min(v, highest) for v in want]
                self.assertEqual(levels(kind, new[name]), want, (chain, kind, name))

    def test_planes_are_pictures_with_scaled_parameters(self):
        for tag, chroma in (("420jpeg", "gaussian=sigma=1"), ("444", "gaussian=sigma=2"),
                            ("422", "gaussian=sigma_x=1:sigma_y=2"), ("mono", None),
                            ("420p10", "gaussian=sigma=1"), ("444alpha", "gaussian=sigma=2"),
                            ("422p10", "gaussian=sigma_x=1:sigma_y=2")):
            kind = [k for k in KINDS if k[0] == tag][0]
            self.check_planes("gaussian=sigma=2", kind,
                              {"y": "gaussian=sigma=2", "uv": chroma, "a": None})
        self.check_planes("median=ksize=7", KINDS[0], {"y": "median=ksize=7",
                                                       "uv": "median=ksize=5"})
        self.check_planes("box=ksize=5,median=ksize=3", KINDS[2],
                          {"y": "box=ksize=5,median=ksize=3",
                           "uv": "box=ksize=3x5,median=ksize=3"})

    def test_planes_are_chosen(self):
        kind, alpha, g = KINDS[0], KINDS[6], "gaussian=sigma=2"
        self.check_planes(g, kind, {"y": g, "uv": None}, "--planes", "y")
        self.check_planes(g, kind, {"y": None, "uv": "gaussian=sigma=1"}, "--planes", "uv")
        self.check_planes(g, alpha, {"y": g, "uv": g, "a": g}, "--planes", "all")
        self.check_planes(g, alpha, {"y": None, "uv": None, "a": g}, "--planes", "a")
        self.check_planes(g, kind, {"y": g, "uv": "median=ksize=5"}, "--chroma", "median=ksize=7")
        sharp = "unsharp=sigma=1"
        self.check_planes(sharp, kind, {"y": sharp, "uv": None})
        self.check_planes(g + "," + sharp, kind,
                          {"y": g + "," + sharp, "uv": "gaussian=sigma=1"})
        self.check_planes(sharp, kind, {"y": sharp, "uv": "unsharp=sigma=0.5"},
                          "--planes", "yuv")

    def test_planes_that_are_not_there(self):
        self.clip("gray.y4m", KINDS[5])
        for planes in ("uv", "a", "rgb", "x", "u"):
            run = self.tamis("gaussian", "gray.y4m", "-o", "o.y4m", "--planes", planes, code=2)
            self.assertIn("--planes", run.err)
        run = self.tamis("run", "color=to=gray", "gray.y4m", "-o", "o.y4m", code=5)
        self.assertIn("color works on colors", run.err)
        self.assertNotIn("o.y4m", self.names())

    def test_raw_rgb(self):
        frames = self.rng.randbytes(2 * 3 * 20 * 10)
        self.write("in.rgb", frames)
        self.tamis("gaussian", "in.rgb", "-o", "out.raw", "--raw", "20x10:rgb24:25")
        for i in range(2):
            self.write("one.raw", frames[i * 600:(i + 1) * 600])
            self.tamis("gaussian", "one.raw", "-o", "want.raw", "--raw", "20x10:u8:3",
                       "--overwrite")
            self.assertEqual(self.read("out.raw")[i * 600:(i + 1) * 600], self.read("want.raw"))


class Levels(VideoCase):
    def test_ten_bits_stay_ten_bits(self):
        kind = KINDS[7]
        self.write("flat.y4m", y4m(kind, 21, 11, [flat_frame(kind, 21, 11, {
            "y": 940, "u": 512, "v": 1023})] * 2))
        self.tamis("gaussian", "flat.y4m", "-o", "out.y4m")
        self.assertEqual(self.read("out.y4m"), self.read("flat.y4m"))

    def test_results_end_at_the_highest_level(self):
        kind = KINDS[7]
        rows = [([1023] * 10 + [0] * 11) * 11, [0, 1023] * 33, [1023, 0] * 33]
        frame = b"".join(struct.pack("<%dH" % len(r), *r) for r in rows)
        self.write("in.y4m", y4m(kind, 21, 11, [frame]))
        self.tamis("unsharp", "--amount", "3", "in.y4m", "-o", "out.y4m", "--planes", "yuv")
        values = levels(kind, self.frames("out.y4m")[0])
        self.assertEqual((min(values), max(values)), (0, 1023))

    def test_percent_is_of_the_bits(self):
        kind = KINDS[7]
        self.clip("in.y4m", kind)
        self.tamis("bilateral", "--sigma_color", "10%", "in.y4m", "-o", "a.y4m")
        self.tamis("bilateral", "--sigma_color", "102.3", "in.y4m", "-o", "b.y4m")
        self.assertEqual(self.read("a.y4m"), self.read("b.y4m"))

    def test_edges_are_white_on_black(self):
        for kind, extra, black in ((KINDS[0], "", 16), (KINDS[7], "", 64),
                                   (KINDS[0], " XCOLORRANGE=FULL", 0)):
            levels_in = {"y": 100, "u": 30, "v": 200}
            self.write("flat.y4m", y4m(kind, 21, 11, [flat_frame(kind, 21, 11, levels_in)], extra))
            for chain in ("sobel", "laplacian", "canny"):
                self.tamis("run", chain, "flat.y4m", "-o", "out.y4m", "--overwrite")
                new = split(kind, 21, 11, self.frames("out.y4m")[0])
                neutral = 1 << (kind[1] - 1)
                self.assertEqual(set(levels(kind, new["y"])), {black})
                self.assertEqual(set(levels(kind, new["u"] + new["v"])), {neutral})

    def test_outside_is_black(self):
        for kind, black in ((KINDS[0], 16), (KINDS[7], 64)):
            levels_in = {"y": 100, "u": 30, "v": 200}
            self.write("flat.y4m", y4m(kind, 40, 30, [flat_frame(kind, 40, 30, levels_in)]))
            self.tamis("run", "affine=translate=20,0:border=constant", "flat.y4m", "-o",
                       "out.y4m", "--overwrite")
            new = split(kind, 40, 30, self.frames("out.y4m")[0])
            luma, u = levels(kind, new["y"]), levels(kind, new["u"])
            self.assertEqual((luma[0], luma[39]), (black, 100))
            self.assertEqual((u[0], u[19]), (1 << (kind[1] - 1), 30))


class Geometry(VideoCase):
    def test_sizes_of_all_planes(self):
        for kind in KINDS:
            self.clip("in.y4m", kind, 19, 13, 1)
            for chain, size in (("resize=size=33x21", (33, 21)), ("resize=scale=2", (38, 26)),
                                ("rotate=angle=90:size=fit", (13, 19)),
                                ("resize=size=7x5,affine=translate=1,1", (7, 5))):
                self.tamis("run", chain, "in.y4m", "-o", "out.y4m", "--overwrite")
                (w, h, same), frames = read_y4m(self.read("out.y4m"))
                self.assertEqual((w, h, same), size + (kind,))
                self.assertEqual(len(frames[0]), frame_bytes(kind, w, h))

    def npy(self, name, w, h, at):
        head = "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d, 2), }" % (h, w)
        head += " " * (53 - len(head) % 64 + 64 * (len(head) % 64 > 53)) + "\n"
        values = [v for y in range(h) for x in range(w) for v in at(x, y)]
        self.write(name, b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() +
                   struct.pack("<%df" % len(values), *values))

    def test_maps_move_chroma_too(self):
        for kind in KINDS[:8]:
            w, h = 26, 18
            self.clip("in.y4m", kind, w, h, 1)
            self.npy("map.npy", w, h, lambda x, y: (x - 3.0, y + 2.0))
            self.tamis("remap", "in.y4m", "-o", "map.y4m", "--guide", "map.npy", "--overwrite")
            self.tamis("affine", "--translate", "3,-2", "in.y4m", "-o", "affine.y4m",
                       "--overwrite")
            a, b = (levels(kind, self.frames(n + ".y4m")[0]) for n in ("map", "affine"))
            # But for the borders, and roundings of positions.
            self.assertGreater(sum(abs(x - y) <= 1 for x, y in zip(a, b)), len(a) * 0.98)
        self.tamis("bilateral", "in.y4m", "-o", "o.y4m", "--guide", "in.png", code=5)

    def test_windows_that_shrink_the_picture(self):
        self.clip("in.y4m")
        run = self.tamis("median", "--ksize", "7", "--border", "valid", "in.y4m", "-o", "o.y4m",
                         code=5)
        self.assertIn("chroma", run.err)


class Files(VideoCase):
    def test_pipes(self):
        self.clip("in.y4m", count=5)
        want = self.tamis("gaussian", "in.y4m", "-o", "-", "--format", "y4m").stdout
        self.tamis("gaussian", "in.y4m", "-o", "want.y4m")
        self.assertEqual(want, self.read("want.y4m"))
        got = self.tamis("gaussian", "-", "-o", "-", data=self.read("in.y4m")).stdout
        self.assertEqual(got, want)
        first = subprocess.Popen([TAMIS, "run", "", "in.y4m", "-o", "-"], cwd=self.dir,
                                 stdout=subprocess.PIPE)
        second = subprocess.run([TAMIS, "gaussian", "-", "-o", "-"], stdin=first.stdout,
                                stdout=subprocess.PIPE, cwd=self.dir, check=True)
        first.stdout.close()
        first.wait()
        self.assertEqual(second.stdout, want)

    def test_pictures_in_pipes_are_still_pictures(self):
        got = self.tamis("gaussian", "-", "-o", "-", "--format", "png", data=self.read("in.png"))
        self.assertEqual(got.stdout[:4], b"\x89PNG")

    def test_pipes_without_a_frame(self):
        run = self.tamis("run", "", "-", "--raw", "64x48:yuv420p:25", "-o", "out.y4m", data=b"x",
                         code=3)
        self.assertEqual(run.err.strip(), "tamis: error: standard input: no frame to filter: the "
                         "file ends in the middle of frame 0")

    def test_broken_files(self):
        frames = self.clip("in.y4m", count=5)
        whole = self.read("in.y4m")
        self.tamis("run", "", "in.y4m", "-o", "want.y4m")
        for cut in (1, 100, len(frames[0]) + 3):
            self.write("cut.y4m", whole[:-cut])
            run = self.tamis("run", "", "cut.y4m", "-o", "out.y4m", "--overwrite", code=1)
            self.assertIn("cut.y4m: the file ends in the middle of frame 4", run.err)
            self.assertEqual(self.frames("out.y4m"), frames[:4])
        result = self.json("run", "", "cut.y4m", "-o", "out.y4m", "--overwrite", code=1)
        self.assertEqual(result["files"][0]["frames"], 4)
        self.assertIn("middle of frame 4", result["files"][0]["loss"])
        self.write("head.y4m", whole[:60])
        self.tamis("run", "", "head.y4m", "-o", "no.y4m", code=3)
        self.assertNotIn("no.y4m", self.names())

    def test_trimming(self):
        frames = self.clip("in.y4m", count=10)
        for options, want in ((("--frame_range", "2-4"), frames[2:5]),
                              (("--start", "0.2"), frames[5:]), (("--end", "0.2"), frames[:5]),
                              (("--start", "0.08", "--end", "0.2"), frames[2:5]),
                              (("--start", "0.08", "--frame_range", "1-1"), frames[3:4])):
            self.tamis("run", "", "in.y4m", "-o", "out.y4m", "--overwrite", *options)
            self.assertEqual(self.frames("out.y4m"), want)
        self.tamis("run", "", "in.y4m", "-o", "no.y4m", "--frame_range", "4-2", code=2)
        self.tamis("run", "", "in.y4m", "-o", "no.y4m", "--start", "3", "--end", "1", code=2)
        run = self.tamis("run", "", "in.y4m", "-o", "no.y4m", "--start", "9", code=3)
        self.assertIn("no frame", run.err)

    def test_what_does_not_fit(self):
        self.clip("in.y4m")
        run = self.tamis("run", "", "in.y4m", "-o", "o.png", code=5)
        self.assertIn("o.png", run.err)
        run = self.tamis("run", "", "in.png", "-o", "o.y4m", code=5)
        self.assertIn("o.y4m", run.err)
        self.tamis("run", "sobel=type=f32", "in.y4m", "-o", "float.y4m")
        self.tamis("run", "sobel", "in.y4m", "-o", "same.y4m")
        self.assertEqual(self.read("float.y4m"), self.read("same.y4m"))
        self.write("in.rgb", bytes(20 * 10 * 3))
        run = self.tamis("run", "color=to=gray", "in.rgb", "-o", "o.raw", "--raw", "20x10:rgb24",
                         code=5)
        self.assertIn("rgb 8-bit", run.err)
        self.write("out.y4m", b"old")
        self.tamis("run", "", "in.y4m", "-o", "out.y4m", code=4)
        self.assertEqual(self.read("out.y4m"), b"old")
        self.assertEqual([n for n in self.names() if n.startswith(".")], [])

    def test_qualities(self):
        """One for pictures and videos, one on the codec's own scale, of which 0 is a value."""
        if "libavcodec" not in self.tamis("doctor").text:
            self.skipTest("no video module")
        self.clip("in.y4m", w=64, h=48)
        run = "run", "", "in.y4m", "-o", "out.mkv", "--overwrite", "--codec", "mpeg4", "-v"
        for options, said in (((), " q 2"), (("--crf", "0"), " q 1"), (("--crf", "7"), " q 7"),
                              (("--quality", "100"), " q 1"), (("--quality", "1"), " q 31")):
            self.assertIn(said + "\n", self.tamis(*run, *options).err)
        for options in (("--crf", "7", "--quality", "80"), ("--crf", "0", "--quality", "80"),
                        ("--crf", "0", "--lossless")):
            self.tamis(*run[:-2], "ffv1", *options, code=2)

    def test_info(self):
        self.clip("in.y4m", KINDS[7], extra=" XCOLORRANGE=LIMITED")
        self.assertIn("yuv 4:2:0 10-bit limited, 3 frames", self.tamis("info", "in.y4m").text)
        video = self.json("info", "in.y4m")["files"][0]["video"]
        self.assertEqual((video["width"], video["height"], video["bits"], video["frames"]),
                         (19, 13, 10, 3))

    def test_interlaced_frames_are_told(self):
        self.clip("in.y4m")
        self.assertNotIn("interlaced", self.tamis("median", "in.y4m", "-o", "a.y4m").err)
        self.write("it.y4m", self.read("in.y4m").replace(b" Ip ", b" It ", 1))
        self.assertIn("interlaced", self.tamis("median", "it.y4m", "-o", "b.y4m").err)
        self.tamis("run", "", "it.y4m", "-o", "c.y4m")
        self.assertEqual(self.read("c.y4m"), self.read("it.y4m"))

    def test_dry_run_and_json(self):
        self.clip("in.y4m")
        run = self.tamis("run", "resize=scale=2", "in.y4m", "-o", "out.y4m", "--dry_run")
        self.assertIn("19x13 yuv 4:2:0 8-bit limited -> 38x26 yuv", run.text)
        self.assertNotIn("out.y4m", self.names())
        result = self.json("run", "resize=scale=2", "in.y4m", "-o", "out.y4m")
        self.assertEqual(result["files"][0]["frames"], 3)
        self.assertEqual(result["files"][0]["result"]["width"], 38)

    def test_progress(self):
        self.clip("in.y4m", count=4)
        run = self.tamis("gaussian", "in.y4m", "-o", "out.y4m", "--progress", "json")
        last = json.loads(run.err.splitlines()[-1])
        self.assertEqual(last["share"], 1)

    def test_interrupt_leaves_nothing(self):
        frame = bytes(320 * 240 * 3 // 2)
        self.write("long.y4m", y4m(KINDS[0], 320, 240, [frame] * 300))
        run = subprocess.Popen([TAMIS, "gaussian", "--sigma", "50", "--ksize", "301", "long.y4m",
                                "-o", "out.y4m", "--progress", "json", "--cpu", "c"], cwd=self.dir,
                               stderr=subprocess.PIPE)
        run.stderr.readline()
        time.sleep(0.2)
        run.send_signal(signal.SIGINT)
        run.communicate(timeout=120)
        self.assertEqual(run.returncode, 130)
        self.assertEqual(self.names(), ["in.png", "long.y4m"])


class Batches(VideoCase):
    def test_folders_of_both(self):
        os.mkdir(self.path("in"))
        os.mkdir(self.path("out"))
        self.clip("in/a.y4m")
        self.clip("in/b.y4m", KINDS[7])
        self.write("in/c.png", png_bytes(9, 7, 1, pattern(9, 7)))
        result = self.json("gaussian", "in", "-o", "out", "--resume")
        self.assertEqual((result["done"], result["failed"]), (3, 0))
        self.assertEqual(sorted(os.listdir(self.path("out"))),
                         ["a.y4m", "b.y4m", "c.png", "tamis-manifest.jsonl"])
        self.assertEqual(self.json("gaussian", "in", "-o", "out", "--resume")["skipped"], 3)
        again = self.json("gaussian", "in", "-o", "out", "--resume", "--planes", "y",
                          "--overwrite")
        self.assertEqual(again["done"], 3)  # another option, another result
        self.assertEqual(self.json("gaussian", "in/a.y4m", "-o", "out/a.y4m",
                                   "--skip_existing")["skipped"], 1)

    def test_many_at_once(self):
        os.mkdir(self.path("out"))
        for i in range(6):
            self.clip("v%d.y4m" % i, KINDS[i], 33, 17, 4)
            self.tamis("median", "v%d.y4m" % i, "-o", "want%d.y4m" % i, "--threads", "1")
        self.tamis("median", *("v%d.y4m" % i for i in range(6)), "-o", "out", "--jobs", "4",
                   "--threads", "3")
        for i in range(6):
            self.assertEqual(self.read("out/v%d.y4m" % i), self.read("want%d.y4m" % i))


class Temporal(VideoCase):
    CHAIN = "nlmeans=frames=1:search=3:patch=1:h=20"

    def scenes(self, count):
        """Two scenes, each of one noisy picture that trembles a little."""
        kind, w, h, out = KINDS[0], 64, 48, []
        pictures = [self.rng.randbytes(16), self.rng.randbytes(16)]
        for picture in pictures:
            for _ in range(count):
                luma = bytes(min(255, picture[y // 12 * 4 + x // 16] + self.rng.randrange(6))
                             for y in range(h) for x in range(w))
                out.append(luma + bytes([128]) * (w * h // 2))
        self.write("in.y4m", y4m(kind, w, h, out))
        return kind, w, h, out

    def test_scenes_do_not_see_each_other(self):
        kind, w, h, frames = self.scenes(4)
        run = self.tamis("run", self.CHAIN, "in.y4m", "-o", "all.y4m", "-v")
        self.assertEqual(run.err.count("a scene begins"), 1)
        self.assertIn("a scene begins at 0.160 s", run.err)
        for name, part in (("a", frames[:4]), ("b", frames[4:])):
            self.write(name + ".y4m", y4m(kind, w, h, part))
            self.tamis("run", self.CHAIN, name + ".y4m", "-o", name + "_out.y4m")
        self.assertEqual(self.frames("all.y4m"), self.frames("a_out.y4m") +
                         self.frames("b_out.y4m"))
        run = self.tamis("run", self.CHAIN, "in.y4m", "-o", "uncut.y4m", "-v", "--scene_cut", "0")
        self.assertNotIn("a scene begins", run.err)
        self.assertEqual(self.frames("uncut.y4m")[:3], self.frames("all.y4m")[:3])

    def test_light_and_motion_are_no_cuts(self):
        kind, w, h = KINDS[5], 64, 48
        rows = [bytes(100 + (x // 8 + y // 8) % 2 * 40 for x in range(w)) for y in range(h)]
        plain = b"".join(rows)
        flash = bytes(v + 80 for v in plain)
        moving = [b"".join(r[-4 * i:] + r[:-4 * i] if i else r for r in rows) for i in range(8)]
        self.write("in.y4m", y4m(kind, w, h, [plain, plain, flash, plain] + moving))
        run = self.tamis("run", self.CHAIN, "in.y4m", "-o", "out.y4m", "-v")
        # Motion out of stillness may look like a cut, but does not go on to.
        self.assertLessEqual(run.err.count("a scene begins"), 2)
        self.assertNotIn("begins at 0.080", run.err)  # the flash

    def test_frames_around_are_used(self):
        kind, w, h, frames = self.scenes(3)
        self.tamis("run", self.CHAIN, "in.y4m", "-o", "a.y4m")
        self.tamis("run", self.CHAIN.replace("frames=1:", ""), "in.y4m", "-o", "b.y4m")
        self.assertNotEqual(self.read("a.y4m"), self.read("b.y4m"))
        self.assertEqual(len(self.frames("a.y4m")), len(frames))


class Auto(VideoCase):
    def test_what_is_auto_is_chosen_from_the_first_frame(self):
        kind, w, h, frames = KINDS[0], 64, 48, []
        for _ in range(2):
            luma = bytes(min(255, max(0, round(self.rng.gauss(100, 9)))) for _ in range(w * h))
            chroma = bytes(round(self.rng.gauss(128, 2)) for _ in range(w * h // 2))
            frames.append(luma + chroma)
        self.write("in.y4m", y4m(kind, w, h, frames))
        run = self.tamis("run", "nlmeans=h=auto:search=5:patch=3", "in.y4m", "-o", "out.y4m", "-v")
        chains = [l for l in run.err.splitlines() if "nlmeans=" in l]
        self.assertEqual(len(chains), 2, run.err)
        luma, chroma = (float(l.split("h=")[1].split(":")[0]) for l in chains)
        self.assertIn("chroma: ", chains[1])
        self.assertGreater(luma, 2 * chroma)
        self.assertTrue(self.json("run", "nlmeans=h=auto", "in.y4m", "-o", "o.y4m",
                                  "--dry_run")["files"][0])
        self.assertNotIn("o.y4m", self.names())


class Device(VideoCase):
    def test_a_device_gives_the_same_frames(self):
        module = os.environ.get("TAMIS_EMULATED")
        if not module:
            self.skipTest("no emulated device")
        device = {"TAMIS_CUDA_MODULE": module, "TAMIS_DEVICE": "cuda"}
        for kind in (KINDS[0], KINDS[7]):
            self.clip("in.y4m", kind, 33, 17, 5)
            for chain in ("median=ksize=3", "resize=scale=2:interp=nearest"):
                self.tamis("run", chain, "in.y4m", "-o", "cpu.y4m", "--overwrite")
                result = json.loads(self.tamis("run", chain, "in.y4m", "-o", "gpu.y4m",
                                               "--overwrite", "--json", env=device).stdout)
                self.assertEqual(result["device"], "cuda:0")
                self.assertEqual(self.read("gpu.y4m"), self.read("cpu.y4m"))
