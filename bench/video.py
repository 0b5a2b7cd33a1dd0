#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Filters on video, beside FFmpeg's, as tables.

    bench/video.py build/tamis CLIP [--threads 2] [--frames 60] [--repeats 5] [--rows median,sobel]

Filter alone: frames of the clip as Y4M from memory (TMPDIR) through the filter to nowhere, less the
same without a filter. Whole program: the clip itself through decoder, filter and libx264 (the same
preset and quality, no more threads) into Matroska. Runs of both programs take turns; the least wall
time of each counts, and the least CPU time is beside it. Filters work on luma alone in both, since
FFmpeg's scale no windows for chroma; nlmeans, which always filters chroma there, gets the windows
that tamis scales to. Needs the program ffmpeg.
"""
import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time

# Name, tamis's words, FFmpeg's words, share of the frames that are run, what differs.
ROWS = [
    ("gaussian sigma 2", ["gaussian", "--sigma", "2", "--planes", "y"], "gblur=sigma=2:planes=1", 1,
     "recursive there, an approximation"),
    ("median 5x5", ["median", "--ksize", "5", "--planes", "y"], "median=radius=2:planes=1", 1, ""),
    ("bilateral sigma 3, 10 %",
     ["bilateral", "--sigma_space", "3", "--sigma_color", "10%", "--planes", "y"],
     "bilateral=sigmaS=3:sigmaR=0.1:planes=1", 0.5, "recursive there, an approximation"),
    ("bilateral, each at its best",  # over noise of 15: bench/video_denoise.py --bilateral
     ["bilateral", "--sigma_space", "1.2", "--sigma_color", "50", "--ksize", "5", "--planes", "y"],
     "bilateral=sigmaS=5:sigmaR=0.2:planes=1", 1, "recursive there, lower PSNR"),
    ("nlmeans patch 7, search 15",
     ["nlmeans", "--h", "6", "--patch", "7", "--search", "15", "--planes", "yuv"],
     "nlmeans=s=3:p=7:r=15:pc=3:rc=7", 0.2, ""),
    ("unsharp 5x5", ["unsharp", "--sigma", "1", "--amount", "1", "--planes", "y"],
     "unsharp=5:5:1:3:3:0", 1, "a box instead of a Gaussian there"),
    ("sobel", ["sobel", "--planes", "y"], "sobel=planes=1", 1, ""),
]
CODEC = ["-preset", "veryfast", "-crf", "18"]


def timed(command):
    """(wall, CPU) seconds of a program that must succeed."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    run = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    wall, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    if run.returncode != 0:
        sys.exit("%s: %s" % (" ".join(command), run.stderr.decode()))
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def least(commands, repeats):
    """The least wall and CPU time of each command, run in turns."""
    best = [(1e9, 1e9)] * len(commands)
    for _ in range(repeats):
        for i, command in enumerate(commands):
            wall, cpu = timed(command)
            best[i] = (min(best[i][0], wall), min(best[i][1], cpu))
    return best


class Bench:
    def __init__(self, args, folder):
        self.args, self.folder, self.threads = args, folder, str(args.threads)
        self.ffmpeg = ["ffmpeg", "-nostdin", "-v", "error", "-y", "-threads", self.threads]

    def frames(self, share):
        return max(2, int(self.args.frames * share))

    def raw(self, count):
        """The clip's first frames as Y4M."""
        path = os.path.join(self.folder, "clip%d.y4m" % count)
        if not os.path.exists(path):
            subprocess.run(self.ffmpeg +
                           ["-i", self.args.clip, "-frames:v", str(count), "-an", path],
                           check=True)
        return path

    def tamis(self, words, source, more):
        return [self.args.tamis] + words + [source] + more + ["--overwrite", "--quiet", "--threads",
                                                             self.threads]

    def alone(self, row):
        """Milliseconds a frame: (wall, CPU) of tamis and of FFmpeg."""
        _, words, theirs, share, _ = row
        count = self.frames(share)
        source, nowhere = self.raw(count), ["-o", "/dev/null", "--format", "y4m"]
        convert = self.ffmpeg + ["-i", source, "-filter_threads", self.threads, "-vf"]
        best = least([self.tamis(words, source, nowhere), self.tamis(["run", ""], source, nowhere),
                      convert + [theirs, "-f", "null", "-"], convert + ["null", "-f", "null", "-"]],
                     self.args.repeats)
        return [tuple(max(0.0, 1e3 * (best[i][k] - best[i + 1][k]) / count) for k in (0, 1))
                for i in (0, 2)]

    def whole(self, row):
        """Milliseconds a frame: (wall, CPU) of tamis and of FFmpeg, from file to file."""
        _, words, theirs, share, _ = row
        count = self.frames(share)
        out = os.path.join(self.folder, "out.mkv")
        ours = self.tamis(words, self.args.clip, ["-o", out, "--frame_range", "0-%d" % (count - 1),
                                                  "--codec", "libx264", "--preset", CODEC[1],
                                                  "--crf", CODEC[3]])
        other = self.ffmpeg + ["-i", self.args.clip, "-frames:v", str(count), "-filter_threads",
                               self.threads, "-vf", theirs, "-an", "-c:v", "libx264", "-threads",
                               self.threads] + CODEC + [out]
        return [tuple(1e3 * t / count for t in best)
                for best in least([ours, other], self.args.repeats)]


def line(row, ours, theirs):
    times = ["%.2f / %.2f" % t for t in (ours, theirs)]
    ratios = ["%.1f" % (theirs[k] / ours[k]) if ours[k] > 0 else "-" for k in (0, 1)]
    return "| %s | %s | %s | %s | %s |" % (row[0], times[0], times[1], " / ".join(ratios), row[4])


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tamis")
    parser.add_argument("clip")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--frames", type=int, default=60)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--rows", default="", help="words of rows, with commas between them")
    args = parser.parse_args()
    if not shutil.which("ffmpeg"):
        sys.exit("the program ffmpeg was not found")
    words = [w for w in args.rows.split(",") if w]
    rows = [r for r in ROWS if not words or any(w in r[0] for w in words)]
    print("load %.1f, %d threads, ms a frame: wall / CPU" % (os.getloadavg()[0], args.threads))
    with tempfile.TemporaryDirectory(prefix="tamis-video-") as folder:
        bench = Bench(args, folder)
        for title, measure in (("filter alone", bench.alone), ("whole program", bench.whole)):
            print("\n| %s | tamis | FFmpeg | times faster | differs |\n|---|---|---|---|---|" %
                  title)
            for row in rows:
                print(line(row, *measure(row)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
