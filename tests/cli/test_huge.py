# SPDX-License-Identifier: Apache-2.0
"""Pictures that are large, and files made for them."""
from support import Case, pattern, pgm_bytes


class Pyramids(Case):
    def sizes(self, name):
        pages = self.json("info", name)["files"][0]["pages"]
        return [(p["width"], p["height"], p["reduced"]) for p in pages]

    def test_each_half_of_the_one_before(self):
        self.write("in.pgm", pgm_bytes(150, 101, pattern(150, 101)))
        self.tamis("median", "in.pgm", "-o", "out.tif", "--pyramid", "--tiff-tile", "32")
        want = [(150, 101, False), (75, 51, True), (38, 26, True), (19, 13, True)]
        self.assertEqual(self.sizes("out.tif"), want)
        self.assertIn("page 1: tiff 75x51 u8x1 packed, 8 bit, smaller copy",
                      self.tamis("info", "out.tif").text)

    def test_replaces_that_of_the_input(self):
        self.write("in.pgm", pgm_bytes(150, 101, pattern(150, 101)))
        self.tamis("box", "in.pgm", "-o", "one.tif", "--pyramid", "--tiff-tile", "64")
        self.tamis("median", "one.tif", "-o", "two.tif", "--pyramid", "--tiff-tile", "64")
        self.assertEqual(self.sizes("two.tif"), self.sizes("one.tif"))
        self.tamis("box", "in.pgm", "-o", "flat.tif", "--tiff-tile", "64")
        self.tamis("median", "flat.tif", "-o", "want.tif", "--pyramid", "--tiff-tile", "64")
        self.assertEqual(self.read("two.tif"), self.read("want.tif"))

    def test_small_pictures_have_none(self):
        self.tamis("median", "in.png", "-o", "out.tif", "--pyramid")
        self.assertEqual(self.sizes("out.tif"), [(48, 33, False)])
        info = self.json("info", "out.tif")["files"][0]["pages"][0]
        self.assertEqual((info["block_width"], info["block_height"]), (256, 256))


class Info(Case):
    def test_blocks(self):
        self.tamis("box", "in.png", "-o", "a.tif", "--tiff-tile", "16")
        for name, want in (("a.tif", (16, 16)), ("in.png", (0, 0))):
            page = self.json("info", name)["files"][0]["pages"][0]
            self.assertEqual((page["block_width"], page["block_height"]), want)
