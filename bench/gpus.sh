#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What two or more GPUs of one machine are worth, beside one of them.
#
#     bench/gpus.sh OUT [DEVICES]
#
# Builds the CUDA module and gpus_bench (see its head), and runs it on 2 devices, or DEVICES: a
# stream of frames and one huge picture on one and on all. Needs CMake, Ninja, gcc and nvcc. Writes
# into the folder OUT: gpus.txt and gpus.json.
#
# Environment: BUILD (folder, build-gpu), MORE (options for gpus_bench).
# The status is 1 when results differ or something failed.
set -uo pipefail
[ $# -ge 1 ] || { sed -n '3,12s/^# \{0,1\}//p' "$0"; exit 2; }
mkdir -p "$1" && out=$(cd "$1" && pwd) || exit 2
devices=${2:-2}
cd "$(dirname "$0")/.." || exit 2
build=${BUILD:-build-gpu}
log=$out/build.txt
configure() {
    local arch
    for arch in native 90; do
        cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DTAMIS_IO=OFF -DTAMIS_CUDA=ON \
            -DTAMIS_CUDA_ARCHS=$arch >"$log" 2>&1 && return 0
    done
    return 1
}
if ! configure || ! ninja -C "$build" tamis tamis_cuda gpus_bench >"$log" 2>&1; then
    echo "build: FAILED"
    grep -E -A5 'error|FAILED' "$log" | head -n 40
    exit 1
fi
TAMIS_CUDA_MODULE=$(cd "$build" && pwd)/tamis_cuda.so
export TAMIS_CUDA_MODULE
# shellcheck disable=SC2086 # MORE holds several options
"$build/gpus_bench" --devices "$devices" --json "$out/gpus.json" ${MORE:-} 2>&1 | tee "$out/gpus.txt"
exit "${PIPESTATUS[0]}"
