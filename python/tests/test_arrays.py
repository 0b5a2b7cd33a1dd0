# SPDX-License-Identifier: Apache-2.0
"""Any shape, stride and layout; out=; batches."""
import numpy
import pytest
import tamis
from conftest import DTYPES, picture, same

CHAIN = tamis.Pipeline("gaussian=sigma=1.2,unsharp")


def views(a):
    """The array's samples in other places: name, array."""
    wide = numpy.zeros((a.shape[0], a.shape[1] + 9) + a.shape[2:], a.dtype)
    wide[:, 4:-5] = a
    yield "a part", wide[:, 4:-5]
    yield "bottom up", a[::-1].copy()[::-1]
    yield "mirrored", a[:, ::-1].copy()[:, ::-1]
    yield "every other row", numpy.repeat(a, 2, axis=0)[::2]
    yield "every other column", numpy.repeat(a, 2, axis=1)[:, ::2]
    yield "transposed", numpy.asfortranarray(a)
    yield "other byte order", a.astype(a.dtype.newbyteorder(">"))
    odd = numpy.zeros(a.nbytes + 1, "uint8")[1:].view("uint8")
    shifted = odd.view(a.dtype).reshape(a.shape) if a.itemsize == 1 else \
        numpy.ndarray(a.shape, a.dtype, odd.data)
    shifted[...] = a
    yield "unaligned", shifted
    fixed = a.copy()
    fixed.flags.writeable = False
    yield "read-only", fixed
    if a.ndim == 3:
        yield "planar", numpy.moveaxis(numpy.moveaxis(a, -1, 0).copy(), 0, -1)
        yield "channels reversed", a[..., ::-1].copy()[..., ::-1]
        four = numpy.concatenate([a, a[..., :1]], axis=-1)
        yield "channels of more", four[..., :3]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(33, 47), (20, 31, 3)])
def test_views(shape, dtype):
    a = picture(shape, dtype)
    want = CHAIN(a)
    assert want.shape == a.shape and want.dtype == a.dtype and want.flags.c_contiguous
    for name, view in views(a):
        before = view.copy()
        assert numpy.array_equal(view, a)
        assert same(numpy.ascontiguousarray(CHAIN(view)), want), name
        assert numpy.array_equal(view, before)


@pytest.mark.parametrize("shape", [(33, 47), (20, 31, 3)])
def test_out(shape):
    a = picture(shape, "uint16")
    want = CHAIN(a)
    for name, out in views(numpy.zeros_like(a)):
        if not out.flags.writeable or out.dtype != a.dtype:
            continue
        assert CHAIN(a, out=out) is out
        assert numpy.array_equal(out, want), name


def test_out_keeps_what_is_around():
    a = picture((20, 30), "uint8")
    around = numpy.full((24, 36), 7, "uint8")
    CHAIN(a, out=around[2:-2, 3:-3])
    assert numpy.array_equal(around[2:-2, 3:-3], CHAIN(a))
    around[2:-2, 3:-3] = 7
    assert (around == 7).all()


def test_out_that_does_not_fit():
    a = picture((20, 30), "uint8")
    with pytest.raises(ValueError, match="out has shape"):
        tamis.median(a, out=numpy.empty((20, 31), "uint8"))
    with pytest.raises(ValueError, match="out has shape"):
        tamis.median(a, out=numpy.empty((20, 30), "uint16"))
    with pytest.raises(TypeError, match="not a NumPy array"):
        tamis.median(a, out=[1])
    with pytest.raises(ValueError, match="share memory"):
        tamis.median(a, out=a)
    fixed = numpy.empty_like(a)
    fixed.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        tamis.median(a, out=fixed)


def test_nothing_is_copied_without_need():
    from tamis import _core
    plain = ("a part", "bottom up", "every other row", "read-only", "unaligned", "planar")
    for shape in ((33, 47), (20, 31, 3)):
        for name, view in views(picture(shape, "float32")):
            assert _core.View(view).plain == (name in plain), (name, shape)


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -2])
def test_channel_axis(axis):
    a = picture((20, 31, 3), "float32")
    moved = numpy.ascontiguousarray(numpy.moveaxis(a, -1, axis))
    got = CHAIN(moved, channel_axis=axis)
    assert got.shape == moved.shape
    assert same(numpy.ascontiguousarray(numpy.moveaxis(got, axis, -1)), CHAIN(a))


def test_batches():
    a = picture((2, 3, 20, 31, 3), "uint8")
    got = CHAIN(a)
    assert got.shape == a.shape
    for i in numpy.ndindex(2, 3):
        assert numpy.array_equal(got[i], CHAIN(a[i]))
    stack = picture((5, 20, 31), "int16")
    got = CHAIN(stack, channel_axis=None)
    assert all(numpy.array_equal(g, CHAIN(s)) for g, s in zip(got, stack))
    assert numpy.array_equal(CHAIN(stack[::-2], channel_axis=None), got[::-2])
    turned = numpy.moveaxis(stack, 0, 1)  # rows of the pictures interleave
    assert numpy.array_equal(CHAIN(numpy.moveaxis(turned, 1, 0), channel_axis=None), got)


def test_batches_that_choose_for_themselves():
    a = picture((3, 4, 20, 31), "uint8")
    want = [tamis.canny(a[:, i], low="auto", high="auto", channel_axis=0) for i in range(4)]
    got = tamis.canny(a, low="auto", high="auto", channel_axis=0)
    assert same(got, numpy.stack(want))
    out = numpy.empty_like(got)
    middle = numpy.moveaxis(a, 0, 1)
    assert tamis.canny(middle, low="auto", high="auto", channel_axis=1, out=out) is out
    assert same(out, got)


def test_a_batch_of_more_pictures_than_memory_can_list():
    huge = numpy.broadcast_to(numpy.uint8(0), (1 << 58, 1, 1))
    with pytest.raises(MemoryError):
        tamis.estimate_noise(huge, channel_axis=None)


def test_frames_of_a_batch_see_each_other():
    rng = numpy.random.default_rng(2)
    frames = (100 + 10 * rng.standard_normal((5, 24, 24))).clip(0, 255).astype("uint8")
    alone = tamis.nlmeans(frames, "12", search=5, channel_axis=None)
    together = tamis.nlmeans(frames, "12", search=5, frames=2, channel_axis=None)
    assert together.shape == frames.shape
    assert together[2].std() < alone[2].std()
    assert not numpy.array_equal(together[0], alone[0])


def test_shapes_of_results():
    a = picture((20, 30, 3), "uint8")
    assert tamis.color(a).shape == (20, 30)
    assert tamis.color(a[..., :1], from_="gray", to="rgb").shape == (20, 30, 3)
    assert tamis.color(a[..., 0], to="rgb").shape == (20, 30, 3)
    assert tamis.median(a[..., :1]).shape == (20, 30, 1)
    assert tamis.resize(a, (15, 10)).shape == (10, 15, 3)
    assert tamis.resize(numpy.moveaxis(a, -1, 0), "15x10", channel_axis=0).shape == (3, 10, 15)
    assert tamis.sobel(a, "dx").dtype == numpy.int16
    assert tamis.box(a, 5, border="valid").shape == (16, 26, 3)
    assert tamis.median(a[0, :, 0]).shape == (30,)
    batch = picture((4, 20, 30, 3), "uint8")
    assert tamis.color(batch).shape == (4, 20, 30)


def test_alpha():
    a = picture((20, 30, 4), "uint8")
    alike = tamis.gaussian(a)
    weighted = tamis.gaussian(a, alpha_channel="straight")
    assert numpy.array_equal(alike[..., 3], weighted[..., 3])
    assert not numpy.array_equal(alike, weighted)
    assert tamis.alpha(a, to="none", alpha_channel="straight").shape == (20, 30, 3)
    with pytest.raises(ValueError, match="alpha_channel"):
        tamis.gaussian(a, alpha_channel="yes")


@pytest.mark.parametrize("dtype, words", [
    ("bool", "uint8"), ("float64", "float32"), ("int32", "uint16"), ("complex64", "real"),
    ("S3", "not numbers"), ("uint64", "float32"), ("datetime64[s]", "datetime64")])
def test_types_that_are_refused(dtype, words):
    with pytest.raises(TypeError, match=words):
        tamis.median(numpy.zeros((5, 5), dtype))


def test_shapes_that_are_refused():
    for shape, axis in (((), "auto"), ((0, 5), "auto"), ((5, 6, 7), "auto"), ((5, 6, 7), 2),
                        ((5, 6), 2), ((5, 6, 3), 3), ((5, 6, 3), -4)):
        with pytest.raises(ValueError):
            tamis.median(numpy.zeros(shape, "uint8"), channel_axis=axis)


def test_axes_that_are_none():
    a = numpy.zeros((5, 6, 3), "uint8")
    for axis in (-1000, -1001, 64, 1 << 70):
        with pytest.raises(ValueError, match="channel_axis=%d" % axis):
            tamis.median(a, channel_axis=axis)
    for axis in ("last", 1.0, numpy.array([0, 1])):
        with pytest.raises(TypeError, match="channel_axis="):
            tamis.median(a, channel_axis=axis)
    assert same(tamis.median(a, channel_axis=numpy.int64(-1)), tamis.median(a))


def test_masks_are_refused():
    a = picture((9, 8), "uint8")
    masked, open_ = numpy.ma.masked_array(a, a > 100), numpy.ma.masked_array(a)
    for call in (lambda: tamis.median(masked), lambda: tamis.compare(a, masked),
                 lambda: tamis.median(a, out=masked.copy()), lambda: tamis.estimate_noise(masked),
                 lambda: tamis.bilateral(a, guide=masked)):
        with pytest.raises(ValueError, match="masked"):
            call()
    assert same(tamis.median(open_), tamis.median(a))
    assert same(tamis.median(masked.filled(0)), tamis.median(a * (a <= 100)))


def test_other_arrays():
    a = picture((9, 8), "uint8")
    assert numpy.array_equal(tamis.median(memoryview(a)), tamis.median(a))

    class Holder:
        def __array__(self, dtype=None, copy=None):
            return a
    assert numpy.array_equal(tamis.median(Holder()), tamis.median(a))
