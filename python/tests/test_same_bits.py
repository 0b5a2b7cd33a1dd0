# SPDX-License-Identifier: Apache-2.0
"""Every filter: the same bits from Python, from the library and from the command."""
import subprocess

import numpy
import pytest
import tamis
from clib import Library
from conftest import DTYPES, picture, same

FILTERS = sorted(tamis.filters())


def samples(spec):
    """Arguments to try: the defaults, and each choice of each parameter."""
    yield {}
    for p in spec["params"]:
        for choice in p.get("choices", ()):
            if choice != p["default"]:
                yield {p["name"]: choice}
        if p.get("automatic"):
            yield {p["name"]: "auto"}


def spec_of(name):
    from tamis import _filters
    return next(s for s in _filters.specs() if s["name"] == name)


def guide_for(name, shape):
    """A second picture for those that must have one."""
    if spec_of(name)["min_inputs"] < 2:
        return None
    h, w = shape[:2]
    y, x = numpy.mgrid[0:h, 0:w].astype("float32")
    return numpy.ascontiguousarray(numpy.stack([x + 0.3 * y, 0.9 * y - 1], axis=-1), "float32")


def python_or_none(name, array, guide, given):
    function = getattr(tamis, name)
    arguments = {k + "_" if k == "from" else k: v for k, v in given.items()}
    try:
        return function(array, guide=guide, **arguments)
    except ValueError:
        return None


@pytest.mark.parametrize("name", FILTERS)
def test_library(name, library):
    lib = Library(library)
    tried = 0
    for dtype in DTYPES:
        for shape in ((37, 41), (23, 30, 3)):
            array, guide = picture(shape, dtype), guide_for(name, shape)
            for given in samples(spec_of(name)):
                chain = name + "".join("=%s=%s" % i if not k else ":%s=%s" % i
                                       for k, i in enumerate(given.items()))
                want = lib.run(chain, array, guide)
                got = python_or_none(name, array, guide, given)
                assert (want is None) == (got is None), (chain, dtype, shape)
                if want is not None:
                    tried += 1
                    assert same(want, got), (chain, dtype, shape)
                    assert same(want, tamis.Pipeline(chain)(array, guide=guide))
    assert tried >= 5


@pytest.mark.parametrize("name", FILTERS)
def test_command(name, command, tmp_path):
    array, guide = picture((29, 35, 3), "uint16"), guide_for(name, (29, 35))
    numpy.save(tmp_path / "in.npy", array)
    arguments = [command, name, str(tmp_path / "in.npy"), "-o", str(tmp_path / "out.npy")]
    if guide is not None:
        numpy.save(tmp_path / "guide.npy", guide)
        arguments += ["--guide", str(tmp_path / "guide.npy")]
    got = python_or_none(name, array, guide, {})
    run = subprocess.run(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert run.returncode == 0, run.stderr
    assert same(numpy.load(tmp_path / "out.npy"), got)
