# SPDX-License-Identifier: Apache-2.0
"""Files, what they carry, and measures."""
import os

import numpy
import pytest
import tamis
from conftest import DTYPES, picture, same


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(13, 17), (13, 17, 3), (13, 17, 4)])
def test_round_trip(dtype, shape, tmp_path):
    a = picture(shape, dtype)
    names = ["a.tif", "a.npy"] + (["a.png"] if dtype in ("uint8", "uint16") else [])
    for name in names:
        tamis.write(tmp_path / name, a)
        assert same(tamis.read(tmp_path / name), a), name
    tamis.write(tmp_path / "t.tif", numpy.moveaxis(a, -1, 0) if a.ndim == 3 else a, tile=16,
                channel_axis=0 if a.ndim == 3 else None)
    assert same(tamis.read(str(tmp_path / "t.tif")), a)


def test_numpy_reads_what_is_written(tmp_path):
    a = picture((13, 17, 3), "float32")
    tamis.write(tmp_path / "a.npy", a[::-1])
    assert same(numpy.load(tmp_path / "a.npy"), a[::-1].copy())


def test_pages(tmp_path):
    a = picture((4, 13, 17, 3), "uint16")
    tamis.write(tmp_path / "a.tif", a)
    assert tamis.info(tmp_path / "a.tif").pages == 4
    assert same(tamis.read(tmp_path / "a.tif", "all"), a)
    assert same(tamis.read(tmp_path / "a.tif", 2), a[2])
    with pytest.raises(ValueError, match="page"):
        tamis.read(tmp_path / "a.tif", 4)
    stack = a[..., 0]
    tamis.write(tmp_path / "b.tif", stack, channel_axis=None)
    assert same(tamis.read(tmp_path / "b.tif", "all"), stack.copy())
    planes = numpy.moveaxis(a, -1, 1)
    tamis.write(tmp_path / "c.tif", planes, channel_axis=1)
    assert same(tamis.read(tmp_path / "c.tif", "all"), a)


def test_meta(tmp_path):
    a = picture((13, 17, 4), "uint8")
    meta = tamis.Meta({"text:Comment": "Grüße".encode(), "tiff:33550": b"\0" * 24},
                      {"tiff:33550": (12, 3)}, (300, 300), alpha_channel="straight")
    tamis.write(tmp_path / "a.png", a, meta=meta)
    pixels, got = tamis.read(tmp_path / "a.png", meta=True)
    assert same(pixels, a) and got.alpha_channel == "straight"
    assert got.entries["text:Comment"].decode() == "Grüße"
    assert got.dpi == pytest.approx((300, 300), rel=1e-3)
    tamis.write(tmp_path / "a.tif", a, meta=meta)
    _, got = tamis.read(tmp_path / "a.tif", meta=True)
    assert got.entries["tiff:33550"] == b"\0" * 24 and got.tags["tiff:33550"] == (12, 3)
    assert "tiff:33550: 24 bytes" in repr(got)
    tamis.write(tmp_path / "b.tif", a, meta=got)
    assert tamis.read(tmp_path / "b.tif", meta=True)[1] == got


def test_info(tmp_path):
    tamis.write(tmp_path / "a.tif", picture((40, 50, 3), "int16"), tile=16)
    i = tamis.info(tmp_path / "a.tif")
    assert (i.format, i.shape, i.dtype, i.block) == ("tiff", (40, 50, 3), numpy.int16, (16, 16))


def test_errors(tmp_path):
    with pytest.raises(FileNotFoundError):
        tamis.read(tmp_path / "nothing.png")
    (tmp_path / "bad.png").write_bytes(b"no picture")
    with pytest.raises(OSError, match="bad.png"):
        tamis.read(tmp_path / "bad.png")
    a = picture((5, 5), "float32")
    with pytest.raises(ValueError, match="float|f32"):
        tamis.write(tmp_path / "a.png", a)
    with pytest.raises(OSError, match="no_folder"):
        tamis.write(tmp_path / "no_folder" / "a.tif", a)
    with pytest.raises(ValueError):
        tamis.write(tmp_path / "a.xyz", a)
    with pytest.raises(ValueError, match="quality"):
        tamis.write(tmp_path / "a.jpg", a, quality=101)
    tamis.write(tmp_path / "a.tif", a)
    with pytest.raises(OSError, match="a.tif"):
        tamis.write(tmp_path / "a.tif", a * 2, overwrite=False)
    assert same(tamis.read(tmp_path / "a.tif"), a)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.tif", "bad.png"]


def test_arguments_that_are_refused(tmp_path):
    a, path = picture((5, 6), "uint8"), tmp_path / "a.png"
    tamis.write(path, a)
    for call, error, words in (
            (lambda: tamis.read(path, 1 << 40), ValueError, "page"),
            (lambda: tamis.read(path, -1), ValueError, "page"),
            (lambda: tamis.info(path, "x"), TypeError, "page="),
            (lambda: tamis.read(path, max_pixels=-1), ValueError, "max_pixels"),
            (lambda: tamis.read(path, max_pixels=29), MemoryError, "limit"),
            (lambda: tamis.write(path, a, quality=1 << 40), ValueError, "quality"),
            (lambda: tamis.write(path, a, level="9"), TypeError, "level="),
            (lambda: tamis.write(path, a, meta={"icc": b""}), TypeError, "not tamis.Meta"),
            (lambda: tamis.write(path, a, meta=tamis.Meta({"text:a": 5})), TypeError, "bytes"),
            (lambda: tamis.compare(a, a, data_range=0), ValueError, "data_range"),
            (lambda: tamis.psnr(a, a, data_range=float("nan")), ValueError, "data_range")):
        with pytest.raises(error, match=words):
            call()
    assert same(tamis.read(path), a) and len(list(tmp_path.iterdir())) == 1


def test_names_that_are_no_text(tmp_path):
    name = os.fsencode(tmp_path) + b"/\xff.png"
    with pytest.raises(FileNotFoundError):
        tamis.read(os.fsdecode(name))
    with open(name, "wb") as f:
        f.write(b"no picture")
    with pytest.raises((OSError, ValueError), match=r"\\xff\.png"):
        tamis.read(os.fsdecode(name))


def test_compare():
    a = numpy.full((2, 20, 30, 3), 10, "uint8")
    b = a.astype("float32")
    c = tamis.compare(a, b)
    assert c.identical and c.psnr == float("inf") and c.ssim == pytest.approx(1)
    b[1, 4, 5, 2] = 13
    c = tamis.compare(a, b)
    assert (c.different, c.max_abs, c.place) == (1, 3, (1, 4, 5, 2))
    assert c.mse == pytest.approx(9 / a.size)
    assert tamis.psnr(a, b) == c.psnr == pytest.approx(10 * numpy.log10(255 ** 2 * a.size / 9))
    assert tamis.ssim(a, b) == c.ssim < 1
    assert tamis.psnr(b, b + 1) == pytest.approx(0)  # the range of floats is 1
    assert tamis.psnr(b, b + 1, data_range=100) == pytest.approx(40)
    with pytest.raises(ValueError, match="cannot be compared"):
        tamis.compare(a, a[:1])


def test_estimate_noise():
    rng = numpy.random.default_rng(3)
    a = numpy.full((3, 128, 128, 2), 120.0) + rng.standard_normal((3, 128, 128, 2)) * [4, 8]
    got = tamis.estimate_noise(a.astype("float32"))
    assert got.sigma.shape == got.impulses.shape == (3, 2)
    assert got.sigma == pytest.approx(numpy.array([[4, 8]] * 3), rel=0.12)
    one = tamis.estimate_noise(a[0, ..., 0].astype("float32"))
    assert one.sigma == got.sigma[0, 0] and isinstance(one.slope, float)
    with pytest.raises(TypeError, match="float32"):
        tamis.estimate_noise(a)
