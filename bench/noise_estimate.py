#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How near the noise estimate comes to noise that was put on real pictures, as tables.

    python3 bench/noise_estimate.py build/libtamis.so

Photographs of scikit-image (and scikit-learn, where it is there) with seeded noise: normal, of
photons, impulses; also normal noise on pictures that went through JPEG. Beside it scikit-image's
estimate_sigma. Needs numpy, OpenCV (for bench/peers), scikit-image and PyWavelets; takes some
seconds, with --quick fewer.
"""
import argparse
import ctypes as c
import io
import os
import sys
import time

import numpy as np
from PIL import Image
from skimage.restoration import estimate_sigma

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "peers"))
from contestants import Format, Tamis, view  # noqa: E402  (beside this file)
from pictures import add_impulses, add_normal, add_photons, gray, pictures  # noqa: E402

SIGMAS = (2, 5, 10, 15, 20, 25, 30, 40, 50)


class Noise(c.Structure):
    _fields_ = [(name, c.c_double) for name in ("sigma", "slope", "offset", "impulses")]


def measure(tamis, picture):
    """The noise of each channel."""
    channels = picture.shape[2] if picture.ndim == 3 else 1
    format, noise = Format(0, channels), (Noise * 4)()
    tamis.check(tamis.lib.tamis_noise_estimate(tamis.ctx, c.byref(view(picture, format)), noise))
    return noise[:channels]


def jpeg(picture, quality):
    file = io.BytesIO()
    Image.fromarray(picture).save(file, "jpeg", quality=quality)
    return np.array(Image.open(file))


def table(head, rows):
    print("| " + " | ".join(head) + " |")
    print("|---" * len(head) + "|")
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


def percent(values):
    return [f"{100 * v:+.1f}" for v in values]


def normal_noise(tamis, clean):
    ours, theirs = [], []
    for picture in clean.values():
        noisy = [add_normal(picture, s) for s in SIGMAS]
        ours.append([measure(tamis, n)[0].sigma / s - 1 for n, s in zip(noisy, SIGMAS)])
        theirs.append([estimate_sigma(n.astype(float)) / s - 1 for n, s in zip(noisy, SIGMAS)])
    ours, theirs = np.array(ours), np.array(theirs)
    rows = [[name, *percent(e)] for name, e in zip(clean, ours)]
    rows.append(["**median error**", *(f"**{100 * v:.1f}**" for v in np.median(abs(ours), 0))])
    rows.append(["scikit-image", *(f"{100 * v:.1f}" for v in np.median(abs(theirs), 0))])
    table(["error, %", *map(str, SIGMAS)], rows)


def after_jpeg(tamis, clean):
    rows = []
    for quality in (90, 75, 50, 30):
        errors = [[measure(tamis, add_normal(jpeg(p, quality), s))[0].sigma / s - 1 for s in SIGMAS]
                  for p in clean.values()]
        rows.append([str(quality), *(f"{100 * v:.1f}" for v in np.median(np.abs(errors), 0))])
    table(["quality; median error, %", *map(str, SIGMAS)], rows)


def photons(tamis, clean):
    rows = []
    for slope in (0.2, 0.5, 1, 2, 4):
        found = [measure(tamis, add_photons(p, slope))[0] for p in clean.values()]
        true = [np.sqrt(slope * np.mean(p)) for p in clean.values()]
        seen = [f.slope / slope - 1 for f in found if f.slope > 0]
        rows.append([f"{slope:g}", f"{len(seen)} of {len(found)}",
                     f"{100 * np.median(np.abs(seen)):.1f}",
                     f"{100 * np.median([abs(f.sigma / t - 1) for f, t in zip(found, true)]):.1f}"])
    table(["slope", "seen in", "median error of the slope, %", "of the deviation, %"], rows)


def impulses(tamis, clean):
    rows = []
    for share in (0, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3):
        for sigma in (0, 10):
            found = [measure(tamis, add_impulses(add_normal(p, sigma), share))[0]
                     for p in clean.values()]
            shares = 100 * np.array([f.impulses for f in found])
            rest = [f.sigma / sigma - 1 for f in found] if sigma else []
            rows.append([f"{100 * share:g}", str(sigma), f"{np.median(shares):.2f}",
                         f"{shares.min():.2f} .. {shares.max():.2f}",
                         f"{100 * np.median(np.abs(rest)):.1f}" if sigma else ""])
    table(["impulses, %", "normal noise", "found, median", "least and most",
           "median error of the normal noise, %"], rows)


def false_slopes(tamis, clean):
    seen = sum(measure(tamis, add_normal(p, s))[0].slope > 0 for p in clean.values()
               for s in SIGMAS)
    print(f"Slopes seen where there is none: {seen} of {len(clean) * len(SIGMAS)}\n")


def speed(tamis):
    picture = np.random.default_rng(1).integers(60, 90, (1080, 1920)).astype(np.uint8)
    times = []
    for _ in range(15):
        start = time.perf_counter()
        measure(tamis, picture)
        times.append(time.perf_counter() - start)
    start = time.perf_counter()
    estimate_sigma(picture.astype(float))
    print(f"1920x1080 gray u8, one thread: {1000 * min(times):.1f} ms; scikit-image "
          f"{1000 * (time.perf_counter() - start):.0f} ms")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("library", help="build/libtamis.so")
    parser.add_argument("--quick", action="store_true", help="two pictures, to see that it runs")
    args = parser.parse_args()
    tamis = Tamis(args.library, 1)
    clean = {name: gray(p) for name, p in pictures()}
    if args.quick:
        clean = dict(list(clean.items())[:2])
    normal_noise(tamis, clean)
    false_slopes(tamis, clean)
    after_jpeg(tamis, clean)
    photons(tamis, clean)
    impulses(tamis, clean)
    speed(tamis)


if __name__ == "__main__":
    main()
