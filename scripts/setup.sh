#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs what building needs on Debian and its relatives; with "video" also FFmpeg's libraries, with
# "vips" libvips (which brings some hundred packages), and with "test" all that the tests need but
# libvips. Does nothing and needs no rights when all is there.
set -eu

want="gcc g++ cmake ninja-build pkg-config libpng-dev libjpeg-dev libtiff-dev libjansson-dev"
video="libavformat-dev libavcodec-dev libswscale-dev"
test_video="ffmpeg libffmpeg-nvenc-dev"
[ "${1:-}" = video ] && want="$want $video"
[ "${1:-}" = vips ] && want="$want libvips-dev"
[ "${1:-}" = test ] && want="$want libcmocka-dev libmicrohttpd-dev python3 clang-format locales $video $test_video"
[ "${1:-}" = ci ] && want="$want libcmocka-dev libmicrohttpd-dev python3 clang clang-format locales libclang-rt-14-dev \
gcc-aarch64-linux-gnu libc6-dev-arm64-cross $video $test_video"
[ "${1:-}" = deb ] && want="$want $video dpkg-dev"
[ "${1:-}" = python ] && want="$want python3-dev python3-venv"

if ! command -v dpkg-query >/dev/null; then
    echo "setup: not a Debian system; please install the equivalents of: $want" >&2
    exit 0
fi
missing=""
for package in $want; do
    state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$state" = installed ] || missing="$missing $package"
done
[ -z "$missing" ] && exit 0

echo "setup: installing$missing"
root=""
if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || { echo "setup: run as root: apt-get install$missing" >&2; exit 1; }
    root=sudo
fi
$root apt-get update -q
# shellcheck disable=SC2086
$root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $missing
