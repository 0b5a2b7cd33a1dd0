#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs a build into a folder of its own and uses what is there as its users do: the command, its
# manual and completion, and a program in C by pkg-config. run.sh BUILD C-COMPILER
set -eu
here=$(dirname "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$1" --prefix "$work/usr" >"$work/log" || { cat "$work/log"; exit 1; }
unset LD_LIBRARY_PATH TAMIS_CUDA_MODULE TAMIS_VIDEO_MODULE
printf 'P5 16 4 255\n%064d' 7 >"$work/in.pgm"

tamis=$work/usr/bin/tamis
"$tamis" gaussian --sigma 2 "$work/in.pgm" -o "$work/command.pgm"
"$tamis" doctor >/dev/null
test -s "$work/usr/share/man/man1/tamis.1"
test -s "$work/usr/share/bash-completion/completions/tamis"

pc=$(find "$work/usr" -name tamis-io.pc)
lib=$(dirname "$(dirname "$pc")")
# The build names the prefix it was configured with.
sed -i "s|^prefix=.*|prefix=$work/usr|" "$lib"/pkgconfig/*.pc
flags=$(PKG_CONFIG_PATH=$lib/pkgconfig pkg-config --cflags --libs tamis tamis-io)
# shellcheck disable=SC2086
"$2" -std=c11 -Wall -Werror "$here/program.c" -o "$work/program" $flags -Wl,-rpath,"$lib"
video=$("$work/program" "$work/in.pgm" "$work/program.pgm")
cmp "$work/command.pgm" "$work/program.pgm"
if [ -e "$1/tamis_video.so" ]; then
    echo "$video" | grep libavcodec # the module was found where it is installed
fi
