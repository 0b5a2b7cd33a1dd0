# SPDX-License-Identifier: Apache-2.0
"""Image filters, the same on every machine.

    import tamis
    smooth = tamis.gaussian(image, sigma=2)
    clean = tamis.Pipeline("median=ksize=3,unsharp=amount=0.5")
    result = clean(image)

There is one function for each filter (tamis.filters() lists them; help(tamis.median) explains one),
and Pipeline for several in a row. Both take

image
    Anything that is an array: height x width, or height x width x channels with at most 4 channels,
    of type uint8, uint16, int16, float16 or float32. Axes before these are a batch, whose pictures
    are filtered together: N x H x W x C. Strided, reversed and planar views are read where they
    are; only what cannot be described (such as every other column) is copied first. Arrays of CuPy,
    PyTorch and JAX in a GPU's memory are filtered there, and the result stays there, whatever
    device says. Arrays with samples that are masked are refused.
out
    An array for the result, which is then returned; it must not share memory with the image.
channel_axis
    Which axis the channels are; "auto" is the last one of three or more axes; None says that there
    are none, so that an array of three axes is a batch.
alpha_channel
    None: all channels are alike. "straight" or "premultiplied": the last one is alpha.
guide
    The second picture of filters that take one.
device
    "cpu", "cuda", "cuda:1", "cuda:all" or "auto"; by default what the environment's TAMIS_DEVICE
    says, else "cpu".
threads
    How many threads filter this; by default set_threads()'s, else one for each CPU. Results never
    depend on it.

Errors are ValueError, TypeError, MemoryError and OSError with the library's words; RuntimeError is
a device's. The interpreter's lock is free while filters run, and Ctrl-C stops them.
"""
from __future__ import annotations

from typing import Any

from . import _core, _filters
from ._files import Info, Meta, info, read, write
from ._filters import *  # noqa: F401,F403: the filters
from ._measure import Comparison, Noise, compare, estimate_noise, psnr, ssim
from ._pipeline import Format, Halo, Pipeline, Preset
from ._runtime import get_threads, set_threads
from ._runtime import context as _context
from ._filters import specs as _specs

__version__: str = _core.version


def filters() -> dict[str, str]:
    """The names of the filters, and what each does: a dict of texts."""
    return {spec["name"]: spec["brief"] for spec in _specs()}


def presets() -> dict[str, Preset]:
    """The presets that chains may name, such as Pipeline("@portrait"): what each stands for and
    what it is for."""
    return {name: Preset(chain, about) for name, chain, about, _ in _context().presets()}


def devices() -> list[dict[str, Any]]:
    """The GPUs that tamis can use: a list of dicts with name, index, compute_capability, memory
    and more. Where there are none, the empty list; why_no_devices() says the reason."""
    return _context().devices()


def why_no_devices() -> str:
    """Why devices() is empty, or an empty text."""
    context = _context()
    return "" if context.devices() else context.last_message()


__all__ = [
    "Comparison", "Format", "Halo", "Info", "Meta", "Noise", "Pipeline", "Preset", "compare",
    "devices", "estimate_noise", "filters", "get_threads", "info", "presets", "psnr", "read",
    "set_threads", "ssim", "why_no_devices", "write"]
__all__ += _filters.__all__  # as type checkers understand it
