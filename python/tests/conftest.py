# SPDX-License-Identifier: Apache-2.0
"""What tests share. TAMIS_BUILD names a build folder with the command and libtamis.so; without it
the tests that compare with them are skipped."""
import os

import numpy
import pytest

DTYPES = ("uint8", "uint16", "int16", "float16", "float32")


def picture(shape, dtype, seed=1):
    """Noise over most of the type's range."""
    rng = numpy.random.default_rng(seed)
    if numpy.dtype(dtype).kind == "f":
        return rng.random(shape, dtype="float32").astype(dtype)
    limits = numpy.iinfo(dtype)
    return rng.integers(limits.min, limits.max, shape, dtype, endpoint=True)


def same(a, b):
    """Same shape, type and bits."""
    return a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()


def built(name):
    folder = os.environ.get("TAMIS_BUILD")
    if not folder:
        pytest.skip("TAMIS_BUILD is not set")
    return os.path.join(folder, name)


@pytest.fixture
def command():
    """Path of the command."""
    return built("tamis")


@pytest.fixture
def library():
    """Path of libtamis.so."""
    return built("libtamis.so")


def pytest_terminal_summary(terminalreporter):
    """What tests have measured and recorded as "figure"."""
    for report in terminalreporter.getreports("passed"):
        for name, text in report.user_properties:
            if name == "figure" and report.when == "call":
                terminalreporter.write_line(text)
