#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Debian packages (tamis, tamis-dev, and where they are built tamis-cuda, tamis-video and tamis-vips)
# from a build folder, into BUILD/deb: deb.sh [BUILD] [--test]. With --test, as root, they are
# installed, used from C by pkg-config and by CMake, and removed.
set -eu
build=${1:-build}
cmake -S . -B "$build" -DCMAKE_INSTALL_PREFIX=/usr >/dev/null
cmake --build "$build" >/dev/null # the prefix stands in what was linked
rm -rf "$build/deb"
mkdir "$build/deb"
(cd "$build/deb" && cpack -G DEB --config ../CPackConfig.cmake >cpack.log 2>&1) ||
    { cat "$build/deb/cpack.log"; exit 1; }
rm -rf "$build/deb/_CPack_Packages" "$build/deb/cpack.log"
ls "$build"/deb/*.deb
[ "${2:-}" = --test ] || exit 0

command -v tamis && { echo "deb: a tamis is installed already; that could hide faults"; exit 1; }
trap 'dpkg --purge tamis-vips tamis-video tamis-cuda tamis-dev tamis >/dev/null 2>&1' EXIT
dpkg -i "$build"/deb/*.deb >/dev/null
tamis --version
tamis median demo/portrait.png -o "$build/deb/out.png" --overwrite

client=$build/deb/client
mkdir "$client"
cat >"$client/main.c" <<'C'
#include <stdio.h>
#include <tamis/gaussian.h>
#include <tamis/io.h>
#include <tamis/tamis.h>
int main(int argc, char **argv)
{
    tamis_ctx *ctx;
    tamis_image image;
    if (tamis_ctx_create(NULL, &ctx) || argc < 2 || tamis_image_load(ctx, argv[1], &image, NULL))
        return 1;
    printf("%s %dx%d\n", tamis_version(), image.w, image.h);
    tamis_image_unref(&image);
    tamis_ctx_free(&ctx);
    return 0;
}
C
cat >"$client/CMakeLists.txt" <<'C'
cmake_minimum_required(VERSION 3.25)
project(client C)
find_package(tamis 0.1 REQUIRED)
add_executable(client main.c)
target_link_libraries(client PRIVATE tamis::io)
C
# shellcheck disable=SC2046
cc "$client/main.c" -o "$client/plain" $(pkg-config --cflags --libs tamis-io tamis)
"$client/plain" demo/portrait.png
cmake -S "$client" -B "$client/build" -G Ninja >/dev/null
cmake --build "$client/build" >/dev/null
"$client/build/client" demo/portrait.png
dpkg --purge $(dpkg-query -W -f '${Package}\n' 'tamis*' | sort -r) >/dev/null
test ! -e /usr/include/tamis && test ! -e /usr/bin/tamis
echo "deb: installed, used and removed"
