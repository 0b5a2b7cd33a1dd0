#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Large TIFF files through a Gaussian, from disk to disk, beside libvips: wall and CPU time, and peak
# memory beyond that of a program that does nothing.
#
#     bench/huge.sh [TAMIS] [SIDE [REPEATS [HUGE_SIDE]]]
#
# SIDE (12000) is that of the pictures, HUGE_SIDE that of one more, which is only run once, without
# compression; without it there is none. Needs vips (libvips-tools) and time. Files go to TMPDIR.
set -e
here=$(cd "$(dirname "$0")/.." && pwd)
tamis=${1:-$here/build/tamis} side=${2:-12000} repeats=${3:-5} huge=${4:-}
dir=$(mktemp -d "${TMPDIR:-/tmp}/tamis-huge-XXXXXX")
trap 'rm -rf "$dir"' EXIT INT TERM

# The demo's noisy photo in gray, side by side until it is large enough.
make_input() { # side, compression, file
    across=$((($1 + 511) / 512))
    vips replicate "$dir/photo.v" "$dir/all.v" "$across" "$across"
    vips crop "$dir/all.v" "$3[tile,tile-width=256,tile-height=256,compression=$2,bigtiff]" \
        0 0 "$1" "$1"
    rm "$dir/all.v"
}

# Prints wall, user and system seconds, and peak KiB.
measure() {
    /usr/bin/time -o "$dir/time" -f "%e %U %S %M" "$@" >"$dir/said" 2>&1 ||
        { cat "$dir/said" >&2; exit 1; }
    cat "$dir/time"
}

idle=$(measure "$tamis" --version | cut -d' ' -f4)
vips_idle=$(measure vips --version | cut -d' ' -f4)

run_tamis() { # input, compression
    measure "$tamis" gaussian --sigma 3 --device cpu "$1" -o "$dir/out.tif" --overwrite \
        --tiff-tile 256 --compression "$2"
}

run_vips() {
    measure vips gaussblur "$1" \
        "$dir/out.tif[tile,tile-width=256,tile-height=256,compression=$2,predictor=$3,bigtiff]" 3
}

report() { # name, file of lines, idle KiB
    sort -n "$2" | awk -v name="$1" -v idle="$3" '
        NR == 1 { wall = $1 }
        NR == 1 || $2 + $3 < cpu { cpu = $2 + $3 }
        $4 > peak { peak = $4 }
        END { printf "  %-8s %8.2f s wall %8.2f s CPU %8.1f MB\n", name, wall, cpu,
                     (peak - idle) * 1024 / 1e6 }'
}

compare() { # side, compression, repeats
    make_input "$1" "$2" "$dir/in.tif"
    predictor=$(test "$2" = none && echo none || echo horizontal)
    : >"$dir/ours" >"$dir/theirs"
    for i in $(seq "$3"); do
        run_tamis "$dir/in.tif" "$2" >>"$dir/ours"
        run_vips "$dir/in.tif" "$2" "$predictor" >>"$dir/theirs"
    done
    echo "$1x$1 u8, tiles of 256, $2; minima of $3, memory: maximum"
    report tamis "$dir/ours" "$idle"
    report vips "$dir/theirs" "$vips_idle"
    rm -f "$dir/in.tif" "$dir/out.tif"
}

"$tamis" --version
vips --version
nproc | sed 's/$/ CPUs/'
vips colourspace "$here/demo/portrait_noisy.png" "$dir/photo.v" b-w
compare "$side" none "$repeats"
compare "$side" deflate "$repeats"
test -z "$huge" || compare "$huge" none 1
