#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The command on a machine with a GPU: the same files from CPU and GPU, its own verdicts and times.
#
#     bench/gpu/command.sh OUT
#
# Environment: BUILD (folder with tamis and tamis_cuda.so, build-gpu); a tamis that reads no
# PNG needs Python's Pillow for the photo. Writes into the folder OUT:
#
#     doctor.txt, verify.txt   what the command says; verify is of every filter, type and border
#     files.txt                a photo through each filter with --device cpu and cuda, files compared
#     published.txt, .json     tamis bench --table published
#     batch.txt                4096 pictures of 320x240, and 32 of 4K, on CPU and GPU
#
# The status is 1 when files of an integer filter differ, or verify fails.
set -uo pipefail
[ $# -eq 1 ] || { sed -n '3,14s/^# \{0,1\}//p' "$0"; exit 2; }
mkdir -p "$1" && out=$(cd "$1" && pwd) || exit 2
cd "$(dirname "$0")/../.." || exit 2
build=$(cd "${BUILD:-build-gpu}" && pwd) || exit 2
tamis=$build/tamis
export TAMIS_CUDA_MODULE=$build/tamis_cuda.so
work=$(mktemp -d -p "$([ -d /dev/shm ] && echo /dev/shm || echo /tmp)")
trap 'rm -rf "$work"' EXIT
failed=0

"$tamis" doctor >"$out/doctor.txt" 2>&1
"$tamis" verify --device cuda >"$out/verify.txt" 2>&1 || { failed=1; echo "verify: FAILED"; }
tail -n 3 "$out/verify.txt"

# ---- a photo: a chain, and by how many levels its files may differ (0: not in a byte; what follows
# non-local means multiplies its one level)

photo=$work/photo.pnm
"$tamis" run '' demo/portrait.png -o "$photo" 2>/dev/null ||
    python3 -c 'import sys, PIL.Image; PIL.Image.open(sys.argv[1]).save(sys.argv[2], "ppm")' \
        demo/portrait.png "$photo" || exit 2
while read -r levels chain; do
    worst=same
    for device in cpu cuda; do
        "$tamis" run "$chain" "$photo" -o "$work/$device.pnm" --overwrite --device $device ||
            worst=failed
    done
    if [ $worst = same ] && ! cmp -s "$work/cpu.pnm" "$work/cuda.pnm"; then
        worst=$("$tamis" compare "$work/cpu.pnm" "$work/cuda.pnm" --json |
            sed -n 's/.*"max_abs": *\([0-9.e-]*\).*/\1/p' | head -n 1)
        awk -v a="$worst" -v b="$levels" 'BEGIN { exit !(a != "" && a <= b) }' || worst="$worst FAILED"
    fi
    case $worst in *[fF]*AILED | failed) failed=1 ;; esac
    echo "$chain: $worst"
done >"$out/files.txt" <<'CHAINS'
0 gaussian=sigma=1.5
0 gaussian=sigma=20
0 box=ksize=11
0 median=ksize=5
0 median=ksize=31
1 bilateral
1 nlmeans=h=10
0 sharpen
0 unsharp=sigma=1
0 laplacian=type=same
0 sobel
0 prewitt
0 scharr=output=dx:type=same
0 canny=low=40:high=90
0 convolve=kernel=1,4,7,4,1;4,16,26,16,4;7,26,41,26,7;4,16,26,16,4;1,4,7,4,1
0 rotate=angle=12.5
0 resize=scale=0.5
0 resize=size=900x700:interp=lanczos3
0 color=to=gray
8 nlmeans=h=6:search=5:patch=3,unsharp,gaussian,sobel
CHAINS
cat "$out/files.txt"

# ---- times

"$tamis" bench --table published --repeat 9 --device cuda --json >"$out/published.json" 2>&1
"$tamis" bench --table published --repeat 9 --device cuda >"$out/published.txt" 2>&1
cat "$out/published.txt"

batch() { # name, pictures, size, chain
    mkdir -p "$work/in"
    rm -f "$work/in/"*
    head -c $((${3%x*} * ${3#*x})) /dev/urandom >"$work/one.raw"
    "$tamis" run '' "$work/one.raw" --raw "$3:u8:1" -o "$work/in/00000.pgm" || return
    local i device start line="$1"
    for ((i = 1; i < $2; i++)); do ln "$work/in/00000.pgm" "$work/in/$(printf %05d $i).pgm"; done
    for device in cpu cuda; do
        rm -rf "$work/out"
        mkdir "$work/out"
        start=$EPOCHREALTIME
        "$tamis" run "$4" "$work/in" -o "$work/out/" --device $device -q || line="$line FAILED"
        line="$line, $device $(awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.2f", b - a }') s"
    done
    echo "$line"
}
{
    batch "4096 of 320x240, gaussian 5" 4096 320x240 gaussian=sigma=1.1:ksize=5
    batch "32 of 3840x2160, gaussian 5" 32 3840x2160 gaussian=sigma=1.1:ksize=5
    batch "32 of 3840x2160, nlmeans" 32 3840x2160 nlmeans=h=10
} 2>&1 | tee "$out/batch.txt"
exit $failed
