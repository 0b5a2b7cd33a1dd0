# SPDX-License-Identifier: Apache-2.0
"""Arrays in a GPU's memory: CuPy, PyTorch, JAX, and what speaks DLPack or
__cuda_array_interface__."""
import functools

from . import _arrays, _core, _runtime

_CUDA, _CUDA_MANAGED = 2, 13  # DLPack's numbers
_LEGACY_STREAM = 1  # CUDA's handle of the default stream, whose number is 0


# ---- libraries: what each knows of its arrays

class _Any:
    """Arrays of which only the protocols are known: those with a stream of their own can be made
    here, and have moved()."""
    own_stream = False  # whether work is enqueued on a stream that the library tells

    @staticmethod
    def is_on_device(array):
        where = getattr(array, "__dlpack_device__", None)
        if where is not None:
            return where()[0] in (_CUDA, _CUDA_MANAGED)
        return hasattr(array, "__cuda_array_interface__")

    @staticmethod
    def index(array):
        """The number of its device."""
        where = getattr(array, "__dlpack_device__", None)
        if where is not None:
            return where()[1]
        return getattr(getattr(array, "device", None), "id", 0)

    @staticmethod
    def stream(array):
        """The handle of the stream that the array is in use on, or None: nobody says."""
        if hasattr(array, "__dlpack__"):
            return None  # it is told the stream, and sees to it that the samples are there
        handle = array.__cuda_array_interface__.get("stream")
        return handle if handle is None else handle or _LEGACY_STREAM

    @staticmethod
    def empty(array, shape, dtype):
        """An array on the same device."""
        name = type(array).__module__.partition(".")[0] or type(array).__name__
        raise TypeError("arrays of %s cannot be made here: give out=, an array on the device"
                        % name)

    @staticmethod
    def packed(array):
        """A copy without gaps, or None."""
        return None


class _Cupy(_Any):
    own_stream = True

    @staticmethod
    def is_on_device(array):
        return True

    @staticmethod
    def index(array):
        return array.device.id

    @staticmethod
    def stream(array):
        import cupy
        return cupy.cuda.get_current_stream(array.device.id).ptr or _LEGACY_STREAM

    @staticmethod
    def empty(array, shape, dtype):
        import cupy
        with array.device:
            return cupy.empty(shape, dtype)

    @staticmethod
    def packed(array):
        with array.device:
            return array.copy(order="C")

    @staticmethod
    def moved(array, source, target):
        import cupy
        return cupy.moveaxis(array, source, target)


class _Torch(_Any):
    own_stream = True

    @staticmethod
    def is_on_device(array):
        return array.is_cuda

    @staticmethod
    def index(array):
        return array.get_device()

    @staticmethod
    def stream(array):
        import torch
        return torch.cuda.current_stream(array.device).cuda_stream or _LEGACY_STREAM

    @staticmethod
    def empty(array, shape, dtype):
        import torch
        return torch.empty(shape, dtype=getattr(torch, dtype.name), device=array.device)

    @staticmethod
    def packed(array):
        return array.contiguous()

    @staticmethod
    def moved(array, source, target):
        return array.movedim(source, target)


_LIBRARIES = {"cupy": _Cupy, "torch": _Torch}


def _library(array):
    return _LIBRARIES.get(type(array).__module__.partition(".")[0], _Any)


def _is_jax(array):
    return type(array).__module__.partition(".")[0] in ("jax", "jaxlib")


def is_on_device(array):
    """Whether the array lies in the memory of a GPU."""
    return _library(array).is_on_device(array)


def _index(array):
    return _library(array).index(array)


# ---- views

def _common_stream(image, others):
    """The stream to work on: the image's, or else one that another array is in use on, or else the
    default stream, with which most libraries' others are in order."""
    found = _library(image).stream(image)
    for other in others:
        # Of CuPy and PyTorch, the image's library says where the work goes.
        said = None if other is None or hasattr(other, "__dlpack__") else _Any.stream(other)
        if said is not None and found is not None and said != found:
            raise ValueError("arrays that are in use on different streams: synchronize these, or "
                             "use one")
        found = said if found is None else found
    return _LEGACY_STREAM if found is None else found


def _described(array, stream, image):
    """What the array says of itself, its samples in order with the stream, which is that of the
    image's library where this has one."""
    library = _library(array)
    if not hasattr(array, "__dlpack__"):
        return array.__cuda_array_interface__
    if library is _Torch and array.requires_grad:
        array = array.detach()
    # With a library that enqueues on that very stream there is nothing to wait for.
    if library.own_stream and (library is _library(image) or library.stream(array) == stream):
        return array.__cuda_array_interface__
    return array.__dlpack__(stream=stream)


def _view(array, axis, alpha, layout, stream, image, writable=0):
    return _core.View(_described(array, stream, image), axis, alpha, layout, writable,
                      1 + _index(array))


def _check_place(name, array, image):
    """All of a run lie on one device."""
    if array is not None and not is_on_device(array):
        raise ValueError("%s lies in host memory and the image on a GPU: bring both to one place"
                         % name)
    if array is not None and _index(array) != _index(image):
        raise ValueError("%s lies on device %d and the image on device %d"
                         % (name, _index(array), _index(image)))


def _plain(array, name, axis, alpha, stream, image):
    """The array, or a copy where its memory cannot be described, and its View. A View of an
    interface does not keep the array: who works with it does."""
    view = _view(array, axis, alpha, -1, stream, image)
    if not view.plain:
        array = _library(array).packed(array)
        if array is None:
            raise ValueError("the strides of %s are neither those of pixels nor of planes side by "
                             "side: make it contiguous first" % name)
        view = _view(array, axis, alpha, -1, stream, image)
    return array, view


def _check_guide(view):
    if view is not None and view.count != 1:
        raise ValueError("guide has shape %s: it is one picture" % (view.shape,))


def _plan(chain, view, guide_view, threads):
    if _runtime.is_open(chain):
        raise ValueError("%s: something is to be chosen from the picture, which is on a GPU; "
                         "choose it first, from a NumPy array: Pipeline(...).resolve(picture)"
                         % chain)
    return _runtime.plan(chain, "cuda:%d" % (view.device - 1), threads, view.key,
                         guide_view and guide_view.key)


# ---- runs

def run(chain, image, out, channel_axis, alpha, guide, threads):
    """Runs a chain on an array in a device's memory, where the result stays, on the stream that
    its library uses now: the call returns when the work is enqueued."""
    _check_place("guide", guide, image)
    _check_place("out", out, image)
    axis, alpha = _arrays.axis_code(channel_axis), _arrays.alpha_code(alpha)
    if _is_jax(out):
        raise TypeError("arrays of JAX do not change: leave out= away")
    if out is None and _is_jax(image):
        return _run_jax(chain, image, axis, alpha, guide, threads)
    stream = _common_stream(image, (guide, out))
    image, view = _plain(image, "the image", axis, alpha, stream, image)
    guide_view = None
    if guide is not None:
        guide, guide_view = _plain(guide, "the guide", _arrays.axis_code("auto"), 0, stream,
                                   image)
    _check_guide(guide_view)
    plan = _plan(chain, view, guide_view, threads)
    key = plan.key
    shape, axis = _arrays.result_shape(view, key)
    inside, channels = _arrays.memory_order(shape, axis, key) if out is None else (shape, axis)
    dtype, result = _arrays.DTYPES[key[0]], out
    if out is None:
        result = _library(image).empty(image, inside, dtype)
    target = _view(result, channels, key[3], key[2], stream, image, 1)
    if tuple(result.shape) != inside or target.key != key:
        raise ValueError("out has shape %s, and the result shape %s of %s"
                         % (tuple(result.shape), shape, dtype))
    if not target.plain:
        raise ValueError("the strides of out are neither those of pixels nor of planes side by "
                         "side, as the image's are")
    plan.run(view, target, guide_view, None, None, None, stream)
    return result if channels == axis else _library(image).moved(result, channels, axis)


def _jax_view(array, axis, alpha):
    """A View of an array of JAX whose samples are there."""
    if not _is_jax(array) or len(array.devices()) != 1:
        raise ValueError("the image and the guide are arrays of JAX, each on one device")
    array.block_until_ready()
    view = _core.View(array.__dlpack__(), axis, alpha, -1, 0, 1 + _index(array))
    if not view.plain:
        raise ValueError("an array of JAX in an unusual layout: make a copy of it first")
    return view


@functools.lru_cache(maxsize=256)
def _jax_maker(shape, dtype, device):
    """A function that makes new arrays on the device, compiled so that nothing is copied there."""
    import jax
    return jax.jit(lambda: jax.numpy.empty(shape, dtype),
                   out_shardings=jax.sharding.SingleDeviceSharding(device))


def _run_jax(chain, image, axis, alpha, guide, threads):
    """JAX does not say what stream it works on: the call returns when the result is there. It is
    written into a new array that nobody else has seen yet."""
    import jax
    view = _jax_view(image, axis, alpha)
    guide_view = None if guide is None else _jax_view(guide, _arrays.axis_code("auto"), 0)
    _check_guide(guide_view)
    plan = _plan(chain, view, guide_view, threads)
    key = plan.key
    shape, axis = _arrays.result_shape(view, key)
    inside, channels = _arrays.memory_order(shape, axis, key)
    dtype = _arrays.DTYPES[key[0]]
    result = _jax_maker(inside, dtype, next(iter(image.devices())))().block_until_ready()
    said = {"shape": inside, "typestr": dtype.str, "data": (result.unsafe_buffer_pointer(), False)}
    target = _core.View(said, channels, key[3], key[2], 1, view.device)
    plan.run(view, target, guide_view)
    return result if channels == axis else jax.numpy.moveaxis(result, channels, axis)
