#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""CuPy, PyTorch and, where they can be imported, CV-CUDA and cuCIM on the rows of gpu_bench that
they have. bench/gpu/wheels.sh packs the last two for a machine without a network.

    bench/gpu/python_peers.py [--filter SUBSTRING] [--json FILE] [--quick]

Names of rows are those of rows.h. Pictures lie in device memory; times are medians of CUDA events
on the default stream. PyTorch works in f32, whatever the row's type: what it has no filter for is
put together from its parts (a convolution, an average, a pass for each offset).
"""
import argparse
import json
import platform
import statistics
import sys
import time

BIG, UHD = (8640, 15360), (2160, 3840)
SIGMAS = {3: 0.8, 5: 1.1, 9: 1.4, 11: 1.5, 15: 2.5, 31: 5.0}


def arguments():
    a = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    a.add_argument("--filter", default="", help="only rows whose name holds this")
    a.add_argument("--json", help="write the figures to this file")
    a.add_argument("--quick", action="store_true", help="fewer rows, shorter")
    return a.parse_args()


class Pictures:
    """Waves with noise of sigma 25 levels, made on the device."""

    def __init__(self, torch):
        self.torch = torch
        self.key = self.picture = None

    def get(self, shape, channels=1):
        """u8, height x width x channels; only the newest is kept."""
        if self.key != (shape, channels):
            torch = self.torch
            torch.manual_seed(1)
            self.picture = None
            y = torch.arange(shape[0], device="cuda")[:, None, None]
            x = torch.arange(shape[1], device="cuda")[None, :, None]
            c = torch.arange(channels, device="cuda")[None, None, :]
            level = 118 + 60 * torch.sin(0.018 * x + c) * torch.cos(0.024 * y)
            level += 25 * torch.randn(level.shape, device="cuda")
            self.picture = level.round_().clamp_(0, 255).to(torch.uint8)
            self.key = shape, channels
        return self.picture


def gaussian_taps(torch, k, sigma):
    x = torch.arange(k, device="cuda", dtype=torch.float32) - k // 2
    taps = torch.exp(-x * x / (2 * sigma * sigma))
    return taps / taps.sum()


# ---- each library: rows as (name, shape, function that takes the pictures and gives a call)

def cupy_rows(cp, torch):
    from cupyx.scipy import ndimage

    def gray(pictures, shape):
        return cp.asarray(pictures.get(shape)[..., 0].contiguous())

    def gauss(k):
        radius = (k // 2) / SIGMAS[k]
        return lambda g: lambda: ndimage.gaussian_filter(g, SIGMAS[k], truncate=radius,
                                                         mode="mirror")

    def median(k):
        return lambda g: lambda: ndimage.median_filter(g, size=k, mode="mirror")

    def box(k):
        return lambda g: lambda: ndimage.uniform_filter(g, k, mode="mirror")

    def affine(order):
        matrix = cp.asarray([[0.6928, -0.4], [0.4, 0.6928]])
        return lambda g: lambda: ndimage.affine_transform(g, matrix, (100, 50), order=order,
                                                          prefilter=False)

    def magnitude(g):
        f = g.astype(cp.float32)
        return lambda: cp.hypot(ndimage.sobel(f, 0), ndimage.sobel(f, 1))

    def convolve(k):
        weights = cp.ones((k, k), cp.float32)
        weights[0, 0] = 2

        def prepare(g):
            f = g.astype(cp.float32)
            return lambda: ndimage.convolve(f, weights, mode="mirror")
        return prepare

    rows = [(f"gaussian {k}", BIG, gauss(k)) for k in SIGMAS]
    rows += [("gaussian 5 4K", UHD, gauss(5))]
    rows += [(f"box {k}", BIG, box(k)) for k in (3, 5, 11, 31)]
    rows += [(f"median {k} 4K", UHD, median(k)) for k in (3, 5, 7)]
    rows += [("sobel u8", BIG, magnitude), ("laplacian", BIG, lambda g: lambda: ndimage.laplace(g)),
             ("affine linear", BIG, affine(1)), ("affine cubic", BIG, affine(3)),
             ("convolve 7 f32", BIG, convolve(7)), ("convolve 31 f32", BIG, convolve(31))]
    return [(name, shape, 1, lambda p, s=shape, f=f: f(gray(p, s))) for name, shape, f in rows]


def torch_rows(torch):
    F = torch.nn.functional

    def floats(pictures, shape):
        return pictures.get(shape)[..., 0].float()[None, None]

    def gauss(k):
        taps = gaussian_taps(torch, k, SIGMAS[k])
        across, down = taps.view(1, 1, 1, k), taps.view(1, 1, k, 1)
        return lambda f: lambda: F.conv2d(F.conv2d(F.pad(f, (k // 2,) * 4, mode="reflect"),
                                                   across), down)

    def box(k):
        return lambda f: lambda: F.avg_pool2d(F.pad(f, (k // 2,) * 4, mode="reflect"), k, stride=1)

    def convolve(k):
        weights = torch.ones(1, 1, k, k, device="cuda")
        return lambda f: lambda: F.conv2d(F.pad(f, (k // 2,) * 4, mode="reflect"), weights)

    def sobel(f):
        x = torch.tensor([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]], device="cuda").float()
        both = torch.stack([x, x.T])[:, None]
        return lambda: F.conv2d(F.pad(f, (1,) * 4, mode="reflect"), both).norm(dim=1)

    def turn(f):
        matrix = torch.tensor([[[0.69, -0.4, 0.1], [0.4, 0.69, 0.05]]], device="cuda")
        grid = F.affine_grid(matrix, f.shape, align_corners=False)
        return lambda: F.grid_sample(f, grid, mode="bilinear", align_corners=False)

    def nlmeans(f):
        h, w = f.shape[-2:]

        def call():
            p = F.pad(f, (13,) * 4, mode="reflect")
            total, weights = torch.zeros_like(f), torch.zeros_like(f)
            here = p[..., 10:16 + h, 10:16 + w]
            for dy in range(21):
                for dx in range(21):
                    there = p[..., dy:dy + h + 6, dx:dx + w + 6]
                    weight = torch.exp(F.avg_pool2d((here - there) ** 2, 7, stride=1) / -400)
                    total += weight * there[..., 3:3 + h, 3:3 + w]
                    weights += weight
            return total / weights
        return call

    rows = [(f"gaussian {k}", BIG, gauss(k)) for k in SIGMAS]
    rows += [(f"box {k}", BIG, box(k)) for k in (3, 5, 11, 31)]
    rows += [("convolve 7 f32", BIG, convolve(7)), ("convolve 31 f32", BIG, convolve(31)),
             ("sobel u8", BIG, sobel), ("affine linear", BIG, turn),
             ("nlmeans 21/7 1024", (1024, 1024), nlmeans),
             ("resize 1/2 linear", BIG,
              lambda f: lambda: F.interpolate(f, scale_factor=0.5, mode="bilinear")),
             ("resize 1/2 area", BIG, lambda f: lambda: F.avg_pool2d(f, 2))]
    return [(name, shape, 1, lambda p, s=shape, f=f: f(floats(p, s))) for name, shape, f in rows]


def cucim_rows(cp, filters):
    def gray(pictures, shape):
        return cp.asarray(pictures.get(shape)[..., 0].contiguous())

    def gauss(k):
        radius = (k // 2) / SIGMAS[k]
        return lambda g: lambda: filters.gaussian(g, SIGMAS[k], mode="mirror", truncate=radius,
                                                  preserve_range=True)

    def median(k):
        window = cp.ones((k, k), bool)
        return lambda g: lambda: filters.median(g, window, mode="nearest")

    def slope(name):
        def prepare(g):
            f = g.astype(cp.float32)
            return lambda: getattr(filters, name)(f)
        return prepare

    rows = [(f"gaussian {k}", BIG, gauss(k)) for k in SIGMAS]
    rows += [("gaussian 5 4K", UHD, gauss(5))]
    rows += [(f"median {k} 4K", UHD, median(k)) for k in (3, 5, 7)]
    rows += [(f"median {k}", UHD, median(k)) for k in (15, 31, 75)]
    rows += [(f"{name} u8", BIG, slope(name)) for name in ("sobel", "prewitt", "scharr")]
    rows += [("laplacian", BIG, slope("laplace")),
             ("unsharp 5", BIG,
              lambda g: lambda: filters.unsharp_mask(g, 1, 1, preserve_range=True))]
    return [(name, shape, 1, lambda p, s=shape, f=f: f(gray(p, s))) for name, shape, f in rows]


def cvcuda_rows(cvcuda, np):
    mirror = cvcuda.Border.REFLECT101
    matrix = np.array([[0.6928, 0.4, -100], [-0.4, 0.6928, 350]], np.float32)

    def gauss(k):
        return lambda t: lambda: cvcuda.gaussian(t, (k, k), (SIGMAS[k],) * 2, mirror)

    def median(k):
        return lambda t: lambda: cvcuda.median_blur(t, (k, k))

    def bilateral(k):
        return lambda t: lambda: cvcuda.bilateral_filter(t, k, 30, 3, mirror)

    def affine(interp):
        return lambda t: lambda: cvcuda.warp_affine(t, matrix, interp)

    def half(t):
        shape = (t.shape[0] // 2, t.shape[1] // 2, t.shape[2])
        return lambda: cvcuda.resize(t, shape, cvcuda.Interp.LINEAR)

    rows = [(f"gaussian {k}", BIG, 1, gauss(k)) for k in SIGMAS]
    rows += [(f"box {k}", BIG, 1,
              lambda t, k=k: lambda: cvcuda.averageblur(t, (k, k), border=mirror))
             for k in (3, 5, 11, 31)]
    rows += [(f"median {k} 4K", UHD, 1, median(k)) for k in (3, 5, 7)]
    for color, channels in ("", 1), (" RGB", 3):
        rows += [(f"bilateral {k}{color}", BIG, channels, bilateral(k)) for k in (5, 7, 11)]
        rows += [(f"affine linear{color}", BIG, channels, affine(cvcuda.Interp.LINEAR))]
    rows += [("affine cubic", BIG, 1, affine(cvcuda.Interp.CUBIC)),
             ("laplacian", BIG, 1, lambda t: lambda: cvcuda.laplacian(t, 1, 1.0, mirror)),
             ("resize 1/2 linear", BIG, 1, half)]
    return [(name, shape, channels,
             lambda p, s=shape, c=channels, f=f: f(cvcuda.as_tensor(p.get(s, c), "HWC")))
            for name, shape, channels, f in rows]


def libraries(torch):
    """(name and version, rows) of those that are there."""
    yield f"PyTorch {torch.__version__}", torch_rows(torch)
    try:
        import cupy
        yield f"CuPy {cupy.__version__}", cupy_rows(cupy, torch)
    except ImportError as error:
        print("CuPy is left out:", error)
    try:
        import cvcuda
        import numpy
        yield f"CV-CUDA {cvcuda.__version__}", cvcuda_rows(cvcuda, numpy)
    except ImportError as error:
        print("CV-CUDA is left out:", error)
    try:
        import cucim
        import cupy
        from cucim.skimage import filters
        yield f"cuCIM {cucim.__version__}", cucim_rows(cupy, filters)
    except ImportError as error:
        print("cuCIM is left out:", error)


# ---- measuring

def measure(torch, call, quick):
    """Milliseconds (least, median) of a call, for 0.3 s and at most 30 times."""
    def once():
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        call()
        end.record()
        end.synchronize()
        return start.elapsed_time(end)

    slow = once() > 200
    for _ in range(0 if slow else 3):
        once()
    times, begin = [], time.monotonic()
    while not times or (not slow and len(times) < 30
                        and time.monotonic() - begin < (0.1 if quick else 0.3)):
        times.append(once())
    return min(times), statistics.median(times)


def measure_rows(torch, options):
    pictures, measured, names = Pictures(torch), [], set()
    for who, rows in libraries(torch):
        names.add(who)
        for name, shape, channels, prepare in rows:
            if options.filter not in name or (options.quick and shape == BIG and "31" in name):
                continue
            try:
                with torch.no_grad():
                    least, median = measure(torch, prepare(pictures), options.quick)
            except Exception as error:  # a row that a release cannot do is no row
                print(f"{name:24} {who:20} failed: {str(error)[:100]}", flush=True)
                continue
            finally:
                torch.cuda.empty_cache()
            pixels = shape[0] * shape[1] * (0.25 if name.startswith("resize") else 1)
            print(f"{name:24} {who:20} {median:10.4f} ms {pixels / median * 1e-6:10.2f} Gpix/s",
                  flush=True)
            measured.append({"row": name, "image": f"u8x{channels} {shape[1]}x{shape[0]}",
                             "peer": who.split()[0], "times": {"min": round(least, 6),
                                                               "median": round(median, 6)},
                             "gpix": round(pixels / median * 1e-6, 5)})
    return measured, ", ".join(sorted(names))


def main():
    options = arguments()
    try:
        import torch
    except ImportError as error:
        print("PyTorch is needed and not there:", error)
        return 1
    if not torch.cuda.is_available():
        print("PyTorch finds no GPU")
        return 1
    rows, names = measure_rows(torch, options)
    record = {"schema_version": 1, "command": " ".join(sys.argv), "who": names,
              "machine": {"gpu": torch.cuda.get_device_name(0),
                          "python": platform.python_version()}}
    if options.json:
        with open(options.json, "w", encoding="utf-8") as f:
            lines = ",\n".join("  " + json.dumps(row) for row in rows)
            f.write(json.dumps(record)[:-1] + ', "rows": [\n' + lines + "\n]}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
