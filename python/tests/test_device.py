# SPDX-License-Identifier: Apache-2.0
"""Arrays in a device's memory, on the devices that tests/emulate makes of the CPU."""
import os
import subprocess
import sys

import pytest


def test_emulated():
    module = os.environ.get("TAMIS_EMULATED")
    if not module or not os.path.exists(module):
        pytest.skip("TAMIS_EMULATED names no module")
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "on_device.py")
    run = subprocess.run([sys.executable, "-B", script], stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, text=True,
                         env={**os.environ, "TAMIS_CUDA_MODULE": module})
    assert run.returncode == 0 and run.stdout.endswith("done\n"), run.stdout
