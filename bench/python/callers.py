#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Calls per second from several threads of Python at once, each with threads=1, and of what scales
as far as the machine does: SHA-256 of a megabyte. Prints a table in Markdown.

    PYTHONPATH=build/python python bench/python/callers.py [THREADS...]

Each figure is the best of several windows, by turns."""
import argparse
import hashlib
import os
import threading
import time

import numpy
import tamis


def rate(make, callers, seconds):
    """Calls per second; make() gives each thread its call."""
    done, stop = [0] * callers, threading.Event()
    ready = threading.Barrier(callers + 1)

    def work(i):
        call = make()
        call()
        ready.wait()
        while not stop.is_set():
            call()
            done[i] += 1
    threads = [threading.Thread(target=work, args=(i,)) for i in range(callers)]
    for t in threads:
        t.start()
    ready.wait()
    start = time.perf_counter()
    time.sleep(seconds)
    stop.set()
    for t in threads:
        t.join()
    return sum(done) / (time.perf_counter() - start)


def filtering(text, shape):
    image = numpy.random.default_rng(1).integers(0, 255, shape, dtype="uint8")
    pipeline = tamis.Pipeline(text, threads=1)

    def make():
        out = numpy.empty_like(image)
        return lambda: pipeline(image, out=out)
    return make


def hashing():
    block = bytes(1 << 20)
    return lambda: hashlib.sha256(block).digest()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=0.3, help="of a window")
    parser.add_argument("--windows", type=int, default=5)
    parser.add_argument("threads", nargs="*", type=int, default=[])
    given = parser.parse_args()
    counts = [1] + [n for n in given.threads or (2, 4, 8) if 1 < n <= (os.cpu_count() or 1)]
    rows = [("SHA-256 of 1 MiB", hashing)]
    rows += [("%s, %dx%d u8" % (text, w, h), filtering(text, (h, w)))
             for text, w, h in (("box", 256, 256), ("box", 1920, 1080),
                                ("median=ksize=5", 1920, 1080), ("nlmeans=search=9", 512, 512))]
    print("| calls a second | 1 thread | %s |" % " | ".join("%d" % n for n in counts[1:]))
    print("|---|" + "---:|" * len(counts))
    for name, make in rows:
        best = dict.fromkeys(counts, 0)
        for _ in range(given.windows):
            for n in counts:
                best[n] = max(best[n], rate(make, n, given.seconds))
        print("| %s | %.0f | %s |" % (name, best[1], " | ".join(
            "%.0f (x%.2f)" % (best[n], best[n] / best[1]) for n in counts[1:])), flush=True)


if __name__ == "__main__":
    main()
