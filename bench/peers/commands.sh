#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Whole commands, file in and file out: tamis beside vips, ffmpeg and ImageMagick's convert, each as
# it comes, all CPUs. Needs setup.sh and the command tamis. The others' windows and precision are
# their own defaults, so results differ by some levels.
#
#     bench/peers/commands.sh [BUILD]
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
build=${1:-$root/build}
tamis=$build/tamis
python=$build/peers/venv/bin/python
work=$build/peers/files
[ -x "$tamis" ] || { echo "$tamis is missing: build it with make" >&2; exit 1; }
[ -x "$python" ] || { echo "the peers are not there yet: run bench/peers/setup.sh" >&2; exit 1; }
mkdir -p "$work"

has() {
    command -v "$1" >/dev/null
}

# race TITLE NAME COMMAND [NAME COMMAND]...: those whose program is there
race() {
    echo "== $1"
    title=$(echo "$1" | tr 'A-Z' 'a-z' | tr -cs 'a-z0-9\n' '-')
    shift
    left=$(($# / 2))
    while [ "$left" -gt 0 ]; do
        name=$1 line=$2
        shift 2
        if has "${line%% *}"; then set -- "$@" -n "$name" "$line"; fi
        left=$((left - 1))
    done
    hyperfine --style basic --warmup 1 --min-runs 7 --export-json "$work/$title.json" "$@" ||
        echo "   not all of these run"
}

# peak NAME COMMAND...: its time and the most memory it holds
peak() {
    name=$1
    shift
    if has "$1" && /usr/bin/time -o "$work/peak" -f '%e s, %M KiB' "$@" 2>/dev/null; then
        echo "   $name: $(cat "$work/peak")"
    fi
}

[ -f "$work/hd.png" ] || "$python" "$here/picture.py" hd "$work/hd.png" "$work/hd.ppm"

for format in png ppm; do
    in=$work/hd.$format
    race "gaussian sigma 3, RGB HD, $format" \
        tamis "$tamis gaussian --sigma 3 $in -o $work/t.$format --overwrite" \
        vips "vips gaussblur $in $work/v.$format 3" \
        ffmpeg "ffmpeg -v error -y -i $in -vf gblur=sigma=3 $work/f.$format" \
        convert "convert $in -gaussian-blur 0x3 $work/c.$format"
done
race "median 5, RGB HD, ppm" \
    tamis "$tamis median --ksize 5 $work/hd.ppm -o $work/t.ppm --overwrite" \
    vips "vips rank $work/hd.ppm $work/v.ppm 5 5 12" \
    ffmpeg "ffmpeg -v error -y -i $work/hd.ppm -vf median=radius=2 $work/f.ppm" \
    convert "convert $work/hd.ppm -statistic Median 5x5 $work/c.ppm"

echo "== bytes written for PNG"
(cd "$work" && wc -c [a-z].png)

# A large picture: target no slower than vips, within 64 MiB.
has vips || exit 0
big=$work/big.tif
same='--compression none --tiff_tile 256 --overwrite'
tiles='[tile,tile-width=256,tile-height=256,bigtiff]'
if [ ! -f "$big" ]; then
    vips colourspace "$work/hd.ppm" "$work/gray.v" b-w
    vips replicate "$work/gray.v" "$work/many.v" 7 12
    vips crop "$work/many.v" "$big$tiles" 0 0 12000 12000
    rm -f "$work/gray.v" "$work/many.v"
fi
race "gaussian sigma 3, gray 144 megapixels, tiled TIFF" \
    tamis "$tamis gaussian --sigma 3 $big -o $work/t.tif $same" \
    vips "vips gaussblur $big '$work/v.tif$tiles' 3"
# shellcheck disable=SC2086
peak tamis "$tamis" gaussian --sigma 3 "$big" -o "$work/t.tif" $same
peak vips vips gaussblur "$big" "$work/v.tif$tiles" 3
