#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Packs CV-CUDA and cuCIM for a GPU machine without a network, as small as they go.
#
#     bench/gpu/wheels.sh FOLDER [ARCHITECTURE]
#
# FOLDER receives peers.tar.xz (some 35 MB), which holds the code for one architecture alone (90, of
# Hopper GPUs, where none is named). On the other machine:
#
#     mkdir /tmp/peers && tar -C /tmp/peers -xf FOLDER/peers.tar.xz
#     PYTHONPATH=/tmp/peers python3 bench/gpu/python_peers.py
#
# which wants CUDA 13, Python 3.12 with PyTorch, CuPy, NumPy and SciPy there; needs pip here.
set -euo pipefail
[ $# -ge 1 ] || { sed -n '3,14s/^# \{0,1\}//p' "$0"; exit 2; }
mkdir -p "$1" && out=$(cd "$1" && pwd)
arch=${2:-90}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

python3 -m pip download -q --no-deps --only-binary=:all: --python-version 3.12 \
    --implementation cp --platform manylinux_2_28_x86_64 --platform manylinux_2_27_x86_64 \
    --platform manylinux_2_17_x86_64 --platform manylinux2014_x86_64 -d "$work/wheels" \
    cvcuda-cu13==0.19.0 cucim-cu13==26.10.0 lazy-loader==0.4 scikit-image==0.26.0
mkdir "$work/site"
for wheel in "$work"/wheels/*.whl; do
    python3 -m zipfile -e "$wheel" "$work/site"
done
cd "$work/site"
python3 "$here/trim_fatbin.py" "$arch" cvcuda_cu13.libs/libcvcuda*
# Of cuCIM its copy of scikit-image alone: what reads slides is large.
rm -rf cucim/clara cucim_cu13.libs
find . -name tests -type d -prune -exec rm -rf {} +
find cvcuda -name '_cvcuda.*.so' ! -name '*cpython-312-*' -delete
tar -cJf "$out/peers.tar.xz" .
ls -l "$out/peers.tar.xz"
