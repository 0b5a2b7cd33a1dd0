# SPDX-License-Identifier: Apache-2.0
"""Definitions of the filters of single pixels, for make_golden.py.

A picture is an array [row, column, channel]; o["kind"] is its sample type."""
import numpy as np

FULL = {"u8": 255.0, "u16": 65535.0, "s16": 65535.0, "f32": 1.0}
LUMA = {"bt601": (0.299, 0.114), "bt709": (0.2126, 0.0722), "bt2020": (0.2627, 0.0593)}


def video(o):
    """(scale, offset) of luma and of chroma as they are stored."""
    kind, full = o["kind"], FULL[o["kind"]]
    unit = {"u8": 1, "u16": 256, "f32": 1 / 255}[kind]
    if o.get("range") == "limited":
        return (219 * unit, 16 * unit), (224 * unit, 128 * unit)
    return (full, 0), (full, 0.5 if kind == "f32" else (full + 1) / 2)


def xyz_matrix():
    """From the chromaticities of sRGB's primaries and the white of D65."""
    x, y = np.array([0.64, 0.30, 0.15]), np.array([0.33, 0.60, 0.06])
    primaries = np.stack([x / y, np.ones(3), (1 - x - y) / y])
    return primaries * np.linalg.solve(primaries, WHITE)


WHITE = np.array([0.95047, 1, 1.08883])


def lab_storage(o):
    """(scale, offset) of L and of a and b as they are stored."""
    kind, full = o["kind"], FULL[o["kind"]]
    if kind == "f32":
        return (1, 0), (1, 0)
    return (full / 100, 0), (full / 255, 128 * full / 255)


def stored(values, storage):
    (s0, o0), (s1, o1) = storage
    return values * np.array([s0, s1, s1]) + np.array([o0, o1, o1])


def unstored(values, storage):
    (s0, o0), (s1, o1) = storage
    return (values - np.array([o0, o1, o1])) / np.array([s0, s1, s1])


def lab_of_rgb(rgb):
    with np.errstate(invalid="ignore"):
        linear = np.where(rgb > 0.04045, ((rgb + 0.055) / 1.055) ** 2.4, rgb / 12.92)
        t = linear @ xyz_matrix().T / WHITE
        f = np.where(t > (6 / 29) ** 3, np.cbrt(t), t * (29 / 6) ** 2 / 3 + 4 / 29)
    x, y, z = f[..., 0], f[..., 1], f[..., 2]
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=-1)


def rgb_of_lab(lab):
    y = (lab[..., 0] + 16) / 116
    f = np.stack([y + lab[..., 1] / 500, y, y - lab[..., 2] / 200], axis=-1)
    t = np.where(f > 6 / 29, f ** 3, (f - 4 / 29) * 3 * (6 / 29) ** 2)
    linear = (t * WHITE) @ np.linalg.inv(xyz_matrix()).T
    with np.errstate(invalid="ignore"):
        return np.where(linear > 0.0031308, 1.055 * linear ** (1 / 2.4) - 0.055, linear * 12.92)


def color(a, o):
    """By way of R, G, B of 0 .. 1. Alpha stays; a NaN takes all colors of its pixel."""
    if o["alpha"] != "none":
        return np.concatenate([color(a[..., :-1], {**o, "alpha": "none"}), a[..., -1:]], axis=2)
    full, (kr, kb) = FULL[o["kind"]], LUMA[o.get("matrix", "bt601")]
    start = o.get("from", "gray" if a.shape[2] == 1 else "rgb")
    if start == o["to"]:
        return a
    if start == "lab":
        rgb = rgb_of_lab(unstored(a, lab_storage(o)))
    elif start == "ycbcr":
        y, cb, cr = np.moveaxis(unstored(a, video(o)), -1, 0)
        r, b = y + (2 - 2 * kr) * cr, y + (2 - 2 * kb) * cb
        rgb = np.stack([r, (y - kr * r - kb * b) / (1 - kr - kb), b], axis=-1)
    else:
        rgb = np.repeat(a / full, 3, axis=2) if start == "gray" else a / full
    rgb = np.where(np.isnan(a).any(axis=-1, keepdims=True), np.nan, rgb)
    luma = kr * rgb[..., 0] + (1 - kr - kb) * rgb[..., 1] + kb * rgb[..., 2]
    if o["to"] == "gray":
        return luma[..., None] * full
    if o["to"] == "lab":
        return stored(lab_of_rgb(rgb), lab_storage(o))
    if o["to"] == "ycbcr":
        chroma = (rgb[..., 2] - luma) / (2 - 2 * kb), (rgb[..., 0] - luma) / (2 - 2 * kr)
        return stored(np.stack([luma, *chroma], axis=-1), video(o))
    return rgb * full


def alpha(a, o):
    full, have = FULL[o["kind"]], o["alpha"]
    values, weight = (a, None) if have == "none" else (a[..., :-1], a[..., -1:])
    if o["to"] == "premultiplied" and have == "straight":
        values = values * weight / full
    if o["to"] == "straight" and have == "premultiplied":
        with np.errstate(divide="ignore", invalid="ignore"):
            values = np.where(weight > 0, values * full / weight, 0)
    if o["to"] == "none":
        return values
    if o["to"] == "opaque":
        weight = np.full(a.shape[:2] + (1,), 32767.0 if o["kind"] == "s16" else full)
    return np.concatenate([values, weight], axis=2)
