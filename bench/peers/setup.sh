#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Gets the peers ready in BUILD/peers: Debian packages, a Python environment with OpenCV from PyPI,
# the shared libraries of the others. What is there already is left alone.
#
#     bench/peers/setup.sh [BUILD]       BUILD: the build folder of tamis, by default build
set -eu

opencv=5.0.0.93
packages="cmake ninja-build gcc g++ pkg-config python3-venv libopencv-imgproc-dev libvips-dev
    libavfilter-dev mate-backgrounds hyperfine libvips-tools ffmpeg imagemagick time"
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
build=${1:-$root/build}

missing=
for package in $packages; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q ' installed$' ||
        missing="$missing $package"
done
if [ -n "$missing" ]; then
    echo "installing:$missing"
    if [ "$(id -u)" = 0 ]; then sudo=; else sudo=sudo; fi
    $sudo apt-get update -qq
    # shellcheck disable=SC2086
    DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends $missing
fi

mkdir -p "$build/peers"
venv=$build/peers/venv
if ! "$venv/bin/python" -c "import numpy, cv2; assert cv2.__version__ in '$opencv'" 2>/dev/null; then
    python3 -m venv "$venv"
    "$venv/bin/pip" install -q "opencv-python-headless==$opencv"
fi
cmake -S "$here" -B "$build/peers" -G Ninja >"$build/peers/configure.log"
grep '^-- left out' "$build/peers/configure.log" || true
cmake --build "$build/peers"
