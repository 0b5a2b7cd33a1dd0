#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""4K video through the command on a GPU: frames a second. bench/gpu/video.sh calls it.

The clip is Y4M, 4:2:0 of 8 bits, a picture of noise that moves by seven rows a frame. Rows:

    dd              the clip's bytes to /dev/null and to another file: reading and writing alone
    tamis, nothing  no filter: reading, a copy of each frame, writing
    CHAIN           on each number of devices, to /dev/null, and to a file
    two files       at once, one on each of two devices, and both by one command on all of them

`steady` is what more frames cost: the clip whole less its first quarter, by the command's clock.
`whole` is all frames by the wall clock, start of the program and of the device included. Best of
--repeats runs. The kernel alone is gpu_bench's row for luma, in frames of the same size.
The status is 1 when results on devices differ from the CPU's by more than a level.
"""
import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CHAINS = {"nlmeans 5/9, 3 frames": "nlmeans=search=5:patch=9:frames=1",
          "gaussian 5": "gaussian=sigma=1.1:ksize=5"}
KERNELS = {"nlmeans 5/9, 3 frames": "nlmeans 5/9, 3 frames, 4K", "gaussian 5": "gaussian 5 4K"}


class Bench:
    def __init__(self, args):
        self.args = args
        self.width, self.height = map(int, args.frame.split("x"))
        self.bytes = self.width * self.height * 3 // 2
        self.rows = []

    def add(self, name, steady, whole, **more):
        """A row, said at once."""
        self.rows.append({"row": name, "steady_fps": steady, "whole_fps": whole, **more})
        figures = "  ".join(f"{value:8.1f}" if value else "       -" for value in (steady, whole))
        rate = (steady or whole) * self.bytes / 1e9
        said = "".join(f"  {key} {value:.2f} s" for key, value in more.items())
        print(f"{name:46}  {figures}  {rate:6.2f} GB/s{said}", flush=True)


def make_clip(path, bench):
    """Noise that moves: no frame is another's, and filters find what moved."""
    w, h = bench.width, bench.height
    source = random.Random(1)
    levels = bytes(90 + (i >> 3) + (i & 7) * 4 for i in range(256))
    luma = source.randbytes(w * h).translate(levels)
    chroma = source.randbytes(w * h // 4).translate(levels)
    with open(path, "wb") as file:
        file.write(f"YUV4MPEG2 W{w} H{h} F25:1 Ip A1:1 C420mpeg2\n".encode())
        for i in range(bench.args.frames):
            y, c = i * 7 * w % len(luma), i * 7 // 2 * (w // 2) % len(chroma)
            file.writelines([b"FRAME\n", luma[y:], luma[:y], chroma[c:], chroma[:c], chroma[c:],
                             chroma[:c]])


def start(bench, chain, inputs, out, device, *more):
    command = [bench.args.tamis, "run", chain, *map(str, inputs), "-o", str(out), "--overwrite",
               "--device", device, "--json", *more]
    if str(out) == "/dev/null":
        command += ["--format", "y4m"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def end(process):
    out, err = process.communicate()
    if process.returncode:
        sys.exit(f"{process.args}: status {process.returncode}\n{err}")
    return json.loads(out)["files"]


def run(bench, chain, inputs, out, device, *more):
    """Wall seconds and what the command says of each file."""
    begun = time.perf_counter()
    files = end(start(bench, chain, inputs, out, device, *more))
    return time.perf_counter() - begun, files


def measure(bench, name, chain, clip, out, device):
    """One file on one or more devices."""
    n, quarter = bench.args.frames, max(bench.args.frames // 4, 1)
    whole, best, short = 1e9, None, 1e9
    for _ in range(bench.args.repeats):
        wall, files = run(bench, chain, [clip], out, device)
        whole = min(whole, wall)
        if not best or files[0]["filter_seconds"] < best["filter_seconds"]:
            best = files[0]
        _, files = run(bench, chain, [clip], out, device, "--frame_range", f"0-{quarter - 1}")
        short = min(short, files[0]["filter_seconds"])
    seconds = best["filter_seconds"] - short
    bench.add(name, (n - quarter) / seconds if seconds > 0 else 0, n / whole,
              reading=best["read_seconds"], writing=best["write_seconds"])


def measure_plain(bench, clip, place):
    """Reading and writing by the system's own means, a frame at a time."""
    for name, out in (("dd to /dev/null", "/dev/null"), ("dd to a file", place / "copy.y4m")):
        best = 1e9
        for _ in range(bench.args.repeats):
            begun = time.perf_counter()
            subprocess.run(["dd", f"if={clip}", f"of={out}", f"bs={bench.bytes}"], check=True,
                           stderr=subprocess.DEVNULL)
            best = min(best, time.perf_counter() - begun)
        bench.add(name, 0, bench.args.frames / best)
    (place / "copy.y4m").unlink()


def measure_two(bench, name, chain, clip, place):
    """Two files at once: a process for each of two devices, and one for both files."""
    n = bench.args.frames
    second = place / "second.y4m"
    os.link(clip, second)
    best = 1e9
    for _ in range(bench.args.repeats):
        begun = time.perf_counter()
        both = [start(bench, chain, [clip], "/dev/null", f"cuda:{i}") for i in range(2)]
        for process in both:
            end(process)
        best = min(best, time.perf_counter() - begun)
    bench.add(f"{name}, two programs, to /dev/null", 0, 2 * n / best)
    if bench.args.outputs == "files":
        (place / "two").mkdir(exist_ok=True)
        wall, _ = run(bench, chain, [clip, second], place / "two", "cuda:all", "--jobs", "2")
        bench.add(f"{name}, two files, cuda:all, to files", 0, 2 * n / wall)
        for file in (place / "two").iterdir():
            file.unlink()
    second.unlink()


def measure_chain(bench, name, chain, clip, place):
    devices = bench.args.devices
    wishes = ["cuda:0"] + (["cuda:all"] if devices > 1 else []) if devices else ["cpu"]
    for wish in wishes:
        measure(bench, f"{name}, {wish}, to /dev/null", chain, clip, "/dev/null", wish)
    if bench.args.outputs == "files":
        measure(bench, f"{name}, {wishes[0]}, to a file", chain, clip, place / "out.y4m", wishes[0])
        (place / "out.y4m").unlink()
    if devices > 1:
        measure_two(bench, name, chain, clip, place)


def measure_kernel(bench, name):
    """gpu_bench's figure for luma, in frames a second."""
    program = bench.args.gpu_bench
    if not program or not os.access(program, os.X_OK) or not bench.args.devices:
        return
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        done = subprocess.run([program, "--filter", KERNELS[name], "--json", file.name],
                              capture_output=True, text=True, check=False)
        print(done.stdout, end="")
        found = [r for r in json.load(open(file.name, encoding="utf-8"))["rows"]
                 if r["row"] == KERNELS[name]] if done.returncode == 0 else []
    if found and found[0].get("gpix"):
        fps = found[0]["gpix"] * 1e9 / (bench.width * bench.height)
        bench.add(f"{name}, kernel alone, luma alone", fps, 0)


def check(bench, clip, place):
    """A few frames on the device beside the CPU's."""
    worst = 0
    for name, chain in CHAINS.items():
        results = []
        for device in ("cpu", "cuda:0"):
            out = place / f"check-{device[:3]}.y4m"
            run(bench, chain, [clip], out, device, "--frame_range", "0-4")
            results.append(out.read_bytes())
            out.unlink()
        same = results[0] == results[1]
        off = 0 if same else max(abs(a - b) for a, b in zip(*results))
        print(f"{name}: five frames differ from the CPU's by {off} at most")
        worst = max(worst, off)
    return worst


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("tamis")
    parser.add_argument("--frames", type=int, default=480)
    parser.add_argument("--frame", default="3840x2160")
    parser.add_argument("--devices", type=int, default=1)
    parser.add_argument("--place", type=Path, default=Path("/dev/shm"))
    parser.add_argument("--outputs", choices=["none", "files"], default="files")
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--gpu-bench")
    parser.add_argument("--json", type=Path)
    bench = Bench(parser.parse_args())
    args = bench.args
    with tempfile.TemporaryDirectory(dir=args.place) as folder:
        place = Path(folder)
        clip = place / "clip.y4m"
        make_clip(clip, bench)
        size = clip.stat().st_size / 1e9
        print(f"{args.frames} frames of {args.frame}, 4:2:0, 8 bits: {size:.1f} GB in {args.place};"
              f" {args.devices} devices, {os.cpu_count()} CPUs")
        print(f"{'':46}  {'steady':>8}  {'whole':>8}  frames a second")
        measure_plain(bench, clip, place)
        measure(bench, "tamis, nothing, to /dev/null", "", clip, "/dev/null", "cpu")
        for name, chain in CHAINS.items():
            measure_kernel(bench, name)
            measure_chain(bench, name, chain, clip, place)
        worst = check(bench, clip, place) if args.devices else 0
    if args.json:
        args.json.write_text(json.dumps({"frames": args.frames, "frame": args.frame,
                                         "devices": args.devices, "cpus": os.cpu_count(),
                                         "rows": bench.rows}, indent=1) + "\n", encoding="utf-8")
    return worst > 1


if __name__ == "__main__":
    sys.exit(main())
