# SPDX-License-Identifier: Apache-2.0
"""Chains of filters as objects."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, NoReturn, overload

import numpy
from numpy.typing import NDArray

from . import _arrays, _core, _runtime


class Halo(NamedTuple):
    """Pixels of the image that a pixel of the result depends on, to each side."""
    left: int
    right: int
    top: int
    bottom: int


class Format(NamedTuple):
    """What the result for a given input is like."""
    shape: tuple[int, ...]
    dtype: numpy.dtype[Any]
    alpha_channel: _arrays.Alpha


class Preset(NamedTuple):
    """A chain with a name: what it stands for and what it is for."""
    chain: str
    about: str


class Pipeline:
    """Filters in a row, to be called with arrays.

    >>> clean = tamis.Pipeline("median=ksize=3,unsharp=amount=0.5")
    >>> result = clean(image)

    text is a chain as in `tamis run`, with presets such as "@portrait" (see tamis.presets());
    presets gives more of them, a chain for each name. text then says what they stand for. device
    and threads hold for all calls that do not say otherwise (see help(tamis)). Pipelines are
    immutable: they can be compared, hashed, pickled and used by any number of threads.
    """

    __slots__ = ("_text", "_device", "_threads")

    def __init__(self, text: str | Pipeline, *, device: str | None = None,
                 threads: int | None = None,
                 presets: Mapping[str, str] | None = None) -> None:
        if isinstance(text, Pipeline):
            text = text._text
        if not isinstance(text, str):
            raise TypeError("a chain is a text such as 'median,unsharp=amount=0.5', not %s"
                            % type(text).__name__)
        context = _runtime.context() if not presets else _core.Context(
            threads=1, device="cpu", presets=tuple(dict(presets).items()))
        object.__setattr__(self, "_text", _core.Chain(context, text).text)
        object.__setattr__(self, "_device", device)
        object.__setattr__(self, "_threads", threads)

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError("pipelines do not change: make another")

    @property
    def text(self) -> str:
        """The chain, without parameters that have their default."""
        return self._text

    @property
    def device(self) -> str | None:
        """The device it was made for, or None."""
        return self._device

    @property
    def threads(self) -> int | None:
        """The number of threads it was made for, or None."""
        return self._threads

    @property
    def steps(self) -> list[Pipeline]:
        """A pipeline for each filter."""
        chain = _core.Chain(_runtime.context(), self._text)
        return [Pipeline(text, device=self._device, threads=self._threads)
                for text in chain.steps()]

    @overload
    def __call__(self, image: numpy.ndarray[Any, Any], *, out: Any = None,
                 channel_axis: _arrays.Axis = "auto",
                 alpha_channel: _arrays.Alpha = None, guide: Any = None, device: str | None = None,
                 threads: int | None = None) -> NDArray[Any]: ...
    @overload
    def __call__(self, image: Any, *, out: Any = None,
                 channel_axis: _arrays.Axis = "auto",
                 alpha_channel: _arrays.Alpha = None, guide: Any = None, device: str | None = None,
                 threads: int | None = None) -> Any: ...

    def __call__(self, image, *, out=None, channel_axis="auto", alpha_channel=None, guide=None,
                 device=None, threads=None):
        return _arrays.run(self._text, image, out, channel_axis, alpha_channel, guide,
                           self._device if device is None else device,
                           self._threads if threads is None else threads)

    def resolve(self, image: Any, *, channel_axis: _arrays.Axis = "auto",
                alpha_channel: _arrays.Alpha = None, guide: Any = None) -> Pipeline:
        """The pipeline with everything chosen that is to be chosen from a picture, such as
        nlmeans=h=auto: from this one, or the first of a batch. Calls do that by themselves."""
        view = _arrays.host_view(image, channel_axis, alpha_channel)
        second = None if guide is None else _arrays.host_view(guide)
        return Pipeline(_arrays.resolved(self._text, view, second), device=self._device,
                        threads=self._threads)

    def _plan(self, shape, dtype, channel_axis, alpha_channel, guide):
        if dtype is None and not hasattr(shape, "dtype"):
            shape = numpy.asarray(shape)
        if _runtime.is_open(self._text):
            if dtype is not None:
                raise ValueError("%s: something is to be chosen from a picture: give one, not its "
                                 "shape, or see resolve()" % self._text)
            chosen = self.resolve(shape, channel_axis=channel_axis, alpha_channel=alpha_channel,
                                  guide=guide)
            return chosen._plan(shape, dtype, channel_axis, alpha_channel, guide)
        if dtype is None:  # an array, or what has a shape and a type
            shape, dtype = shape.shape, shape.dtype
        blank = numpy.broadcast_to(numpy.empty((), dtype), shape)  # no memory for its samples
        view = _core.View(blank, _arrays.axis_code(channel_axis), _arrays.alpha_code(alpha_channel))
        guide_key = None if guide is None else _arrays.host_view(guide).key
        return view, _runtime.plan(self._text, self._device, self._threads, view.key, guide_key)

    def explain(self, shape: Any, dtype: Any = None, *,
                channel_axis: _arrays.Axis = "auto",
                alpha_channel: _arrays.Alpha = None, guide: Any = None) -> str:
        """What would run for arrays of that shape and type, for people: explain(image) or
        explain((1080, 1920, 3), "uint8")."""
        return self._plan(shape, dtype, channel_axis, alpha_channel, guide)[1].explain()

    def format(self, shape: Any, dtype: Any = None, *,
               channel_axis: _arrays.Axis = "auto",
               alpha_channel: _arrays.Alpha = None, guide: Any = None) -> Format:
        """Shape, type and alpha channel of the result for such arrays."""
        view, plan = self._plan(shape, dtype, channel_axis, alpha_channel, guide)
        key = plan.key
        return Format(_arrays.result_shape(view, key)[0], _arrays.DTYPES[key[0]],
                      _arrays.ALPHA_NAMES[key[3]])

    @property
    def halo(self) -> Halo | None:
        """How far around a pixel the result looks, as Halo(left, right, top, bottom); None where it
        may look anywhere (warps, resizing, Canny). Of what depends on the sample type, the
        largest."""
        largest = None
        for dtype in _arrays.DTYPES:
            for shape in ((4096, 4096), (4096, 4096, 3)):
                try:
                    halo = self._plan(shape, dtype, "auto", None, None)[1].halo
                except ValueError:  # a type that a filter of the chain does not take
                    continue
                if halo is None:
                    return None
                largest = halo if largest is None else tuple(map(max, largest, halo))
        if largest is None:
            self._plan((4096, 4096), "float32", "auto", None, None)  # says why
        return Halo(*largest)

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        more = "".join(", %s=%r" % (n, v) for n, v in (("device", self._device),
                                                       ("threads", self._threads))
                       if v is not None)
        return "tamis.Pipeline(%r%s)" % (self._text, more)

    def _state(self):
        return self._text, self._device, self._threads

    def __eq__(self, other: object) -> bool:
        return self._state() == other._state() if isinstance(other, Pipeline) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._state())

    def __reduce__(self):
        return _make, (type(self), *self._state())


def _make(kind, text, device, threads):
    return kind(text, device=device, threads=threads)
