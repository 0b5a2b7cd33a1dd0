# SPDX-License-Identifier: Apache-2.0
"""Parts of Zarr arrays, read and written without the zarr package's own machinery; and what it is
left to."""
import gc
import os
import pickle
import shutil

import numpy
import pytest
import tamis
from conftest import picture, same

pytest.importorskip("dask.array")
zarr = pytest.importorskip("zarr")
import dask  # noqa: E402
import dask.array as da  # noqa: E402
import tamis.dask  # noqa: E402
from tamis import _pool, _zarr  # noqa: E402

KINDS = {
    "plain": {"compressors": None},
    "zstd": {},
    "gzip": {"compressors": zarr.codecs.GzipCodec(level=1)},
    "blosc": {"compressors": zarr.codecs.BloscCodec(cname="lz4", clevel=3)},
    "dots": {"chunk_key_encoding": {"name": "v2", "separator": "."}},
    "version 2": {"zarr_format": 2},
    "version 2, plain": {"zarr_format": 2, "compressors": None},
}


def create(path, like, chunks, **more):
    return zarr.create_array(str(path), shape=like.shape, chunks=chunks, dtype=like.dtype, **more)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32"])
def test_parts(tmp_path, kind, dtype):
    a = picture((75, 110), dtype)
    z = create(tmp_path / "a.zarr", a, (32, 40), **KINDS[kind])
    plain = pickle.loads(pickle.dumps(_zarr.plain(z)))
    z[...] = a
    for index in (numpy.s_[:, :], numpy.s_[31:33, 39:81], numpy.s_[64:75, 80:110],
                  numpy.s_[5:9, :3], numpy.s_[40:40, 2:9]):
        assert same(plain[index], a[index])
    other = create(tmp_path / "b.zarr", a, (32, 40), **KINDS[kind])
    plain = _zarr.plain(other)
    for index in (numpy.s_[:64, 40:], numpy.s_[64:, 40:80], numpy.s_[:, :40], numpy.s_[64:, 80:]):
        plain[index] = a[index]
    assert same(zarr.open_array(str(tmp_path / "b.zarr"))[...], a)
    plain[3:70, 39:41] = a[:67, :2]  # parts of chunks
    a[3:70, 39:41] = a[:67, :2].copy()
    assert same(other[...], a)
    assert not [f for _, _, files in os.walk(tmp_path) for f in files if "partial" in f]


def test_chunks_are_decoded_once(tmp_path, monkeypatch):
    a = picture((200, 300), "uint16")
    z = create(tmp_path / "a.zarr", a, (20, 30))
    z[...] = a
    decoded, whole = [], _zarr.Plain._decoded
    monkeypatch.setattr(_zarr.Plain, "_decoded", lambda *args: decoded.append(1) or whole(*args))
    got = tamis.dask.map("gaussian=sigma=3", z, chunks=(40, 60))
    assert same(got.compute(scheduler="sync"), tamis.gaussian(a, 3)) and len(decoded) == 100
    a[:20, :30] = 5
    z[:20, :30] = a[:20, :30]  # what is remembered of a file that is gone is not used
    assert same(got.compute(scheduler="sync"), tamis.gaussian(a, 3)) and len(decoded) == 101
    monkeypatch.setattr(_zarr, "RECENT_BYTES", 4 * 20 * 30 * 2)
    _zarr._recent.clear()
    _zarr.plain(z)[90:115, :]
    assert len(_zarr._recent) == 4


def test_axes_before_and_after(tmp_path):
    a = picture((3, 50, 60, 4), "uint8")
    z = create(tmp_path / "a.zarr", a, (2, 16, 32, 4))
    z[...] = a
    with dask.config.set(scheduler="threads"):
        got = tamis.dask.map("median", z, chunks=(32, 32))
        tamis.dask.store(got, create(tmp_path / "b.zarr", a, (1, 16, 16, 2)))
    assert same(zarr.open(str(tmp_path / "b.zarr"))[...], tamis.median(a))


def test_chunks_that_are_empty(tmp_path):
    a = numpy.full((20, 30), 7, "float32")
    z = create(tmp_path / "a.zarr", a, (10, 10), fill_value=7, compressors=None)
    plain = _zarr.plain(z)
    assert same(plain[5:15, :], a[5:15])
    a[15, 25] = 8
    a[0, 0] = numpy.nan
    plain[:, :] = a
    there = sorted(os.path.relpath(os.path.join(d, f), z.store.root)
                   for d, _, files in os.walk(z.store.root) for f in files)
    assert there == ["c/0/0", "c/1/2", "zarr.json"] and same(z[...], a)
    plain[:, :] = numpy.full((20, 30), 7, "float32")
    assert not os.path.exists(os.path.join(z.store.root, "c/0/0")) and (z[...] == 7).all()
    zeros = create(tmp_path / "b.zarr", a, (10, 10), compressors=None)
    _zarr.plain(zeros)[:, :] = numpy.full((20, 30), -0.0, "float32")
    assert numpy.signbit(zeros[...]).all()
    every = create(tmp_path / "c.zarr", a, (10, 10), config={"write_empty_chunks": True})
    _zarr.plain(every)[:, :] = numpy.zeros((20, 30), "float32")
    assert len(os.listdir(os.path.join(every.store.root, "c"))) == 2


def test_what_is_left_to_zarr(tmp_path):
    a = picture((40, 60), "uint16")
    others = {
        "sharded": {"shards": (20, 40)},
        "checksums": {"compressors": [zarr.codecs.ZstdCodec(), zarr.codecs.Crc32cCodec()]},
        "transposed": {"filters": [zarr.codecs.TransposeCodec(order=(1, 0))]},
        "big-endian": {"serializer": zarr.codecs.BytesCodec(endian="big")},
    }
    for name, more in others.items():
        z = create(tmp_path / name, a, (10, 20), **more)
        z[...] = a
        assert _zarr.plain(z) is None, name
        with dask.config.set(scheduler="threads"):
            out = create(tmp_path / (name + " out"), a, (10, 20), **more)
            tamis.dask.store(tamis.dask.map("box", z, chunks=(20, 40)), out)
        assert same(out[...], tamis.box(a)), name
    z = zarr.create_array({}, shape=a.shape, chunks=(10, 20), dtype=a.dtype)
    z[...] = a
    assert _zarr.plain(z) is None and _zarr.plain(a) is None
    wide = zarr.create_array(str(tmp_path / "wide"), shape=(9, 9), chunks=(5, 5), dtype="float64")
    assert _zarr.plain(wide) is None


def test_both_versions_in_a_folder(tmp_path):
    a = picture((40, 60), "uint16")
    two = create(tmp_path / "two", a, (10, 20), zarr_format=2)
    two[...] = a
    create(tmp_path / "three", a, (10, 20))
    os.replace(tmp_path / "three" / "zarr.json", tmp_path / "two" / "zarr.json")
    for version, want in ((2, a), (3, 0 * a)):
        z = zarr.open_array(str(tmp_path / "two"), mode="r", zarr_format=version)
        assert same(_zarr.plain(z)[:, :], want)


def test_files_that_are_damaged(tmp_path):
    a = picture((20, 20), "uint16")
    for name, more in (("plain", {"compressors": None}), ("zstd", {}), ("short", {})):
        z = create(tmp_path / name, a, (20, 20), **more)
        z[...] = a
        path = os.path.join(z.store.root, "c/0/0")
        if name == "short":  # of another array: less than a chunk
            small = create(tmp_path / "small", a[:4], (4, 20))
            small[...] = a[:4]
            os.replace(os.path.join(small.store.root, "c/0/0"), path)
        else:
            os.truncate(path, os.path.getsize(path) - 9)
        with pytest.raises(OSError, match="c/0/0"):
            _zarr.plain(z)[:, :]


def test_store(tmp_path):
    a = picture((100, 130), "uint16")
    want = tamis.median(a)
    lazy = tamis.dask.map("median", da.from_array(a, chunks=(50, 60)))
    out = create(tmp_path / "out.zarr", a, (50, 20))
    with dask.config.set(scheduler="threads"):
        tamis.dask.store(lazy, out)
        assert same(out[...], want)
        memory = numpy.empty_like(a)
        tamis.dask.store(lazy, memory)
        assert same(memory, want)
        later = tamis.dask.store(lazy, create(tmp_path / "later.zarr", a, (25, 30)), compute=False)
        assert not (tmp_path / "later.zarr" / "c").exists()
        dask.compute(later)
        assert same(zarr.open(str(tmp_path / "later.zarr"))[...], want)
    with pytest.raises(ValueError, match="two tasks"):
        tamis.dask.store(lazy, create(tmp_path / "b.zarr", a, (40, 60)))
    with pytest.raises(ValueError, match="two tasks"):
        tamis.dask.store(lazy, create(tmp_path / "c.zarr", a, (50, 20), shards=(100, 20)))
    with pytest.raises(ValueError, match="uint16 of shape"):
        tamis.dask.store(lazy, create(tmp_path / "d.zarr", a[:50], (50, 60)))
    with pytest.raises(ValueError, match="reading"):
        tamis.dask.store(lazy, zarr.open_array(str(tmp_path / "out.zarr"), mode="r"))


@pytest.mark.parametrize("more", [{}, {"shards": (40, 40)}])
def test_what_is_read_is_not_written(tmp_path, more):
    a = picture((40, 80), "uint16")
    z = create(tmp_path / "a.zarr", a, (20, 20), **more)
    z[...] = a
    again = zarr.open_array(str(tmp_path / "a.zarr"), mode="r+")
    for chain in ("median", "median,rotate=angle=5,box"):
        with pytest.raises(ValueError, match="is read and would be written"):
            tamis.dask.store(tamis.dask.map(chain, z, chunks=(40, 40)) + 1, again)
    assert same(z[...], a)
    memory = zarr.create_array({}, shape=a.shape, chunks=(20, 20), dtype=a.dtype)
    with pytest.raises(ValueError, match="would be written"):
        tamis.dask.store(tamis.dask.map("median", memory), memory)


def test_what_is_read_by_others_is_not_written(tmp_path):
    """Arrays that dask reads by itself, whose tasks take what lies around their chunk, too."""
    a = picture((40, 80), "uint16")
    z = create(tmp_path / "a.zarr", a, (20, 20))
    z[...] = a
    os.symlink(tmp_path / "a.zarr", tmp_path / "link.zarr")
    for lazy in (da.from_zarr(str(tmp_path / "a.zarr")), da.from_zarr(z), da.from_array(z),
                 da.from_array(z, inline_array=True), z):
        for name in ("a.zarr", "link.zarr"):
            again = zarr.open_array(str(tmp_path / name), mode="r+")
            with pytest.raises(ValueError, match="would be written"):
                tamis.dask.store(tamis.dask.map("median", lazy, chunks=(20, 20)), again)
    out = create(tmp_path / "b.zarr", a, (20, 20))
    with dask.config.set(scheduler="threads"):
        tamis.dask.store(tamis.dask.map("median", da.from_zarr(z)), out)
    assert same(z[...], a) and same(out[...], tamis.median(a))


def test_folders_that_are_gone(tmp_path):
    """What a worker that does not see the folder would take for an array without a chunk."""
    a = picture((40, 80), "uint16")
    plain = _zarr.plain(create(tmp_path / "a.zarr", a, (20, 20), compressors=None))
    assert not plain[:, :].any()
    shutil.rmtree(tmp_path / "a.zarr")
    with pytest.raises(FileNotFoundError, match="a.zarr"):
        plain[:, :]
    for what in (a, 0 * a):
        with pytest.raises(FileNotFoundError, match="a.zarr"):
            plain[:, :] = what
    assert not list(tmp_path.iterdir())


def test_memory_that_is_used_again():
    gc.collect()
    _pool._free.clear()
    first = _pool.empty((300, 400), "uint16")
    first[...] = 1
    where = first.ctypes.data
    part = first[10:20].T
    del first
    second = _pool.empty((300, 400), "uint16")
    second[...] = 2  # a part of the first is still used
    assert (part == 1).all() and second.ctypes.data != where
    del part
    third = _pool.empty((290, 350), "uint16")
    assert third.ctypes.data == where and third.shape == (290, 350) and third.dtype == "uint16"
    before = _pool.LIMIT
    try:
        _pool.LIMIT = second.nbytes
        del second, third
        assert sum(m.nbytes for m in _pool._free.values()) <= _pool.LIMIT
    finally:
        _pool.LIMIT = before
