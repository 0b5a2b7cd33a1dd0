# SPDX-License-Identifier: Apache-2.0
"""The examples run, where their packages are there."""
import os
import re
import subprocess
import sys

import pytest

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "examples")
EXAMPLES = {
    "photo": ((), r"PSNR (?P<a>[\d.]+) dB before, (?P<b>[\d.]+) dB after"),
    "ct_slices": (("pydicom",), r"noise (?P<b>[\d.]+) HU; [\d.]+ HU .* (?P<a>[\d.]+) HU with"),
    "fits_frame": (("astropy",), r"\d+ hot pixels, (?P<b>\d+) stars"),
    "satellite_zarr": (("zarr", "distributed"), "as in memory: True"),
    "video_pyav": (("av",), r"30 frames, noise (?P<b>[\d.]+) before, (?P<a>[\d.]+) after"),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(name, tmp_path):
    packages, pattern = EXAMPLES[name]
    for package in packages:
        pytest.importorskip(package)
    run = subprocess.run([sys.executable, "-B",
                          os.path.abspath(os.path.join(FOLDER, name + ".py"))],
                         cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                         timeout=120)
    assert run.returncode == 0, run.stderr
    found = re.search(pattern, run.stdout)
    assert found, run.stdout
    numbers = found.groupdict()
    if "a" in numbers:
        assert float(numbers["a"]) < float(numbers["b"]), run.stdout
    elif "b" in numbers:
        assert 30 <= int(numbers["b"]) <= 45, run.stdout
