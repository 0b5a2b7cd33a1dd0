# SPDX-License-Identifier: Apache-2.0
"""The rows that are timed: what runs, how near the results must be, and how fast is wanted.

A target is how many times faster than the best peer of the same definition tamis is to be. Where
`any` is given it holds against the approximations too. 1 means: not slower.
"""
import dataclasses
import math

SIGMA = {5: 1.1, 11: 1.5, 31: 5, 121: 20}  # of a Gaussian with this window
ANGLE = 30  # of rotate, in degrees
SEARCH, STRENGTH = 21, 20  # of the rows of non-local means, in pixels and levels of u8
LOW, HIGH = 50, 150  # thresholds of Canny
CHAIN = "nlmeans=h=6:search=5:patch=3,unsharp,gaussian,sobel"  # timed beside its filters one by one
SPACE, COLOR = 3, 30  # sigmas of the bilateral rows, in pixels and in levels of u8

@dataclasses.dataclass(frozen=True)
class Row:
    filter: str
    type: str
    channels: int
    size: str            # "512", "1k", "hd" or "4k"
    ksize: int           # of nlmeans the patch; its search window is SEARCH
    target: float        # 0: none
    any_target: float = 0
    shared_target: float = 0  # with several threads, where it is another
    tolerance: float = 0  # greatest difference from a peer of the same definition
    interp: str = ""     # of rotate, perspective and resize
    variant: str = ""    # "square": the bilateral's default window, slower than the peers' disc
    quick: bool = False

    @property
    def name(self):
        color = "RGB " if self.channels == 3 else ""
        size = {"512": "512", "1k": "1024", "hd": "HD", "4k": "4K"}[self.size]
        if self.filter == "chain":
            return f"chain of 4, {color}{self.type} {size}"
        if self.interp:
            return f"{self.filter} {self.interp}, {color}{self.type} {size}"
        window = "sigma 20" if self.ksize == 121 else str(self.ksize)
        variant = " " + self.variant if self.variant else ""
        return f"{self.filter} {window}{variant}, {color}{self.type} {size}"

    def wanted(self, threads):
        """The target of a run with so many threads."""
        return self.shared_target if threads > 1 and self.shared_target else self.target

    @property
    def sigma(self):
        if self.filter == "nlmeans":
            return SEARCH
        return SPACE if self.filter == "bilateral" else SIGMA.get(self.ksize, 0)

    @property
    def sigma_color(self):
        if self.filter == "canny":
            return LOW
        level = STRENGTH if self.filter == "nlmeans" else COLOR
        return level / 255 if self.type == "f32" else level

    @property
    def peer_filter(self):
        """What peers call it: to them sharpening is a kernel like others."""
        return "convolve" if self.filter == "sharpen" else self.filter

    @property
    def kernel(self):
        """Of convolve: a sharpening one, or weights that are no product of a column and a row."""
        if self.peer_filter != "convolve":
            return []
        if self.ksize == 3:
            return [[0, -1, 0], [-1, 5, -1], [0, -1, 0]]
        k = range(self.ksize)
        return [[(7 * x * x + 5 * y * y + 3 * x * y + x) % 23 + 1 for x in k] for y in k]

    def matrix(self, w, h):
        """What takes the picture to the result: a turn by ANGLE about the middle, or a tilt."""
        if self.filter == "perspective":
            return [0.9, 0.2, 10, -0.1, 1.1, 5, 1e-4, 5e-5, 1]
        c, s = math.cos(math.radians(ANGLE)), math.sin(math.radians(ANGLE))
        x, y = (w - 1) / 2, (h - 1) / 2
        return [c, s, x - c * x - s * y, -s, c, y + s * x - c * y, 0, 0, 1]

    def result_size(self, w, h):
        return (w // 2, h // 2) if self.filter == "resize" else (w, h)

    @property
    def chain(self):
        """The filter in tamis' words. OpenCV's median repeats the edge; all else mirrors."""
        if self.filter == "gaussian":
            return f"gaussian=sigma={self.sigma}:ksize={self.ksize}"
        if self.filter == "median":
            return f"median=ksize={self.ksize}:border=replicate"
        if self.filter == "box":
            return f"box=ksize={self.ksize}"
        if self.filter == "chain":
            return CHAIN
        if self.filter == "sharpen":
            return "sharpen"
        if self.filter == "unsharp":
            return f"unsharp=sigma={self.sigma}"
        if self.filter == "convolve":
            rows = (",".join(map(str, row)) for row in self.kernel)
            return "convolve=kernel=" + ";".join(rows)
        if self.filter == "nlmeans":
            return f"nlmeans=h={STRENGTH}:patch={self.ksize}:search={SEARCH}"
        if self.filter == "sobel":
            return f"sobel=ksize={self.ksize}:norm={'l1' if self.type == 'u8' else 'l2'}"
        if self.filter == "canny":
            return f"canny=ksize={self.ksize}:norm=l1:low={LOW}:high={HIGH}:compat=opencv"
        if self.filter == "rotate":
            return f"rotate=angle={ANGLE}:interp={self.interp}:cubic_a=-0.75:border=constant"
        if self.filter == "perspective":
            numbers = ",".join(f"{n:.9g}" for n in self.matrix(0, 0))
            return f"perspective=matrix={numbers}:interp={self.interp}:border=constant"
        if self.filter == "resize":
            plain = ":antialias=0" if self.interp == "linear" else ""
            return f"resize=scale=0.5:interp={self.interp}{plain}"
        compat = "" if self.variant else ":compat=opencv"
        return (f"bilateral=ksize={self.ksize}:sigma_space={SPACE}"
                f":sigma_color={self.sigma_color:.9g}{compat}")


def same_definition(peer, row):
    """Whether the peer is to give the same result: tamis' own window has none beside it, libvips
    has coarse taps for integers and, before 8.17, a wrong histogram in medians of u8 (its issue
    4609), FFmpeg's Gaussian and bilateral are recursive approximations and its
    non-local means uses a table of weights and another border. OpenCV's warps round positions to
    1/32 pixel, but for the linear ones of release 5, and its resize never smooths but for area."""
    if row.variant:
        return False
    if row.filter in ("rotate", "perspective"):
        return peer == "opencv5" and row.interp == "linear"
    if row.filter == "resize":
        return row.interp in ("linear", "area") and peer.startswith("opencv")
    if peer == "vips" and row.filter == "gaussian":
        return row.type == "f32"
    if peer == "vips" and row.filter == "median":
        return row.type != "u8" or row.ksize == 3
    return peer != "ffmpeg" or row.filter == "median"


def gaussian():
    for size in "hd", "4k":
        for k, target in (5, 2), (11, 1.6), (31, 3):
            yield Row("gaussian", "u8", 1, size, k, target, tolerance=1, quick=size == "hd")
    # OpenCV's taps have 8 bits: over 121 of them its result is up to 1.5 levels off.
    yield Row("gaussian", "u8", 1, "hd", 121, 10, any_target=3, tolerance=2, quick=True)
    yield Row("gaussian", "u16", 1, "hd", 5, 6, tolerance=1, quick=True)
    for k in 5, 31:
        yield Row("gaussian", "f32", 1, "hd", k, 1, tolerance=2e-6)
    for k, target in (5, 2), (31, 3):
        yield Row("gaussian", "u8", 3, "hd", k, target, tolerance=1, quick=k == 5)


def box():
    for k in 3, 5, 31, 101:
        yield Row("box", "u8", 1, "hd", k, 2.5, shared_target=4 if k in (5, 31) else 0,
                  quick=k in (5, 31))
    for k in 5, 31:
        yield Row("box", "u8", 3, "hd", k, 2)
        # Both OpenCV multiply sums by a rounded 1/n; tamis' means are exact.
        yield Row("box", "u16", 1, "hd", k, 2, tolerance=1)
        yield Row("box", "f32", 1, "hd", k, 1, tolerance=2e-6)


def convolve():
    for type, targets in ("u8", (3, 6)), ("u16", (8, 8)), ("f32", (1, 2)):
        for k, target in zip((3, 7), targets):
            # OpenCV rounds its products of 8 and 16 bit with floats.
            yield Row("convolve", type, 1, "hd", k, target, quick=type != "f32",
                      tolerance=1 if type != "f32" else 2e-6)
    yield Row("convolve", "u8", 3, "hd", 3, 2, tolerance=1)
    yield Row("sharpen", "u8", 1, "hd", 3, 3, quick=True)
    yield Row("sharpen", "u16", 1, "hd", 3, 8)
    # OpenCV rounds the smoothed picture to levels.
    for type, channels, tolerance in ("u8", 1, 1), ("u8", 3, 1), ("u16", 1, 2), ("f32", 1, 3e-6):
        yield Row("unsharp", type, channels, "hd", 11, 2, tolerance=tolerance, quick=type == "u8")


def median():
    for k, target in (3, 2.5), (5, 5), (7, 30), (15, 5), (31, 3):
        yield Row("median", "u8", 1, "hd", k, target, quick=k < 31)
    for type in "u16", "f32":
        for k, target in (3, 1.5), (5, 3):
            yield Row("median", type, 1, "hd", k, target, quick=k == 5)
    for type in "u16", "f32":
        for k in 7, 15:
            yield Row("median", type, 1, "hd", k, 1)
    for k, target in (3, 2.5), (5, 5):
        yield Row("median", "u8", 3, "hd", k, target)


def bilateral():
    for k, target in (5, 3), (7, 3.5), (11, 3.5):
        yield Row("bilateral", "u8", 1, "hd", k, target, tolerance=1, quick=True)
    for k in 5, 7, 11:
        yield Row("bilateral", "u8", 3, "hd", k, 3, tolerance=1, quick=k == 5)
    for k in 5, 7, 11:
        yield Row("bilateral", "f32", 1, "hd", k, 3.5, tolerance=1e-5, quick=k == 5)
    for k in 5, 7, 11:
        yield Row("bilateral", "u8", 1, "hd", k, 0, variant="square")


def nlmeans():
    """OpenCV tabulates weights and cuts them off below 0.001: 0.03 levels on average, but up to
    13 where a pixel has few others like it."""
    for size in "512", "1k":
        yield Row("nlmeans", "u8", 1, size, 7, 4, tolerance=16, quick=size == "512")
    yield Row("nlmeans", "u8", 3, "512", 7, 4.5, tolerance=16, quick=True)


def edges():
    # Magnitude: of u8 |dx| + |dy| in u8, of f32 the root of the squares.
    yield Row("sobel", "u8", 1, "hd", 3, 7, quick=True)
    yield Row("sobel", "f32", 1, "hd", 3, 4, tolerance=2e-6, quick=True)
    yield Row("canny", "u8", 1, "hd", 3, 5, quick=True)
    yield Row("canny", "u8", 1, "4k", 3, 5)


def warps():
    for filter in "rotate", "perspective":
        for interp, channels, target in ("linear", 1, 2), ("linear", 3, 3), ("cubic", 1, 3):
            yield Row(filter, "u8", channels, "1k", 1, target, interp=interp, tolerance=1,
                      quick=filter == "rotate")
    # OpenCV's positions are binary32, so that samples of more bits differ.
    for type in "u16", "f32":
        yield Row("rotate", type, 1, "1k", 1, 2, interp="linear",
                  tolerance=3 if type == "u16" else 1e-4)


def resize():
    for interp, target in ("linear", 1), ("area", 1), ("cubic", 2), ("lanczos3", 2.5):
        yield Row("resize", "u8", 1, "4k", 1, target, interp=interp, tolerance=1,
                  quick=interp != "linear")
    yield Row("resize", "u8", 3, "4k", 1, 0, interp="lanczos3")


def chains():
    for size in "hd", "4k":
        yield Row("chain", "u8", 1, size, 0, 1.5, quick=size == "4k")


def all_rows():
    return [*gaussian(), *box(), *convolve(), *median(), *bilateral(), *nlmeans(), *edges(),
            *warps(), *resize(), *chains()]
