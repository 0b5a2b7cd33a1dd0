# SPDX-License-Identifier: Apache-2.0
"""Arrays in a GPU's memory: CuPy, PyTorch, and what speaks DLPack or __cuda_array_interface__."""
from . import _arrays, _core, _runtime

_CUDA = 2  # DLPack's number
_LEGACY_STREAM = 1  # CUDA's handle of the default stream, whose number is 0


def is_on_device(array):
    """Whether the array lies in the memory of a GPU."""
    where = getattr(array, "__dlpack_device__", None)
    if where is not None:
        return where()[0] == _CUDA
    return hasattr(array, "__cuda_array_interface__")


def _index(array):
    where = getattr(array, "__dlpack_device__", None)
    return where()[1] if where is not None else getattr(getattr(array, "device", None), "id", 0)


def _module(array):
    return type(array).__module__.partition(".")[0]


def _stream(array):
    """The handle of the stream that the array's library works on now, or None: it says none."""
    name = _module(array)
    if name == "cupy":
        import cupy
        handle = cupy.cuda.get_current_stream(_index(array)).ptr
    elif name == "torch":
        import torch
        handle = torch.cuda.current_stream(array.device).cuda_stream
    elif hasattr(array, "__dlpack__"):
        return None  # it is told the stream, and sees to it that the samples are there
    else:
        handle = array.__cuda_array_interface__.get("stream")
        if handle is None:
            return None
    return handle or _LEGACY_STREAM


def _common_stream(image, others):
    """The stream to work on: the image's, or else one that another array is in use on, or else the
    default stream, with which most libraries' others are in order."""
    found = _stream(image)
    for other in others:
        # Of CuPy and PyTorch, the image's library says where the work goes.
        said = None if other is None or hasattr(other, "__dlpack__") else _stream(other)
        if said is not None and found is not None and said != found:
            raise ValueError("arrays that are in use on different streams: synchronize these, or "
                             "use one")
        found = said if found is None else found
    return _LEGACY_STREAM if found is None else found


def _view(array, axis, alpha, layout, stream, writable=0):
    index = _index(array)
    if hasattr(array, "__dlpack__"):
        array = array.detach() if _module(array) == "torch" else array
        said = array.__dlpack__(stream=stream)
    else:
        said = array.__cuda_array_interface__
    return _core.View(said, axis, alpha, layout, writable, 1 + index)


def _empty(array, shape, dtype):
    """An array of the same library on the same device."""
    name = _module(array)
    if name == "cupy":
        import cupy
        with array.device:
            return cupy.empty(shape, dtype)
    if name == "torch":
        import torch
        return torch.empty(shape, dtype=getattr(torch, dtype.name), device=array.device)
    raise TypeError("arrays of %s cannot be made here: give out=, an array on the device"
                    % (name or type(array).__name__))


def run(chain, image, out, channel_axis, alpha, guide, threads):
    """Runs a chain on an array in a device's memory, where the result stays, on the stream that
    its library uses now: the call returns when the work is enqueued."""
    stream = _common_stream(image, (guide, out))
    axis, alpha = _arrays.axis_code(channel_axis), _arrays.alpha_code(alpha)
    view = _view(image, axis, alpha, -1, stream)
    if not view.plain:
        raise ValueError("the array's strides are neither those of pixels nor of planes side by "
                         "side: make it contiguous first")
    guide_view = None
    if guide is not None:
        guide_view = _view(guide, _arrays.axis_code("auto"), 0, -1, stream)
        if guide_view.count != 1:
            raise ValueError("guide has shape %s: it is one picture" % (guide_view.shape,))
        if not guide_view.plain:
            raise ValueError("the guide's strides are neither those of pixels nor of planes side "
                             "by side: make it contiguous first")
    plan = _runtime.plan(chain, "cuda:%d" % (view.device - 1), threads, view.key,
                         guide_view and guide_view.key)
    key = plan.key
    shape, axis = _arrays.result_shape(view, key)
    if out is None:
        out = _empty(image, shape, _arrays.DTYPES[key[0]])
    target = _view(out, axis, key[3], key[2], stream, 1)
    if tuple(out.shape) != shape or target.key != key or not target.plain:
        raise ValueError("out has shape %s, and the result shape %s of %s, contiguous as the image"
                         % (tuple(out.shape), shape, _arrays.DTYPES[key[0]]))
    plan.run(view, target, guide_view, None, None, None, stream)
    return out
