#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the golden files: results of the filters' written definitions in float64.

    python3 make_golden.py [NAME...]  (needs numpy; writes these .bin, or all, beside this file)
    python3 make_golden.py hashes     (needs cv2; prints the lines of hashes.txt for canny)

Every result is a direct sum or sort over an explicitly padded picture: no separability, no tables,
no fixed point, and nothing shared with the C code. A file is a sequence of records:

    chain|type|channels|w|h|pattern|guide|out_w|out_h|out_channels|alpha|tolerance\\n
    then out_h*out_w*out_channels float32, LE

The guide is "-" or "type,channels,pattern", alpha "none", "straight" or "premultiplied". The
tolerance is how far a sample may be from what is stored: in levels, or for f32 relative to
max(1, |stored|). Pictures are made from formulas that golden_test.c states again.
"""
import math
import os
import sys

import numpy as np

from golden_color import FULL, alpha, color

HERE = os.path.dirname(os.path.abspath(__file__))
RANGE = {"u8": (0, 255), "u16": (0, 65535), "s16": (-32768, 32767)}


# ---------------------------------------------------------------- pictures
def hash32(x, y, c, seed):
    m = 0xFFFFFFFF
    h = (x * 0x9E3779B1 + y * 0x85157AF5 + c * 0x58F38DED + seed * 0x2C1B3C6D) & m
    h = ((h ^ (h >> 15)) * 0x2545F491) & m
    h = ((h ^ (h >> 13)) * 0x9E3779B1) & m
    return h ^ (h >> 16)


def level16(pattern, x, y, c, w, h):
    """0 .. 65535, or None for NaN."""
    n = hash32(x, y, c, 1)
    if pattern == "edges":
        return (hash32(x // 4, y // 3, c, 2) >> 30) * 20000 + (n >> 16) % 3000
    if pattern == "impulse":
        return 65535 if x == w // 2 and y == h // 2 else 0
    if pattern == "extremes":
        return (n >> 31) * 65535
    if pattern in ("nan", "map_nan") and n % 23 == 5:
        return None
    return n >> 16


def picture(kind, channels, w, h, pattern):
    a = np.zeros((h, w, channels))
    for y in range(h):
        for x in range(w):
            for c in range(channels):
                v = level16(pattern, x, y, c, w, h)
                if v is None:
                    a[y, x, c] = math.nan
                elif kind == "u8":
                    a[y, x, c] = v >> 8
                elif kind == "u16":
                    a[y, x, c] = v
                elif kind == "s16":
                    a[y, x, c] = v - 32768
                elif pattern == "lab":
                    a[y, x, c] = v / 656 if c == 0 else (v - 32768) / 256
                elif pattern in ("map", "map_nan"):  # places in and around a small picture
                    a[y, x, c] = v / 2048 - 6
                else:
                    a[y, x, c] = v / 65536
    return a


# ---------------------------------------------------------------- borders
def outside(i, n, border):
    """The index that stands for i, found by walking; None for a constant."""
    while not 0 <= i < n:
        if border == "replicate":
            i = 0 if i < 0 else n - 1
        elif border == "wrap":
            i += n if i < 0 else -n
        elif border == "reflect":
            i = -1 - i if i < 0 else 2 * n - 1 - i
        elif border == "reflect101":
            i = 0 if n == 1 else -i if i < 0 else 2 * n - 2 - i
        else:
            return None
    return i


def padded(a, left, right, top, bottom, border, value):
    h, w, channels = a.shape
    if border == "valid":
        return a
    out = np.full((h + top + bottom, w + left + right, channels), float(value))
    for y in range(out.shape[0]):
        for x in range(out.shape[1]):
            sy, sx = outside(y - top, h, border), outside(x - left, w, border)
            if sy is not None and sx is not None:
                out[y, x] = a[sy, sx]
    return out


def windows(a, kw, kh, border, value, anchor=None):
    """Array [row, column, kh, kw, channel] of every pixel's window."""
    left, top = anchor or (kw // 2, kh // 2)
    p = padded(a, left, kw - 1 - left, top, kh - 1 - top, border, value)
    h, w = p.shape[0] - kh + 1, p.shape[1] - kw + 1
    return np.stack([np.stack([p[y:y + kh, x:x + kw] for x in range(w)]) for y in range(h)])


# ---------------------------------------------------------------- filters
def gauss(sigma, k):
    e = [math.exp(-((i - k // 2) ** 2) / (2.0 * sigma * sigma)) for i in range(k)]
    return np.array(e) / math.fsum(e)


def gaussian(a, o):
    kw, kh = o["ksize"]
    win = windows(a, kw, kh, o["border"], o["border_value"])
    weights = np.outer(gauss(o["sigma_y"], kh), gauss(o["sigma_x"], kw))
    return (win * weights[None, None, :, :, None]).sum(axis=(2, 3))


def box(a, o):
    kw, kh = o["ksize"]
    anchor = int(o.get("anchor_x", kw // 2)), int(o.get("anchor_y", kh // 2))
    mean = windows(a, kw, kh, o["border"], o["border_value"], anchor).mean(axis=(2, 3))
    return np.floor(mean + 0.5) if o["kind"] in RANGE else mean


GAUSS5 = "1,4,7,4,1;4,16,26,16,4;7,26,41,26,7;4,16,26,16,4;1,4,7,4,1"
NAMED = {"sharpen": "0,-1,0;-1,5,-1;0,-1,0", "gauss5": GAUSS5, "emboss": "-2,-1,0;-1,1,1;0,1,2"}


def convolve(a, o):
    """Correlation; flip=on turns kernel and anchor."""
    text = NAMED.get(o["kernel"], o["kernel"])
    if "x" in text:
        row, column = ([float(v) for v in part.split(",")] for part in text.split("x"))
        k = np.outer(column, row)
    else:
        k = np.array([[float(v) for v in row.split(",")] for row in text.split(";")])
    kh, kw = k.shape
    anchor = int(o.get("anchor_x", kw // 2)), int(o.get("anchor_y", kh // 2))
    divisor = o.get("divisor", k.sum() if k.sum() > 1e-6 * np.abs(k).sum() else 1)
    if o.get("flip") == "on":
        k, anchor = k[::-1, ::-1], (kw - 1 - anchor[0], kh - 1 - anchor[1])
    win = windows(a, kw, kh, o["border"], o["border_value"], anchor)
    used = np.where((k == 0)[None, None, :, :, None], 0, win * k[None, None, :, :, None])
    return used.sum(axis=(2, 3)) / divisor + o.get("bias", 0)


def median(a, o):
    """The value of rank floor(p/100 * (n-1) + 1/2); NaN where the window holds one."""
    kw, kh = o["ksize"]
    win = windows(a, kw, kh, o["border"], o["border_value"])
    flat = win.reshape(win.shape[0], win.shape[1], kw * kh, -1)
    ordered = np.sort(flat, axis=2)
    out = ordered[:, :, math.floor(o["percentile"] / 100 * (kw * kh - 1) + 0.5), :]
    out[np.isnan(flat).any(axis=2)] = math.nan
    return out


def bilateral(a, o, guide=None):
    """Square window (a disc for compat=opencv); Euclidean (or L1) distance of colors."""
    kw, kh = o["ksize"]
    g = a if guide is None else guide
    win = windows(a, kw, kh, o["border"], o["border_value"])
    gwin = windows(g, kw, kh, o["border"], o["border_value"])
    dy, dx = np.mgrid[0:kh, 0:kw]
    r2 = (dx - kw // 2) ** 2 + (dy - kh // 2) ** 2
    space = np.exp(-r2 / (2.0 * o["sigma_space"] ** 2))
    if o["compat"] == "opencv":
        space = np.where(r2 <= (kw // 2) ** 2, space, 0.0)
    d = np.abs(gwin - gwin[:, :, kh // 2:kh // 2 + 1, kw // 2:kw // 2 + 1])
    if o["color"] == "separate":
        d2 = d ** 2
    elif o["compat"] == "opencv":
        d2 = d.sum(axis=-1, keepdims=True) ** 2
    else:
        d2 = (d ** 2).sum(axis=-1, keepdims=True)
    weight = space[None, None, :, :, None] * np.exp(-d2 / (2.0 * o["sigma_color"] ** 2))
    return (win * weight).sum(axis=(2, 3)) / (weight * np.ones_like(win)).sum(axis=(2, 3))


def nlmeans(a, o):
    """Every pair of pixels by its own sum over the two patches, cut out of one padded picture."""
    (sw, sh), (pw, ph) = o["search"], o["patch"]
    rx, ry = sw // 2 + pw // 2, sh // 2 + ph // 2
    p = padded(a, rx, rx, ry, ry, o["border"], o["border_value"])
    rows, columns = p.shape[0] - 2 * ry, p.shape[1] - 2 * rx
    # What the distance is taken from, as one vector a pixel.
    d = p @ np.array([[0.299], [0.587], [0.114]]) if o["color"] == "luma" else p

    def patch(y, x):
        return d[y - ph // 2:y + ph // 2 + 1, x - pw // 2:x + pw // 2 + 1]

    out = np.empty((rows, columns, a.shape[2]))
    for y in range(ry, ry + rows):
        for x in range(rx, rx + columns):
            total, weights = 0.0, 0.0
            for v in range(y - sh // 2, y + sh // 2 + 1):
                for u in range(x - sw // 2, x + sw // 2 + 1):
                    axes = (0, 1) if o["color"] == "separate" else None
                    d2 = ((patch(y, x) - patch(v, u)) ** 2).mean(axis=axes)
                    w = np.exp(-np.maximum(d2 - 2 * o["sigma"] ** 2, 0) / o["h"] ** 2)
                    w = 1.0 if (u, v) == (x, y) else np.where(np.isnan(d2), 0.0, w)
                    total = total + np.where(w > 0, w * p[v, u], 0.0)
                    weights = weights + w
            out[y - ry, x - rx] = total / weights
            if not np.isfinite(patch(y, x)).all():
                out[y - ry, x - rx] = p[y, x]
    return out


def kernel(interp, a, t):
    t = abs(t)
    if interp == "linear":
        return max(0.0, 1 - t)
    if interp == "cubic":
        if t <= 1:
            return (a + 2) * t ** 3 - (a + 3) * t ** 2 + 1
        return a * t ** 3 - 5 * a * t ** 2 + 8 * a * t - 4 * a if t < 2 else 0.0
    return float(np.sinc(t) * np.sinc(t / 3)) if t < 3 and (t == 0 or t % 1) else 0.0


REACH = {"linear": 1, "cubic": 2, "lanczos3": 3}


def at(a, x, y, o):
    """The value at a point of the plane: a sum over the samples around it, border included."""
    h, w, channels = a.shape

    def sample(i, j):
        sx, sy = outside(i, w, o["border"]), outside(j, h, o["border"])
        nowhere = sx is None or sy is None
        return np.full(channels, float(o["border_value"])) if nowhere else a[sy, sx]

    if o["interp"] == "nearest":
        return sample(math.floor(x + 0.5), math.floor(y + 0.5))
    r = REACH[o["interp"]]
    x0, y0 = math.floor(x), math.floor(y)
    wx = {i: kernel(o["interp"], o["cubic_a"], x - i) for i in range(x0 - r + 1, x0 + r + 1)}
    wy = {j: kernel(o["interp"], o["cubic_a"], y - j) for j in range(y0 - r + 1, y0 + r + 1)}
    sx, sy = math.fsum(wx.values()), math.fsum(wy.values())
    total = np.zeros(channels)
    for j, v in wy.items():
        for i, u in wx.items():
            if u * v != 0:
                total = total + u * v / (sx * sy) * sample(i, j)
    return total


def stretch(m, part, x, y):
    """How far the source's point moves per column (part 0) or row (1) of the result."""
    p = m @ (x, y, 1)
    return math.hypot(*(m[:2, part] * p[2] - m[2, part] * p[:2])) / p[2] ** 2


def grid(m, x, y):
    """Of interp=area: the most that the ends of the row's block of 64 columns need."""
    ends = [x // 64 * 64, x // 64 * 64 + 63]
    if (m[2] @ (ends[0], y, 1)) * (m[2] @ (ends[1], y, 1)) <= 0:
        return 64, 64
    return [min(64, max(1, *(math.ceil(stretch(m, part, e, y) - 1e-9) for e in ends)))
            for part in (0, 1)]


def warp(a, o, m, size):
    """m takes the picture to the result."""
    back = np.linalg.inv(m)
    back = back / back[2, 2]
    out = np.empty((size[1], size[0], a.shape[2]))

    def source(x, y, o):
        p = back @ (x, y, 1)
        return at(a, p[0] / p[2], p[1] / p[2], o)

    for y in range(size[1]):
        for x in range(size[0]):
            if o["interp"] != "area":
                out[y, x] = source(x, y, o)
                continue
            nx, ny = grid(back, x, y)
            out[y, x] = sum(source(x + (i + 0.5) / nx - 0.5, y + (j + 0.5) / ny - 0.5,
                                   {**o, "interp": "linear"})
                            for j in range(ny) for i in range(nx)) / (nx * ny)
    return out


def remap(a, o, places):
    """Each pixel from where its two numbers say; NaN is far to the left and above."""
    far = 1.875 * 2 ** 30
    p = np.clip(np.where(np.isnan(places), -far, places), -far, far)
    return np.array([[at(a, *xy, o) for xy in row] for row in p])


def matrix_of(text):
    v = [float(n) for n in text.split(",")]
    return np.array(v + [0, 0, 1][:9 - len(v)] if len(v) == 6 else v).reshape(3, 3)


def affine(a, o):
    return warp(a, o, matrix_of(o["matrix"]), o.get("size", a.shape[1::-1]))


perspective = affine


def rotate(a, o):
    """size=fit: what covers the corners of the turned area, middle on middle."""
    h, w = a.shape[:2]
    t = math.radians(float(o["angle"]))
    c, s = math.cos(t), math.sin(t)
    size = (w, h)
    if o.get("size") == "fit":
        size = [math.ceil(v - 1e-6) for v in (w * abs(c) + h * abs(s), w * abs(s) + h * abs(c))]
    x0, y0, x1, y1 = (w - 1) / 2, (h - 1) / 2, (size[0] - 1) / 2, (size[1] - 1) / 2
    m = np.array([[c, s, x1 - c * x0 - s * y0], [-s, c, y1 + s * x0 - c * y0], [0, 0, 1]])
    return warp(a, o, m, size)


SLOPES = {  # (derivative, smoothing)
    "sobel3": ([-1, 0, 1], [1, 2, 1]),
    "sobel5": ([-1, -2, 0, 2, 1], [1, 4, 6, 4, 1]),
    "sobel7": ([-1, -4, -5, 0, 5, 4, 1], [1, 6, 15, 20, 15, 6, 1]),
    "prewitt3": ([-1, 0, 1], [1, 1, 1]),
    "scharr3": ([-1, 0, 1], [3, 10, 3]),
}


def weighted(a, kernel, o):
    """Correlation with a small kernel; taps of 0 are left out, so that they hold no NaN."""
    k = len(kernel)
    win = windows(a, k, k, o["border"], o["border_value"])
    return sum(kernel[y][x] * win[:, :, y, x] for y in range(k) for x in range(k) if kernel[y][x])


def scaled(v, o):
    return v * float(o.get("scale", 1)) + float(o.get("delta", 0))


def slope(a, o, name):
    d, s = SLOPES[name + str(o.get("ksize", [3])[0])]
    dx, dy = weighted(a, np.outer(s, d), o), weighted(a, np.outer(d, s), o)
    output = o.get("output", "magnitude")
    if output == "direction":
        return np.arctan2(dy, dx)
    norm = np.abs(dx) + np.abs(dy) if o.get("norm") == "l1" else np.hypot(dx, dy)
    return scaled({"dx": dx, "dy": dy, "magnitude": norm}[output], o)


def laplacian(a, o):
    cross, corners = [[0, 1, 0], [1, -4, 1], [0, 1, 0]], [[1, 1, 1], [1, -8, 1], [1, 1, 1]]
    return scaled(weighted(a, corners if o.get("neighbors") == 8 else cross, o), o)


def correlated(p, kernel):
    """Where the kernel lies inside."""
    kh, kw = kernel.shape
    h, w = p.shape[0] - kh + 1, p.shape[1] - kw + 1
    return sum(kernel[y, x] * p[y:y + h, x:x + w] for y in range(kh) for x in range(kw))


def thinned(dx, dy, m, low):
    """Pixels whose m is above low and greatest across the edge; the outermost are only seen."""
    kept = np.zeros(m.shape, bool)
    t = 13573 / 32768
    for y in range(1, m.shape[0] - 1):
        for x in range(1, m.shape[1] - 1):
            ax, ay, v = abs(dx[y, x]), abs(dy[y, x]), m[y, x]
            if ay < t * ax:
                best = v > m[y, x - 1] and v >= m[y, x + 1]
            elif ay > (2 + t) * ax:
                best = v > m[y - 1, x] and v >= m[y + 1, x]
            else:
                s = 1 if (dx[y, x] < 0) == (dy[y, x] < 0) else -1
                best = v > m[y - 1, x - s] and v > m[y + 1, x + s]
            kept[y, x] = best and v > low
    return kept


def canny(a, o):
    """Squares are compared with squares, so that whole numbers stay exact."""
    d, s = SLOPES["sobel" + str(o.get("ksize", [3])[0])]
    sigma, l1 = float(o.get("sigma", 0)), o.get("norm") == "l1"
    r = math.ceil(3 * sigma)
    halo = len(d) // 2 + 1 + r
    out = []
    for channel in range(a.shape[2]):
        p = padded(a[:, :, channel:channel + 1], halo, halo, halo, halo, o["border"],
                   o["border_value"])[:, :, 0]
        if r:
            p = correlated(p, np.outer(gauss(sigma, 2 * r + 1), gauss(sigma, 2 * r + 1)))
        dx, dy = correlated(p, np.outer(s, d)), correlated(p, np.outer(d, s))
        m = abs(dx) + abs(dy) if l1 else dx ** 2 + dy ** 2
        low, high = (float(o[k]) ** (1 if l1 else 2) for k in ("low", "high"))
        kept = thinned(dx, dy, m, low)
        edge = kept & (m > high)
        grown = None
        while grown is None or (grown != edge).any():
            grown = edge.copy()
            for y, x in np.argwhere(grown):
                edge[y - 1:y + 2, x - 1:x + 2] |= kept[y - 1:y + 2, x - 1:x + 2]
        out.append(edge[1:-1, 1:-1] * 255.0)
    return np.stack(out, axis=2)


def slope_type(name, kind, o):
    """The sample type of the result."""
    wish = o.get("type", "auto")
    output = "dx" if name == "laplacian" else o.get("output", "magnitude")
    if wish != "auto":
        return kind if wish == "same" else wish
    if output == "direction":
        return "f32"
    if output == "magnitude":
        return kind
    return "s16" if kind == "u8" and o.get("ksize", [3])[0] < 7 else "f32"


def resize_weights(n, m, o):
    """Row i: what each of n samples weighs in sample i of m."""
    w = np.zeros((m, n))
    for i in range(m):
        c = (i + 0.5) * n / m - 0.5
        f = max(1.0, n / m) if o["antialias"] else 1.0
        for x in range(n):
            if o["interp"] == "nearest":
                w[i, x] = x == (2 * i + 1) * n // (2 * m)
            elif o["interp"] == "area":
                w[i, x] = max(0.0, min((i + 1) * n / m, x + 1) - max(i * n / m, x))
            else:
                w[i, x] = kernel(o["interp"], o["cubic_a"], (x - c) / f)
        w[i] /= math.fsum(w[i])
    return w


def resize(a, o):
    w, h = o["size"]
    return np.einsum("jy,ix,yxc->jic", resize_weights(a.shape[0], h, o),
                     resize_weights(a.shape[1], w, o), a)


def sharpen(a, o):
    """Whole amounts give whole numbers; others are rounded by whoever compares."""
    corners = int(o.get("neighbors", 4) == 8)
    kernel = [[-corners, -1, -corners], [-1, 4 + 4 * corners, -1], [-corners, -1, -corners]]
    center = [[0, 0, 0], [0, 1, 0], [0, 0, 0]]
    return weighted(a, center, o) + o["amount"] * weighted(a, kernel, o)


def unsharp(a, o):
    r, t = math.ceil(3 * o["sigma"]), o.get("threshold", 0)
    smooth = gaussian(a, {**o, "ksize": (2 * r + 1, 2 * r + 1)})
    if o["border"] == "valid":
        a = a[r:-r, r:-r]
    d = a - smooth
    return a + o["amount"] * (d - np.clip(d, -t, t))


# ---------------------------------------------------------------- records
EDGES = ("sobel", "prewitt", "scharr", "laplacian")


def tolerance(name, kind, o):
    """Of results of this type; the floats stored cost up to 0.004 level at 16 bits.

    Orders choose samples and classes are few, so they are exact; so are means and other whole
    numbers. Weighted sums: the nearest level unless the exact value lies within 1/16 level of a
    tie (u8), or one level off at most (u16, s16). Wide Gaussians: within 1e-4 of the range.
    """
    if name in ("median", "canny"):
        return 0
    if name == "box":
        return 1.2e-7 if kind == "f32" else 0
    if name in EDGES and kind != "f32":  # squares of 16 bits are rounded
        return 0.5 + 1 / 32
    if name == "sharpen":
        exact = kind != "f32" and o["amount"] == round(o["amount"])
        return 0 if exact else {"u8": 0.501, "f32": 2e-6}.get(kind, 0.51)
    if name == "color":
        lab = o["to"] == "lab" or o.get("from") == "lab"
        return {"u8": 0.501, "u16": 0.55 if lab else 0.52, "f32": 1e-4 if lab else 1e-6}[kind]
    if name == "alpha":
        return {"u8": 0.501, "f32": 2e-7}.get(kind, 0.52)
    wide = o.get("sigma") == 20 and o.get("ksize", (121, 0))[0] == 121
    if name == "unsharp":
        error = 2e-6 + abs(o["amount"]) * (1e-4 if wide else 1e-6)
        if kind == "u8" and not wide:  # the smoothed picture is kept in 1/128 level
            return 0.5 + abs(o["amount"]) * 0.03
        return error * max(1, o["border_value"]) if kind == "f32" else 0.504 + error * FULL[kind]
    if kind == "u8":
        return 0.5 + 1 / 16
    if kind == "f32":
        return 1e-4 if wide else 1e-5
    return 0.504 + 1e-4 * 65535 if wide else 1.504


def options(text):
    o = {"border": "reflect101", "border_value": 0, "percentile": 50, "color": "joint",
         "compat": "none", "interp": "linear", "cubic_a": -0.5, "antialias": 1}
    for pair in text.split("=", 1)[1].split(":"):
        key, value = pair.split("=")
        if key in ("ksize", "search", "patch"):
            sides = value.split("x")
            o[key] = (int(sides[0]), int(sides[-1]))
        elif key == "size" and value[0].isdigit():
            o[key] = tuple(int(n) for n in value.split("x"))
        elif "," in value:
            o[key] = value
        else:
            o[key] = value if value[0].isalpha() or key == "kernel" else float(value)
    o.setdefault("sigma_x", o.get("sigma"))
    o.setdefault("sigma_y", o.get("sigma"))
    return o


def record(chain, kind, channels, w, h, pattern, guide="-", alpha="none"):
    o = options(chain)
    o["kind"], o["alpha"] = kind, alpha
    a = picture(kind, channels, w, h, pattern)
    name = chain.split("=", 1)[0]
    if name in ("bilateral", "remap"):
        g = None
        if guide != "-":
            gkind, gchannels, gpattern = guide.split(",")
            g = picture(gkind, int(gchannels), w, h, gpattern)
        out = globals()[name](a, o, g)
    elif name in EDGES and name != "laplacian":
        out = slope(a, o, name)
    else:
        out = globals()[name](a, o)
    result = slope_type(name, kind, o) if name in EDGES else kind
    if result in RANGE:
        out = np.clip(np.nan_to_num(out) if name in EDGES else out, *RANGE[result])
    head = (chain, kind, channels, w, h, pattern, guide, out.shape[1], out.shape[0], out.shape[2],
            alpha, f"{tolerance(name, result, o):.6g}")
    return "|".join(map(str, head)).encode() + b"\n" + out.astype("<f4").tobytes()


def canny_records():
    for kind, unit in (("u8", 1), ("u16", 257), ("s16", 257), ("f32", 1 / 255)):
        for norm in ("l1", "l2"):
            for k, step in ((3, 4), (5, 48), (7, 640)):
                yield record(f"canny=low={60 * step * unit:.9g}:high={130 * step * unit:.9g}"
                             f":ksize={k}:norm={norm}:color=separate", kind, 1, 31, 23, "edges")
        base = f"canny=low={120 * unit:.9g}:high={500 * unit:.9g}:color=separate"
        for border in ("reflect", "replicate", "wrap", "valid", "constant:border_value=37"):
            yield record(f"{base}:border={border}", kind, 1, 19, 14, "edges")
        yield record(base, kind, 3, 19, 14, "edges")
        yield record(f"{base}:sigma=0.8", kind, 1, 31, 23, "edges")


def edges_records():
    for kind in ("u8", "u16", "s16", "f32"):
        for window in ("sobel=ksize=3", "sobel=ksize=5", "sobel=ksize=7", "prewitt=ksize=3",
                       "scharr=ksize=3"):
            if not window.startswith("sobel"):
                window = window.replace("ksize=3", "border=reflect101")
            for output in ("dx", "dy", "magnitude:norm=l1", "magnitude:type=f32", "direction"):
                yield record(f"{window}:output={output}", kind, 1, 11, 9, "noise")
            yield record(f"{window}:output=magnitude", kind, 3, 9, 7, "edges")
        for chain in ("sobel=output=dx", "laplacian=neighbors=4", "laplacian=neighbors=8"):
            for border in ("reflect", "replicate", "wrap", "valid", "constant:border_value=37"):
                yield record(f"{chain}:border={border}", kind, 1, 9, 7, "noise")
            yield record(f"{chain}:scale=0.25:delta=128:type=u8", kind, 1, 9, 7, "edges")
            yield record(f"{chain}:type=same", kind, 3, 9, 7, "extremes")
    for chain in ("sobel=output=dx", "sobel=output=dy:ksize=5", "scharr=output=magnitude",
                  "sobel=output=direction", "laplacian=neighbors=4", "sobel=type=s16"):
        yield record(chain, "f32", 1, 13, 11, "nan")


def canny_hashes():
    """Lines of hashes.txt for canny=compat=opencv, by OpenCV itself."""
    import zlib

    import cv2
    for pattern in ("edges", "noise"):
        for k in (3, 5, 7):
            for norm in ("l1", "l2"):
                low, high = 90 * (1, 12, 160)[k // 2 - 1], 420 * (1, 12, 160)[k // 2 - 1]
                chain = f"canny=low={low}:high={high}:ksize={k}:norm={norm}:compat=opencv"
                a = picture("u8", 1, 173, 94, pattern)[:, :, 0].astype(np.uint8)
                out = cv2.Canny(a, low, high, apertureSize=k, L2gradient=norm == "l2")
                yield f"{zlib.crc32(out.tobytes()):08x} {chain}|u8|1|173|94|{pattern}|-|0|0"


def write(name, records):
    with open(os.path.join(HERE, name), "wb") as f:
        for r in records:
            f.write(r)


def gaussian_records():
    borders = ["reflect101", "reflect", "replicate", "wrap", "valid",
               "constant:border_value=37"]
    for kind in ("u8", "u16", "s16", "f32"):
        for sigma, k in (("0.6", "3"), ("1.5", "7x5"), ("2.5", "15"), ("0.1", "3"), ("20", "31")):
            yield record(f"gaussian=sigma={sigma}:ksize={k}", kind, 1, 17, 13, "noise")
        yield record("gaussian=sigma_x=3:sigma_y=0.7:ksize=11x5", kind, 3, 11, 9, "edges")
        yield record("gaussian=sigma=1.7:ksize=9", kind, 1, 13, 13, "impulse")
        yield record("gaussian=sigma=2:ksize=9x3", kind, 1, 12, 9, "extremes")
        for border in borders:
            yield record(f"gaussian=sigma=1.2:ksize=5:border={border}", kind, 1, 9, 7, "noise")
        for border in borders:
            if border != "valid":
                yield record(f"gaussian=sigma=4:ksize=21x17:border={border}", kind, 1, 5, 3,
                             "noise")
    yield record("gaussian=sigma=1.5:ksize=5", "f32", 1, 15, 11, "nan")
    for kind in ("u8", "u16", "s16", "f32"):
        yield record("gaussian=sigma=20:ksize=121", kind, 1, 17, 13, "noise")
        yield record("gaussian=sigma=20:ksize=121:border=constant:border_value=37", kind, 3, 9, 5,
                     "edges")
    yield record("gaussian=sigma=10:ksize=61:border=wrap", "u8", 1, 16, 11, "extremes")


def box_records():
    for kind in ("u8", "u16", "s16", "f32"):
        for k in ("1", "3", "4", "5", "7x2", "1x9", "16", "31", "40x21", "2x70"):
            yield record(f"box=ksize={k}", kind, 1, 17, 13, "noise")
        for pattern in ("edges", "extremes"):
            for k in ("3", "5x6", "22"):
                yield record(f"box=ksize={k}", kind, 3, 11, 9, pattern)
        for border in ("reflect", "replicate", "wrap", "valid", "constant:border_value=37"):
            yield record(f"box=ksize=4x5:border={border}", kind, 1, 9, 7, "noise")
        for x, y in ((0, 0), (5, 3), (1, 0)):
            yield record(f"box=ksize=6x4:anchor_x={x}:anchor_y={y}", kind, 1, 12, 9, "noise")
    for k in ("3", "8x5", "12"):
        yield record(f"box=ksize={k}", "f32", 1, 15, 11, "nan")


def products(*terms):
    """A kernel that is a sum of products of rows and columns, as text; exact with 4 decimals."""
    k = sum(np.outer(column, row) for row, column in terms)
    return ";".join(",".join(f"{v:.4f}".rstrip("0").rstrip(".") for v in row) for row in k)


def wide_kernels():
    """Those that go by columns and rows, and one of more than 1024 numbers."""
    x = np.arange(11) - 5
    bell, wider = np.round(np.exp(-x ** 2 / 4), 2), np.round(np.exp(-x ** 2 / 18), 2)
    wave, other = np.round(np.cos(0.9 * x), 2), np.round(np.sin(0.9 * x) + 0.01, 2)
    yield products((bell, bell), (-0.5 * wider, 0.24 * wider))
    yield products((wave[:9], wave), (other[:9], -other))
    yield "1,6,15,20,15,6,1x1,6,15,20,15,6,1"
    yield "-3,50,150,50,-3x2,190,7,190,-60"
    yield "1,2,0,-2,-1x1,4,6,4,1,2,3"
    yield ";".join(",".join(str((7 * i * i + 5 * j * j + 3 * i * j + i) % 9 + 1)
                            for i in range(33)) for j in range(33))


def convolve_records():
    uneven = "3,-1,4;1,-5,9;-2,6,5"
    decimals = "0.11,0.07,0.93,0.2;0.31,-0.4,0.05,0.01;0.6,0.02,0.3,0.1"
    for kind in ("u8", "u16", "s16", "f32"):
        for k in ("sharpen", "gauss5", "emboss", uneven, decimals, "1,2,1x1,3,4,1", "-0.5,1.5",
                  "0.1,0.25,0.4,0.2,0.05x0.3,0.1,0.2,0.4,0.1,0.35,0.05", "250,-3;7,120"):
            yield record(f"convolve=kernel={k}", kind, 1, 17, 13, "noise")
        yield record(f"convolve=kernel={uneven}:flip=on", kind, 3, 11, 9, "edges")
        yield record(f"convolve=kernel={decimals}:flip=on", kind, 1, 11, 9, "noise")
        yield record(f"convolve=kernel={uneven}:anchor_x=0:anchor_y=2", kind, 1, 11, 9, "noise")
        yield record("convolve=kernel=1,2;3,4:anchor_x=0:flip=on", kind, 1, 11, 9, "noise")
        yield record("convolve=kernel=emboss:divisor=3:bias=12", kind, 1, 11, 9, "noise")
        yield record("convolve=kernel=0.3,-0.3:bias=12.7", kind, 1, 11, 9, "extremes")
        for border in ("reflect", "replicate", "wrap", "valid", "constant:border_value=37"):
            yield record(f"convolve=kernel={uneven}:border={border}", kind, 1, 9, 7, "noise")
        for k in wide_kernels():
            yield record(f"convolve=kernel={k}", kind, 1, 11, 7, "edges")
    yield record("convolve=kernel=sharpen", "f32", 1, 15, 11, "nan")
    yield record(f"convolve=kernel={decimals}", "f32", 1, 15, 11, "nan")


def median_records():
    for kind in ("u8", "u16", "s16", "f32"):
        for k in ("3", "5", "7", "9", "15", "31", "7x3", "1x9", "5x11"):
            yield record(f"median=ksize={k}", kind, 1, 14, 11, "noise")
        for border in ("reflect", "replicate", "wrap", "valid", "constant:border_value=37"):
            yield record(f"median=ksize=5:border={border}", kind, 1, 9, 7, "noise")
        yield record("median=ksize=3", kind, 3, 9, 7, "edges")
        for p in ("0", "10", "25", "75", "100"):
            yield record(f"median=ksize=5:percentile={p}", kind, 1, 9, 8, "noise")
        yield record("median=ksize=11:percentile=30", kind, 1, 9, 8, "edges")
    for k in ("3", "5", "9"):
        yield record(f"median=ksize={k}", "f32", 1, 13, 11, "nan")


def bilateral_records():
    color = {"u8": "30", "u16": "8000", "s16": "8000", "f32": "0.1"}
    for kind, s in color.items():
        for space, k in (("1.5", "5"), ("3", "9"), ("2", "7x5")):
            yield record(f"bilateral=sigma_space={space}:sigma_color={s}:ksize={k}", kind, 1, 15,
                         11, "edges")
        base = f"bilateral=sigma_space=2:sigma_color={s}:ksize=5"
        yield record(base, kind, 1, 15, 11, "noise")
        for mode in ("joint", "separate"):
            yield record(f"{base}:color={mode}", kind, 3, 11, 9, "edges")
        yield record(f"{base}:compat=opencv", kind, 1, 11, 9, "edges")
        yield record(f"{base}:compat=opencv", kind, 3, 9, 9, "edges")
        for border in ("reflect", "replicate", "wrap", "valid", "constant:border_value=37"):
            yield record(f"{base}:border={border}", kind, 1, 9, 7, "edges")
        yield record(base, kind, 1, 11, 9, "noise", f"{kind},1,edges")
        yield record(base, kind, 3, 9, 9, "noise", f"{kind},3,edges")
    yield record("bilateral=sigma_space=2:sigma_color=0.1:ksize=5", "f32", 1, 13, 11, "nan")


def nlmeans_records():
    strength = {"u8": 30, "u16": 8000, "s16": 8000, "f32": 0.1}
    for kind, h in strength.items():
        base = f"nlmeans=h={h}:search=7:patch=3:sigma=0"
        for pattern in ("edges", "noise", "extremes"):
            yield record(base, kind, 1, 11, 9, pattern)
        for search, patch in (("9x5", "3x7"), ("3", "1"), ("1x5", "5"), ("21", "7")):
            yield record(f"nlmeans=h={h}:search={search}:patch={patch}:sigma=0", kind, 1, 9, 7,
                         "edges")
        for weak in (0.1, 3):
            yield record(f"nlmeans=h={h * weak}:search=7:patch=5:sigma=0", kind, 1, 11, 9, "edges")
        yield record(f"nlmeans=h={h / 2}:search=7:patch=3:sigma={h / 2}", kind, 1, 11, 9, "edges")
        for mode in ("joint", "luma", "separate"):
            yield record(f"{base}:color={mode}", kind, 3, 11, 9, "edges")
        for border in ("reflect", "replicate", "wrap", "valid", "constant:border_value=37"):
            yield record(f"{base}:border={border}", kind, 1, 11, 10, "edges")
    yield record("nlmeans=h=0.3:search=7:patch=3:sigma=0", "f32", 1, 13, 11, "nan")


def sharpen_records():
    for kind in ("u8", "u16", "s16", "f32"):
        for amount in ("1", "0.3", "-1", "2.7", "-0.5", "50"):
            for neighbors in (4, 8):
                yield record(f"sharpen=amount={amount}:neighbors={neighbors}", kind, 1, 17, 13,
                             "noise")
        yield record("sharpen=amount=1.5:neighbors=8", kind, 3, 11, 9, "edges")
        yield record("sharpen=amount=0.7:neighbors=4", kind, 3, 11, 9, "extremes")
        for border in ("reflect", "replicate", "wrap", "valid", "constant:border_value=37"):
            yield record(f"sharpen=amount=1.1:neighbors=8:border={border}", kind, 1, 9, 7, "noise")
    for neighbors in (4, 8):
        yield record(f"sharpen=amount=1:neighbors={neighbors}", "f32", 1, 15, 11, "nan")


def unsharp_records():
    some = {"u8": 3, "u16": 800, "s16": 800, "f32": 0.012}
    for kind, threshold in some.items():
        for sigma in ("0.4", "1.5", "4"):
            yield record(f"unsharp=sigma={sigma}:amount=1", kind, 1, 17, 13, "noise")
        yield record("unsharp=sigma=20:amount=1.5", kind, 1, 17, 13, "noise")
        for amount in ("0.3", "-1", "2.5"):
            yield record(f"unsharp=sigma=1.2:amount={amount}:threshold={threshold}", kind, 1, 12, 9,
                         "edges")
        yield record(f"unsharp=sigma=2:amount=1:threshold={threshold}", kind, 3, 11, 9, "edges")
        for border in ("reflect", "replicate", "wrap", "valid", "constant:border_value=37"):
            yield record(f"unsharp=sigma=0.9:amount=1:border={border}", kind, 1, 9, 8, "noise")
    yield record("unsharp=sigma=1:amount=1", "f32", 1, 15, 11, "nan")


def color_records():
    spaces = ("gray", "rgb", "ycbcr", "lab")
    for kind in ("u8", "u16", "f32"):
        for start in spaces:
            pattern = "lab" if kind == "f32" and start == "lab" else "noise"
            for to in spaces:
                channels = 1 if start == "gray" else 3
                yield record(f"color=from={start}:to={to}", kind, channels, 13, 11, pattern)
                for matrix in ("bt709", "bt2020"):
                    yield record(f"color=from={start}:to={to}:matrix={matrix}:range=limited", kind,
                                 channels, 9, 7, pattern)
        yield record("color=to=gray", kind, 3, 9, 7, "extremes")
        yield record("color=to=lab", kind, 3, 9, 7, "extremes")
        for to in spaces:
            yield record(f"color=to={to}", kind, 4, 9, 7, "edges", alpha="straight")
    for to in ("gray", "ycbcr", "lab"):
        yield record(f"color=to={to}", "f32", 3, 11, 9, "nan")
        yield record(f"color=from={to}:to=rgb", "f32", 1 if to == "gray" else 3, 11, 9, "nan")


def alpha_records():
    for kind in ("u8", "u16", "s16", "f32"):
        for pattern in ("noise", "edges", "extremes", "nan")[:4 if kind == "f32" else 3]:
            for channels in (2, 4):
                for have in ("straight", "premultiplied"):
                    for to in ("premultiplied", "straight", "none", "opaque"):
                        yield record(f"alpha=to={to}", kind, channels, 11, 9, pattern, alpha=have)
        yield record("alpha=to=opaque", kind, 3, 9, 7, "noise")
        yield record("alpha=to=none", kind, 3, 9, 7, "noise")


INTERPS = ("nearest", "linear", "cubic", "cubic:cubic_a=-0.75", "lanczos3")
BORDERS = ("reflect101", "reflect", "replicate", "wrap", "constant:border_value=37")


def affine_records():
    for kind in ("u8", "u16", "s16", "f32"):
        for n, interp in enumerate(INTERPS):
            for m in ("1,0,0.3,0,1,-0.45", "0.8,0.37,-1.1,-0.29,1.3,2.2", "-0.5,0.1,9,0,0.7,1.3"):
                yield record(f"affine=matrix={m}:interp={interp}:border={BORDERS[n]}", kind, 1, 17,
                             12, "noise")
            yield record(f"affine=matrix=1.7,-0.4,1,0.3,1.9,-3:size=23x19:interp={interp}", kind, 3,
                         11, 9, "edges")
            yield record(f"affine=matrix=0.9,0.2,1.3,-0.1,1.1,0.7:interp={interp}", kind, 1, 12, 9,
                         "extremes")
            yield record(f"affine=matrix=2.1,0.3,-7,0.2,2.3,-8:interp={interp}:border=reflect",
                         kind, 1, 4, 3, "noise")


        for m in ("0.5,0,0.2,0,0.5,0.3", "0.31,0.17,1,-0.12,0.42,2.2", "0.06,0,3,0.01,-0.9,9"):
            for border in BORDERS[::4]:
                yield record(f"affine=matrix={m}:interp=area:size=9x8:border={border}", kind, 1, 31,
                             23, "noise")
        yield record("affine=matrix=0.4,0.1,0,0,0.3,0:interp=area:size=7x6", kind, 3, 17, 12,
                     "edges")
    for interp in "linear", "cubic", "lanczos3":  # weights of 0 hold no NaN
        for channels, move in (1, "0.5,0,1,0"), (3, "0,0,1,-0.25"), (1, "0,0,1,3.5"):
            yield record(f"affine=matrix=1,0,{move}:interp={interp}", "f32", channels, 17, 12,
                         "nan")


def rotate_records():
    for kind in ("u8", "f32"):
        for interp in INTERPS:
            yield record(f"rotate=angle=33:size=fit:interp={interp}:border=constant", kind, 1, 9, 7,
                         "noise")
        for angle in ("90", "180", "-90", "360"):
            yield record(f"rotate=angle={angle}:size=fit:border=constant:border_value=99", kind, 1,
                         7, 4, "noise")


def perspective_records():
    for kind in ("u8", "u16", "s16", "f32"):
        for n, interp in enumerate(INTERPS):
            yield record(f"perspective=matrix=1.1,0.2,-1.3,-0.1,0.9,1.7,0.013,-0.009,1.1:interp="
                         f"{interp}:border={BORDERS[n]}", kind, 1, 17, 12, "noise")
            yield record("perspective=matrix=0.9,0.1,2.3,0.2,1.2,-1.7,0.004,0.01,1:"
                         f"interp={interp}",
                         kind, 3, 11, 9, "edges")


        tilt = "0.4,0.05,1.3,-0.03,0.5,0.7,0.0008,0.0015,1"
        yield record(f"perspective=matrix={tilt}:interp=area", kind, 1, 31, 23, "noise")
        yield record(f"perspective=matrix={tilt}:interp=area:size=70x9:border=constant", kind,
                     3, 31, 23, "edges")


def remap_records():
    for kind in ("u8", "u16", "s16", "f32"):
        for n, interp in enumerate(INTERPS):
            for channels in (1, 3):
                yield record(f"remap=interp={interp}:border={BORDERS[n]}", kind, channels, 17, 12,
                             "noise", "f32,2,map")
            yield record(f"remap=interp={interp}:border=constant:border_value=9", kind, 1, 17, 12,
                         "edges", "f32,2,map_nan")
    yield record("remap=interp=linear:border=constant", "f32", 1, 17, 12, "nan", "f32,2,map")


def resize_records():
    for kind in ("u8", "u16", "s16", "f32"):
        for interp in INTERPS + ("area",):
            for size in ("17x12", "34x30", "9x5", "20x3", "2x2", "1x1"):
                yield record(f"resize=size={size}:interp={interp}", kind, 1, 17, 12, "noise")
            yield record(f"resize=size=7x11:interp={interp}:antialias=0", kind, 3, 18, 9,
                         "extremes")
            yield record(f"resize=size=9x6:interp={interp}", kind, 3, 18, 12, "edges")
            yield record(f"resize=size=20x6:interp={interp}:antialias=0", kind, 1, 40, 12, "noise")


FILES = {"gaussian": gaussian_records, "box": box_records, "convolve": convolve_records,
         "median": median_records, "bilateral": bilateral_records, "nlmeans": nlmeans_records,
         "sobel": edges_records, "canny": canny_records, "sharpen": sharpen_records,
         "unsharp": unsharp_records, "color": color_records, "alpha": alpha_records,
         "affine": affine_records, "rotate": rotate_records, "perspective": perspective_records,
         "remap": remap_records,
         "resize": resize_records}

if __name__ == "__main__":
    if sys.argv[1:] == ["hashes"]:
        print(*canny_hashes(), sep="\n")
        sys.exit()
    for name in sys.argv[1:] or FILES:
        write(f"{name}.bin", FILES[name]())
