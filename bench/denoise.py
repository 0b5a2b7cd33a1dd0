#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How near `denoise` comes to the best filter and setting that a search finds, as a table.

    python3 bench/denoise.py build/libtamis.so

The middle of real pictures (see pictures.py) with seeded normal noise. The search goes through
nlmeans (patch, sigma told or not, h), bilateral (sigma_space, sigma_color) and Gaussians, and knows
the clean picture and the noise; denoise knows neither. Needs numpy, OpenCV (for bench/peers) and
scikit-image; takes some minutes, with --quick seconds.
"""
import argparse
import ctypes as c
import itertools
import os
import sys
from types import SimpleNamespace

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "peers"))
from contestants import Format, Tamis, view  # noqa: E402  (beside this file)
from pictures import add_impulses, add_normal, gray, pictures, psnr  # noqa: E402

SIGMAS = (5, 10, 20, 35, 50)
SIDE = 192


def channels_of(picture):
    return picture.shape[2] if picture.ndim == 3 else 1


def run(tamis, picture, chain):
    row = SimpleNamespace(chain=chain, type="u8", channels=channels_of(picture),
                          result_size=lambda w, h: (w, h))
    job = tamis.open(row, picture)
    job.run()
    result = job.result().copy()
    job.close()
    return result


def resolve(tamis, picture, chain):
    """The chain with everything chosen for a picture."""
    lib, graph, chosen = tamis.lib, c.c_void_p(), c.c_void_p()
    tamis.check(lib.tamis_graph_parse(tamis.ctx, chain.encode(), c.byref(graph)))
    image = view(picture, Format(0, channels_of(picture)))
    status = lib.tamis_graph_resolve(tamis.ctx, graph, c.byref(image), None, c.byref(chosen))
    lib.tamis_graph_free(c.byref(graph))
    tamis.check(status)
    text = c.create_string_buffer(1000)
    lib.tamis_graph_print(chosen, text, c.c_size_t(len(text)))
    lib.tamis_graph_free(c.byref(chosen))
    return text.value.decode()


def settings(sigma):
    """The chains that are tried, for noise of that deviation."""
    for patch in (3, 5, 7):
        for h in (0.5, 0.6, 0.7, 0.8, 0.9, 1.1, 1.3):
            yield f"nlmeans=h={h * sigma:g}:patch={patch}"
        for h in (0.25, 0.3, 0.35, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9):
            yield f"nlmeans=h={h * sigma:g}:sigma={sigma}:patch={patch}"
    for space, color in itertools.product((1, 1.5, 2, 3), (1.5, 2, 2.5, 3, 4)):
        yield f"bilateral=sigma_space={space}:sigma_color={color * sigma:g}"
    for space in (0.5, 0.7, 1, 1.5):
        yield f"gaussian=sigma={space}"


def best(tamis, noisy, clean, sigma):
    return max((psnr(run(tamis, noisy, s), clean), s) for s in settings(sigma))


def crop(picture):
    y, x = (max(0, (n - SIDE) // 2) for n in picture.shape[:2])
    return np.ascontiguousarray(picture[y:y + SIDE, x:x + SIDE])


def table(tamis, clean, title):
    print(f"| {title} | " + " | ".join(map(str, SIGMAS)) + " |")
    print("|---" * (len(SIGMAS) + 1) + "|")
    behind = []
    for name, picture in clean.items():
        row = []
        for sigma in SIGMAS:
            noisy = add_normal(picture, sigma)
            ours = psnr(run(tamis, noisy, resolve(tamis, noisy, "denoise")), picture)
            theirs, setting = best(tamis, noisy, picture, sigma)
            row.append((psnr(noisy, picture), ours, theirs, setting))
        behind.append([t - o for _, o, t, _ in row])
        print(f"| {name} | " + " | ".join(f"{n:.1f}, {o:.1f}, {t:.1f}" for n, o, t, _ in row) +
              " |",
              flush=True)
    middle, mean = np.median(behind, 0), np.mean(behind, 0)
    print("| **behind, median** | " + " | ".join(f"**{v:.2f}**" for v in middle) + " |")
    print("| behind, mean | " + " | ".join(f"{v:.2f}" for v in mean) + " |\n")


def impulses(tamis, clean):
    print("| impulses, % | normal noise | noisy | median 3x3 | denoise |\n|---|---|---|---|---|")
    for share, sigma in itertools.product((0.02, 0.1, 0.25), (0, 10)):
        noisy = [add_impulses(add_normal(p, sigma), share) for p in clean.values()]
        means = [np.mean([psnr(r, p) for r, p in zip(results, clean.values())]) for results in (
            noisy, [run(tamis, n, "median") for n in noisy],
            [run(tamis, n, resolve(tamis, n, "denoise")) for n in noisy])]
        print(f"| {100 * share:g} | {sigma} | " + " | ".join(f"{m:.1f}" for m in means) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("library", help="build/libtamis.so")
    parser.add_argument("--quick", action="store_true",
                        help="one small picture, to see that it runs")
    args = parser.parse_args()
    tamis = Tamis(args.library, 1)
    found = {name: crop(p) for name, p in pictures()}
    if args.quick:
        found = {"camera": np.ascontiguousarray(found["camera"][:32, :32])}
    table(tamis, {n: gray(p) for n, p in found.items()}, "gray")
    if not args.quick:
        table(tamis, {n: p for n, p in found.items() if p.ndim == 3}, "RGB")
    impulses(tamis, {n: gray(p) for n, p in found.items()})


if __name__ == "__main__":
    main()
