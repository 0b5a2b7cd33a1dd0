# SPDX-License-Identifier: Apache-2.0
"""Run by test_device.py with an emulated device, whose memory is the host's: arrays that say of
themselves that they lie on it, by either protocol."""
import ctypes

import fake_cupy
import numpy
import tamis
from conftest import DTYPES, picture, same


class Interface:
    """By __cuda_array_interface__ alone."""

    def __init__(self, array, stream=None):
        self.array, self.shape, self.stream = array, array.shape, stream

    @property
    def __cuda_array_interface__(self):
        a = self.array
        return {"shape": a.shape, "strides": a.strides, "typestr": a.dtype.str, "version": 3,
                "stream": self.stream, "data": (a.ctypes.data, not a.flags.writeable)}


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device", ctypes.c_int32), ("index", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", ctypes.c_void_p),
                ("strides", ctypes.c_void_p), ("offset", ctypes.c_uint64),
                ("manager", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class Exchange(Interface):
    """By DLPack, as CuPy and PyTorch have it."""

    def __init__(self, array):
        super().__init__(array)
        self.asked = []

    def __dlpack_device__(self):
        return 2, 0

    def __dlpack__(self, stream=None):
        a = self.array
        self.asked.append(stream)
        sizes = (ctypes.c_int64 * a.ndim)(*a.shape)
        steps = (ctypes.c_int64 * a.ndim)(*(s // a.itemsize for s in a.strides))
        code = {"u": 1, "i": 0, "f": 2}[a.dtype.kind]
        tensor = Tensor(a.ctypes.data, 2, 0, a.ndim, code, 8 * a.itemsize, 1,
                        ctypes.addressof(sizes), ctypes.addressof(steps), 0)
        self.kept = sizes, steps, tensor
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p,
                                                       ctypes.c_void_p]
        return new(ctypes.addressof(tensor), b"dltensor", None)


def guides(a):
    """A field of remap: one picture, without gaps."""
    field = numpy.stack(numpy.meshgrid(*map(numpy.arange, a.shape[::-1])), -1).astype("float32")
    want, out = tamis.remap(a, field + 1), numpy.zeros_like(a)
    tamis.remap(Interface(a), Interface(field + 1), out=Interface(out))
    assert same(out, want)
    apart = numpy.repeat(field + 1, 2, axis=1)[:, ::2]
    for bad, words in ((apart, "contiguous"), (numpy.stack([field] * 2), "one picture")):
        try:
            tamis.remap(Interface(a), Interface(bad), out=Interface(out))
        except ValueError as e:
            assert words in str(e), e
        else:
            raise AssertionError("no error of a guide: " + words)


def refused(call, error, words=""):
    try:
        call()
    except error as e:
        assert words in str(e), e
    else:
        raise AssertionError("no %s" % error)


def results():
    """Of a library that makes arrays: they are where and as the picture is, copies live long
    enough, and no other memory is touched."""
    fake_cupy.install()
    import cupy
    a = picture((6, 33, 47, 3), "uint16")
    views = ((lambda v: v, "auto"), (lambda v: v[:, ::-1], "auto"),
             (lambda v: v[:, :, ::2], "auto"),
             (lambda v: v.transpose(0, 3, 1, 2), 1), (lambda v: v[0].transpose(2, 0, 1), 0),
             (lambda v: v[..., 1], None), (lambda v: v[0, :, ::2].transpose(1, 0, 2), -1))
    for view, axis in views:
        for chain in ("median", "color=to=gray", "box=border=valid"):
            p = tamis.Pipeline(chain)
            got = p(view(cupy.asarray(a)), channel_axis=axis) if axis is not None or (
                chain != "color=to=gray") else None
            if got is not None:
                assert type(got) is cupy.ndarray
                assert same(got.host, p(view(a), channel_axis=axis)), (chain, axis)
    planes = cupy.asarray(a[0].transpose(2, 0, 1).copy())
    assert tamis.median(planes, channel_axis=0).host.flags.c_contiguous
    refused(lambda: tamis.median(planes, channel_axis=0, out=a[0]), ValueError, "host memory")
    on_device = cupy.asarray(a[0])
    refused(lambda: tamis.median(a[0], out=on_device), ValueError, "out lies on a GPU")
    refused(lambda: tamis.bilateral(a[0], guide=on_device), ValueError, "guide lies on a GPU")
    refused(lambda: tamis.nlmeans(cupy.asarray(a), h="auto"), ValueError, "resolve")


def main():
    assert len(tamis.devices()) == 1 and tamis.why_no_devices() == ""
    for dtype in DTYPES:
        for shape, axis in (((33, 47), "auto"), ((20, 31, 3), "auto"), ((3, 20, 31), 0),
                            ((4, 20, 31), None)):
            a, p = picture(shape, dtype), tamis.Pipeline("median,box=ksize=5")
            want = p(a, channel_axis=axis)
            assert same(p(a, channel_axis=axis, device="cuda"), want)
            for wrap in (Interface, Exchange):
                out = numpy.zeros_like(want)
                result = p(wrap(a), out=wrap(out), channel_axis=axis)
                assert isinstance(result, wrap) and same(out, want), (dtype, shape, wrap)
    e = Exchange(a)
    p(e, out=Exchange(out), channel_axis=None)
    assert e.asked == [1]  # the default stream
    fixed = out[1].copy()
    fixed.flags.writeable = False
    out[0] = 0
    tamis.median(Interface(a[0], 1), out=Interface(out[0], 1))
    assert same(out[0], tamis.median(a[0]))
    guides(a[0])
    results()
    for call, error in ((lambda: p(Interface(a), channel_axis=None), TypeError),
                        (lambda: tamis.median(Interface(a[0, :, ::-1]), out=Interface(out[0])),
                         ValueError),
                        (lambda: tamis.median(Interface(a[0].astype("f8")), out=Interface(out[0])),
                         TypeError),
                        (lambda: tamis.median(Interface(a[0]), out=Interface(out[1, :5])),
                         ValueError),
                        (lambda: tamis.median(Interface(a[0]), out=Interface(fixed)), ValueError),
                        (lambda: tamis.median(Interface(a[0], 1), out=Interface(out[0], 2)),
                         ValueError)):
        try:
            call()
        except error:
            continue
        raise AssertionError("no %s" % error)
    print("done")


main()
