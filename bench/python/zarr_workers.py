#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A picture of 20000x20000 u16 in a Zarr store, filtered by two worker processes, of which one is
killed in the middle: compared bit by bit with the picture filtered in memory. Then time and memory
of workers beside dask_image and dask's map_overlap with SciPy, in chunks of the same size, and
beside copies that filter nothing. Needs dask[array], distributed, zarr, dask-image and scipy from
PyPI, and 4 GB in FOLDER.

    PYTHONPATH=build/python python bench/python/zarr_workers.py FOLDER [--side N] [--peer-side N]
        [--rounds N] [--compress] [CHAIN...]

Without --compress stores have no codec, so that it, which all of them use alike, is not what is
timed; with it they have Zarr's default, Zstandard. The status is 1 when a result differs."""
import argparse
import functools
import os
import signal
import sys
import time

import dask
import dask.array as da
import distributed
import numpy
import tamis
import tamis.dask
import zarr

STORED = 500  # side of what is stored as one piece
CHUNK = 2000  # of what is one task, where the row does not say another

# chain, side of a task's chunk: halos of 9, 2 and 415 pixels
ROWS = [("gaussian=sigma=3", CHUNK), ("median=ksize=5", CHUNK), ("gaussian=sigma=120", 400)]


# What is compared with peers
BESIDE = ["gaussian=sigma=3", "gaussian=sigma=10", "median=ksize=5"]


def peers(text):
    """(name, function of a dask array) of what does the same as a chain."""
    import dask_image.ndfilters as ndf
    import scipy.ndimage as nd
    kind, _, value = text.replace("=", " ").split()
    if kind == "gaussian":
        sigma = int(value)  # as many taps as tamis has
        wide = {"sigma": sigma, "truncate": 3.0, "mode": "mirror"}
        return [("dask_image", lambda x: ndf.gaussian_filter(x, **wide)),
                ("map_overlap, SciPy", lambda x: x.map_overlap(
                    nd.gaussian_filter, depth=3 * sigma, boundary="none", dtype=x.dtype, **wide))]
    window = {"size": int(value), "mode": "mirror"}
    return [("dask_image", lambda x: ndf.median_filter(x, **window)),
            ("map_overlap, SciPy", lambda x: x.map_overlap(
                nd.median_filter, depth=int(value) // 2, boundary="none", dtype=x.dtype, **window))]


def create(path, side, compressors=None):
    return zarr.create_array(path, shape=(side, side), chunks=(STORED, STORED), dtype="uint16",
                             compressors=compressors, overwrite=True)


def make_picture(path, side, compressors=None):
    """Waves, edges and noise, band by band."""
    z, rng = create(path, side, compressors), numpy.random.default_rng(5)
    x = numpy.arange(side, dtype="float32")
    for y0 in range(0, side, STORED):
        y = numpy.arange(y0, min(side, y0 + STORED), dtype="float32")[:, None]
        v = 30000 + 12000 * numpy.sin(x / 37) * numpy.cos(y / 23)
        v += 9000 * ((x // 190 + y // 170) % 2)
        v += rng.integers(-3000, 3000, v.shape, dtype="int16")
        z[y0:y0 + STORED] = v.astype("uint16")


def written(path):
    return sum(len(files) for _, _, files in os.walk(os.path.join(path, "c")))


def peak():
    """Most memory that this process has had, in MB."""
    with open("/proc/self/status") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("VmHWM")) / 1024


def warm(path):
    """What a worker does once."""
    import dask.array.core  # noqa: F401
    import dask_image.ndfilters  # noqa: F401
    import scipy.ndimage
    import tamis.dask  # noqa: F401
    import zarr
    zarr.open(path, mode="r")[:STORED, :STORED]
    blank = numpy.zeros((64, 64), "uint16")
    for text in ("gaussian=sigma=3", "median"):
        tamis.Pipeline(text)(blank, threads=1)
    scipy.ndimage.gaussian_filter(blank, 3)


class Run:
    """Runs a job, as Client.compute() takes it, with two workers of its own."""

    def __init__(self, job, path, kill_at=None):
        with distributed.LocalCluster(2, threads_per_worker=1, dashboard_address=None) as cluster, \
                distributed.Client(cluster) as client:
            client.run(warm, path)
            time.sleep(0.5)  # what else workers do at first
            memory = max(client.run(peak).values())
            pids = client.run(os.getpid)
            cpu, start = sum(client.run(time.process_time).values()), time.perf_counter()
            job = client.compute(job, retries=5)
            self.killed = False
            while kill_at and not job.done() and not self.killed:
                if written(path) >= kill_at:
                    os.kill(next(iter(pids.values())), signal.SIGKILL)
                    self.killed = True
                time.sleep(0.05)
            job.result()
            self.wall = time.perf_counter() - start
            self.cpu = sum(client.run(time.process_time).values()) - cpu
            self.memory = max(client.run(peak).values()) - memory  # MB more than at first


def differs(path, want):
    """Samples of a store that are not those of the array."""
    z, rows = zarr.open(path, mode="r"), 1000
    return sum(int((z[y:y + rows] != want[y:y + rows]).sum()) for y in range(0, z.shape[0], rows))


def whole(folder, side):
    """Prints the rows of the large picture. Returns how many samples differ."""
    source, target, bad = folder + "/in.zarr", folder + "/out.zarr", 0
    make_picture(source, side)
    z = zarr.open(source, mode="r")
    picture = z[...]
    print("%dx%d u16, stored in chunks of %d, two workers with one thread each\n"
          % (side, side, STORED))
    print("| chain | chunks of tasks | halo | one worker killed, s | "
          "a worker's memory, MB more | samples that differ | in memory, %d threads, s |"
          % tamis.get_threads())
    print("|---|---:|---:|---:|---:|---:|---:|")
    for text, chunk in ROWS:
        pipeline = tamis.Pipeline(text)
        start = time.perf_counter()
        want = pipeline(picture)
        alone = time.perf_counter() - start
        unit = min(STORED, chunk)
        out = zarr.create_array(target, shape=z.shape, chunks=(unit, unit), dtype=z.dtype,
                                compressors=None, overwrite=True)
        lazy = tamis.dask.map(pipeline, z, chunks=(chunk, chunk))
        run = Run(tamis.dask.store(lazy, out, compute=False), target,
                  max(1, -(-side // unit) ** 2 // 3))
        wrong = differs(target, want)
        bad += wrong
        print("| `%s` | %d | %d | %.1f%s | %.0f | %d | %.2f |"
              % (text, chunk, pipeline.halo.left, run.wall,
                 "" if run.killed else " (none was killed)", run.memory, wrong, alone), flush=True)
    return bad


def by_zarr(lazy, out):
    return da.store(lazy, out, compute=False, lock=False)


def programs(text, z):
    """(name, function of a target that returns the job)."""
    lazy = da.from_zarr(z, chunks=(CHUNK, CHUNK))

    def own(chain):
        result = tamis.dask.map(chain, z, chunks=(CHUNK, CHUNK))
        return lambda out: tamis.dask.store(result, out, compute=False)
    yield "dask.array, a copy", lambda out: by_zarr(lazy.copy(), out)
    yield "tamis.dask, a copy", own("")
    yield "tamis.dask", own(text)
    for name, f in peers(text):
        yield name, functools.partial(by_zarr, f(lazy))


def beside(folder, side, rounds, compressors, texts):
    """Prints the rows of the peers."""
    source, target = folder + "/small.zarr", folder + "/small_out.zarr"
    make_picture(source, side, compressors)
    z = zarr.open(source, mode="r")
    print("\n%dx%d u16, stored in chunks of %d%s, filtered in chunks of %d, from store to store; "
          "two workers with one thread each, the least of %d\n"
          % (side, side, STORED, " by Zstandard" if compressors else "", CHUNK, rounds))
    print("| chain | program | CPU s | s | a worker's memory, MB more | largest difference |")
    print("|---|---|---:|---:|---:|---:|")
    for text in texts:
        runs, results = {}, {}
        for _ in range(rounds):
            for name, job in programs(text, z):
                out = create(target, side, compressors)  # files that replace others cost more
                runs.setdefault(name, []).append(Run(job(out), target))
                results[name] = out[...]
        best = {name: [min(getattr(r, what) for r in runs[name])
                       for what in ("cpu", "wall", "memory")] for name in runs}
        own = best["tamis.dask"]
        for name, (cpu, wall, memory) in best.items():
            far, times = "", ["", ""]
            if "copy" not in name:
                far = "%d" % largest(results[name], results["tamis.dask"])
                times = [" (x%.1f)" % (a / b) for a, b in zip((cpu, wall), own)]
            print("| `%s` | %s | %.2f%s | %.2f%s | %.0f | %s |"
                  % (text, name, cpu, times[0], wall, times[1], memory, far), flush=True)


def largest(a, b):
    """Band by band, for it takes memory."""
    return max(int(numpy.abs(a[y:y + 500].astype("int32") - b[y:y + 500]).max())
               for y in range(0, a.shape[0], 500))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder")
    parser.add_argument("--side", type=int, default=20000)
    parser.add_argument("--peer-side", type=int, default=6000)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--compress", action="store_true")
    parser.add_argument("chains", nargs="*", default=BESIDE)
    given = parser.parse_intermixed_args()
    os.makedirs(given.folder, exist_ok=True)
    dask.config.set({"distributed.admin.tick.limit": "60s"})
    bad = whole(given.folder, given.side) if given.side else 0
    if given.peer_side:
        beside(given.folder, given.peer_side, given.rounds,
               "auto" if given.compress else None, given.chains)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
