#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fault cases that need files: what a picture's samples, depth, orientation and profile become.

    python3 tests/cases/file_cases.py TAMIS

The cases of broken files, full disks, odd names and pipes (G30 to G33) are among the command's own
tests in tests/cli.
"""
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib

TAMIS = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "tamis"
NOTHING = ("gaussian", "--ksize", "1")  # a window of one pixel changes no sample


def chunk(kind, data):
    return (struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)))


def png(w, h, depth, color, rows, before=b""):
    data = zlib.compress(b"".join(b"\0" + row for row in rows))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", w, h, depth, color, 0, 0,
                                                             0)) + before +
            chunk(b"IDAT", data) + chunk(b"IEND", b""))


def png_chunks(data):
    """{name: content} of a PNG file."""
    found, at = {}, 8
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        found[kind] = data[at + 8:at + 8 + size]
        at += size + 12
    return found


def jpeg_segments(data):
    """[(marker, content)] of a JPEG file up to its scan."""
    found, at = [], 2
    while data[at + 1] != 0xDA:
        size = struct.unpack(">H", data[at + 2:at + 4])[0]
        found.append((data[at + 1], data[at + 4:at + 2 + size]))
        at += 2 + size
    return found


def jpeg_profile(data):
    return b"".join(s[14:] for m, s in jpeg_segments(data)
                    if m == 0xE2 and s.startswith(b"ICC_PROFILE\0"))


def exif(orientation):
    """A TIFF header and one entry: the orientation."""
    return b"MM\0\x2a\0\0\0\x08" + struct.pack(">HHHIHHI", 1, 0x112, 3, 1, orientation, 0, 0)


def exif_orientation(block):
    """The orientation in an EXIF block; 1 where there is none."""
    if not block:
        return 1
    order = ">" if block[:2] == b"MM" else "<"
    at = struct.unpack(order + "I", block[4:8])[0]
    for i in range(struct.unpack(order + "H", block[at:at + 2])[0]):
        tag, _, _, value = struct.unpack(order + "HHIH", block[at + 2 + 12 * i:at + 12 + 12 * i])
        if tag == 0x112:
            return value
    return 1


def rgb_profile():
    head = struct.pack(">I4sI4s4s4s12s4s", 132, b"\0" * 4, 0x02400000, b"mntr", b"RGB ", b"XYZ ",
                       struct.pack(">6H", 2020, 1, 1, 0, 0, 0), b"acsp")
    head = head.ljust(68, b"\0") + struct.pack(">3I", 0xF6D6, 0x10000, 0xD32D)
    return head.ljust(128, b"\0") + struct.pack(">I", 0)


class Case(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="tamis-cases-")
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)

    def write(self, name, data):
        with open(os.path.join(self.dir, name), "wb") as f:
            f.write(data)

    def read(self, name):
        with open(os.path.join(self.dir, name), "rb") as f:
            return f.read()

    def tamis(self, *args):
        run = subprocess.run([TAMIS, *args, "--overwrite"], cwd=self.dir, capture_output=True,
                             check=False, timeout=120)
        self.assertEqual(run.returncode, 0, "%r: %s" % (args, run.stderr.decode()))

    def samples(self, name):
        """(w, h, channels, samples, maxval) by way of a PAM file."""
        self.tamis(*NOTHING, name, "-o", "samples.pam")
        head, data = self.read("samples.pam").split(b"ENDHDR\n", 1)
        field = dict(line.split(None, 1) for line in head.decode().splitlines()[1:]
                     if line and not line.startswith("#"))
        maxval = int(field["MAXVAL"])
        size = 2 if maxval > 255 else 1
        values = struct.unpack(">%d%s" % (len(data) // size, "BH"[size - 1]), data)
        return int(field["WIDTH"]), int(field["HEIGHT"]), int(field["DEPTH"]), values, maxval


class G13PaletteAndMaxval(Case):
    def test_palette_with_transparency(self):
        extra = (chunk(b"PLTE", bytes([255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255])) +
                 chunk(b"tRNS", bytes([0, 128, 255])))
        self.write("p.png", png(2, 2, 8, 3, [bytes([0, 1]), bytes([2, 3])], extra))
        for out in ("q.png", "q.pam"):
            self.tamis(*NOTHING, "p.png", "-o", out)
            w, h, channels, values, _ = self.samples(out)
            self.assertEqual((w, h, channels), (2, 2, 4))
            self.assertIn(values[:4], ((255, 0, 0, 0), (0, 0, 0, 0)))
            self.assertEqual(values[4:], (0, 255, 0, 128, 0, 0, 255, 255, 255, 255, 255, 255))

    def scaled(self, data, wanted, top):
        """The values on a scale of 0..top, or their ratios with another maxval."""
        self.write("in.pgm", data)
        for out in ("out.png", "out.pgm"):
            self.tamis(*NOTHING, "in.pgm", "-o", out)
            _, _, _, values, maxval = self.samples(out)
            for value, want in zip(values, wanted):
                self.assertLessEqual(abs(value / maxval - want / top), 0.5001 / top)

    def test_maxval(self):
        self.scaled(b"P5\n# levels\n5 1\n11\n" + bytes([0, 3, 7, 11, 5]), (0, 70, 162, 255, 116),
                    255)
        self.scaled(b"P5\n4 1\n4095\n" + struct.pack(">4H", 0, 1, 2048, 4095),
                    (0, 16, 32776, 65535), 65535)


class G14DepthAndPages(Case):
    def test_every_16_bit_value(self):
        values = [40503 * i % 65536 for i in range(65536)]
        self.assertEqual(zlib.crc32(struct.pack("<65536H", *values)), 0x2B1FBC78)
        rows = [struct.pack(">256H", *values[256 * y:256 * y + 256]) for y in range(256)]
        self.write("perm.png", png(256, 256, 16, 0, rows))
        for out in ("out.png", "out.tif", "out.pgm", "out.npy"):
            self.tamis(*NOTHING, "perm.png", "-o", out)
            _, _, _, got, _ = self.samples(out)
            self.assertEqual(zlib.crc32(struct.pack("<65536H", *got)), 0x2B1FBC78, out)

    def three_pages(self):
        """A TIFF of three 8x8 pages of 10, 100 and 200."""
        out, link = bytearray(b"II*\0\0\0\0\0"), 4
        for value in (10, 100, 200):
            data = len(out)
            out += bytes([value]) * 64
            entries = [(256, 3, 8), (257, 3, 8), (258, 3, 8), (259, 3, 1), (262, 3, 1),
                       (273, 4, data), (277, 3, 1), (278, 3, 8), (279, 4, 64)]
            struct.pack_into("<I", out, link, len(out))
            out += struct.pack("<H", len(entries))
            for tag, kind, number in entries:
                out += struct.pack("<HHII", tag, kind, 1, number)
            link = len(out)
            out += b"\0\0\0\0"
        return bytes(out)

    def test_three_pages(self):
        self.write("three.tif", self.three_pages())
        self.tamis("gaussian", "--sigma", "1", "three.tif", "-o", "again.tif")
        data, pages = self.read("again.tif"), 0
        self.assertEqual(data[:4], b"II*\0")
        at = struct.unpack("<I", data[4:8])[0]
        while at:  # page by page
            pages += 1
            at = struct.unpack("<I", data[at + 2 + 12 * struct.unpack("<H", data[at:at + 2])[0]:]
                               [:4])[0]
        self.assertEqual(pages, 3)
        self.tamis("gaussian", "--ksize", "1", "again.tif", "-o", "again.tif")
        for name in ("three.tif", "again.tif"):
            run = subprocess.run([TAMIS, "compare", "three.tif", name, "--max-abs", "0"],
                                 cwd=self.dir, capture_output=True, check=False)
            self.assertEqual(run.returncode, 0, run.stdout + run.stderr)


class G15OrientationAndProfile(Case):
    """Stored 32x16, quarters red, green / blue, white, to be turned right: shown 16x32 with blue,
    red on top and white, green below."""

    def setUp(self):
        super().setUp()
        red, green, blue, white = b"\xff\0\0", b"\0\xff\0", b"\0\0\xff", b"\xff" * 3
        self.rows = [(red if y < 8 else blue) * 16 + (green if y < 8 else white) * 16
                     for y in range(16)]
        self.profile = rgb_profile()

    def check_shown(self, name):
        """Right as shown, whichever way the file says it."""
        data = self.read(name)
        if name.endswith(".png"):
            found = png_chunks(data)
            orientation = exif_orientation(found.get(b"eXIf"))
            packed = found[b"iCCP"]
            profile = zlib.decompress(packed[packed.index(b"\0") + 2:])
        else:
            blocks = [s[6:] for m, s in jpeg_segments(data) if m == 0xE1 and s[:6] == b"Exif\0\0"]
            orientation = exif_orientation(blocks[0] if blocks else b"")
            profile = jpeg_profile(data)
        self.assertEqual(profile, self.profile)
        self.assertEqual(orientation, 1)  # tamis turns the pixels
        w, h, channels, values, _ = self.samples(name)
        self.assertEqual((w, h, channels), (16, 32, 3))
        for x, y, color in ((3, 6, (0, 0, 255)), (12, 6, (255, 0, 0)), (3, 25, (255, 255, 255)),
                            (12, 25, (0, 255, 0))):
            at = (y * w + x) * 3
            for got, want in zip(values[at:at + 3], color):
                self.assertLessEqual(abs(got - want), 12, (name, x, y, values[at:at + 3]))

    def test_png(self):
        icc = chunk(b"iCCP", b"test\0\0" + zlib.compress(self.profile))
        self.write("o.png", png(32, 16, 8, 2, self.rows, icc + chunk(b"eXIf", exif(6))))
        for out in ("a.png", "a.jpg"):
            self.tamis("gaussian", "--sigma", "0.3", "o.png", "-o", out)
            self.check_shown(out)

    def test_jpeg(self):
        self.write("plain.png", png(32, 16, 8, 2, self.rows))
        self.tamis(*NOTHING, "plain.png", "-o", "plain.jpg")
        data = self.read("plain.jpg")
        tags = b"Exif\0\0" + exif(6)
        icc = b"ICC_PROFILE\0\1\1" + self.profile
        self.write("o.jpg", data[:2] + b"\xff\xe1" + struct.pack(">H", len(tags) + 2) + tags +
                   b"\xff\xe2" + struct.pack(">H", len(icc) + 2) + icc + data[2:])
        for out in ("a.png", "a.jpg"):
            self.tamis("gaussian", "--sigma", "0.3", "o.jpg", "-o", out)
            self.check_shown(out)


if __name__ == "__main__":
    unittest.main()
