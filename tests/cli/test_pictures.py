# SPDX-License-Identifier: Apache-2.0
"""What is kept of a picture: depth, pages, metadata; guides and headerless samples."""
import json
import os
import struct
import zlib

from support import Case, chunk, pattern, pgm_bytes, png_bytes, read_pgm

# A Gaussian of one tap: changes no sample.
NOTHING = ["gaussian", "--ksize", "1"]


def tiff_bytes(pages, extra=()):
    """An uncompressed 8-bit gray TIFF; pages has (w, h, rows), extra (tag, type, count, bytes)."""
    out, patch = bytearray(b"II*\0\0\0\0\0"), 4
    for w, h, rows in pages:
        data = b"".join(rows)
        struct.pack_into("<I", out, patch, len(out) + len(data) + len(data) % 2)
        strip = len(out)
        out += data + b"\0" * (len(data) % 2)
        tags = [(256, 4, w), (257, 4, h), (258, 3, 8), (259, 3, 1), (262, 3, 1), (273, 4, strip),
                (277, 3, 1), (278, 4, h), (279, 4, len(data))]
        blobs = len(out) + 2 + 12 * (len(tags) + len(extra)) + 4
        out += struct.pack("<H", len(tags) + len(extra))
        for tag, kind, value in tags:
            out += struct.pack("<HHII", tag, kind, 1, value)
        for tag, kind, count, blob in extra:
            out += struct.pack("<HHII", tag, kind, count, blobs)
            blobs += len(blob)
        patch = len(out)
        out += b"\0\0\0\0" + b"".join(blob for _, _, _, blob in extra)
        out += b"\0" * (len(out) % 2)
    return bytes(out)


def gray_profile():
    """The smallest ICC profile that readers accept: a header and an empty list of tags."""
    head = struct.pack(">I4sI4s4s4s12s4s", 132, b"\0" * 4, 0x02400000, b"mntr", b"GRAY", b"XYZ ",
                       struct.pack(">6H", 2020, 1, 1, 0, 0, 0), b"acsp")
    head = head.ljust(68, b"\0") + struct.pack(">3I", 0xF6D6, 0x10000, 0xD32D)
    return head.ljust(128, b"\0") + struct.pack(">I", 0)


class Depth(Case):
    def test_16_bit(self):
        rows = pattern(30 * 2, 20)
        self.write("deep.png", png_bytes(30, 20, 1, rows, bits=16))
        self.tamis(*NOTHING, "deep.png", "-o", "out.png")
        self.tamis("compare", "deep.png", "out.png", "--max-abs", "0")
        self.assertEqual(self.json("info", "out.png")["files"][0]["pages"][0]["type"], "u16")

    def test_noise_is_found_again(self):
        self.write("flat.png", png_bytes(200, 160, 1, [bytes([128]) * 200] * 160))
        self.tamis("noise", "flat.png", "-o", "noisy.png", "--sigma", "12")
        sigma = self.json("estimate", "noisy.png")["files"][0]["pages"][0]["sigma"]
        self.assertEqual(len(sigma), 1)
        self.assertAlmostEqual(sigma[0], 12, delta=0.7)
        self.assertIn("flat.png: noise of standard deviation 0 ",
                      self.tamis("estimate", "flat.png").text)
        self.assertIn("missing.png", self.tamis("estimate", "missing.png", code=3).err)

    def test_noise_of_other_kinds_is_found_again(self):
        slope = [bytes(30 + x * 2 // 5 for x in range(500))] * 400
        self.write("slope.png", png_bytes(500, 400, 1, slope))
        self.tamis("noise", "slope.png", "-o", "photons.png", "--kind", "poisson", "--amount",
                   "400")
        self.tamis("noise", "slope.png", "-o", "pepper.png", "--kind", "saltpepper", "--amount",
                   "0.04")
        text = self.tamis("estimate", "photons.png", "pepper.png").text
        self.assertRegex(text, r"photons.png: .*; growing with brightness: variance 0\.6")
        self.assertRegex(text, r"pepper.png: .*; impulses in (3\.[6-9]|4).*% of the samples")
        page = self.json("estimate", "photons.png")["files"][0]["pages"][0]
        self.assertAlmostEqual(page["slope"][0], 255 / 400, delta=0.06)
        self.assertLess(page["impulses"][0], 0.002)

    def test_what_is_chosen_is_told(self):
        self.write("flat.png", png_bytes(200, 160, 1, [bytes([128]) * 200] * 160))
        self.tamis("noise", "flat.png", "-o", "a.png", "--sigma", "12")
        self.tamis("noise", "flat.png", "-o", "b.png", "--sigma", "4")
        os.mkdir(self.path("out"))
        got = self.json("bilateral", "a.png", "b.png", "-o", "out/", "--sigma-color", "auto",
                        "--manifest", "m.jsonl")
        self.assertEqual(got["chain"], "bilateral=sigma_color=auto")
        chosen = [float(f["chain"].split("=")[-1]) for f in got["files"]]
        self.assertAlmostEqual(chosen[0], 24, delta=1.5)
        self.assertAlmostEqual(chosen[1], 8, delta=0.6)
        lines = [json.loads(line) for line in self.read("m.jsonl").decode().splitlines()]
        told = {os.path.basename(n["input"]): n["chosen"] for n in lines if "chosen" in n}
        self.assertEqual(told, {"a.png": got["files"][0]["chain"],
                                "b.png": got["files"][1]["chain"]})
        self.tamis("bilateral", "a.png", "-o", "given.png", "--sigma-color", str(chosen[0]))
        self.tamis("compare", "given.png", "out/a.png", "--max-abs", "0")
        self.assertIn(got["files"][0]["chain"],
                      self.tamis("run", "bilateral=sigma_color=auto", "a.png", "-o", "c.png",
                                 "-v").err)
        self.assertTrue(self.tamis("explain", "bilateral=sigma_color=auto", "a.png").text
                        .startswith(got["files"][0]["chain"] + "\n"))
        self.assertIn("chosen from a picture",
                      self.tamis("explain", "bilateral=sigma_color=auto", code=2).err)

    def test_alpha_does_not_bleed(self):
        red_outside = [bytes([255, 0, 0, 0]) * 2 + bytes([255, 255, 255, 255]) * 2] * 4
        self.write("a.png", png_bytes(4, 4, 4, red_outside))
        self.tamis("gaussian", "a.png", "-o", "b.png")
        self.write("white.png", png_bytes(4, 4, 4, [bytes([255] * 4) * 4] * 4))
        self.tamis("compare", "b.png", "white.png", "--diff", "d.ppm", code=5)  # alpha has no PPM
        self.tamis("compare", "b.png", "white.png", "--diff", "d.pam")
        data = self.read("d.pam").split(b"ENDHDR\n")[1]
        self.assertEqual(max(data[0::4] + data[1::4] + data[2::4]), 0)


class Tiny(Case):
    """Pictures one pixel wide, sampled around their edges; sanitizers see what is asked for."""

    def test_warps(self):
        for w, h in ((1, 1), (1, 67), (67, 1)):
            self.write("in.pgm", pgm_bytes(w, h, [b"\x4d" * w] * h))
            for angle in ("90", "45", "179.9999999"):
                self.tamis("rotate", "--angle", angle, "--size", "200x70", "--tile", "64x1",
                           "in.pgm", "-o", "out.pgm", "--overwrite")
                self.assertEqual(set(read_pgm(self.path("out.pgm"))[2]), {0x4d})


class Metadata(Case):
    def setUp(self):
        super().setUp()
        self.text = chunk(b"tEXt", b"Comment\0kept as it is")
        self.phys = chunk(b"pHYs", struct.pack(">IIB", 3937, 3937, 1))
        self.profile = gray_profile()
        self.icc = chunk(b"iCCP", b"name\0\0" + zlib.compress(self.profile))
        self.write("meta.png", png_bytes(9, 7, 1, pattern(9, 7), extra=self.text + self.phys))

    def test_kept(self):
        self.tamis(*NOTHING, "meta.png", "-o", "out.png")
        self.assertIn(b"kept as it is", self.read("out.png"))
        file = self.json("info", "-v", "out.png")["files"][0]
        self.assertIn("text:Comment", [m["name"] for m in file["metadata"]])
        self.assertAlmostEqual(file["dpi_x"], 100, delta=0.1)

    def test_icc_profile_through_formats(self):
        self.write("icc.png", png_bytes(9, 7, 1, pattern(9, 7), extra=self.icc))
        for ext in ("png", "jpg", "tif"):
            self.tamis(*NOTHING, "icc.png", "-o", "out." + ext)
            file = self.json("info", "-v", "out." + ext)["files"][0]
            sizes = {m["name"]: m["size"] for m in file["metadata"]}
            self.assertEqual(sizes.get("icc"), len(self.profile), ext)

    def test_strip(self):
        self.tamis(*NOTHING, "meta.png", "-o", "out.png", "--strip")
        self.assertNotIn(b"kept as it is", self.read("out.png"))

    def test_noise_keeps_it(self):
        self.tamis("noise", "meta.png", "-o", "out.png")
        self.assertIn(b"kept as it is", self.read("out.png"))

    def test_geotiff_tags(self):
        scale = struct.pack("<3d", 10, 10, 0)
        self.write("geo.tif", tiff_bytes([(9, 7, pattern(9, 7))], [(33550, 12, 3, scale)]))
        self.tamis(*NOTHING, "geo.tif", "-o", "out.tif")
        self.assertIn(scale, self.read("out.tif"))


class Pages(Case):
    def setUp(self):
        super().setUp()
        pages = [(8, 8, [bytes([value] * 8)] * 8) for value in (10, 100, 200)]
        self.write("three.tif", tiff_bytes(pages))

    def test_all_are_filtered(self):
        result = self.json("gaussian", "three.tif", "-o", "out.tif")
        self.assertEqual(result["files"][0]["pages"], 3)
        self.assertEqual(len(self.json("info", "out.tif")["files"][0]["pages"]), 3)
        self.tamis("compare", "three.tif", "out.tif", "--max-abs", "0")

    def test_pages_are_frames(self):
        """Of flat pages a pixel is averaged with those of pages beside, as many as there are."""
        for frames, want in ((0, (10, 100, 200)), (1, (55, 103, 150)), (16, (103, 103, 103))):
            self.tamis("nlmeans", "--h", "1000000", "--search", "1", "--patch", "1", "--frames",
                       str(frames), "three.tif", "-o", "out.tif", "--overwrite")
            pages = [(8, 8, [bytes([value] * 8)] * 8) for value in want]
            self.write("want.tif", tiff_bytes(pages))
            self.tamis("compare", "want.tif", "out.tif", "--max-abs", "0")

    def test_refused_where_there_is_room_for_one(self):
        self.tamis("gaussian", "three.tif", "-o", "out.png", code=5)
        self.assertEqual(self.names(), ["in.png", "three.tif"])

    def test_noise_and_compare_see_all(self):
        self.tamis("noise", "three.tif", "-o", "noisy.tif", "--sigma", "5")
        result = self.json("compare", "three.tif", "noisy.tif")
        self.assertEqual(result["samples"], 3 * 64)
        self.tamis("compare", "three.tif", "in.png", code=5)


class Raw(Case):
    def test_headerless(self):
        rows = pattern(31, 17)
        self.write("in.raw", b"head" + b"".join(rows))
        self.tamis(*NOTHING, "--raw", "31x17:u8:1:4", "in.raw", "-o", "out.pgm")
        self.assertEqual(read_pgm(self.path("out.pgm")), (31, 17, b"".join(rows)))

    def test_bad_description(self):
        self.write("in.raw", b"1234")
        for text, code in (("31x17:u8", 3), ("2x2:u9", 2), ("2by2", 2)):
            run = self.tamis(*NOTHING, "--raw", text, "in.raw", "-o", "out.pgm", code=code)
            self.assertIn("in.raw", run.err)
        self.assertEqual(self.names(), ["in.png", "in.raw"])


class Guide(Case):
    def test_map(self):
        """remap takes each pixel from where --guide says; here: from the other side."""
        self.write("a.pgm", pgm_bytes(5, 3, pattern(5, 3)))
        places = b"".join(struct.pack("<ff", 4 - x, y) for y in range(3) for x in range(5))
        head = b"{'descr': '<f4', 'fortran_order': False, 'shape': (3, 5, 2), }"
        head += b" " * (-(len(head) + 11) % 64) + b"\n"
        self.write("map.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + places)
        self.tamis("remap", "a.pgm", "--guide", "map.npy", "-o", "b.pgm")
        self.assertEqual(read_pgm(self.path("b.pgm"))[2],
                         b"".join(bytes(row[::-1]) for row in pattern(5, 3)))
        for way in (["remap"], ["run", "remap"]):
            err = self.tamis(*way, "a.pgm", "-o", "x.pgm", code=2).err
            self.assertIn("remap needs a second picture: give --guide FILE", err)
        err = self.tamis("remap", "--interp", "area", "a.pgm", "--guide", "map.npy", "-o", "x.pgm",
                         code=2).err
        self.assertIn("allowed: nearest, linear, cubic, lanczos3", err)
        self.assertIn("--guide FILE", self.tamis("help", "remap").text)

    def test_guide(self):
        self.write("a.pgm", pgm_bytes(20, 15, pattern(20, 15, seed=1)))
        self.write("flat.pgm", pgm_bytes(20, 15, [bytes([50] * 20)] * 15))
        self.tamis("bilateral", "a.pgm", "-o", "self.pgm")
        self.tamis("bilateral", "a.pgm", "-o", "same.pgm", "--guide", "a.pgm")
        self.tamis("bilateral", "a.pgm", "-o", "other.pgm", "--guide", "flat.pgm")
        self.assertEqual(self.read("self.pgm"), self.read("same.pgm"))
        self.assertNotEqual(self.read("self.pgm"), self.read("other.pgm"))

    def test_refusals(self):
        self.write("small.pgm", pgm_bytes(4, 4, pattern(4, 4)))
        self.tamis("bilateral", "in.png", "-o", "x.png", "--guide", "small.pgm", code=2)
        self.tamis("bilateral", "in.png", "-o", "x.png", "--guide", "missing.png", code=3)
        self.assertEqual(self.names(), ["in.png", "small.pgm"])
