# SPDX-License-Identifier: Apache-2.0
"""Formats that the module with libvips reads and writes; each test wants what its libvips has."""
import os
import struct
import unittest

from support import Case, chunk, pattern, png_bytes

MODULE = os.environ.get("TAMIS_VIPS", "")
THERE = {"TAMIS_VIPS_MODULE": MODULE}
GONE = {"TAMIS_VIPS_MODULE": "/nowhere/tamis_vips.so"}


def exif_block(orientation, description):
    """As in files, little-endian: Orientation and ImageDescription."""
    text = description + b"\0"
    return (struct.pack("<2sHIH", b"II", 42, 8, 2) +
            struct.pack("<HHII", 0x010e, 2, len(text), 38) +
            struct.pack("<HHIHH", 0x0112, 3, 1, orientation, 0) + bytes(4) + text)


def fits_bytes(w, h, bits, samples, *more):
    """A FITS file; samples are big-endian, the lowest row first."""
    cards = ["SIMPLE  =                    T", "BITPIX  = %20d" % bits,
             "NAXIS   =                    2",
             "NAXIS1  = %20d" % w, "NAXIS2  = %20d" % h, *more, "END"]
    head = "".join(card.ljust(80) for card in cards).encode()
    return head + b" " * (-len(head) % 2880) + samples + bytes(-len(samples) % 2880)


class Without(Case):
    def tamis(self, *args, env=GONE, **more):
        return super().tamis(*args, env=env, **more)

    def test_what_is_missing_is_said(self):
        self.write("in.webp", b"RIFF\x1a\0\0\0WEBPVP8L" + bytes(18))
        err = self.tamis("info", "in.webp", code=3).err
        self.assertIn("libvips for others is not there: the module tamis_vips.so", err)
        for more in [], ["--dry_run"]:
            err = self.tamis("box", "in.png", "-o", "out.webp", *more, code=5).err
            self.assertIn("out.webp: webp is written by libvips: the module tamis_vips.so", err)
        self.assertIn("/nowhere", self.tamis("doctor").text)
        self.assertIs(self.json("doctor")["vips"], False)
        self.assertEqual(self.names(), ["in.png", "in.webp"])

    def test_folders_leave_them_out(self):
        os.mkdir(self.path("a"))
        self.write("a/x.webp", b"RIFF")
        self.write("a/y.png", self.read("in.png"))
        result = self.json("box", "a", "-o", "a", "--format", "pnm")
        self.assertEqual([f["input"] for f in result["files"]], ["a/y.png"])


@unittest.skipUnless(MODULE, "the module with libvips is not built")
class Vips(Case):
    def tamis(self, *args, env=THERE, **more):
        return super().tamis(*args, env=env, **more)

    def copy(self, name, out, *more, **kinds):
        return self.tamis("run", "", name, "-o", out, "--overwrite", *more, **kinds)

    def written(self, name, out, *more):
        """Writes; skips the test where this libvips cannot."""
        run = self.copy(name, out, *more, code=(0, 4))
        if run.returncode:
            self.assertIn("libvips: ", run.err)
            self.skipTest(run.err)

    def shape(self, name):
        page = self.json("info", name)["files"][0]["pages"][0]
        return page["width"], page["height"], page["type"]

    def test_doctor(self):
        self.assertIn("other formats  libvips 8.", self.tamis("doctor").text)
        self.assertIs(self.json("doctor")["vips"], True)

    def lossless(self, extension, *kinds):
        for channels, bits in kinds:
            rows = pattern(40, 31, channels * bits // 8)
            self.write("s.png", png_bytes(40, 31, channels, rows, bits=bits))
            self.written("s.png", "t." + extension, "--lossless")
            self.tamis("compare", "s.png", "t." + extension, "--max_abs", "0")

    def test_webp(self):
        self.lossless("webp", (3, 8))
        self.written("s.png", "low.webp", "--quality", "5")
        self.written("s.png", "high.webp", "--quality", "95")
        self.assertLess(len(self.read("low.webp")), len(self.read("high.webp")))
        self.tamis("compare", "s.png", "low.webp", "--max_abs", "0", code=7)

    def test_jxl(self):
        self.lossless("jxl", (1, 8), (3, 8), (4, 8), (3, 16))

    def test_jp2(self):
        self.lossless("jp2", (1, 8), (3, 8), (4, 8), (1, 16))

    def test_avif(self):
        self.written("in.png", "out.avif", "--lossless")
        self.tamis("compare", "in.png", "out.avif", "--max_abs", "3")

    def test_radiance(self):
        flat = b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 2 +X 3\n" + bytes([128, 64, 32, 129]) * 6
        self.write("flat.hdr", flat)
        if self.tamis("info", "flat.hdr", code=(0, 3)).returncode:
            self.skipTest("this libvips reads no Radiance")
        self.copy("flat.hdr", "flat.raw")
        values = struct.unpack("<18f", self.read("flat.raw"))
        for i, value in enumerate(values):
            self.assertAlmostEqual(value, (1, 0.5, 0.25)[i % 3], delta=0.01)

    def test_floats(self):
        self.write("f.raw", struct.pack("<60f", *[i / 59 for i in range(60)]))
        for name in "f.jxl", "f.webp":
            err = self.copy("f.raw", name, "--raw", "4x5:f32:3", code=5).err
            self.assertIn("cannot hold f32", err)

    def test_deep_samples_are_not_cut(self):
        self.write("deep.png", png_bytes(9, 9, 1, pattern(9, 9, 2), bits=16))
        err = self.copy("deep.png", "out.webp", code=5).err
        self.assertIn("webp cannot hold u16", err)

    def test_metadata_and_orientation(self):
        extra = chunk(b"eXIf", exif_block(6, b"a description"))
        self.write("m.png", png_bytes(20, 12, 3, pattern(20, 12, 3), extra=extra))
        self.written("m.png", "m.webp", "--lossless")
        self.copy("m.webp", "back.png")
        self.assertEqual(self.shape("m.webp"), (12, 20, "u8"))
        self.copy("m.png", "want.png")
        self.tamis("compare", "want.png", "back.png", "--max_abs", "0")
        self.assertIn(b"a description", self.read("back.png"))
        self.assertNotIn(b"pHYs", self.read("back.png"))
        self.copy("m.webp", "bare.png", "--strip")
        self.assertNotIn(b"eXIf", self.read("bare.png"))

    def test_pipes(self):
        self.written("in.png", "in.webp", "--lossless")
        for name in "-", "in.webp":
            run = self.tamis("run", "", name, "-o", "-", "--format", "pnm",
                             data=self.read("in.webp"))
            self.copy("in.png", "want.ppm")
            self.assertEqual(run.stdout, self.read("want.ppm"))
        os.rename(self.path("in.webp"), self.path("in[page=1]"))
        self.assertIn("webp", self.tamis("info", "in[page=1]").text)

    def test_fits(self):
        rows = pattern(7, 5)
        self.write("a.fits", fits_bytes(7, 5, 8, b"".join(rows)))
        if self.tamis("info", "a.fits", code=(0, 3)).returncode:
            self.skipTest("this libvips reads no FITS")
        self.copy("a.fits", "a.pgm")
        self.assertEqual(self.read("a.pgm"), b"P5\n7 5\n255\n" + b"".join(reversed(rows)))
        floats = [i * 0.37 - 4 for i in range(35)]
        self.write("f.fits", fits_bytes(7, 5, -32, struct.pack(">35f", *floats)))
        self.copy("f.fits", "f.raw")
        got = struct.unpack("<35f", self.read("f.raw"))
        want = struct.unpack("<35f", struct.pack("<35f", *floats))
        self.assertEqual(got, sum((want[7 * y:7 * y + 7] for y in range(4, -1, -1)), ()))
        self.write("d.fits", fits_bytes(7, 5, -64, struct.pack(">35d", *floats)))
        err = self.tamis("info", "d.fits", code=5).err
        self.assertIn("d.fits: samples of type double; u8, u16, s16 and f32 can be read", err)

    def test_bitmap(self):
        rows = pattern(4, 3, 3)
        head = struct.pack("<2sIHHIIiiHHIIiiII", b"BM", 90, 0, 0, 54, 40, 4, 3, 1, 24, 0, 36, 0, 0,
                           0, 0)
        swapped = b"".join(bytes(r[i + 2 - c] for i in range(0, 12, 3) for c in range(3))
                           for r in reversed(rows))
        self.write("a.bmp", head + swapped)
        if self.tamis("info", "a.bmp", code=(0, 3)).returncode:
            self.skipTest("this libvips reads no BMP")
        self.copy("a.bmp", "a.ppm")
        self.assertEqual(self.read("a.ppm"), b"P6\n4 3\n255\n" + b"".join(rows))

    def test_refused(self):
        self.write("d.svg", b'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>')
        self.write("t.txt", b"some words\n")
        self.write("c.csv", b"1,2\n3,4\n")
        self.assertIn("d.svg: SVG: a drawing", self.tamis("info", "d.svg", code=(3, 5)).err)
        self.write("other.png", png_bytes(9, 9, 3, pattern(9, 9, 3)))
        self.write("n.mvg", b"push graphic-context\nviewbox 0 0 9 9\nimage over 0,0 9,9 '%s'\n"
                            b"pop graphic-context\n" % self.path("other.png").encode())
        for name in "t.txt", "c.csv", "n.mvg":
            self.assertIn("nor one that libvips knows", self.tamis("info", name, code=3).err)

    def test_damage(self):
        self.write("s.png", png_bytes(90, 70, 3, pattern(90, 70, 3)))
        self.written("s.png", "s.webp", "--lossless")
        data = self.read("s.webp")
        for size in 30, len(data) // 2, len(data) - 900:
            self.write("cut.webp", data[:size])
            run = self.copy("cut.webp", "out.png", code=3)
            self.assertEqual(run.err.count("\n"), 1)
            self.assertIn("cut.webp: ", run.err)
        self.assertNotIn("out.png", self.names())

    def test_folders_and_workers(self):
        for folder in "a", "b", "c":
            os.mkdir(self.path(folder))
        self.written("in.png", "a/x.webp", "--lossless")
        for i in range(12):
            self.copy("in.png", "a/%02d.webp" % i, "--lossless")
        result = self.json("box", "a", "-o", "b", "--format", "webp", "--lossless", "--jobs", "4")
        self.assertEqual(result["done"], 13)
        self.tamis("box", "in.png", "-o", "want.png")
        for name in os.listdir(self.path("b")):
            self.tamis("compare", "want.png", "b/" + name, "--max_abs", "0")
        self.tamis("box", "b", "-o", "c", "--jobs", "3")
        self.assertEqual(sorted(os.listdir(self.path("c"))), sorted(os.listdir(self.path("b"))))
