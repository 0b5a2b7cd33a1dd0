# SPDX-License-Identifier: Apache-2.0
"""Memory of arrays that are gone, for the next ones of their size. Fresh memory costs a fault for
each page that is touched, which takes longer than to copy a page, and workers of Dask are told to
give theirs back at once (MALLOC_TRIM_THRESHOLD_)."""
import math

import numpy

# What is kept for later at most, and from what size on; less comes from what malloc keeps itself.
LIMIT, LEAST = 128 << 20, 128 << 10

_free = {}  # id -> memory; what is done to it is done at once, so it needs no lock


class _Lease:
    """Memory for as long as an array or a part of one uses it."""
    __slots__ = ("memory",)

    def __init__(self, memory):
        self.memory = memory

    @property
    def __array_interface__(self):
        return self.memory.__array_interface__

    def __del__(self):
        if sum(m.nbytes for m in list(_free.values())) + self.memory.nbytes <= LIMIT:
            _free[id(self.memory)] = self.memory


def _take(size):
    fitting = [m for m in list(_free.values()) if size <= m.nbytes <= 2 * size]
    for memory in sorted(fitting, key=lambda m: m.nbytes):
        if _free.pop(id(memory), None) is not None:  # else another thread has it
            return memory
    return numpy.empty(size, "uint8")


def empty(shape, dtype):
    """As numpy.empty()."""
    dtype = numpy.dtype(dtype)
    size = math.prod(shape) * dtype.itemsize
    if size < LEAST or size > LIMIT:
        return numpy.empty(shape, dtype)
    return numpy.asarray(_Lease(_take(size)))[:size].view(dtype).reshape(shape)
