#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How soon the live page answers a slider, in headless Chromium, as a table.

    python3 bench/live.py build/tamis [--threads 2] [--rounds 6]

A photograph of 24 megapixels (scikit-image's, enlarged, with seeded noise), seen as a whole and
pixel by pixel, in a window of 1280 x 800. Milliseconds from a slider's input event to the first
frame with other pixels, and to the frame with the exact ones: the median and the worst of the
rounds. Then the slider is dragged for a second, an event each 33 ms: how often the picture changed,
and how long after the last event the exact pixels were there. Needs Debian's chromium, Playwright
and scikit-image.
"""
import argparse
import os
import shutil
import signal
import statistics
import subprocess
import tempfile

import numpy as np
import skimage.data
from PIL import Image
from playwright.sync_api import sync_playwright

# Name, filter, its other values, and two values of the slider to go back and forth between.
ROWS = (
    ("gaussian, sigma 3", "gaussian", {}, "sigma", ("3", "3.5")),
    ("bilateral, 9x9", "bilateral", {"ksize": "9"}, "sigma_color", ("10", "12")),
    ("bilateral, 15x15", "bilateral", {"ksize": "15"}, "sigma_color", ("10", "12")),
    ("median, 31x31", "median", {}, "ksize", ("31", "29")),
    ("nlmeans, 21/7", "nlmeans", {"search": "21", "patch": "7"}, "h", ("5", "6")),
)
SCRIPT = """async ([name, values, gap]) => {
  const {viewer, state, chainText} = window.tamis, slider = document.getElementById("p-0-" + name);
  const show = viewer.show.bind(viewer), shown = [];
  const painted = () => new Promise(
    (done) => requestAnimationFrame(() => setTimeout(() => done(performance.now()))));
  const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
  viewer.show = (side, ...rest) => {
    show(side, ...rest);
    if (side === "right") painted().then((time) => shown.push(time));
  };
  let start;
  for (const value of values) {
    slider.max = Math.max(slider.max, value);
    slider.value = value;
    state.last = null;
    start = performance.now();
    slider.dispatchEvent(new Event("input"));
    if (gap) await sleep(gap);
  }
  const chain = chainText(), changes = shown.length;
  while (!state.last || state.last.chain !== chain) await sleep(1);
  const exact = await painted();
  viewer.show = show;
  return {first: shown.length ? shown[0] - start : exact - start, exact: exact - start, changes};
}"""


def photo(path):
    enlarged = Image.fromarray(skimage.data.coffee()).resize((6000, 4000), Image.BICUBIC)
    picture = np.asarray(enlarged).astype(np.float32)
    picture += np.random.default_rng(1).normal(0, 10, picture.shape)
    Image.fromarray(np.clip(np.rint(picture), 0, 255).astype(np.uint8)).save(path, compress_level=1)


def milliseconds(values):
    return "%.0f (%.0f)" % (statistics.median(values), max(values))


def measure(page, row, rounds):
    name, filter_name, values, slider, ends = row
    page.evaluate("window.tamis.state.last = null")
    page.get_by_label("Filter 1").select_option(filter_name)
    for key, value in values.items():
        page.get_by_label(key + ", exact").evaluate(
            "(box, v) => { box.value = v; box.dispatchEvent(new Event('input')); }", value)
    page.wait_for_timeout(100)
    found = [page.evaluate(SCRIPT, [slider, [ends[i % 2]], 0]) for i in range(rounds)]
    drag = page.evaluate(SCRIPT, [slider, [ends[i % 2] for i in range(30)], 33])
    print("| %s | %s | %s | %d | %.0f |" %
          (name, milliseconds([f["first"] for f in found]),
           milliseconds([f["exact"] for f in found]), drag["changes"], drag["exact"]), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("tamis")
    parser.add_argument("--threads", default="2")
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--only", default="", help="rows whose names begin so")
    args = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="tamis-live-")
    photo(folder + "/photo.png")
    server = subprocess.Popen([args.tamis, "serve", folder + "/photo.png", "--threads",
                               args.threads, "--device", "cpu"], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL)
    try:
        url = server.stdout.readline().decode().strip()
        with sync_playwright() as p:
            browser = p.chromium.launch(executable_path=shutil.which("chromium"),
                                        args=["--no-sandbox"])
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            page.set_default_timeout(120000)
            page.goto(url)
            page.wait_for_timeout(5000)  # until it has been opened
            for title, button in (("as a whole", "Show all of the picture"),
                                  ("pixel by pixel",
                                   "One pixel of the picture for one of the screen")):
                print("| %s | first | exact | changes in 1 s | then exact |\n|---|---|---|---|---|"
                      % title)
                page.get_by_role("button", name=button).click()
                for row in ROWS:
                    if row[0].startswith(args.only):
                        measure(page, row, args.rounds)
            browser.close()
    finally:
        server.send_signal(signal.SIGINT)
        server.wait()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
