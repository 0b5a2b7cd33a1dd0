#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How well non-local means denoises, beside OpenCV and scikit-image, as a table.

    python3 bench/nlmeans_quality.py build/libtamis.so

Photographs of scikit-image with seeded Gaussian noise, at h = 20 for noise of 25 and at the best
of several strengths for each program. Needs numpy, OpenCV and scikit-image; takes some minutes,
or with --quick, on corners of the pictures and at noise of 25 alone, some seconds.
"""
import argparse
import os
import sys
from types import SimpleNamespace

import cv2
import numpy as np
import skimage.data
from skimage.metrics import structural_similarity
from skimage.restoration import denoise_nl_means

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "peers"))
from contestants import Tamis  # noqa: E402  (beside this file)

STRENGTHS = (0.6, 0.7, 0.8, 0.9, 1.0, 1.1)  # times the noise
REDUCED = (0.3, 0.4, 0.5, 0.6, 0.7)         # the same where sigma is given
CORNER = 48                                 # side of a picture of --quick


def gray(rgb):
    return cv2.cvtColor(rgb, cv2.COLOR_RGB2GRAY)


PHOTOS = {
    "astronaut, gray": lambda: gray(skimage.data.astronaut()),
    "camera, gray": skimage.data.camera,
    "cat, gray": lambda: gray(cv2.resize(skimage.data.chelsea(), (512, 512))),
    "astronaut, RGB": skimage.data.astronaut,
}


def psnr(a, b):
    return 10 * np.log10(255 ** 2 / np.mean((a.astype(float) - b) ** 2))


def ssim(a, b):
    return structural_similarity(a, b, channel_axis=2 if a.ndim == 3 else None)


def run_tamis(tamis, picture, options):
    channels = picture.shape[2] if picture.ndim == 3 else 1
    row = SimpleNamespace(chain=f"nlmeans={options}", type="u8", channels=channels,
                          result_size=lambda w, h: (w, h))
    job = tamis.open(row, picture)
    job.run()
    result = job.result().copy()
    job.close()
    return result


def run_skimage(picture, h, sigma):
    out = denoise_nl_means(picture.astype(float), patch_size=7, patch_distance=10, h=h,
                           sigma=sigma, preserve_range=True,
                           channel_axis=2 if picture.ndim == 3 else None)
    return np.clip(np.rint(out), 0, 255).astype(np.uint8)


def programs(tamis, noisy, sigma):
    """Name, strengths in levels, and what makes a result of a strength."""
    plain = [s * sigma for s in STRENGTHS]
    reduced = [s * sigma for s in REDUCED]
    yield "tamis", plain, lambda h: run_tamis(tamis, noisy, f"h={h}")
    yield "tamis sigma", reduced, lambda h: run_tamis(tamis, noisy, f"h={h}:sigma={sigma}")
    yield ("tamis sigma, patch=5", reduced,
           lambda h: run_tamis(tamis, noisy, f"h={h}:sigma={sigma}:patch=5"))
    if noisy.ndim == 3:
        yield "tamis luma", plain, lambda h: run_tamis(tamis, noisy, f"h={h}:color=luma")
        yield "tamis separate", plain, lambda h: run_tamis(tamis, noisy, f"h={h}:color=separate")
    yield "OpenCV", plain, lambda h: cv2.fastNlMeansDenoising(noisy, None, h, 7, 21)
    yield "scikit-image", plain, lambda h: run_skimage(noisy, h, 0)
    yield "scikit-image sigma", reduced, lambda h: run_skimage(noisy, h, sigma)


def report(tamis, name, clean, sigma):
    noise = np.random.default_rng(7).normal(0, sigma, clean.shape)
    noisy = np.clip(np.rint(clean + noise), 0, 255).astype(np.uint8)
    print(f"| {name}, noise {sigma} | noisy | | {psnr(noisy, clean):.2f} | "
          f"{ssim(noisy, clean):.3f} | |")
    for program, strengths, run in programs(tamis, noisy, sigma):
        results = [(psnr(r, clean), ssim(r, clean), h) for h in strengths for r in [run(h)]]
        best = max(results)
        at20 = next((f"{p:.2f} / {s:.3f}" for p, s, h in results if h == 20 and sigma == 25), "")
        print(f"| | {program} | {best[2]:g} | {best[0]:.2f} | {best[1]:.3f} | {at20} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("library", help="build/libtamis.so")
    parser.add_argument("--quick", action="store_true", help="small pictures, to see that it runs")
    args = parser.parse_args()
    tamis = Tamis(args.library, 1)
    print("| picture | program | best h | PSNR, dB | SSIM | at h = 20 |")
    print("|---|---|---|---|---|---|")
    for name, load in PHOTOS.items():
        clean = np.ascontiguousarray(load()[:CORNER, :CORNER]) if args.quick else load()
        for sigma in (10, 25, 50) if name == "astronaut, gray" and not args.quick else (25,):
            report(tamis, name, clean, sigma)


if __name__ == "__main__":
    main()
