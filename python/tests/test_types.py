# SPDX-License-Identifier: Apache-2.0
"""What type checkers make of the package: results have types, and wrong calls are found."""
import subprocess
import sys

import pytest

pytest.importorskip("mypy")
pytest.importorskip("dask.array")

# Lines that are wrong have a "type: ignore", which is an error itself where nothing is wrong.
USER = '''
from typing import Any, assert_type

import numpy
import tamis
import tamis.dask
from numpy.typing import NDArray

image: NDArray[numpy.uint8] = numpy.zeros((9, 9), "uint8")
assert_type(tamis.gaussian(image, 2, border="wrap"), NDArray[Any])
assert_type(tamis.median([[1, 2]]), Any)
tamis.affine(image, [1, 0, 0, 0, 1, 0], interp="cubic", size=(20, 30), border_value="10%")
tamis.gaussian(image, sigmo=2)  # type: ignore[call-overload]
tamis.median(image, border="mirrored")  # type: ignore[call-overload]
tamis.remap(image)  # type: ignore[call-overload]

clean = tamis.Pipeline("median,unsharp", device="cpu", threads=1)
assert_type(clean(image), NDArray[Any])
assert_type(clean.halo, tamis.Halo | None)
assert_type(clean.steps, list[tamis.Pipeline])
assert_type(clean.format(image).shape, tuple[int, ...])
assert_type(clean.explain((9, 9), "uint8"), str)
assert_type(tamis.presets()["photo"].chain, str)
tamis.Pipeline("@mine", presets={"mine": "box"})
tamis.Pipeline("@mine", presets={"mine": 1})  # type: ignore[dict-item]
clean.text = "box"  # type: ignore[misc]
clean(image, thread=2)  # type: ignore[call-overload]

assert_type(tamis.compare(image, image).place, tuple[int, int, int, int])
assert_type(tamis.psnr(image, image, data_range=1), float)
tamis.ssim(image)  # type: ignore[call-arg]
assert_type(tamis.estimate_noise(image), tamis.Noise)

pixels, meta = tamis.read("a.png", meta=True)
assert_type(meta, tamis.Meta)
clean(pixels, alpha_channel=meta.alpha_channel)
assert_type(tamis.info("a.png").pages, int)
tamis.write("b.png", pixels, meta=meta, quality=90)
tamis.write("b.png", pixels, qualities=90)  # type: ignore[call-arg]
tamis.set_threads(tamis.get_threads())
assert_type(tamis.filters()["median"], str)

lazy = tamis.dask.map(clean, tamis.dask.open("a.tif"), chunks=(512, 512))
tamis.dask.write("b.tif", lazy)
for done in tamis.dask.files("median", ["a.png"], "out"):
    assert_type(done.error, str | None)
tamis.dask.map(clean)  # type: ignore[call-arg]
'''


def test_mypy(tmp_path):
    (tmp_path / "user.py").write_text(USER)
    run = subprocess.run([sys.executable, "-m", "mypy", "--strict", "user.py"], cwd=tmp_path,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert run.returncode == 0, run.stdout
