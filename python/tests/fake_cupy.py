# SPDX-License-Identifier: Apache-2.0
"""As much of CuPy as test_gpu.py needs, for emulated devices, whose memory is the host's:
install() before anybody imports cupy. Streams are in order by themselves there."""
import sys
import types

import numpy


class ndarray:
    """An array on the device. Its samples are those of `host`."""

    def __init__(self, host):
        self.host, self.shape, self.dtype = host, host.shape, host.dtype
        self.data = types.SimpleNamespace(ptr=host.ctypes.data)
        self.device = Device(0)

    def __dlpack_device__(self):
        return 2, 0

    def __dlpack__(self, stream=None):
        raise BufferError("asked for another stream than the one in use")

    @property
    def __cuda_array_interface__(self):
        a = self.host
        return {"shape": a.shape, "strides": a.strides, "typestr": a.dtype.str, "version": 3,
                "stream": 1, "data": (a.ctypes.data, False)}

    def __getitem__(self, index):
        return ndarray(self.host[index])

    def __setitem__(self, index, value):
        self.host[index] = getattr(value, "host", value)

    def transpose(self, *axes):
        return ndarray(self.host.transpose(*axes))

    def copy(self, order="C"):
        return ndarray(self.host.copy(order))


class Device:
    def __init__(self, number):
        self.id = number

    def __eq__(self, other):
        return self.id == other.id

    def __enter__(self):
        return self

    def __exit__(self, *raised):
        pass


class Stream(Device):
    """Work is done when it is enqueued, but it does not say so."""
    ptr, done = 0, False

    def __init__(self, non_blocking=False):
        super().__init__(0)

    def synchronize(self):
        pass


def install():
    """Makes `import cupy` find this."""
    module = types.ModuleType("cupy")
    ndarray.__module__ = "cupy"
    module.ndarray = ndarray
    module.asarray = lambda a: ndarray(a.copy())
    module.asnumpy = lambda a: a.host.copy()
    module.empty = lambda shape, dtype: ndarray(numpy.full(shape, 77, dtype))
    module.moveaxis = lambda a, source, target: ndarray(numpy.moveaxis(a.host, source, target))
    module.add = lambda a, b, out: numpy.add(a.host, b.host, out=out.host)
    module.RawKernel = lambda code, name: lambda grid, block, arguments: None
    attributes = types.SimpleNamespace(type=2)
    module.cuda = types.SimpleNamespace(
        Stream=Stream, get_current_stream=lambda device=None: Stream(),
        runtime=types.SimpleNamespace(pointerGetAttributes=lambda pointer: attributes))
    sys.modules["cupy"] = module
