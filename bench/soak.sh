#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Many small pictures through one process: its memory at a tenth of them and at the end.
#
#     bench/soak.sh [N] [OPTION...]       N pictures, default 20000; options go to tamis run
#
# TAMIS names the command, default build/tamis; CHAIN the filters; TMPDIR the place for the pictures,
# which take about 10 KB each. Prints samples and a verdict; the exit status is 1 when memory grows, 2
# when the run was over too soon to tell.
set -eu
tamis=${TAMIS:-build/tamis}
chain=${CHAIN:-median,gaussian=sigma=1,unsharp}
count=${1:-20000}
[ $# -eq 0 ] || shift
place=$(mktemp -d "${TMPDIR:-/tmp}/tamis-soak-XXXXXX")
trap 'rm -rf "$place"' EXIT
trap 'exit 130' INT TERM
mkdir "$place/in" "$place/out"

# A few pictures of several sizes, types and formats, under many names.
kinds=0
for size in 64x48 80x60 97x33; do
    w=${size%x*} h=${size#*x}
    head -c $((w * h)) /dev/urandom > "$place/$size.raw"
    for format in png jpeg tiff pnm; do
        "$tamis" run '' "$place/$size.raw" --raw "$size:u8:1" -o "$place/kind$kinds" \
            --format "$format"
        kinds=$((kinds + 1))
    done
done
# Folders of a thousand: only the first is linked one by one.
fill() { # folder, pictures
    mkdir "$place/in/$1"
    j=0
    while [ $j -lt "$2" ]; do
        echo "$place/kind$((j % kinds)) $place/in/$1/$(printf %03d $j).png"
        j=$((j + 1))
    done | xargs -n 2 -P 2 ln
}
i=0
while [ $i -lt "$count" ]; do
    folder=$(printf %05d $i)
    if [ $i -gt 0 ] && [ $((count - i)) -ge 1000 ]; then
        cp -al "$place/in/00000" "$place/in/$folder"
    else
        fill "$folder" $((count - i < 1000 ? count - i : 1000))
    fi
    i=$((i + 1000))
done

device_memory() {
    command -v nvidia-smi > /dev/null 2>&1 || { echo 0; return; }
    nvidia-smi --query-compute-apps=pid,used_memory --format=csv,noheader,nounits 2> /dev/null |
        awk -F, -v pid="$1" '$1 == pid { sum += $2 } END { print sum + 0 }'
}

: > "$place/log"
"$tamis" run "$chain" "$place/in" --recursive -o "$place/out" --format pnm --progress json "$@" \
    2>> "$place/log" &
pid=$!
: > "$place/samples"
while kill -0 $pid 2> /dev/null; do
    rss=$(awk '/^VmRSS/ { print $2 }' /proc/$pid/status 2> /dev/null) || rss=
    done=$(tail -n 1 "$place/log" | sed -n 's/.*"finished":\([0-9]*\).*/\1/p')
    [ -z "$rss" ] || [ -z "$done" ] || echo "$done $rss $(device_memory $pid)" >> "$place/samples"
    sleep 0.2
done
code=0
wait $pid || code=$?
if [ $code -ne 0 ]; then
    grep -v '^{' "$place/log" | tail -n 5
    exit $code
fi
awk -v count="$count" '
    $1 >= count / 10 && !tenth { tenth = $1; rss = $2; device = $3 }
    { last = $1; last_rss = $2; last_device = $3; if ($2 > most) most = $2 }
    END {
        if (!tenth || last == tenth) {
            print "too few samples: give more pictures"
            exit 2
        }
        printf "at %d pictures: %d KB, on the device %d MB\n", tenth, rss, device
        printf "at %d pictures: %d KB, on the device %d MB; most ever %d KB\n", last, last_rss,
               last_device, most
        grown = last_rss > 1.05 * rss + 1024 || last_device > 1.05 * device + 16
        print grown ? "memory grows" : "memory does not grow"
        exit grown
    }' "$place/samples"
