# SPDX-License-Identifier: Apache-2.0
"""Arrays of CuPy, PyTorch and JAX on a real GPU: they stay there, on their library's stream, with
the bits that NumPy arrays get. Needs a GPU and one of these libraries; skipped elsewhere, with a
sentence. With its figures:

    python3 python/tests/test_gpu.py
"""
import json
import os
import subprocess
import sys
import threading
import time

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # leave memory to the others

import numpy  # noqa: E402
import pytest  # noqa: E402
import tamis  # noqa: E402
from conftest import DTYPES, picture, same  # noqa: E402

pytestmark = pytest.mark.skipif(not tamis.devices(), reason="no GPU: " + tamis.why_no_devices())

SLOW = 200_000_000  # cycles: some 0.1 s
CHAINS = ["gaussian=sigma=3,median=ksize=5", "canny", "rotate=angle=10,box", "nlmeans=search=7",
          "sobel=output=dx", "bilateral"]


class Cupy:
    name = "cupy"

    def __init__(self):
        self.cupy = pytest.importorskip("cupy")
        self.kind = self.cupy.ndarray
        code = """extern "C" __global__ void spin(long long cycles)
                  { long long start = clock64(); while (clock64() - start < cycles) {} }"""
        self.spin = self.cupy.RawKernel(code, "spin")

    def there(self, array):
        return self.cupy.asarray(array)

    def here(self, array):  # waits for the stream in use
        return self.cupy.asnumpy(array)

    def stream(self):
        return self.cupy.cuda.Stream(non_blocking=True)

    def on(self, stream):
        return stream

    def wait(self):
        self.cupy.cuda.get_current_stream().synchronize()

    def is_done(self, stream):
        return stream.done

    def slow(self):
        self.spin((1,), (1,), (SLOW,))

    def set(self, array, value):
        array[...] = value

    def pointer(self, array):
        return array.data.ptr

    def add(self, a, out):
        self.cupy.add(a, a, out=out)


class Torch:
    name = "torch"

    def __init__(self):
        self.torch = pytest.importorskip("torch")
        if not self.torch.cuda.is_available():
            pytest.skip("this PyTorch sees no GPU")
        self.kind = self.torch.Tensor

    def there(self, array):
        return self.torch.from_numpy(numpy.ascontiguousarray(array)).cuda()

    def here(self, array):
        return array.cpu().numpy()

    def stream(self):
        return self.torch.cuda.Stream()

    def on(self, stream):
        return self.torch.cuda.stream(stream)

    def wait(self):
        self.torch.cuda.current_stream().synchronize()

    def is_done(self, stream):
        return stream.query()

    def slow(self):
        self.torch.cuda._sleep(SLOW)

    def set(self, array, value):
        array.copy_(value) if hasattr(value, "shape") else array.fill_(value)

    def pointer(self, array):
        return array.data_ptr()

    def add(self, a, out):
        self.torch.add(a, a, out=out)


class Jax:
    name = "jax"

    def __init__(self):
        self.jax = pytest.importorskip("jax")
        if self.jax.default_backend() not in ("gpu", "cuda"):
            pytest.skip("this JAX sees no GPU")
        self.kind = self.jax.Array

    def there(self, array):
        return self.jax.device_put(array)

    def here(self, array):
        return numpy.asarray(array)

    def wait(self):
        pass  # calls return when the result is there

    def pointer(self, array):
        return array.unsafe_buffer_pointer()


@pytest.fixture(scope="module", params=[Cupy, Torch, Jax], ids=lambda kind: kind.name)
def lib(request):
    """Each of the libraries."""
    return request.param()


@pytest.fixture(scope="module", params=[Cupy, Torch], ids=lambda kind: kind.name)
def streams(request):
    """Those that have streams, and arrays that can be written."""
    return request.param()


def memory_type(pointer):
    """What CUDA says of a pointer: 2 is a device's memory; None where nobody can be asked."""
    try:
        import cupy
    except ImportError:
        return None
    return getattr(cupy.cuda.runtime.pointerGetAttributes(pointer), "type", None)


def guide_for(name, shape):
    if name != "remap":
        return None
    y, x = numpy.mgrid[0:shape[0], 0:shape[1]].astype("float32")
    return numpy.ascontiguousarray(numpy.stack([x + 0.3 * y, 0.9 * y - 1], axis=-1))


def close(a, b):
    """Within what kernels may differ: a level or so, or in floats 1e-3 of the range, nearly
    everywhere; decisions (ranks, edges) may fall otherwise in a few places."""
    far = numpy.abs(a.astype("float64") - b.astype("float64"))
    limit = 1e-3 if a.dtype.kind == "f" else 2e-4 * numpy.iinfo(a.dtype).max + 1
    return a.shape == b.shape and a.dtype == b.dtype and (far > limit).mean() < 1e-3


def filters():
    """Filters that choose nothing from the picture."""
    from tamis import _runtime
    return [n for n in sorted(tamis.filters()) if not _runtime.is_open(n)]


@pytest.mark.parametrize("name", filters())
def test_same_bits(lib, name):
    """As a NumPy array on the GPU, for every filter and type; and nearly as on the CPU."""
    function, tried = getattr(tamis, name), 0
    for dtype in DTYPES:
        for shape in ((61, 83), (40, 57, 3), (2, 33, 45, 4)):
            a = picture(shape, dtype)
            guide = guide_for(name, shape[-3:] if len(shape) > 2 else shape)
            try:
                want = function(a, guide=guide, device="cuda")
            except ValueError:  # a type that the filter does not take
                with pytest.raises(ValueError):
                    function(lib.there(a), guide=None if guide is None else lib.there(guide))
                continue
            got = function(lib.there(a), guide=None if guide is None else lib.there(guide))
            assert isinstance(got, lib.kind) and memory_type(lib.pointer(got)) in (2, None)
            assert same(lib.here(got), want), (dtype, shape)
            assert close(want, function(a, guide=guide, device="cpu")), (dtype, shape)
            tried += 1
    assert tried


def test_where_results_are(lib):
    a = picture((130, 170, 3), "uint8")
    x = lib.there(a)
    for chain in CHAINS:
        r = tamis.Pipeline(chain)(x)
        assert isinstance(r, lib.kind) and memory_type(lib.pointer(r)) in (2, None)
        if lib.name != "jax":
            assert r.device == x.device
        else:
            assert r.devices() == x.devices()
        assert same(lib.here(r), tamis.Pipeline(chain)(a, device="cuda")), chain
    assert same(lib.here(x), a)


def test_out(streams):
    a = picture((300, 400), "float32")
    x, y = streams.there(a), streams.there(numpy.zeros_like(a))
    before = streams.pointer(y)
    assert tamis.gaussian(x, 3, out=y) is y and streams.pointer(y) == before
    assert same(streams.here(y), tamis.gaussian(a, 3, device="cuda"))
    whole = streams.there(numpy.zeros((310, 420), "float32"))  # a part of a larger array
    tamis.gaussian(x, 3, out=whole[5:305, 10:410])
    got = streams.here(whole)
    assert same(numpy.ascontiguousarray(got[5:305, 10:410]), streams.here(y))
    got[5:305, 10:410] = 0
    assert not got.any()
    for bad, words in ((streams.there(a[:-1]), "shape"), (numpy.zeros_like(a), "host memory")):
        with pytest.raises(ValueError, match=words):
            tamis.gaussian(x, 3, out=bad)


def test_jax_arrays_do_not_change():
    jax = Jax()
    x = jax.there(picture((50, 60), "uint8"))
    with pytest.raises(TypeError, match="out="):
        tamis.median(x, out=jax.there(picture((50, 60), "uint8")))


def test_strides(lib):
    a = picture((120, 90, 3), "uint16")
    x = lib.there(a)

    def turned(v):
        return v.transpose(2, 0, 1) if lib.name != "torch" or isinstance(v, numpy.ndarray) else (
            v.permute(2, 0, 1))
    views = [(lambda v: v[10:90, 20:70], "auto"), (lambda v: v[:, ::2], "auto"),
             (lambda v: v[..., 1], "auto"), (turned, 0), (lambda v: turned(v)[:, :, ::3], None)]
    if lib.name != "torch":  # which has no negative strides
        views += [(lambda v: v[::-1], "auto"), (lambda v: v[:, ::-1], "auto")]
    for view, axis in views:
        want = tamis.median(view(a), channel_axis=axis, device="cuda")
        got = tamis.median(view(x), channel_axis=axis)
        assert same(lib.here(got), numpy.ascontiguousarray(want)), (want.shape, axis)


def test_order_on_a_stream(streams):
    """Everything on one stream that waits for nothing else, the host included: a slow kernel, then
    the picture, then the filter, then something else in the picture's place."""
    a = picture((500, 700), "uint8")
    for chain in CHAINS:
        p = tamis.Pipeline(chain)
        want = p(a, device="cuda")
        new, x = streams.there(a), streams.there(numpy.zeros_like(a))
        streams.wait()
        stream = streams.stream()
        for _ in range(2):  # the first time things are compiled, loaded and allocated
            with streams.on(stream):
                streams.slow()
                streams.set(x, new)
                r = p(x)
                busy = not streams.is_done(stream)
                streams.set(x, 0)
                got = streams.here(r)
            assert same(got, want), chain
        assert busy, chain + ": the call waited for the stream"


def test_jax_waits_for_its_samples():
    jax = Jax()
    a = picture((500, 700), "uint8")
    x = jax.there(a)
    big = jax.jax.numpy.full((6000, 6000), 1e-4, "float32")

    @jax.jax.jit
    def late(x, m):
        for _ in range(40):
            m = m @ m
        return x + (m[0, 0] * 0).astype("uint8")
    for _ in range(3):
        y = late(x, big)
        r = tamis.gaussian(y, 3)
        y.delete()
        assert same(jax.here(r), tamis.gaussian(a, 3, device="cuda"))


def test_streams_of_several_threads(streams):
    """Eight threads with a stream each and chains by turns, more than plans are kept for."""
    shapes = [(200 + 10 * i, 300 - 7 * i) for i in range(16)]
    want = {(c, s): tamis.Pipeline(c)(picture(s, "uint8", 7), device="cuda")
            for c in CHAINS for s in shapes}
    failed = []

    def work(seed):
        try:
            stream = streams.stream()
            with streams.on(stream):
                sources = {s: streams.there(picture(s, "uint8", 7)) for s in shapes}
                places = {s: streams.there(numpy.zeros(s, "uint8")) for s in shapes}
                rng, results = numpy.random.default_rng(seed), []
                for _ in range(60):
                    c = CHAINS[rng.integers(len(CHAINS))]
                    s = shapes[rng.integers(len(shapes))]
                    streams.set(places[s], sources[s])
                    results.append((c, s, tamis.Pipeline(c)(places[s])))
                    streams.set(places[s], 0)
                for c, s, r in results:
                    if not same(streams.here(r), want[c, s]):
                        failed.append((seed, c, s))
        except Exception as e:
            failed.append((seed, repr(e)))
    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failed, failed[:5]


def test_two_libraries():
    """A picture of one, a guide and a result of the other."""
    cupy, torch = Cupy(), Torch()
    a = picture((90, 110), "uint8")
    guide = guide_for("remap", a.shape)
    want = tamis.remap(a, guide, device="cuda")
    for one, other in ((cupy, torch), (torch, cupy)):
        out = other.there(numpy.zeros_like(a))
        assert tamis.remap(one.there(a), other.there(guide), out=out) is out
        one.wait()  # the image's library says on what stream
        assert same(other.here(out), want)


@pytest.mark.parametrize("kind", ["nothing", "primary", "own"])
def test_the_context_is_kept(kind):
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "keep_context.py")
    run = subprocess.run([sys.executable, "-B", script, kind], stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, text=True,
                         env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    assert run.returncode == 0 and run.stdout.endswith("kept %s\n" % kind), run.stdout


def test_the_current_device_is_kept():
    torch = Torch().torch
    if torch.cuda.device_count() < 2:
        pytest.skip("one GPU")
    torch.cuda.set_device(0)
    a = picture((90, 110), "uint8")
    x = torch.from_numpy(a).to("cuda:1")
    for chain in CHAINS:
        r = tamis.Pipeline(chain)(x)
        assert torch.cuda.current_device() == 0 and r.device == x.device
        assert same(r.cpu().numpy(), tamis.Pipeline(chain)(a, device="cuda")), chain


def activities(torch, call, folder):
    """Names of what the GPU did meanwhile: (kernels, copies)."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA,
                                            torch.profiler.ProfilerActivity.CPU]) as profile:
        call()
        torch.cuda.synchronize()
    path = os.path.join(folder, "trace.json")
    profile.export_chrome_trace(path)
    with open(path) as f:
        events = json.load(f)["traceEvents"]
    return ([e["name"] for e in events if e.get("cat") == "kernel"],
            [e["name"] for e in events if e.get("cat") == "gpu_memcpy"])


def test_nothing_is_copied(lib, tmp_path, record_property):
    """By CUPTI's word, through PyTorch's profiler, which sees the whole process."""
    torch = Torch().torch
    a = picture((1080, 1920, 3), "uint8")
    x, pipelines = lib.there(a), [tamis.Pipeline(c) for c in CHAINS]

    def crossing(copies):
        return [c for c in copies if "HtoD" in c or "DtoH" in c]

    def host():
        for p in pipelines:
            p(a, device="cuda")

    def device():
        for p in pipelines:
            p(x)
        lib.wait()
    host(), device()  # plans are made, which brings tables to the GPU
    kernels, copies = activities(torch, host, tmp_path)
    if not kernels:
        pytest.skip("the profiler sees no kernels on this machine")
    assert len(crossing(copies)) >= 2 * len(pipelines), copies  # it does see copies
    kernels, copies = activities(torch, device, tmp_path)
    assert kernels and not crossing(copies), copies
    record_property("figure", "%s, %d chains on 1920x1080x3: %d kernels, no copy between host and "
                    "device" % (lib.name, len(pipelines), len(kernels)))


def fastest(call, wait, calls, rounds=7):
    """Seconds of a call: enqueued, and with all of it done."""
    enqueued = done = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(calls):
            call()
        middle = time.perf_counter()
        wait()
        done = min(done, (time.perf_counter() - start) / calls)
        enqueued = min(enqueued, (middle - start) / calls)
    return enqueued, done


def test_what_a_call_costs(lib, record_property):
    """A box of 3x3: what the host spends on a call for a small picture, beside an addition by the
    library itself; and the rate for a large one."""
    small, large = picture((64, 64), "uint8"), picture((4320, 7680), "uint8")
    if lib.name == "jax":
        x, y = lib.there(small), lib.there(large)
        cost = fastest(lambda: tamis.box(x, 3), lib.wait, 200)[0]
        add = fastest(lambda: (x + x).block_until_ready(), lib.wait, 200)[0]
        took = fastest(lambda: tamis.box(y, 3), lib.wait, 20)[1]
    else:
        x, x_out = lib.there(small), lib.there(small)
        y, y_out = lib.there(large), lib.there(large)
        cost = fastest(lambda: tamis.box(x, 3, out=x_out), lib.wait, 200)[0]
        add = fastest(lambda: lib.add(x, x_out), lib.wait, 200)[0]
        took = fastest(lambda: tamis.box(y, 3, out=y_out), lib.wait, 20)[1]
    host = fastest(lambda: tamis.box(large, 3, device="cuda"), lambda: None, 2, 3)[1]
    record_property("figure", "%s: a call costs %.1f us (%s), an addition by the library %.1f us"
                    % (lib.name, cost * 1e6, "to its end" if lib.name == "jax" else "enqueued",
                       add * 1e6))
    record_property("figure", "%s: box 3x3 of 7680x4320 u8 in %.3f ms, %.0f GP/s; a NumPy array "
                    "%.1f ms" % (lib.name, took * 1e3, large.size / took / 1e9, host * 1e3))
    assert cost < 500e-6


if __name__ == "__main__":
    if os.environ.get("TAMIS_EMULATED"):
        import fake_cupy
        fake_cupy.install()
        os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # others' plugins look for CuPy
    print("\n".join("%(name)s, compute capability %(compute_capability)s" % d
                    for d in tamis.devices()) or "no GPU: " + tamis.why_no_devices())
    sys.exit(pytest.main([__file__, "-q", "-rs", "-p", "no:cacheprovider", *sys.argv[1:]]))
