#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tamis beside the Python functions of OpenCV, SciPy and scikit-image: time and largest difference,
with the parameters that mean the same. Prints a table in Markdown.

    PYTHONPATH=build/python python bench/python/compare.py [--size 1920x1080] [FILTER...]

Times are the fastest of several calls, by turns; differences are of the inner part of the picture,
32 pixels away from its edges, for borders differ."""
import argparse
import time

import cv2
import numpy
import scipy.ndimage as nd
import skimage.filters as sf
import skimage.restoration as sr
import skimage.transform as st
import tamis
from skimage.morphology import footprint_rectangle

MARGIN = 32


def picture(width, height, dtype, seed=5):
    """Waves, edges and noise, over most of the type's range."""
    rng = numpy.random.default_rng(seed)
    y, x = numpy.mgrid[0:height, 0:width].astype("float32")
    v = 0.5 + 0.2 * numpy.sin(x / 37) * numpy.cos(y / 23) + 0.15 * ((x // 90 + y // 70) % 2)
    v += 0.04 * rng.standard_normal(v.shape, dtype="float32")
    scale = {"uint8": 255, "uint16": 65535, "float32": 1}[dtype]
    return (v.clip(0, 1) * scale).astype(dtype)


def rows(a, small, f, u16):
    """(filter, picture, tamis' text, tamis' call, [(peer, its text, its call)])."""
    middle = ((a.shape[1] - 1) / 2, (a.shape[0] - 1) / 2)
    turn = cv2.getRotationMatrix2D(middle, 10, 1)
    kernel = numpy.array([[0, -1, 0], [-1, 5, -1], [0, -1, 0]], "float32")
    mirror = {"borderType": cv2.BORDER_REFLECT_101}
    yield ("gaussian", "u8", "sigma=2, compat=opencv",
           lambda: tamis.gaussian(a, 2, compat="opencv"),
           [("OpenCV", "GaussianBlur((0, 0), 2)",
             lambda: cv2.GaussianBlur(a, (0, 0), 2, **mirror))])
    yield ("gaussian", "f32", "sigma=2, ksize=13", lambda: tamis.gaussian(f, 2, ksize=13),
           [("OpenCV", "GaussianBlur((13, 13), 2)",
             lambda: cv2.GaussianBlur(f, (13, 13), 2, **mirror)),
            ("SciPy", "gaussian_filter(2, truncate=3)",
             lambda: nd.gaussian_filter(f, 2, mode="mirror", truncate=3)),
            ("scikit-image", "gaussian(2, truncate=3)",
             lambda: sf.gaussian(f, 2, mode="mirror", truncate=3))])
    yield ("box", "u8", "ksize=5", lambda: tamis.box(a, 5),
           [("OpenCV", "blur((5, 5))", lambda: cv2.blur(a, (5, 5), **mirror)),
            ("SciPy", "uniform_filter(5)", lambda: nd.uniform_filter(a, 5, mode="mirror"))])
    yield ("median", "u8", "ksize=5", lambda: tamis.median(a, 5),
           [("OpenCV", "medianBlur(5)", lambda: cv2.medianBlur(a, 5)),
            ("SciPy", "median_filter(5)", lambda: nd.median_filter(a, 5, mode="mirror")),
            ("scikit-image", "median(5x5)",
             lambda: sf.median(a, footprint_rectangle((5, 5)), mode="mirror"))])
    yield ("median", "u16", "ksize=5", lambda: tamis.median(u16, 5),
           [("OpenCV", "medianBlur(5)", lambda: cv2.medianBlur(u16, 5)),
            ("SciPy", "median_filter(5)", lambda: nd.median_filter(u16, 5, mode="mirror"))])
    yield ("bilateral", "u8", "sigma_space=3, sigma_color=30, compat=opencv",
           lambda: tamis.bilateral(a, 3, sigma_color=30, compat="opencv"),
           [("OpenCV", "bilateralFilter(0, 30, 3)",
             lambda: cv2.bilateralFilter(a, 0, 30, 3, **mirror))])
    yield ("nlmeans", "u8 512x512", "h=10", lambda: tamis.nlmeans(small, 10),
           [("OpenCV", "fastNlMeansDenoising(10, 7, 21)",
             lambda: cv2.fastNlMeansDenoising(small, None, 10, 7, 21)),
            ("scikit-image", "denoise_nl_means(7, 10, h=10)",
             lambda: sr.denoise_nl_means(small.astype("float32"), 7, 10, h=10,
                                         preserve_range=True))])
    yield ("sobel", "u8", "output=dx", lambda: tamis.sobel(a, "dx"),
           [("OpenCV", "Sobel(CV_16S, 1, 0)", lambda: cv2.Sobel(a, cv2.CV_16S, 1, 0)),
            ("SciPy", "sobel(int16, axis=1)",
             lambda: nd.sobel(a.astype("int16"), axis=1, mode="mirror"))])
    yield ("laplacian", "u8", "", lambda: tamis.laplacian(a),
           [("OpenCV", "Laplacian(CV_16S)", lambda: cv2.Laplacian(a, cv2.CV_16S)),
            ("SciPy", "laplace(int16)", lambda: nd.laplace(a.astype("int16"), mode="mirror"))])
    yield ("canny", "u8", "low=50, high=150, compat=opencv",
           lambda: tamis.canny(a, 50, high=150, compat="opencv"),
           [("OpenCV", "Canny(50, 150, L2gradient)",
             lambda: cv2.Canny(a, 50, 150, L2gradient=True))])
    yield ("convolve", "u8", "3x3", lambda: tamis.convolve(a, kernel),
           [("OpenCV", "filter2D", lambda: cv2.filter2D(a, -1, kernel, **mirror)),
            ("SciPy", "correlate(f32), clipped",
             lambda: nd.correlate(a.astype("float32"), kernel, mode="mirror").clip(0, 255))])
    yield ("unsharp", "f32", "sigma=2", lambda: tamis.unsharp(f, 2),
           [("scikit-image", "unsharp_mask(2, 1, preserve_range)",
             lambda: sf.unsharp_mask(f, 2, 1, preserve_range=True))])
    yield ("resize", "u8", "scale=2", lambda: tamis.resize(a, scale=2),
           [("OpenCV", "resize(INTER_LINEAR)",
             lambda: cv2.resize(a, None, fx=2, fy=2, interpolation=cv2.INTER_LINEAR)),
            ("scikit-image", "resize(order=1, f32)",
             lambda: st.resize(a.astype("float32"), (2 * a.shape[0], 2 * a.shape[1]), order=1))])
    yield ("rotate", "f32", "angle=10", lambda: tamis.rotate(f, 10),
           [("OpenCV", "warpAffine(INTER_LINEAR)",
             lambda: cv2.warpAffine(f, turn, f.shape[::-1], flags=cv2.INTER_LINEAR, **{
                 "borderMode": cv2.BORDER_REFLECT_101})),
            ("SciPy", "rotate(order=1)",
             lambda: nd.rotate(f, 10, reshape=False, order=1, mode="mirror"))])


def fastest(own, other, seconds):
    """The fastest call of each, in turns, for about so long; own's is called more often, since it
    is the shorter one."""
    best = [float("inf"), float("inf")]
    end = time.perf_counter() + seconds
    while True:
        for i, call in enumerate([own] * 5 + [other]):
            start = time.perf_counter()
            call()
            best[i // 5] = min(best[i // 5], time.perf_counter() - start)
        if time.perf_counter() > end:
            return best


def largest(a, b):
    inner = (slice(MARGIN, -MARGIN),) * 2
    return float(numpy.abs(a[inner].astype("float64") - b[inner].astype("float64")).max())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", default="1920x1080")
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("filters", nargs="*")
    given = parser.parse_args()
    width, height = map(int, given.size.split("x"))
    a, f = picture(width, height, "uint8"), picture(width, height, "float32")
    u16, small = picture(width, height, "uint16"), picture(512, 512, "uint8")
    print("%s, %d threads, OpenCV %s\n" % (given.size, tamis.get_threads(), cv2.__version__))
    print("| filter | picture | tamis | ms | beside | ms | times faster | largest difference |")
    print("|---|---|---|---:|---|---:|---:|---:|")
    for name, kind, text, own, peers in rows(a, small, f, u16):
        if given.filters and name not in given.filters:
            continue
        want = own()
        for peer, peer_text, call in peers:
            other = call()
            mine, theirs = fastest(own, call, given.seconds)
            print("| %s | %s | %s | %.2f | %s `%s` | %.2f | %.1f | %.3g |"
                  % (name, kind, text, mine * 1e3, peer, peer_text, theirs * 1e3, theirs / mine,
                     largest(want, other)), flush=True)


if __name__ == "__main__":
    main()
