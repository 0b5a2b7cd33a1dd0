# SPDX-License-Identifier: Apache-2.0
"""Calls leave the thread's CUDA context as they find it: nothing, the primary one of the first
device, or one that the program made itself. Run by test_gpu.py on a real device and by
test_device.py on emulated ones, in a process of its own, where nothing has been looked for yet:

    python3 keep_context.py nothing|primary|own
"""
import concurrent.futures
import ctypes
import os
import sys

import tamis
from conftest import picture, same


class Driver:
    """NVIDIA's."""

    def __init__(self):
        self.library = ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", 0)

    def call(self, name, *arguments):
        error = getattr(self.library, name)(*arguments)
        assert error == 0, "%s: error %d" % (name, error)

    def current(self):
        context = ctypes.c_void_p()
        self.call("cuCtxGetCurrent", ctypes.byref(context))
        return context.value

    def begin(self, kind):
        """Makes such a context current."""
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        if kind == "own":  # is current when it is made
            self.call("cuCtxCreate_v2", ctypes.byref(context), ctypes.c_uint(0), device)
        elif kind == "primary":
            self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
            self.call("cuCtxSetCurrent", context)


class Emulated:
    """That of tests/emulate."""

    def __init__(self, module):
        self.module = module
        self.module.tamis_emulate_current.restype = ctypes.c_void_p
        self.module.tamis_emulate_context.restype = ctypes.c_void_p

    def current(self):
        return self.module.tamis_emulate_current()

    def begin(self, kind):
        if kind != "nothing":
            context = self.module.tamis_emulate_context(0, int(kind == "own"))
            self.module.tamis_emulate_make_current(ctypes.c_void_p(context))


def driver():
    module = ctypes.CDLL(os.environ.get("TAMIS_CUDA_MODULE"))  # without a name: the program
    return Emulated(module) if hasattr(module, "tamis_emulate_current") else Driver()


def fail(device):
    try:
        tamis.box(picture((40, 50), "uint8"), device=device)
    except Exception as e:
        assert device[5:] in str(e), e
    else:
        raise AssertionError("no error of " + device)


def work(cuda, kind):
    """Calls of each sort on the first device and on the last."""
    a, many = picture((130, 170, 3), "uint8"), picture((6, 40, 50, 3), "uint8")
    want = tamis.box(a, device="cpu")
    cuda.begin(kind)
    found = cuda.current()
    assert (found is None) == (kind == "nothing")

    def keeps(name, call):
        result = call()
        assert cuda.current() == found, "%s: %s became %s" % (name, found, cuda.current())
        return result
    count = len(keeps("devices()", tamis.devices))
    for device in ("cuda:0", "cuda:%d" % (count - 1)):
        assert same(keeps(device + " box", lambda: tamis.box(a, device=device)), want)
        for chain in ("canny", "bilateral,median=ksize=5"):
            p = tamis.Pipeline(chain)
            keeps(device + " " + chain, lambda: p(a, device=device))
            keeps(device + " many " + chain, lambda: p(many, device=device))
    keeps("no such device", lambda: fail("cuda:63"))


def main(kind):
    cuda = driver()
    work(cuda, kind)
    with concurrent.futures.ThreadPoolExecutor(1) as other:
        other.submit(work, cuda, kind).result()
    print("kept " + kind)


main(sys.argv[1])
