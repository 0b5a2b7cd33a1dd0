# SPDX-License-Identifier: Apache-2.0
"""A scene that need not fit into memory: a Zarr array, filtered chunk by chunk by two processes,
with the bits that the whole scene in memory would give.

    python satellite_zarr.py [SIDE]        20000 makes a scene of 800 MB
"""
import sys

import numpy
import tamis.dask
import zarr
from distributed import Client, LocalCluster


def make(side):
    """A scene of 16 bits, block by block."""
    scene = zarr.create_array("scene.zarr", shape=(side, side), chunks=(512, 512), dtype="uint16",
                              overwrite=True)
    for top in range(0, side, 512):
        rng = numpy.random.default_rng(top)
        rows = min(512, side - top)
        scene[top:top + rows] = rng.integers(0, 65536, (rows, side), dtype="uint16")
    return scene


def main(side="2000"):
    scene = make(int(side))
    pipeline = tamis.Pipeline("median=ksize=5,gaussian=sigma=3")
    with LocalCluster(2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster):
        result = tamis.dask.map(pipeline, scene, chunks=(1024, 1024))
        out = zarr.create_array("result.zarr", shape=result.shape, chunks=(512, 512),
                                dtype=result.dtype, overwrite=True)
        tamis.dask.store(result, out)
    print("%s: %s, chunks of %s" % (pipeline, out.shape, result.chunksize))
    part = out[:300, :300]
    same = numpy.array_equal(part[:250, :250], pipeline(scene[:300, :300])[:250, :250])
    print("its corner is as in memory: %s" % same)


if __name__ == "__main__":
    main(*sys.argv[1:])
