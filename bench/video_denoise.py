#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Denoising of video: tamis nlmeans over frames beside FFmpeg's nlmeans and hqdn3d, each at its
best.

    video_denoise.py TAMIS CLIP[:FIRST[:COUNT]]... [--sigma 15] [--presets] [--bilateral] [--motion]

Frames of each clip (FFmpeg decodes them; luma alone counts) get normal noise, rounded to 8 bits.
PSNR is that of the mean squared error over all frames, SSIM the mean over frames. --presets runs
the settings of doc/video.md instead of the grids, --bilateral the bilateral filters of both,
--motion what patches, windows and following do for clips in which everything moves.
Needs ffmpeg, numpy and scikit-image.
"""
import argparse
import itertools
import os
import subprocess
import tempfile
import time

import numpy
from skimage.metrics import structural_similarity


def read_clip(clip):
    """Luma of the frames, (count, h, w)."""
    path, first, count = (clip.split(":") + ["0", "24"])[:3] if clip.count(":") < 2 \
        else clip.split(":")
    size = subprocess.run(["ffprobe", "-v", "error", "-select_streams", "v:0", "-show_entries",
                           "stream=width,height", "-of", "csv=p=0", path], check=True,
                          capture_output=True, text=True).stdout.strip().split(",")
    w, h = int(size[0]), int(size[1])
    data = subprocess.run(["ffmpeg", "-v", "error", "-i", path, "-vf",
                           "select=between(n\\,%d\\,%d)" % (int(first),
                                                          int(first) + int(count) - 1),
                           "-vsync", "0", "-pix_fmt", "gray", "-f", "rawvideo", "-"], check=True,
                          capture_output=True).stdout
    return numpy.frombuffer(data, numpy.uint8).reshape(-1, h, w)


def write_y4m(path, luma):
    _, h, w = luma.shape
    chroma = bytes([128]) * (2 * ((w + 1) // 2) * ((h + 1) // 2))
    with open(path, "wb") as f:
        f.write(b"YUV4MPEG2 W%d H%d F25:1 Ip A1:1 C420jpeg XCOLORRANGE=FULL\n" % (w, h))
        for frame in luma:
            f.write(b"FRAME\n" + frame.tobytes() + chroma)


def read_y4m(path, shape):
    count, h, w = shape
    size = w * h + 2 * ((w + 1) // 2) * ((h + 1) // 2)
    with open(path, "rb") as f:
        f.readline()
        data = f.read()
    frames = [data[i * (size + 6) + 6:][:w * h] for i in range(count)]
    return numpy.stack([numpy.frombuffer(f, numpy.uint8).reshape(h, w) for f in frames])


def psnr(a, b):
    return 10 * numpy.log10(255**2 / numpy.mean((a.astype(float) - b.astype(float))**2))


def ssim(a, b):
    return numpy.mean([structural_similarity(x, y, data_range=255, gaussian_weights=True,
                                             sigma=1.5, use_sample_covariance=False)
                       for x, y in zip(a, b)])


class Bench:
    def __init__(self, tamis, clean, sigma):
        self.tamis, self.clean = tamis, clean
        self.dir = tempfile.TemporaryDirectory()
        self.noisy = os.path.join(self.dir.name, "noisy.y4m")
        self.out = os.path.join(self.dir.name, "out.y4m")
        rng = numpy.random.default_rng(15)
        noise = clean + rng.normal(0, sigma, clean.shape)
        write_y4m(self.noisy, numpy.clip(numpy.rint(noise), 0, 255).astype(numpy.uint8))

    def score(self, command):
        start = time.monotonic()
        subprocess.run(command, check=True, capture_output=True)
        seconds = time.monotonic() - start
        result = read_y4m(self.out, self.clean.shape)
        return psnr(result, self.clean), ssim(result, self.clean), len(self.clean) / seconds

    def chain(self, chain):
        return self.score([self.tamis, "run", chain, self.noisy, "-o", self.out, "--overwrite",
                           "--planes", "y", "--device", "cpu", "-q"])

    def ffmpeg(self, chain):
        return self.score(["ffmpeg", "-v", "error", "-y", "-i", self.noisy, "-vf",
                           chain, "-pix_fmt",
                           "yuv420p", self.out])

    def best(self, name, run, settings):
        rows = [(run(s), s) for s in settings]
        (p, s, rate), setting = max(rows)
        print("  %-26s %6.2f dB  %.4f  %7.1f frames/s  %s" % (name, p, s, rate, setting),
              flush=True)
        return p


PRESETS = (("light", "@video_light"), ("medium", "@video_medium"), ("strong", "@video_strong"),
           ("medium, not following", "nlmeans=frames=2:search=5:patch=9:h=auto:sigma=auto"))


def grids(bench, sigma):
    def ours(frames, searches):
        return ["nlmeans=frames=%d:search=%d:patch=5:h=%.4g:sigma=%.4g" % (frames, s, f * sigma,
                                                                         sigma)
                for s, f in itertools.product(searches, (0.6, 0.7, 0.8, 0.9))]
    bench.best("FFmpeg hqdn3d", bench.ffmpeg,
               ["hqdn3d=%g:0:%g:0" % v for v in itertools.product((9, 18, 30, 45),
                                                                  (9, 18, 26, 40))])
    bench.best("FFmpeg nlmeans", bench.ffmpeg,
               ["nlmeans=s=%g:p=%d:r=%d" % (f * sigma, p, r)
                for f, p, r in itertools.product((0.55, 0.67, 0.8), (5, 7), (11, 15))])
    bench.best("tamis nlmeans, one frame", bench.chain, ours(0, (11, 21)))
    for frames in (1, 2, 3):
        bench.best("tamis nlmeans, frames=%d" % frames, bench.chain, ours(frames, (5, 7, 9)))


def bilaterals(bench, sigma):
    """Both filters go by this name; FFmpeg's is recursive."""
    bench.best("FFmpeg bilateral", bench.ffmpeg,
               ["bilateral=sigmaS=%g:sigmaR=%.4g:planes=1" % (s, r * sigma / 255)
                for s, r in itertools.product((3, 4, 5, 6.5, 8), (2.125, 2.5, 3, 3.4, 4.25))])
    for k in (3, 5):
        bench.best("tamis bilateral %dx%d" % (k, k), bench.chain,
                   ["bilateral=sigma_space=%g:sigma_color=%.4g:ksize=%d" % (s, c * sigma, k)
                    for s, c in itertools.product((1.2, 1.6, 2.2), (2.67, 3.33, 4))])
    bench.best("FFmpeg, one for all clips", bench.ffmpeg,
               ["bilateral=sigmaS=5:sigmaR=%.4g:planes=1" % (3.4 * sigma / 255)])
    bench.best("tamis, one for all clips", bench.chain,
               ["bilateral=sigma_space=1.2:sigma_color=%.4g:ksize=5" % (3.33 * sigma)])


def motions(bench, sigma):
    """By patch and window; what helps one frame as much is no gain of frames around."""
    for (frames, motion), patch, search in itertools.product(
            ((0, 0), (1, 0), (1, 32), (2, 32)), (7, 9, 11), (5, 7, 9, 11)):
        bench.best("frames=%d motion=%d %dx%d in %d" % (frames, motion, patch, patch, search),
                   bench.chain,
                   ["nlmeans=frames=%d:motion=%d:search=%d:patch=%d:h=%.4g:sigma=%.4g"
                    % (frames, motion, search, patch, f * sigma, sigma) for f in (0.7, 0.8, 0.9)])


def main():
    args = argparse.ArgumentParser()
    args.add_argument("tamis")
    args.add_argument("clips", nargs="+")
    args.add_argument("--sigma", type=float, default=15)
    args.add_argument("--bilateral", action="store_true")
    args.add_argument("--presets", action="store_true")
    args.add_argument("--motion", action="store_true")
    args = args.parse_args()
    for clip in args.clips:
        clean = read_clip(clip)
        bench = Bench(args.tamis, clean, args.sigma)
        noisy = read_y4m(bench.noisy, clean.shape)
        print("%s: %d frames of %dx%d, noise %g: %.2f dB, %.4f"
              % (os.path.basename(clip), len(clean), clean.shape[2], clean.shape[1], args.sigma,
                 psnr(noisy, clean), ssim(noisy, clean)), flush=True)
        if args.presets:
            for name, chain in PRESETS:
                bench.best(name, bench.chain, [chain])
        elif args.bilateral:
            bilaterals(bench, args.sigma)
        elif args.motion:
            motions(bench, args.sigma)
        else:
            grids(bench, args.sigma)


if __name__ == "__main__":
    main()
