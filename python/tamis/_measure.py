# SPDX-License-Identifier: Apache-2.0
"""Measures of one picture and of two."""
from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy

from . import _arrays, _core, _runtime

_RANGES = (255.0, 65535.0, 65535.0, 1.0, 1.0)  # of the sample types, as in the library


class Comparison(NamedTuple):
    """What tamis.compare() tells."""
    identical: bool
    samples: int
    different: int
    unordered: int  # a NaN against a number
    max_abs: float
    place: tuple[int, int, int, int]  # of max_abs: (picture, row, column, channel)
    mae: float
    mse: float
    psnr: float  # dB; infinite for the same pictures
    ssim: float  # NaN where pictures are smaller than 11x11
    data_range: float


def compare(a: Any, b: Any, *, data_range: float | None = None,
            channel_axis: _arrays.Axis = "auto",
            ssim: bool = True) -> Comparison:
    """Measures how b differs from a; batches are measured as one.

    Sample types may differ: numbers are compared. data_range is that of PSNR and SSIM, by default
    that of a's type (255, 65535, or 1 for floats). SSIM is that of Wang 2004: an 11x11 Gaussian
    window of sigma 1.5, K1 = 0.01, K2 = 0.03, windows inside the picture, the mean over channels;
    ssim=False leaves it out, which is faster.
    """
    first, second = (_arrays.host_view(x, channel_axis) for x in (a, b))
    if first.shape != second.shape:
        raise ValueError("pictures of shapes %s and %s cannot be compared"
                         % (first.shape, second.shape))
    if data_range is None:
        data_range = _RANGES[first.key[0]]
    if not (data_range > 0 and math.isfinite(data_range)):
        raise ValueError("data_range=%r: it is a number above 0" % (data_range,))
    m = _core.metrics(_runtime.context(), first, second, float(data_range), bool(ssim))
    return Comparison(m["different"] == 0, m["samples"], m["different"], m["unordered"],
                      m["max_abs"], m["place"], m["mae"], m["mse"], m["psnr"], m["ssim"],
                      float(data_range))


def psnr(a: Any, b: Any, *, data_range: float | None = None,
         channel_axis: _arrays.Axis = "auto") -> float:
    """Peak signal-to-noise ratio in dB; infinite for the same pictures. See tamis.compare()."""
    return compare(a, b, data_range=data_range, channel_axis=channel_axis, ssim=False).psnr


def ssim(a: Any, b: Any, *, data_range: float | None = None,
         channel_axis: _arrays.Axis = "auto") -> float:
    """Structural similarity, 1 for the same pictures. See tamis.compare()."""
    return compare(a, b, data_range=data_range, channel_axis=channel_axis).ssim


class Noise(NamedTuple):
    """What tamis.estimate_noise() tells: numbers, or arrays of a number for each channel and each
    picture of a batch."""
    sigma: Any  # standard deviation of what is white and normal, in sample units
    slope: Any  # its variance at the level x is slope * x + offset
    offset: Any
    impulses: Any  # share of the samples that are "salt and pepper", 0 .. 1


def estimate_noise(image: Any, *, channel_axis: _arrays.Axis = "auto",
                   alpha_channel: _arrays.Alpha = None) -> Noise:
    """How much noise is in a picture, without a clean original.

    Numbers for a picture without channels; else arrays with one for each channel, 0 for alpha;
    batches have theirs in the same order. The method is in <tamis/estimate.h>.
    """
    view = _arrays.host_view(image, channel_axis, alpha_channel)
    numbers = numpy.array(_core.noise(_runtime.context(), view))
    spatial = {a for a in view.axes if a is not None}
    shape = [n for i, n in enumerate(view.shape) if i not in spatial and i != view.channel_axis]
    if view.channel_axis is not None:
        shape.append(view.key[1])
    columns = [numbers[..., i].reshape(shape) for i in range(4)]
    return Noise(*(columns if shape else map(float, columns)))
