# SPDX-License-Identifier: Apache-2.0
"""Arrays in a device's memory, on the devices that tests/emulate makes of the CPU."""
import os
import subprocess
import sys

import pytest


HERE = os.path.dirname(os.path.abspath(__file__))


def emulated(*arguments):
    """Output of a script that finds an emulated device."""
    module = os.environ.get("TAMIS_EMULATED")
    if not module or not os.path.exists(module):
        pytest.skip("TAMIS_EMULATED names no module")
    run = subprocess.run([sys.executable, "-B", *arguments], stdout=subprocess.PIPE, cwd=HERE,
                         stderr=subprocess.STDOUT, text=True,
                         env={**os.environ, "TAMIS_CUDA_MODULE": module})
    assert run.returncode == 0, run.stdout
    return run.stdout


def test_emulated():
    assert emulated("on_device.py").endswith("done\n")


@pytest.mark.parametrize("kind", ["nothing", "primary", "own"])
def test_the_context_is_kept(kind, monkeypatch):
    monkeypatch.setenv("TAMIS_EMULATE_DEVICES", "2")
    assert emulated("keep_context.py", kind).endswith("kept %s\n" % kind)


def test_the_tests_for_gpus():
    """Those that take no minutes without a GPU."""
    said = emulated("test_gpu.py", "-k", "cupy and (out or strides or gaussian)")
    assert "3 passed" in said, said
