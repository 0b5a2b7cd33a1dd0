# SPDX-License-Identifier: Apache-2.0
"""tamis and its peers behind one face: open(row, picture) gives an object with run() and
result(), or None where the library has no such filter."""
import ctypes as c
import glob
import os

import cv2
import numpy as np
import rows

TYPES = {"u8": 0, "u16": 1, "f32": 4}  # tamis_type


class Format(c.Structure):  # tamis_format
    _fields_ = [("type", c.c_int), ("channels", c.c_int), ("layout", c.c_int), ("alpha", c.c_int)]


class Image(c.Structure):  # tamis_image
    _fields_ = [("format", Format), ("w", c.c_int32), ("h", c.c_int32), ("data", c.c_void_p * 4),
                ("stride", c.c_ssize_t * 4), ("buffer", c.c_void_p), ("device", c.c_int)]


class CtxOptions(c.Structure):  # tamis_ctx_options
    _fields_ = [("threads", c.c_int), ("cpu", c.c_char_p), ("device", c.c_char_p),
                ("log", c.c_void_p), ("log_user", c.c_void_p), ("allocator", c.c_void_p),
                ("max_bytes", c.c_size_t), ("more", c.c_char * 256)]  # fields to come: zero


def view(array, format):
    """A tamis_image of a packed array, which must outlive it."""
    image = Image(format=format, w=array.shape[1], h=array.shape[0])
    image.data[0] = array.ctypes.data
    image.stride[0] = array.strides[0]
    return image


def empty_result(row, picture):
    w, h = row.result_size(picture.shape[1], picture.shape[0])
    return np.empty((h, w, *picture.shape[2:]), picture.dtype)


class Refused(Exception):
    """tamis has no such filter, or does not take these parameters."""


class Tamis:
    def __init__(self, path, threads, cpu=None):
        lib = self.lib = c.CDLL(path)
        lib.tamis_version.restype = lib.tamis_ctx_cpu.restype = c.c_char_p
        lib.tamis_plan_explain.restype = c.c_size_t
        lib.tamis_plan_create.argtypes = [c.c_void_p, c.c_void_p, Format, c.c_int32, c.c_int32,
                                          c.c_void_p, c.c_void_p]
        self.ctx = c.c_void_p()
        options = CtxOptions(threads=threads, cpu=cpu.encode() if cpu else None)
        if lib.tamis_ctx_create(c.byref(options), c.byref(self.ctx)):
            raise SystemExit(f"tamis: no context with {threads} threads and cpu {cpu}")

    @property
    def version(self):
        return "tamis " + self.lib.tamis_version().decode()

    @property
    def isa(self):
        return self.lib.tamis_ctx_cpu(self.ctx).decode()

    def check(self, status):
        if status:
            text = c.create_string_buffer(1000)
            self.lib.tamis_ctx_last_message(self.ctx, text, c.c_size_t(len(text)))
            raise Refused(text.value.decode())

    def open(self, row, picture):
        return TamisRun(self, row, picture)


class TamisRun:
    def __init__(self, tamis, row, picture, chain=None):
        self.tamis, self.src, self.dst = tamis, picture, empty_result(row, picture)
        lib, graph, self.plan = tamis.lib, c.c_void_p(), c.c_void_p()
        tamis.check(lib.tamis_graph_parse(tamis.ctx, (chain or row.chain).encode(), c.byref(graph)))
        format = Format(TYPES[row.type], row.channels)
        status = lib.tamis_plan_create(tamis.ctx, graph, format, picture.shape[1],
                                       picture.shape[0], None, c.byref(self.plan))
        lib.tamis_graph_free(c.byref(graph))
        tamis.check(status)
        images = view(self.src, format), view(self.dst, format)
        self.arguments = self.plan, c.byref(images[0]), c.byref(images[1]), None

    def run(self):
        self.tamis.check(self.tamis.lib.tamis_plan_run(*self.arguments))

    def result(self):
        return self.dst

    def explain(self):
        text = c.create_string_buffer(4000)
        self.tamis.lib.tamis_plan_explain(self.plan, text, c.c_size_t(len(text)))
        return text.value.decode()

    def close(self):
        self.tamis.lib.tamis_plan_free(c.byref(self.plan))


class OneByOne:
    """tamis itself, each filter of a chain in a run of its own."""

    key = "one_by_one"

    def __init__(self, tamis):
        self.tamis, self.version = tamis, tamis.version + ", one filter after the other"

    def open(self, row, picture):
        return OneByOneRun(self.tamis, row, picture) if row.filter == "chain" else None


class OneByOneRun:
    def __init__(self, tamis, row, picture):
        self.runs = []
        for filter in row.chain.split(","):
            self.runs.append(TamisRun(tamis, row, picture, filter))
            picture = self.runs[-1].dst

    def run(self):
        for one in self.runs:
            one.run()

    def result(self):
        return self.runs[-1].dst

    def close(self):
        for one in self.runs:
            one.close()


class OpenCV5:
    """OpenCV from PyPI, called through its Python binding."""

    key = "opencv5"

    def __init__(self, threads):
        cv2.setNumThreads(threads)
        self.version = "OpenCV " + cv2.__version__ + " (PyPI)"

    def open(self, row, picture):
        if row.filter == "chain" or (row.filter == "median" and row.type != "u8" and row.ksize > 5):
            return None
        return OpenCV5Run(row, picture)


def opencv5_sobel(src, dst, k):
    """Magnitude by the calls that it takes, into arrays that are there already."""
    if src.dtype == np.uint8:
        dx, dy = np.empty(src.shape, np.int16), np.empty(src.shape, np.int16)
        ax, ay = np.empty_like(src), np.empty_like(src)

        def run():
            cv2.Sobel(src, cv2.CV_16S, 1, 0, dst=dx, ksize=k)
            cv2.Sobel(src, cv2.CV_16S, 0, 1, dst=dy, ksize=k)
            cv2.add(cv2.convertScaleAbs(dx, dst=ax), cv2.convertScaleAbs(dy, dst=ay), dst=dst)
    else:
        dx, dy = np.empty_like(src), np.empty_like(src)

        def run():
            cv2.Sobel(src, cv2.CV_32F, 1, 0, dst=dx, ksize=k)
            cv2.Sobel(src, cv2.CV_32F, 0, 1, dst=dy, ksize=k)
            cv2.magnitude(dx, dy, magnitude=dst)
    return run


def opencv5_unsharp(src, dst, k, sigma):
    smooth = np.empty_like(src)

    def run():
        cv2.GaussianBlur(src, (k, k), sigma, dst=smooth)
        cv2.addWeighted(src, 2, smooth, -1, 0, dst=dst)
    return run


INTERPS = {"linear": cv2.INTER_LINEAR, "cubic": cv2.INTER_CUBIC, "area": cv2.INTER_AREA,
           "lanczos3": cv2.INTER_LANCZOS4}  # the nearest it has


class OpenCV5Run:
    def __init__(self, row, picture):
        src, dst, k = picture, empty_result(row, picture), row.ksize
        size, way = (dst.shape[1], dst.shape[0]), INTERPS.get(row.interp)
        self.dst = dst
        if row.filter == "gaussian":
            self.run = lambda: cv2.GaussianBlur(src, (k, k), row.sigma, dst=dst)
        elif row.filter == "box":
            self.run = lambda: cv2.blur(src, (k, k), dst=dst)
        elif row.peer_filter == "convolve":
            weights = np.array(row.kernel, np.float32)
            weights /= weights.sum()
            self.run = lambda: cv2.filter2D(src, -1, weights, dst=dst)
        elif row.filter == "unsharp":
            self.run = opencv5_unsharp(src, dst, k, row.sigma)
        elif row.filter == "sobel":
            self.run = opencv5_sobel(src, dst, k)
        elif row.filter == "canny":
            self.run = lambda: cv2.Canny(src, rows.LOW, rows.HIGH, dst, apertureSize=k)
        elif row.filter == "median":
            self.run = lambda: cv2.medianBlur(src, k, dst=dst)
        elif row.filter == "rotate":
            m = np.array(row.matrix(*size)).reshape(3, 3)[:2]
            self.run = lambda: cv2.warpAffine(src, m, size, dst=dst, flags=way)
        elif row.filter == "perspective":
            m = np.array(row.matrix(*size)).reshape(3, 3)
            self.run = lambda: cv2.warpPerspective(src, m, size, dst=dst, flags=way)
        elif row.filter == "resize":
            self.run = lambda: cv2.resize(src, size, dst=dst, interpolation=way)
        elif row.filter == "nlmeans":
            self.run = lambda: cv2.fastNlMeansDenoising(src, dst, row.sigma_color, k, row.sigma)
        else:
            self.run = lambda: cv2.bilateralFilter(src, k, row.sigma_color, row.sigma, dst=dst)

    def result(self):
        return self.dst

    def close(self):
        pass


class Job(c.Structure):  # peer_job
    _fields_ = [("filter", c.c_char_p), ("type", c.c_char_p), ("w", c.c_int), ("h", c.c_int),
                ("channels", c.c_int), ("threads", c.c_int), ("ksize", c.c_int),
                ("sigma", c.c_double), ("sigma_color", c.c_double),
                ("kernel", c.POINTER(c.c_float)), ("interp", c.c_char_p), ("result_w", c.c_int),
                ("result_h", c.c_int), ("matrix", c.c_double * 9)]


class Library:
    """A peer_KEY.so, see peer.h. It prefers its own libraries to those of the same name that are
    already in the process, so that two releases of OpenCV do not mix."""

    def __init__(self, path, threads):
        self.key = os.path.basename(path)[len("peer_"):-len(".so")]
        self.threads = threads
        self.lib = c.CDLL(path, mode=os.RTLD_NOW | os.RTLD_LOCAL | os.RTLD_DEEPBIND)
        self.lib.peer_version.restype = c.c_char_p
        self.lib.peer_open.restype = c.c_void_p
        self.version = self.lib.peer_version().decode()

    def open(self, row, picture):
        weights = np.array(row.kernel or [[1]], np.float32)
        weights /= weights.sum()
        job = Job(row.peer_filter.encode(), row.type.encode(), picture.shape[1], picture.shape[0],
                  row.channels, self.threads, row.ksize, row.sigma, row.sigma_color,
                  weights.ctypes.data_as(c.POINTER(c.c_float)), row.interp.encode(),
                  *row.result_size(picture.shape[1], picture.shape[0]),
                  (c.c_double * 9)(*row.matrix(picture.shape[1], picture.shape[0])))
        peer = self.lib.peer_open(c.byref(job), c.c_void_p(picture.ctypes.data))
        return LibraryRun(self, job, c.c_void_p(peer), empty_result(row, picture)) if peer else None


class LibraryRun:
    def __init__(self, library, job, peer, result):
        self.lib, self.key, self.job, self.peer = library.lib, library.key, job, peer
        self.dst = result

    def run(self):
        if self.lib.peer_run(self.peer):
            raise RuntimeError(self.key + " failed")

    def result(self):
        if self.lib.peer_result(self.peer, c.c_void_p(self.dst.ctypes.data)):
            raise RuntimeError(self.key + " has no result")
        return self.dst

    def close(self):
        self.lib.peer_close(self.peer)


def all_peers(folder, threads, tamis):
    paths = sorted(glob.glob(os.path.join(folder, "peer_*.so")))
    return [OneByOne(tamis), OpenCV5(threads)] + [Library(path, threads) for path in paths]
