# SPDX-License-Identifier: Apache-2.0
"""tamis.dask: the bits of the whole picture for any chunks; files; workers that are lost."""
import os
import signal
import time

import numpy
import pytest
import tamis
from conftest import picture, same

pytest.importorskip("dask.array")
import dask  # noqa: E402
import dask.array as da  # noqa: E402
import tamis.dask  # noqa: E402
from tamis import _dask_files  # noqa: E402

CHAINS = ["gaussian=sigma=3", "median=ksize=5,unsharp,box=ksize=4x6", "canny=sigma=1",
          "rotate=angle=33:size=fit:border=wrap",
          "median,affine=matrix=0.9,0.2,3,-0.1,1.1,4,gaussian",
          "resize=scale=1.7,box", "resize=size=31x40:interp=lanczos3", "sobel=output=dx",
          "gaussian=border=wrap:sigma=2", "box=ksize=9:border=valid", "nlmeans=search=7", ""]


@pytest.mark.parametrize("chain", CHAINS)
@pytest.mark.parametrize("chunks", [(100, 130), (7, 130), (41, 29), (9, 11)])
def test_chunks(chain, chunks):
    if chunks == (9, 11) and chain not in CHAINS[:2]:
        pytest.skip("many tasks")
    a = picture((100, 130), "uint16")
    with dask.config.set(scheduler="threads"):
        got = tamis.dask.map(chain, da.from_array(a, chunks=chunks))
        assert same(got.compute(), tamis.Pipeline(chain)(a))


def test_channels_alpha_and_batches():
    a = picture((2, 60, 70, 4), "uint8")
    with dask.config.set(scheduler="threads"):
        for chain in ("gaussian,rotate=angle=10", "color"):
            p = tamis.Pipeline(chain)
            lazy = da.from_array(a, chunks=(1, 25, 40, 2))
            got = tamis.dask.map(p, lazy, alpha_channel="straight")
            assert same(got.compute(), p(a, alpha_channel="straight"))
        planes = numpy.ascontiguousarray(numpy.moveaxis(a[0], -1, 0))
        got = tamis.dask.map("median", da.from_array(planes, chunks=(2, 25, 40)), channel_axis=0)
        assert same(got.compute(), tamis.median(a[0]))
        stack = picture((3, 40, 50), "float32")
        got = tamis.dask.map("median", da.from_array(stack, chunks=(2, 25, 40)), channel_axis=None)
        assert same(got.compute(), tamis.median(stack, channel_axis=None))


def test_choose_first():
    a = picture((60, 70), "uint8")
    with pytest.raises(ValueError, match="resolve"):
        tamis.dask.map("nlmeans=h=auto", da.from_array(a))
    with pytest.raises(ValueError, match="frames"):
        tamis.dask.map("median,nlmeans=frames=1", da.from_array(numpy.stack([a] * 3)),
                       channel_axis=None)


def test_threads_of_the_pipeline(tmp_path):
    a, seen = picture((60, 70), "uint8"), []
    for given, want in ((None, 1), (3, 3)):
        lazy = tamis.dask.map(tamis.Pipeline("median", threads=1), a, threads=given)
        specs = [task[1] for task in dict(lazy.dask).values() if isinstance(task, tuple)]
        assert specs and all(spec.threads == want for spec in specs)

    class Watched(tamis.Pipeline):
        def __call__(self, image, **more):
            seen.append(more["threads"])
            return super().__call__(image, **more)
    tamis.write(tmp_path / "a.png", a)
    with dask.config.set(scheduler="sync"):
        for given in (None, 3):
            done = tamis.dask.files(Watched("median", threads=1), [tmp_path / "a.png"],
                                    tmp_path / "out", threads=given)
            assert done[0].error is None
    assert seen == [1, 3]


def test_what_is_refused(tmp_path):
    a = picture((60, 70), "uint8")
    lazy = da.from_array(a, chunks=(20, 30))
    unknown, mask = lazy[lazy[:, 0] > 3], numpy.ma.masked_array(a, a > 100)
    for chunks in ((0, 40), (-1, 40)):
        with pytest.raises(ValueError, match="chunks="):
            tamis.dask.map("median", lazy, chunks=chunks)
    for chunks in (40, (40,), (40, 40, 40), (40.5, 40), "auto"):
        with pytest.raises(TypeError, match="chunks="):
            tamis.dask.map("median", lazy, chunks=chunks)
    for call, error, words in (
            (lambda: tamis.dask.map("median", unknown), ValueError, "compute_chunk_sizes"),
            (lambda: tamis.dask.write(tmp_path / "a.tif", unknown), ValueError, "unknown shape"),
            (lambda: tamis.dask.map("median", da.from_array(mask)), TypeError, "mask"),
            (lambda: tamis.dask.map("median", mask), TypeError, "mask"),
            (lambda: tamis.dask.map("median", [[1, 2]]), TypeError, "no array"),
            (lambda: tamis.dask.map(3, lazy), TypeError, "chain"),
            (lambda: tamis.dask.write(tmp_path / "a.tif", a), TypeError, "no dask array"),
            (lambda: tamis.dask.store(a, a), TypeError, "no dask array"),
            (lambda: tamis.dask.store(lazy, "a.zarr"), TypeError, "no array"),
            (lambda: tamis.dask.files("median", "a.png", tmp_path), TypeError, "one name"),
            (lambda: tamis.dask.files("median", ["a.png"], tmp_path, retries=-1), ValueError,
             "retries"),
            (lambda: tamis.dask.files("median", ["a.png"], "{name}.png"), ValueError, "{stem}")):
        with pytest.raises(error, match=words):
            call()
    assert not list(tmp_path.iterdir())


def test_tasks_read_their_part_only():
    class Watched:
        shape, dtype, chunks = (400, 400), numpy.dtype("uint8"), (100, 100)
        data, seen = picture(shape, "uint8"), []

        def __getitem__(self, index):
            part = self.data[index]
            self.seen.append(part.shape)
            return part

        def __dask_tokenize__(self):
            return "watched"
    w = Watched()
    got = tamis.dask.map("median=ksize=5,box=ksize=3", w, chunks=(100, 100))
    assert same(got.compute(scheduler="sync"), tamis.Pipeline("median=ksize=5,box")(w.data))
    assert len(w.seen) == 16 and max(w.seen) == (106, 106) and min(w.seen) == (103, 103)


def test_tiff(tmp_path):
    a = picture((150, 170, 3), "uint16")
    tamis.write(tmp_path / "in.tif", a, tile=32)
    source = tamis.dask.open(tmp_path / "in.tif")
    result = tamis.dask.map("gaussian=sigma=2", source, chunks=(64, 64))
    with dask.config.set(scheduler="threads"):
        tamis.dask.write(tmp_path / "out.tif", result, tile=32)
    assert same(tamis.read(tmp_path / "out.tif"), tamis.gaussian(a, 2))
    with pytest.raises(ValueError, match="whole"):
        tamis.dask.write(tmp_path / "out.png", result)
    assert sorted(os.listdir(tmp_path)) == ["in.tif", "out.tif"]


def test_parts_of_files(tmp_path):
    a = picture((50, 70, 3), "uint8")
    for name in ("a.tif", "a.png"):
        tamis.write(tmp_path / name, a)
        source = tamis.dask.open(tmp_path / name)
        for index in (numpy.s_[3:9], numpy.s_[-9:-3, -7:], numpy.s_[:, 5:5], numpy.s_[:, :, 1:],
                      numpy.s_[60:, 1:2, :2]):
            assert same(numpy.ascontiguousarray(source[index]),
                        numpy.ascontiguousarray(a[index])), (name, index)
        for index in (3, numpy.s_[::2], numpy.s_[:, ::-1], numpy.s_[:, :, ::2], numpy.s_[..., 0],
                      numpy.s_[:, :, :, :]):
            with pytest.raises(IndexError, match="slice"):
                source[index]
        assert same(da.from_array(source, chunks=(20, 20, 3)).compute(scheduler="sync"), a)


def test_zarr(tmp_path):
    zarr = pytest.importorskip("zarr")
    a = picture((150, 170), "uint16")
    z = zarr.create_array(str(tmp_path / "in.zarr"), shape=a.shape, chunks=(64, 64), dtype=a.dtype)
    z[...] = a
    for source in (z, da.from_zarr(str(tmp_path / "in.zarr"))):
        with dask.config.set(scheduler="threads"):
            got = tamis.dask.map("median=ksize=7", source, chunks=(50, 60))
            assert same(got.compute(), tamis.median(a, 7))


def test_files(tmp_path):
    inputs = []
    for i in range(3):
        inputs.append(tmp_path / ("%d.tif" % i))
        tamis.write(inputs[-1], picture((2, 20 + i, 30, 3), "uint8", i))
    (tmp_path / "bad.tif").write_bytes(b"II*\0broken")
    inputs += [tmp_path / "bad.tif", tmp_path / "nothing.tif"]
    done = tamis.dask.files("median", inputs, tmp_path / "out", retries=1)
    assert [d.error is None for d in done] == [True, True, True, False, False]
    assert "bad.tif" in done[3].error and "FileNotFound" in done[4].error
    for i in range(3):
        assert same(tamis.read(done[i].output, "all"),
                    tamis.median(picture((2, 20 + i, 30, 3), "uint8", i)))
    with pytest.raises(ValueError, match="replace the input"):
        tamis.dask.files("median", inputs[:1], tmp_path)
    (tmp_path / "link.tif").symlink_to(inputs[1])
    with pytest.raises(ValueError, match="replace the input"):
        tamis.dask.files("median", inputs[1:2], str(tmp_path / "link{ext}"))
    with pytest.raises(ValueError, match="one file"):
        tamis.dask.files("median", inputs, str(tmp_path / "same{ext}"))


def test_files_of_a_device_that_fails(tmp_path):
    paths = [tmp_path / ("%d.png" % i) for i in range(2)]
    for path in paths:
        tamis.write(path, picture((20, 30), "uint8"))
    calls = []

    class Failing(tamis.Pipeline):
        def __call__(self, image, **more):
            calls.append(image)
            raise RuntimeError("the device is gone")
    with dask.config.set(scheduler="sync"):
        done = tamis.dask.files(Failing("median"), paths, tmp_path / "out", retries=1)
    assert [d.error for d in done] == ["RuntimeError: the device is gone"] * 2 and len(calls) == 4


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed")
    with dask.config.set({"distributed.worker.daemon": False,
                          "distributed.admin.tick.limit": "60s"}):
        with distributed.LocalCluster(2, threads_per_worker=1, dashboard_address=None) as c:
            with distributed.Client(c) as client:
                yield client


def test_a_lost_worker_costs_its_blocks_only(cluster, tmp_path):
    zarr = pytest.importorskip("zarr")
    a = picture((1500, 1700), "uint16")
    for name in ("in.zarr", "out.zarr"):
        zarr.create_array(str(tmp_path / name), shape=a.shape, chunks=(128, 128), dtype=a.dtype)
    zarr.open(str(tmp_path / "in.zarr"))[...] = a
    chain = "median=ksize=9,gaussian=sigma=3"
    lazy = tamis.dask.map(chain, zarr.open(str(tmp_path / "in.zarr"), mode="r"), chunks=(128, 128))
    future = cluster.compute(tamis.dask.store(lazy, zarr.open(str(tmp_path / "out.zarr")),
                                              compute=False), retries=3)
    pids = list(cluster.run(os.getpid).values())
    os.kill(pids[0], signal.SIGKILL)
    future.result(timeout=100)
    assert same(zarr.open(str(tmp_path / "out.zarr"))[...], tamis.Pipeline(chain)(a))


def test_files_by_workers(cluster, tmp_path):
    inputs = [tmp_path / ("%d.png" % i) for i in range(4)]
    for i, path in enumerate(inputs):
        tamis.write(path, picture((30, 40), "uint8", i))
    done = tamis.dask.files(tamis.Pipeline("median"), inputs, str(tmp_path / "{stem}_out{ext}"))
    assert all(d.error is None for d in done)
    assert same(tamis.read(tmp_path / "2_out.png"), tamis.median(picture((30, 40), "uint8", 2)))


def test_a_task_that_is_lost_is_a_file_that_failed(cluster):
    good = cluster.submit(tamis.dask.FileResult, "a", "b", None)
    bad, gone = cluster.submit(int, "no number"), cluster.submit(time.sleep, 60)
    gone.cancel()
    good, bad, gone = (_dask_files._gathered(f, "a", "b") for f in (good, bad, gone))
    assert good == ("a", "b", None) and bad[:2] == gone[:2] == ("a", "b")
    assert "no number" in bad.error and "Cancelled" in gone.error
