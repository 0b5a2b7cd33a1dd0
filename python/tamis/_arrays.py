# SPDX-License-Identifier: Apache-2.0
"""Arrays in, arrays out."""
import operator
from typing import Literal

import numpy

from . import _core, _device, _runtime

# What callers say of channels, for type checkers.
Axis = int | None | Literal["auto"]
Alpha = Literal["straight", "premultiplied"] | None

DTYPES = tuple(numpy.dtype(t) for t in ("uint8", "uint16", "int16", "float16", "float32"))
TYPE_NAMES = ("u8", "u16", "s16", "f16", "f32")
ALPHA = {None: 0, "none": 0, "straight": 1, "premultiplied": 2}
ALPHA_NAMES = (None, "straight", "premultiplied")
AUTO = "auto"
_AUTO_CODE, _NONE_CODE, _MOST_AXES = -1000, -1001, 64


def axis_code(channel_axis):
    """channel_axis as View wants it."""
    if channel_axis is None:
        return _NONE_CODE
    if isinstance(channel_axis, str) and channel_axis == AUTO:
        return _AUTO_CODE
    try:
        axis = operator.index(channel_axis)
    except TypeError:
        raise TypeError("channel_axis=%r: it is the number of an axis, None, or 'auto'"
                        % (channel_axis,)) from None
    if not -_MOST_AXES <= axis < _MOST_AXES:
        raise ValueError("channel_axis=%d: arrays have at most %d axes" % (axis, _MOST_AXES))
    return axis


def alpha_code(alpha):
    """alpha_channel as View wants it."""
    try:
        return ALPHA[alpha]
    except (KeyError, TypeError):
        raise ValueError("alpha_channel=%r: it is None, 'straight' or 'premultiplied'"
                         % (alpha,)) from None


def refuse_mask(array):
    """Nothing here looks at masks; masked samples would be filtered as if they were good ones."""
    if isinstance(array, numpy.ma.MaskedArray) and numpy.ma.is_masked(array):
        raise ValueError("samples are masked, and filters know no masks: give array.filled(value), "
                         "or array.data")


def _view(array, axis, alpha, layout):
    try:
        return _core.View(array, axis, alpha, layout)
    except ValueError:
        if array.dtype.newbyteorder("=") in DTYPES:
            raise
        # NumPy describes no dates, and no types of others, to those who ask for the buffer.
        raise TypeError("samples are uint8, uint16, int16, float16 or float32; these are %s"
                        % array.dtype) from None


def host_view(array, channel_axis=AUTO, alpha=None, layout=-1):
    """A View of the array, or of a copy where its memory cannot be described."""
    if type(array) is not numpy.ndarray:
        array = numpy.asanyarray(array)
        refuse_mask(array)
    axis, alpha = axis_code(channel_axis), alpha_code(alpha)
    view = _view(array, axis, alpha, layout)
    if not view.plain:
        native = array.dtype.newbyteorder("=")
        if layout == 1 and view.channel_axis is not None:
            copy = numpy.empty_like(numpy.moveaxis(array, view.channel_axis, 0), native, order="C")
            copy = numpy.moveaxis(copy, 0, view.channel_axis)
        elif layout == 0 and view.channel_axis is not None:
            copy = numpy.empty_like(numpy.moveaxis(array, view.channel_axis, -1), native, order="C")
            copy = numpy.moveaxis(copy, -1, view.channel_axis)
        else:
            copy = numpy.empty(array.shape, native)
        copy[...] = array
        view = _core.View(copy, axis, alpha, layout)
    return view


def result_shape(view, key):
    """Shape of the result, and the axis code of its channels: the array's, with the sides and the
    channels of key. A single channel has an axis only where the array had one for it."""
    _, channels, _, _, w, h = key
    shape, axis = list(view.shape), view.channel_axis
    rows, columns = view.axes
    shape[columns] = w
    if rows is not None:
        shape[rows] = h
    elif h != 1:
        shape.insert(columns, h)
        axis = axis + 1 if axis is not None and axis >= columns else axis
    if axis is None:
        if channels > 1:
            shape.append(channels)
            axis = len(shape) - 1
    elif channels == 1 and shape[axis] != 1:
        del shape[axis]
        axis = None
    else:
        shape[axis] = channels
    return tuple(shape), _NONE_CODE if axis is None else axis


def memory_order(shape, axis, key):
    """Shape of memory for a result of that key, which the library can write, and the axis of its
    channels: moved to where the result has it, that is an array of the result's shape."""
    last = len(shape) - 1
    if axis < 0 or key[1] == 1 or (axis == last) == (key[2] == 0):
        return shape, axis
    if axis == last:
        return (key[1],) + shape[:last], 0
    return shape[:axis] + shape[axis + 1:] + (key[1],), last


def _empty(shape, axis, key):
    """An array for a result of that key, whose memory the library can write."""
    inside, channels = memory_order(shape, axis, key)
    array = numpy.empty(inside, DTYPES[key[0]])
    return array if channels == axis else numpy.moveaxis(array, channels, axis)


def _refuse_device(name, array):
    """For what goes with an image in host memory."""
    if type(array) is not numpy.ndarray and _device.is_on_device(array):
        raise ValueError("%s lies on a GPU and the image in host memory: bring both to one place"
                         % name)


def _check_out(out, shape, key):
    if not isinstance(out, numpy.ndarray):
        _refuse_device("out", out)
        raise TypeError("out is %s, not a NumPy array" % type(out).__name__)
    refuse_mask(out)
    if out.shape != shape or out.dtype != DTYPES[key[0]]:
        raise ValueError("out has shape %s and type %s, the result has %s and %s"
                         % (out.shape, out.dtype, shape, DTYPES[key[0]]))
    if not out.flags.writeable:
        raise ValueError("out is read-only")


def resolved(chain, view, guide_view=None):
    """The chain with everything chosen from the view's first picture."""
    return _core.Chain(_runtime.context(), chain).resolve(view, guide_view)


def _run_each(chain, image, out, view, guide, alpha, device, threads):
    """A batch whose pictures choose for themselves."""
    image = numpy.asarray(image)
    axis = view.channel_axis
    spatial = [a for a in view.axes if a is not None] + ([] if axis is None else [axis])
    lead = [i for i in range(image.ndim) if i not in spatial]
    pictures = numpy.moveaxis(image, lead, range(len(lead)))
    inner = None if axis is None else sorted(spatial).index(axis)
    results = [run(chain, pictures[at], None, inner, alpha, guide, device, threads)
               for at in numpy.ndindex(pictures.shape[:len(lead)])]
    found = numpy.stack(results).reshape(pictures.shape[:len(lead)] + results[0].shape)
    if results[0].ndim < len(spatial):  # without its axis of channels, those after it move up
        lead = [i - (i > axis) for i in lead]
    found = numpy.moveaxis(found, range(len(lead)), lead)
    if out is None:
        return found
    if not isinstance(out, numpy.ndarray) or out.shape != found.shape or out.dtype != found.dtype:
        raise ValueError("out: the result has shape %s and type %s" % (found.shape, found.dtype))
    out[...] = found
    return out


def run(chain, image, out, channel_axis, alpha, guide, device, threads):
    """Runs a chain (its text) on an array."""
    if type(image) is not numpy.ndarray and _device.is_on_device(image):
        return _device.run(chain, image, out, channel_axis, alpha, guide, threads)
    view = host_view(image, channel_axis, alpha)
    key = view.key
    guide_view = guide_key = None
    if guide is not None:
        _refuse_device("guide", guide)
        guide_view = host_view(guide)
        guide_key = guide_view.key
        if guide_view.count != 1:
            raise ValueError("guide has shape %s: it is one picture" % (guide_view.shape,))
    if _runtime.is_open(chain):
        chosen = resolved(chain, view, guide_view)
        plan = _runtime.plan(chosen, device, threads, key, guide_key)
        if view.count > 1 and plan.frames == 0:  # a sequence has one choice, others each their own
            return _run_each(chain, image, out, view, guide, alpha, device, threads)
    else:
        plan = _runtime.plan(chain, device, threads, key, guide_key)
    result_key = plan.key
    if key[1] == result_key[1] and key[4:] == result_key[4:]:
        shape, axis = view.shape, view.channel_axis
        axis = _NONE_CODE if axis is None else axis
    else:
        shape, axis = result_shape(view, result_key)
    if out is None:
        result = _empty(shape, axis, result_key)
        target = _core.View(result, axis, result_key[3], result_key[2], 1)
    else:
        _check_out(out, shape, result_key)
        result = out
        target = _core.View(out, axis, result_key[3], result_key[2], 1)
        if not target.plain:
            result = _empty(shape, axis, result_key)
            target = _core.View(result, axis, result_key[3], result_key[2], 1)
    plan.run(view, target, guide_view)
    if out is not None and result is not out:
        out[...] = result
    return result if out is None else out
