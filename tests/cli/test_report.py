# SPDX-License-Identifier: Apache-2.0
"""Pages for browsers: what they hold, and that it is what the other commands say."""
import base64
import json
import math
import os
import re
import stat
import struct
import threading

from support import Case, pattern, pgm_bytes, png_bytes


def page_data(page):
    """What the scripts of a page read."""
    text = re.search(r'<script type="application/json" id="data">([^<]*)</script>', page).group(1)
    return json.loads(text)


def url_bytes(url):
    return base64.b64decode(url.split("base64,")[1])


class Report(Case):
    def test_page(self):
        self.write("a.pgm", pgm_bytes(20, 16, pattern(20, 16)))
        self.tamis("gaussian", "a.pgm", "-o", "b & <b>.png")
        self.tamis("report", "a.pgm", "b & <b>.png", "-o", "r.html")
        page = self.read("r.html").decode()
        self.assertIn("<title>b &amp; &lt;b>.png", page)
        data = page_data(page)
        self.assertEqual(data["files"]["after"]["name"], "b & <b>.png")
        for side, name in (("before", "a.pgm"), ("after", "b & <b>.png")):
            self.write("shown.png", url_bytes(data["pictures"][side]["view"]))
            self.tamis("compare", name, "shown.png", "--max-abs", "0")
        self.assertNotRegex(page, r"(src|href)=.?https?:")
        self.assertEqual(len(self.names()), 5)

    def test_values(self):
        """What the page says is what the other commands say."""
        self.write("a.png", png_bytes(60, 40, 3, pattern(60, 40, 3)))
        self.tamis("gaussian", "a.png", "-o", "b.png")
        self.tamis("median", "a.png", "-o", "o.png")
        result = self.json("report", "a.png", "b.png", "--original", "o.png", "-o", "r.html")
        data = page_data(self.read("r.html").decode())
        self.assertEqual(data["comparisons"], result["comparisons"])
        self.assertNotIn("pictures", result)
        for got, pair in zip(result["comparisons"], (("a", "b"), ("o", "a"), ("o", "b"))):
            want = self.json("compare", pair[0] + ".png", pair[1] + ".png")
            for key in ("psnr", "ssim", "mse", "mae", "max_abs", "max_abs_at", "different"):
                self.assertEqual(got[key], want[key], key)
        sigma = self.json("estimate", "b.png")["files"][0]["pages"][0]["sigma"]
        self.assertEqual(data["noise"]["after"]["sigma"], sigma)
        self.assertEqual([sum(c) for c in data["histograms"]["before"]], [60 * 40] * 3)
        self.assertEqual([m["key"] for m in data["maps"]],
                         ["difference", "error_before", "error_after", "ssim_before", "ssim_after"])

    def test_windows(self):
        """Deep pictures are shown by levels that the page states."""
        rows = [struct.pack(">40H", *(1000 + x + y for x in range(40))) for y in range(30)]
        self.write("deep.png", png_bytes(40, 30, 1, rows, bits=16))
        self.tamis("gaussian", "--ksize", "1", "deep.png", "-o", "same.png")
        for window, low, high in (([], 1001, 1067), (["--levels", "900,1155"], 900, 1155)):
            self.tamis("report", "deep.png", "same.png", "-o", "r.html", "--overwrite", *window)
            data = page_data(self.read("r.html").decode())
            shown = data["files"]["before"]["window"]
            self.assertEqual((shown["low"], shown["high"]), (low, high), shown)
        self.write("shown.png", url_bytes(data["pictures"]["before"]["view"]))
        rows = [bytes(100 + x + y for x in range(40)) for y in range(30)]
        self.write("want.png", png_bytes(40, 30, 1, rows))
        self.tamis("compare", "want.png", "shown.png", "--max-abs", "0")
        err = self.tamis("report", "deep.png", "same.png", "-o", "r.html", "--overwrite",
                         "--levels", "7", code=2).err
        self.assertIn("LOW,HIGH", err)

    def test_alike_and_far_from_zero(self):
        """Levels to show a picture by stay two, however large they are."""
        head = b"Pf\n20 16\n-1.0\n"
        self.write("a.pfm", head + struct.pack("<320f", *[1e20] * 320))
        self.tamis("report", "a.pfm", "a.pfm", "-o", "r.html")
        data = page_data(self.read("r.html").decode())
        window = data["files"]["before"]["window"]
        self.assertLess(window["low"], window["high"])
        self.assertEqual(sum(data["histograms"]["before"][0]), 320)

    def test_large(self):
        """Scaled, with a part of it as it is, where most has changed."""
        for w, h, limit, on in ((1700, 1200, [], "all pixels"),
                                (4800, 2800, ["--max_memory", "60M"], "the scaled copy")):
            rows = [bytes(w) for _ in range(h)]
            self.write("a.pgm", pgm_bytes(w, h, rows))
            for y in range(900, 930):
                rows[y] = bytes(1500) + pattern(30, 1, seed=y)[0] + bytes(w - 1530)
            self.write("b.pgm", pgm_bytes(w, h, rows))
            self.tamis("report", "a.pgm", "b.pgm", "-o", "r.html", "--overwrite", *limit)
            data = page_data(self.read("r.html").decode())
            d = data["detail"]
            self.assertTrue(d["x"] <= 1500 and d["x"] + d["width"] >= 1530, d)
            self.assertTrue(d["y"] <= 900 and d["y"] + d["height"] >= 930, d)
            self.write("d.png", url_bytes(data["pictures"]["after"]["detail"]))
            shape = self.json("info", "d.png")["files"][0]["pages"][0]
            self.assertEqual((shape["width"], shape["height"]), (d["width"], d["height"]))
            self.write("v.png", url_bytes(data["pictures"]["after"]["view"]))
            self.assertEqual(self.json("info", "v.png")["files"][0]["pages"][0]["width"], 1600)
            self.assertTrue(d["most_changed"])
            self.assertEqual(data["measured_on"], on)

    def test_of_a_run(self):
        result = self.json("gaussian", "--sigma", "1.25", "in.png", "-o", "o.png", "--report",
                           "r.html", "--original", "in.png")
        self.assertEqual(result["report"], "r.html")
        data = page_data(self.read("r.html").decode())
        self.assertEqual(data["run"]["chain"], "gaussian=sigma=1.25")
        params = {p["name"]: p for p in data["run"]["steps"][0]["params"]}
        self.assertEqual(params["sigma"]["value"], "1.25")
        self.assertFalse(params["sigma"]["is_default"])
        self.assertTrue(params["border"]["is_default"])
        self.assertEqual(data["run"]["device"], "cpu")
        self.assertGreater(data["run"]["filter_seconds"], 0)
        self.assertEqual(len(data["comparisons"]), 3)

    def test_of_a_chosen_chain(self):
        """What was chosen, and how long that took, apart from reading."""
        args = ("nlmeans", "--h", "auto", "--search", "5", "in.png", "-o", "o.png", "--overwrite")
        result = self.json(*args, "--report", "r.html")["files"][0]
        run = page_data(self.read("r.html").decode())["run"]
        self.assertEqual(run["chain"], result["chain"])
        self.assertGreater(result["choose_seconds"], 0)
        self.assertEqual(run["choose_seconds"], result["choose_seconds"])
        self.assertRegex(self.tamis(*args, "-v").err, r"; choose [0-9.]+ ms, read ")
        result = self.json("box", "in.png", "-o", "o.png", "--overwrite")["files"][0]
        self.assertNotIn("choose_seconds", result)

    def test_shapes_differ(self):
        for chain in ("resize=size=20x50", "color=to=gray"):
            self.tamis("run", chain, "in.png", "-o", "o.png", "--report", "r.html", "--overwrite")
            self.assertEqual(page_data(self.read("r.html").decode())["comparisons"], [])

    def test_only_before_is_larger(self):
        """Maps of the other two have no part of the first one's detail."""
        self.write("a.pgm", pgm_bytes(1700, 1200, [bytes(1700)] * 1200))
        self.write("b.pgm", pgm_bytes(850, 600, pattern(850, 600)))
        self.tamis("report", "a.pgm", "b.pgm", "--original", "b.pgm", "-o", "r.html")
        data = page_data(self.read("r.html").decode())
        self.assertFalse(data["detail"]["most_changed"])
        self.assertEqual([m["key"] for m in data["maps"]], ["error_after", "ssim_after"])
        for m in data["maps"]:
            self.assertEqual(list(data["pictures"][m["key"]]), ["view"])

    def test_refused_before_any_work(self):
        """The report is none of the pictures, whatever they are called, and levels are numbers."""
        for out, report in (("./x.png", "x.png"), ("x.png", self.path("x.png"))):
            self.tamis("box", "in.png", "-o", out, "--report", report, "--overwrite", code=2)
        self.tamis("box", "in.png", "-o", "x.png", "--report", "r.html", "--levels", "9,1", code=2)
        self.tamis("report", "missing.png", "in.png", "-o", "r.html", "--levels", "1", code=2)
        self.assertEqual(self.names(), ["in.png"])

    def test_index(self):
        os.mkdir(self.path("in"))
        for i in range(6):
            self.write("in/%d.png" % i, png_bytes(24, 20, 1, pattern(24, 20, seed=i + 1)))
        self.write("in/bad.png", self.read("in.png")[:60])
        self.tamis("median", "in", "-o", self.dir, "--report", "r.html", "--jobs", "3", code=1)
        files = page_data(self.read("r.html").decode())["files"]
        self.assertEqual([f["status"] for f in files], ["done"] * 6 + ["failed"])
        self.assertIn("bad.png", files[6]["message"])
        for f in files[:6]:
            self.assertTrue(f["before"].startswith("data:image/jpeg;base64,"))
            sigma = self.json("estimate", f["input"])["files"][0]["pages"][0]["sigma"][0]
            self.assertAlmostEqual(f["noise_before"], 100 * sigma / 255)
            psnr = self.json("compare", f["input"], f["output"])["psnr"]
            self.assertAlmostEqual(20 * math.log10(100 / f["change"]), psnr)

    def test_run_refusals(self):
        self.write("r.html", b"old")
        for more, code in ((["-o", "o.png", "--report", "r.html"], 4),
                           (["-o", "o.png", "--report", "no/r.html"], 4),
                           (["-o", "-", "--report", "n.html"], 2),
                           (["--in_place", "--report", "n.html"], 2),
                           (["-o", "o.png", "--report", "o.png"], 2),
                           (["-o", "o.png", "--original", "in.png"], 2)):
            self.tamis("gaussian", "in.png", *more, code=code)
        self.assertEqual(self.read("r.html"), b"old")
        self.assertEqual(self.names(), ["in.png", "r.html"])

    def test_refusals(self):
        self.write("r.html", b"old")
        self.tamis("report", "in.png", "in.png", "-o", "r.html", code=4)
        self.assertEqual(self.read("r.html"), b"old")
        self.tamis("report", "in.png", "in.png", "-o", "no/r.html", code=4)
        self.tamis("report", "in.png", "missing.png", "-o", "x.html", code=3)
        self.tamis("report", "in.png", "in.png", code=2)
        self.assertEqual(self.names(), ["in.png", "r.html"])

    def test_where_pages_go(self):
        """As results do: links stay links, what is no file is written into."""
        self.write("old.html", b"old")
        os.symlink("old.html", self.path("link.html"))
        args = ("report", "in.png", "in.png", "-o")
        self.tamis(*args, "link.html", code=4)
        self.tamis(*args, "link.html", "--overwrite")
        self.assertTrue(os.path.islink(self.path("link.html")))
        page = self.read("old.html")
        self.assertIn(b"<title>in.png", page)
        os.mkfifo(self.path("pipe"))
        got = []
        reader = threading.Thread(target=lambda: got.append(self.read("pipe")))
        reader.start()
        self.tamis(*args, "pipe")
        reader.join(60)
        self.assertEqual(page_data(got[0].decode()), page_data(page.decode()))
        self.assertTrue(stat.S_ISFIFO(os.stat(self.path("pipe")).st_mode))
        self.assertEqual(self.tamis(*args, "/dev/stdout").stdout, page)
        self.tamis(*args, "/dev/full", code=4)
        os.mkdir(self.path("folder"))
        self.assertIn("folder", self.tamis(*args, "folder", "--overwrite", code=4).err)
        self.assertEqual(self.tamis(*args, "-").stdout, page)
        self.assertIn("--json", self.tamis(*args, "-", "--json", code=2).err)
        self.assertEqual(self.names(), ["folder", "in.png", "link.html", "old.html", "pipe"])

    def test_nothing_that_is_read_is_replaced(self):
        """One rule for all that is written, --overwrite or not."""
        picture = png_bytes(20, 16, 1, pattern(20, 16, 1))
        for name in ("a.png", "b.png", "c.png"):
            self.write(name, picture)
        self.write("bench.json", b'{"results": []}')
        self.write("p.txt", b"mine = box\n")
        os.symlink("a.png", self.path("link.png"))
        before = {name: self.read(name) for name in self.names()}
        for args in ("report a.png b.png -o a.png",
                     "report a.png b.png -o ./b.png",
                     "report a.png b.png -o link.png",
                     "report a.png b.png --original c.png -o c.png",
                     "report bench.json -o bench.json",
                     "compare a.png b.png --diff link.png",
                     "bilateral a.png --guide b.png -o b.png",
                     "bilateral a.png b.png --guide b.png --in_place",
                     "box a.png -o o.png --report a.png",
                     "box a.png -o o.png --report o.png",
                     "bilateral a.png --guide b.png -o o.png --report b.png",
                     "box a.png -o o.png --report r.html --original c.png --manifest c.png",
                     "box a.png -o c.png --report r.html --original c.png",
                     "box a.png -o o.png --manifest a.png",
                     "run @mine a.png -o p.txt --format png --presets p.txt"):
            more = () if "--in_place" in args else ("--overwrite",)
            self.assertIn("that is", self.tamis(*args.split(), *more, code=2).err, args)
        self.assertEqual({name: self.read(name) for name in self.names()}, before)
        self.tamis("box", "a.png", "-o", "a.png", "--overwrite")  # its own input it may replace

    def test_bench(self):
        bench = ["bench", "--filter", "gaussian", "--size", "64x48", "--repeat", "1"]
        result = self.json(*bench, "--report", "b.html")
        self.assertEqual(page_data(self.read("b.html").decode()), result)
        self.tamis(*bench, "--report", "b.html", code=4)
        self.write("b.json", json.dumps(result).encode())
        self.tamis("report", "b.json", "-o", "c.html")
        self.assertEqual(page_data(self.read("c.html").decode()), result)
        row = result["results"][0]
        run = {"threads": 1, "rows": [{"row": "a", "tamis": {"min": 1}, "peers": {"b": {}}}]}
        for bad in ({}, [], {"results": []}, {"results": [{}]}, {"results": [row]}, {"runs": [{}]},
                    dict(result, results=[row, dict(row, all_threads=None)]),
                    dict(result, results=[dict(row, published={})]), {"runs": [run]}):
            self.write("x.json", json.dumps(bad).encode())
            self.assertIn("x.json", self.tamis("report", "x.json", "-o", "x.html", code=5).err)
        run["rows"][0]["peers"] = {"b": {"min": 2, "ratio": 2}}
        self.write("x.json", json.dumps({"runs": [run]}).encode())
        self.tamis("report", "x.json", "-o", "d.html")
        self.write("x.json", b"{")
        self.assertIn("x.json", self.tamis("report", "x.json", "-o", "x.html", code=3).err)
