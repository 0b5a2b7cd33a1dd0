#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests the Python package in a fresh virtual environment: all of it as the build folder has it,
# beside the library and the command there; then what `pip install .` installs, with the reference
# kernels alone, since all others are compiled already. python.sh [BUILD]
set -eu
build=${1:-build}
venv=$build/venv
pip="$venv/bin/python -m pip --disable-pip-version-check -q"
python3 -m venv --clear "$venv"
$pip install pytest numpy 'dask[array]' distributed zarr pydicom astropy av mypy
cmake -S . -B "$build" -DTAMIS_PYTHON=ON -DPython3_EXECUTABLE="$(command -v python3)" >/dev/null
cmake --build "$build" --target tamis_python tamis_python_files tamis tamis_command >"$build/python.log" 2>&1 ||
    { cat "$build/python.log"; exit 1; }
TAMIS_BUILD=$(cd "$build" && pwd)
TAMIS_EMULATED=$TAMIS_BUILD/tests/tamis_cuda_emulated.so # where the tests are built
export TAMIS_BUILD TAMIS_EMULATED
PYTHONPATH=$TAMIS_BUILD/python "$venv/bin/python" -B -m pytest -q -p no:cacheprovider python/tests

$pip install . --config-settings=build-dir="$build/wheel" \
    --config-settings=cmake.define.TAMIS_SIMD=OFF \
    --config-settings=cmake.define.TAMIS_CUDA=OFF
cd python/tests
"$TAMIS_BUILD/venv/bin/python" -B -m pytest -q -p no:cacheprovider test_functions.py test_files.py
