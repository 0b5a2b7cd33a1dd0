# SPDX-License-Identifier: Apache-2.0
"""Functions and pipelines: arguments, errors, texts, signatures."""
import ast
import copy
import inspect
import os
import pickle

import numpy
import pytest
import tamis
from conftest import picture, same

A = picture((40, 50), "uint8")


def test_arguments_of_each_kind():
    run = tamis.Pipeline
    assert same(tamis.gaussian(A, 2), run("gaussian=sigma=2")(A))
    assert same(tamis.gaussian(A, sigma=numpy.float32(0.5)), run("gaussian=sigma=0.5")(A))
    assert same(tamis.gaussian(A, sigma=None), run("gaussian")(A))
    assert same(tamis.box(A, (5, 3)), run("box=ksize=5x3")(A))
    assert same(tamis.box(A, numpy.array([5, 3])), run("box=ksize=5x3")(A))
    assert same(tamis.canny(A, low="5%", high=60), run("canny=low=5%:high=60")(A))
    assert same(tamis.resize(A, antialias=False, scale=0.5), run("resize=antialias=0:scale=0.5")(A))
    matrix = numpy.array([[1, 0.1, 2], [0, 1, -3.5]])
    assert same(tamis.affine(A, matrix), run("affine=matrix=1,0.1,2,0,1,-3.5")(A))
    kernel = [[0, 1, 0], [1, -3, 1], [0, 1, 2.5]]
    assert same(tamis.convolve(A, kernel, flip=True),
                run("convolve=kernel=0,1,0;1,-3,1;0,1,2.5:flip=on")(A))
    assert same(tamis.convolve(A, numpy.array(kernel)),
                run("convolve=kernel=0,1,0;1,-3,1;0,1,2.5")(A))
    assert same(tamis.convolve(A, kernel, flip=numpy.True_), tamis.convolve(A, kernel, flip=True))
    assert same(tamis.color(tamis.color(A, to="rgb"), from_="rgb"), A)


def test_arguments_that_are_refused():
    with pytest.raises(ValueError, match=r"median: ksize = 4 .* odd"):
        tamis.median(A, 4)
    with pytest.raises(ValueError, match="gaussian: sigma"):
        tamis.gaussian(A, sigma=float("nan"))
    with pytest.raises(ValueError, match="border"):
        tamis.gaussian(A, border="none")
    with pytest.raises(TypeError, match="unexpected keyword argument 'size'"):
        tamis.median(A, size=3)
    with pytest.raises(TypeError, match="by position"):
        tamis.median(A, 3, 50)
    with pytest.raises(TypeError, match="by position"):
        tamis.median(A, 3, ksize=3)
    with pytest.raises(TypeError, match="size="):
        tamis.resize(A, size=(1, 2, 3))
    with pytest.raises(TypeError, match="sigma="):
        tamis.gaussian(A, sigma=[1, 2])
    with pytest.raises(ValueError, match=r"ksize = 3\.7.*x5"):
        tamis.box(A, (3.7, 5))
    endless = []
    endless.append(endless)
    for kernel in (["abc"], [["1", "2"]], "abc".split(), numpy.zeros((3, 3, 3)), [[1j]], endless):
        with pytest.raises(TypeError, match="kernel="):
            tamis.convolve(A, kernel)
    with pytest.raises(TypeError, match="matrix="):
        tamis.affine(A, ["1", "0", "0", "0", "1", "0"])
    for call in (lambda: tamis.gaussian(A, sigma="2\0junk"), lambda: tamis.Pipeline("box\0"),
                 lambda: tamis.Pipeline("@a", presets={"a": "box\0junk"})):
        with pytest.raises(ValueError, match="null character"):
            call()
    with pytest.raises(ValueError, match="remap"):
        tamis.remap(A, None)
    with pytest.raises(TypeError):
        tamis.median()


def test_devices_and_threads_that_are_refused():
    for threads, error in (("2", TypeError), (2.5, TypeError), ([2], TypeError),
                           (1 << 40, ValueError), (-1, ValueError), (1025, ValueError)):
        with pytest.raises(error, match="threads"):
            tamis.median(A, threads=threads)
        with pytest.raises(error, match="threads"):
            tamis.set_threads(threads)
    for device in (3, ["cpu"], b"cpu"):
        with pytest.raises(TypeError, match="device="):
            tamis.median(A, device=device)
        with pytest.raises(TypeError, match="device="):
            tamis.Pipeline("median", device=device)(A)


def test_guides():
    y, x = numpy.mgrid[0:40, 0:50].astype("float32")
    got = tamis.remap(A, numpy.stack([x + 1, y], axis=-1))
    assert numpy.array_equal(got[:, :-1], A[:, 1:])
    assert same(tamis.bilateral(A, guide=A), tamis.bilateral(A))


def stubs():
    """Both signatures of each filter."""
    path = os.path.join(os.path.dirname(tamis.__file__), "_filters.pyi")
    with open(path, encoding="utf-8") as f:
        tree = ast.parse(f.read())
    nodes = [n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name != "specs"]
    assert [n.name for n in nodes[::2]] == [n.name for n in nodes[1::2]]
    return {n.name: (n, other) for n, other in zip(nodes[::2], nodes[1::2])}


def test_stubs_are_what_runs():
    found = stubs()
    assert set(found) == set(tamis.filters())
    for name, nodes in found.items():
        function = getattr(tamis, name)
        assert inspect.cleandoc(function.__doc__).strip() == ast.get_docstring(nodes[0])
        for node in nodes:
            check_signature(inspect.signature(function), node.args)


def check_signature(signature, a):
    assert [p.name for p in signature.parameters.values()] == \
        [x.arg for x in a.posonlyargs + a.args + a.kwonlyargs]
    given = dict(zip([x.arg for x in a.kwonlyargs], a.kw_defaults))
    if a.defaults:
        given[a.args[-1].arg] = a.defaults[-1]
    for p in signature.parameters.values():
        want = inspect.Parameter.empty if given.get(p.name) is None else \
            ast.literal_eval(given[p.name])
        assert p.default == want, p.name


def test_defaults_are_the_librarys():
    """What signatures show is what happens without arguments."""
    for name in tamis.filters():
        if name == "remap":
            continue
        function = getattr(tamis, name)
        common = ("image", "out", "channel_axis", "alpha_channel", "guide", "device", "threads")
        shown = {p.name: p.default for p in inspect.signature(function).parameters.values()
                 if p.name not in common and p.default != "auto"}
        if name in ("nlmeans", "bilateral"):  # shares of the range, in few digits
            shown = {k: v for k, v in shown.items() if not str(v).endswith("%")}
        image = picture((20, 24, 3), "uint8")
        assert same(function(image, **shown), function(image)), name


class Kind(tamis.Pipeline):
    """A pipeline that is still one of this kind in another process."""


def test_pipeline():
    p = tamis.Pipeline(" median , unsharp = amount=0.5 ")
    assert str(p) == p.text == "median,unsharp=amount=0.5"
    assert repr(p) == "tamis.Pipeline('median,unsharp=amount=0.5')"
    assert [s.text for s in p.steps] == ["median", "unsharp=amount=0.5"]
    assert p == tamis.Pipeline("median=ksize=3,unsharp=amount=0.5") != tamis.Pipeline("median")
    assert p != tamis.Pipeline(p, threads=1) and p != "median"
    assert len({p, tamis.Pipeline(p.text)}) == 1
    for twin in (pickle.loads(pickle.dumps(p)), copy.copy(p), copy.deepcopy(p)):
        assert twin == p and same(twin(A), p(A))
    there = tamis.Pipeline("box", device="cpu", threads=1)
    again = pickle.loads(pickle.dumps(there))
    assert (again.device, again.threads) == ("cpu", 1)
    assert type(pickle.loads(pickle.dumps(Kind("box")))) is Kind
    with pytest.raises(AttributeError):
        p.text = "box"
    with pytest.raises(AttributeError):
        p.other = 1
    assert same(p(A), tamis.unsharp(tamis.median(A), amount=0.5))
    with pytest.raises(ValueError, match="no filter \"nothing\""):
        tamis.Pipeline("nothing")
    with pytest.raises(TypeError, match="text"):
        tamis.Pipeline(3)
    assert same(tamis.Pipeline("")(A), A)


def test_facts_of_pipelines():
    assert tamis.Pipeline("box=ksize=5x4").halo == (2, 2, 2, 1)
    assert tamis.Pipeline("box,median").halo == tamis.Halo(2, 2, 2, 2)
    assert tamis.Pipeline("median,rotate").halo is None
    assert tamis.Pipeline("canny").halo is None
    text = tamis.Pipeline("median").explain(A)
    assert "median" in text and "50x40" in text
    assert "u16x3" in tamis.Pipeline("median").explain((10, 20, 3), "uint16")
    f = tamis.Pipeline("resize=scale=2,color").format((10, 20, 3), "uint8")
    assert f == ((20, 40), numpy.dtype("uint8"), None)
    assert tamis.Pipeline("sobel=output=dx").format(A).dtype == numpy.int16
    assert tamis.Pipeline("box").format(memoryview(A)) == tamis.Pipeline("box").format(A)
    with pytest.raises(ValueError, match="resolve"):
        tamis.Pipeline("nlmeans=h=auto").explain((10, 20), "uint8")
    with pytest.raises(ValueError, match="canny"):
        tamis.Pipeline("canny=low=90:high=10").format((10, 20), "uint8")


def test_what_is_chosen_from_the_picture():
    rng = numpy.random.default_rng(5)
    base = numpy.tile(numpy.linspace(60, 180, 64), (64, 1))
    a, b = ((base + s * rng.standard_normal(base.shape)).clip(0, 255).astype("uint8")
            for s in (5, 20))
    p = tamis.Pipeline("nlmeans=h=auto:search=7,box")
    chosen = p.resolve(a)
    assert "auto" not in chosen.text and chosen != p.resolve(b)
    assert same(p(a), chosen(a)) and same(p(b), p.resolve(b)(b))
    assert same(tamis.nlmeans(a, "auto", search=7), tamis.Pipeline("nlmeans=h=auto:search=7")(a))
    both = p(numpy.stack([a, b]), channel_axis=None)
    assert same(both[0].copy(), p(a)) and same(both[1].copy(), p(b))
    colors = numpy.stack([a, b, a], axis=-1)
    many = p(numpy.stack([colors, colors[::-1]]))
    assert same(many[1].copy(), p(colors[::-1].copy()))
    assert "nlmeans" in p.explain(a) and p.format(a).shape == a.shape
    with pytest.raises(ValueError, match="auto"):
        p.explain(a.shape, a.dtype)
    sequence = tamis.nlmeans(numpy.stack([a, a, b]), "auto", search=7, frames=1, channel_axis=None)
    assert sequence.shape == (3, 64, 64)


def test_module():
    assert "median" in tamis.filters() and tamis.filters()["median"]
    assert isinstance(tamis.devices(), list)
    assert tamis.devices() or tamis.why_no_devices()
    if not tamis.devices():
        with pytest.raises(RuntimeError, match="cuda"):
            tamis.median(A, device="cuda")
        assert same(tamis.median(A, device="auto"), tamis.median(A))
    with pytest.raises(ValueError, match="device"):
        tamis.median(A, device="tpu")
    assert all(hasattr(tamis, name) for name in tamis.__all__)


@pytest.mark.parametrize("wrong", [
    {"data": ()}, {"data": None}, {"shape": (4, "x")}, {"strides": (1,)}, {"typestr": "|u1\0"},
    {"typestr": "<f8"}, {"shape": (1 << 62, 1 << 62, 4)}, {"shape": (-4, 4)}])
def test_interfaces_that_are_refused(wrong):
    from tamis import _core
    said = {"shape": (4, 4), "typestr": "|u1", "data": (1 << 20, False), "version": 3}
    _core.View(said, device=1)
    with pytest.raises((TypeError, ValueError)):
        _core.View({**said, **wrong}, device=1)


def test_objects_of_the_library_are_whole():
    from tamis import _core
    context, view = _core.Context(), _core.View(A)
    for kind in (_core.Chain, _core.Plan, _core.View):
        with pytest.raises(TypeError):
            kind.__new__(kind)
    plan = _core.Plan(_core.Chain(context, "median"), view.key)
    for call in (lambda: _core.Chain(view, "median"), lambda: _core.noise(view, view),
                 lambda: plan.run(view, _core.View(numpy.empty_like(A)), context),
                 lambda: _core.Chain(context, "median").resolve(view, context),
                 lambda: _core.metrics(1, view, view, 255.0, False)):
        with pytest.raises(TypeError):
            call()
