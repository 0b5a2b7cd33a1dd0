# SPDX-License-Identifier: Apache-2.0
"""libtamis as a C program calls it, by ctypes: what Python's results are compared with."""
import ctypes as c

import numpy

TYPES = {"uint8": 0, "uint16": 1, "int16": 2, "float16": 3, "float32": 4}
NAMES = {v: k for k, v in TYPES.items()}


class Format(c.Structure):
    _fields_ = [("type", c.c_int), ("channels", c.c_int), ("layout", c.c_int), ("alpha", c.c_int)]


class Image(c.Structure):
    _fields_ = [("format", Format), ("w", c.c_int32), ("h", c.c_int32), ("data", c.c_void_p * 4),
                ("stride", c.c_ssize_t * 4), ("buffer", c.c_void_p), ("device", c.c_int)]


class Options(c.Structure):
    _fields_ = [("tile_w", c.c_int), ("tile_h", c.c_int), ("kernel", c.c_char_p),
                ("guide", c.POINTER(Format)), ("guide_w", c.c_int32), ("guide_h", c.c_int32),
                ("whole_bytes", c.c_size_t), ("more", c.c_char * 256)]  # fields to come: zero


class RunOptions(c.Structure):
    _fields_ = [("progress", c.c_void_p), ("user", c.c_void_p), ("cancel", c.c_void_p),
                ("stream", c.c_void_p), ("guide", c.POINTER(Image)), ("frames", c.c_void_p),
                ("window", c.c_void_p), ("guide_window", c.c_void_p), ("more", c.c_char * 256)]


def image_of(array):
    channels = array.shape[2] if array.ndim == 3 else 1
    image = Image(Format(TYPES[array.dtype.name], channels, 0, 0), array.shape[1], array.shape[0])
    image.data[0] = array.ctypes.data
    image.stride[0] = array.strides[0]
    return image


class Library:
    """One context of libtamis.so."""

    def __init__(self, path):
        self.lib = c.CDLL(path)
        self.lib.tamis_plan_format.restype = Format
        self.ctx = c.c_void_p()
        assert self.lib.tamis_ctx_create(None, c.byref(self.ctx)) == 0

    def plan(self, chain, array, guide=None):
        """A plan, or None where the library refuses."""
        lib, graph, plan = self.lib, c.c_void_p(), c.c_void_p()
        assert lib.tamis_graph_parse(self.ctx, chain.encode(), c.byref(graph)) == 0
        image, options = image_of(array), Options()
        if lib.tamis_graph_is_open(graph):
            chosen = c.c_void_p()
            assert lib.tamis_graph_resolve(self.ctx, graph, c.byref(image), None,
                                           c.byref(chosen)) == 0
            lib.tamis_graph_free(c.byref(graph))
            graph = chosen
        if guide is not None:
            second = image_of(guide)
            self.kept = second.format
            options.guide = c.pointer(self.kept)
            options.guide_w, options.guide_h = second.w, second.h
        status = lib.tamis_plan_create(self.ctx, graph, image.format, image.w, image.h,
                                       c.byref(options), c.byref(plan))
        lib.tamis_graph_free(c.byref(graph))
        return plan if status == 0 else None

    def result(self, plan):
        """An array for a plan's result."""
        w, h = c.c_int32(), c.c_int32()
        self.lib.tamis_plan_size(plan, c.byref(w), c.byref(h))
        f = self.lib.tamis_plan_format(plan)
        shape = (h.value, w.value) + ((f.channels,) if f.channels > 1 else ())
        return numpy.empty(shape, NAMES[f.type])

    def run(self, chain, array, guide=None):
        """The result, or None where the library refuses."""
        plan = self.plan(chain, array, guide)
        if plan is None:
            return None
        out, options = self.result(plan), RunOptions()
        src, dst = image_of(array), image_of(out)
        dst.format = self.lib.tamis_plan_format(plan)
        if guide is not None:
            second = image_of(guide)
            options.guide = c.pointer(second)
        assert self.lib.tamis_plan_run(plan, c.byref(src), c.byref(dst), c.byref(options)) == 0
        self.lib.tamis_plan_free(c.byref(plan))
        return out
