#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# 4K video through the command on a GPU, file to file: frames a second beside the kernel alone, and
# beside reading and writing alone.
#
#     bench/gpu/video.sh OUT             measures (see bench/gpu/video.py); writes into the folder OUT
#                                        video.txt and video.json
#     bench/gpu/video.sh --pack FOLDER   puts the command and the libraries that it needs into FOLDER,
#                                        for a machine where it cannot be built
#
# Environment: BUILD (folder, build-gpu); TAMIS (the command, $BUILD/tamis; FOLDER/tamis of --pack);
# TAMIS_CUDA_MODULE ($BUILD/tamis_cuda.so); FRAMES (480), FRAME (3840x2160), DEVICES (of nvidia-smi),
# PLACE (for clips, /dev/shm; takes 4 times a clip), OUTPUTS (files; none: only to /dev/null).
# What is not there is built: CMake, Ninja, gcc, nvcc, and for the command its libraries.
set -uo pipefail
[ $# -ge 1 ] || { sed -n '3,16s/^# \{0,1\}//p' "$0"; exit 2; }
cd "$(dirname "$0")/../.." || exit 2
root=$PWD
cd "$OLDPWD" || exit 2
build=$root/${BUILD:-build-gpu}
log=$(mktemp)
trap 'rm -f "$log"' EXIT

build_target() { # names of targets
    local arch
    for arch in native 90; do
        cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DTAMIS_VIDEO=OFF \
            -DTAMIS_CUDA=ON -DTAMIS_CUDA_ARCHS=$arch >"$log" 2>&1 && break
    done && ninja -C "$build" "$@" >"$log" 2>&1 && return 0
    echo "build: FAILED"
    grep -E -A5 'error|Error|FAILED' "$log" | head -n 40
    return 1
}

# The C library is the machine's own: it fits its kernel, and newer ones run older programs.
pack() { # folder
    mkdir -p "$1/lib" || return 1
    [ -x "$build/tamis" ] || build_target tamis_command || return 1
    cp -L "$build/tamis" "$1/lib/tamis"
    ldd "$build/tamis" | awk '$2 == "=>" && $3 ~ /^\// {print $3}' |
        grep -v -E '/(libc|libm|libdl|librt|libpthread)\.so' | xargs -I{} cp -L {} "$1/lib/"
    [ ! -e "$build/tamis_cuda.so" ] || cp "$build/tamis_cuda.so" "$1/lib/"
    cat >"$1/tamis" <<'EOF'
#!/bin/sh
here=$(cd "$(dirname "$0")" && pwd)
LD_LIBRARY_PATH=$here/lib exec "$here/lib/tamis" "$@"
EOF
    chmod +x "$1/tamis"
    du -sh "$1"
}

if [ "$1" = --pack ]; then
    [ $# -eq 2 ] || { sed -n '3,16s/^# \{0,1\}//p' "$0"; exit 2; }
    pack "$2"
    exit
fi
mkdir -p "$1" && out=$(cd "$1" && pwd) || exit 2
TAMIS=${TAMIS:-$build/tamis}
[ -x "$TAMIS" ] || build_target tamis_command tamis_cuda || exit 1
devices=${DEVICES:-$(nvidia-smi -L 2>/dev/null | grep -c '^GPU')}
if [ -z "${TAMIS_CUDA_MODULE:-}" ] && [ "$devices" -gt 0 ]; then
    build_target gpu_bench tamis_cuda || exit 1
fi
if [ -z "${TAMIS_CUDA_MODULE:-}" ] && [ -e "$build/tamis_cuda.so" ]; then
    TAMIS_CUDA_MODULE=$build/tamis_cuda.so
    export TAMIS_CUDA_MODULE
fi
python3 "$root/bench/gpu/video.py" "$TAMIS" --frames "${FRAMES:-480}" --frame "${FRAME:-3840x2160}" \
    --devices "$devices" --place "${PLACE:-/dev/shm}" --outputs "${OUTPUTS:-files}" \
    --gpu-bench "$build/gpu_bench" --json "$out/video.json" 2>&1 | tee "$out/video.txt"
exit "${PIPESTATUS[0]}"
