#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Everything that wants a GPU: builds, checks, sanitizes and times the CUDA module.
#
#     bench/gpu.sh OUT [check] [sanitize] [bench] [peers]
#
# Without names of stages all are run. Needs CMake, Ninja, gcc and nvcc; peers also NPP and Python
# with PyTorch (CuPy and CV-CUDA where they are there). Writes into the folder OUT:
#
#     summary.txt   stages with their verdicts, and what the programs printed
#     check.txt     check --cpu cuda for each filter with device kernels; the pictures of
#                   tests/unit/device_size_test.c are in summary.txt
#     sanitize.txt  memcheck, racecheck and initcheck on small samples
#     tamis.json, peers.json, table.md   times; the table is for bench/RESULTS.md
#
# Environment: BUILD (folder, build-gpu), BUILT (a folder with these programs built elsewhere: what is
# missing there is built), SAMPLES (of check, 2000), LIMIT (seconds in all, 470), SANITIZE (of it
# for sanitizers, 110), JOBS (processes at
# once), FILTERS (names, all), QUICK=1 (the most telling rows).
# The status is 1 when a check or a sanitizer failed.
set -uo pipefail
[ $# -ge 1 ] || { sed -n '3,21s/^# \{0,1\}//p' "$0"; exit 2; }
mkdir -p "$1" && out=$(cd "$1" && pwd)
shift
stages=${*:-check sanitize bench peers}
cd "$(dirname "$0")/.." || exit 2
build=${BUILD:-build-gpu}
jobs=${JOBS:-$(nproc)}
limit=${LIMIT:-470}
quick=${QUICK:+--quick}
failed=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
: >"$out/summary.txt"

say() {
    echo "$*" | tee -a "$out/summary.txt"
}

left() { # seconds wanted: those, or what is left of the limit
    local rest=$((limit - SECONDS))
    [ $rest -gt 5 ] || rest=5
    echo $(($1 < rest ? $1 : rest))
}

configure() {
    local arch
    for arch in native 90; do
        cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DTAMIS_IO=OFF -DTAMIS_CUDA=ON \
            -DTAMIS_CUDA_ARCHS=$arch >"$work/build.txt" 2>&1 && return 0
    done
    return 1
}

built() { # program: it came along
    [ -n "${BUILT:-}" ] && [ -x "$BUILT/$1" ]
}

build_all() {
    local targets="" program
    for program in check tamis tamis_cuda.so gpu_bench; do
        built $program || targets="$targets ${program%.so}"
    done
    configure || return 1
    ninja -C "$build" -t query npp_bench >/dev/null 2>&1 && targets="$targets npp_bench"
    built unit_device_size_test ||
        { ninja -C "$build" -t query unit_device_size_test >/dev/null 2>&1 &&
            targets="$targets unit_device_size_test"; }
    [ -z "$targets" ] ||
        timeout "$(left 300)" ninja -C "$build" -j "$jobs" $targets >"$work/build.txt" 2>&1
}

place() { # program, where it is built: where it is
    if built "$1"; then echo "$BUILT/$1"; else echo "$build/$2"; fi
}

if ! build_all; then
    say "build: FAILED after $SECONDS s"
    grep -E -A5 'error|FAILED' "$work/build.txt" | head -n 60 | tee -a "$out/summary.txt"
    exit 1
fi
say "build: ok, $SECONDS s"
grep -E 'warning' "$work/build.txt" | head -n 20 | tee -a "$out/summary.txt"

TAMIS_CUDA_MODULE=$(realpath "$(place tamis_cuda.so tamis_cuda.so)")
export TAMIS_CUDA_MODULE
filters=${FILTERS:-$(sed -n 's/^TAMIS_CUDA_KERNELS(\([a-z0-9_]*\)).*/\1/p' filters/*/*.cu | sort -u)}
check=$(place check tests/check)
sizes=$(place unit_device_size_test tests/unit_device_size_test) # there if cmocka is
export check sizes work

# ---- check: every kernel row against the C reference

check_one() { # filter, samples, seconds
    local start=$SECONDS
    timeout "$3" "$check" --filter "$1" --cpu cuda --samples "$2" >"$work/check.$1" 2>&1
    local code=$?
    echo "$code" >"$work/code.$1"
    echo "== $1: status $code, $((SECONDS - start)) s" >>"$work/check.$1"
}
export -f check_one

run_check() {
    local seconds filter bad=""
    seconds=$(left 110)
    printf '%s\n' $filters |
        xargs -P "$jobs" -I{} bash -c "check_one {} ${SAMPLES:-2000} $seconds"
    for filter in $filters; do
        cat "$work/check.$filter"
        [ "$(cat "$work/code.$filter")" = 0 ] || bad="$bad $filter"
    done >"$out/check.txt"
    say "check: ${bad:+FAILED:}${bad:-ok:} $(echo $filters | wc -w) filters"
    [ -z "$bad" ] || { grep -h -A3 '^FAIL' "$out/check.txt" | head -n 40; failed=1; }
    if [ ! -x "$sizes" ]; then
        say "sizes: left out, cmocka was not found"
    elif timeout "$(left 60)" "$sizes" >"$work/sizes.txt" 2>&1; then
        say "sizes: ok"
    else
        say "sizes: FAILED"
        head -n 20 "$work/sizes.txt" | tee -a "$out/summary.txt"
        failed=1
    fi
}

# ---- sanitize

find_sanitizer() {
    local nvcc
    nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
    command -v compute-sanitizer || ls "$(dirname "$nvcc")/compute-sanitizer" \
        "$(dirname "$nvcc")/../compute-sanitizer/compute-sanitizer" 2>/dev/null | head -n 1
}

sanitize_one() { # tool, filter or "sizes"
    local log=$work/sanitize.$1.$2 rest=$((deadline - $(date +%s)))
    local -a program=("$check" --filter "$2" --cpu cuda --samples 20 --part)
    [ "$2" != sizes ] || program=("$sizes")
    [ $rest -gt 0 ] || { echo "== $1 $2: out of time" >"$log"; return; }
    timeout "$((rest < 90 ? rest : 90))" "$sanitizer" --tool "$1" --error-exitcode 99 --print-limit 5 \
        "${program[@]}" >"$log" 2>&1
    local code=$?
    if [ $code -eq 124 ]; then
        echo "== $1 $2: out of time" >>"$log"
    elif [ $code -ne 0 ] || ! grep -q 'SUMMARY: 0' "$log"; then
        echo "== $1 $2: FAILED, status $code" >>"$log"
    else
        echo "== $1 $2: ok" >"$log"
    fi
}
export -f sanitize_one

run_sanitize() {
    local tool
    sanitizer=$(find_sanitizer)
    deadline=$(($(date +%s) + $(left "${SANITIZE:-110}")))
    export sanitizer deadline
    [ -n "$sanitizer" ] || { say "sanitize: left out, compute-sanitizer was not found"; return; }
    for tool in memcheck racecheck initcheck; do
        printf "$tool %s\n" $filters
        [ "$tool" != memcheck ] || [ ! -x "$sizes" ] || echo "$tool sizes"
    done | xargs -P "$jobs" -L 1 bash -c 'sanitize_one "$0" "$1"'
    cat "$work"/sanitize.* >"$out/sanitize.txt"
    local wanted ok bad
    wanted=$((3 * $(echo $filters | wc -w)))
    [ ! -x "$sizes" ] || wanted=$((wanted + 1))
    ok=$(grep -c '^== .*: ok' "$out/sanitize.txt")
    bad=$(grep -c '^== .*FAILED' "$out/sanitize.txt")
    say "sanitize: $ok of $wanted runs clean, $bad failed, $((wanted - ok - bad)) out of time"
    grep '^== .*FAILED' "$out/sanitize.txt" | tee -a "$out/summary.txt"
    [ "$bad" -eq 0 ] || failed=1
}

# ---- times

timed() { # name, seconds, command...: its output goes to the summary
    local name=$1 seconds
    seconds=$(left "$2")
    shift 2
    say "== $name"
    timeout "$seconds" "$@" 2>&1 | tee -a "$out/summary.txt"
    local code=${PIPESTATUS[0]}
    [ "$code" -eq 0 ] || say "$name: status $code"
}

run_bench() {
    timed "gpu_bench" 150 "$(place gpu_bench gpu_bench)" $quick --json "$out/tamis.json"
}

run_peers() {
    local file comma=""
    if [ -x "$build/npp_bench" ]; then
        timed "npp_bench" 80 "$build/npp_bench" $quick --json "$work/npp.json"
    else
        say "NPP is left out: this toolkit has none"
    fi
    timed "python_peers" 110 python3 bench/gpu/python_peers.py $quick --json "$work/python.json"
    for file in "$work/npp.json" "$work/python.json"; do
        [ -s "$file" ] || continue
        printf '%s' "$comma"
        cat "$file"
        comma=,
    done >"$work/peers"
    { echo '['; cat "$work/peers"; echo ']'; } >"$out/peers.json"
}

for stage in $stages; do
    start=$SECONDS
    case $stage in
    check | sanitize | bench | peers) "run_$stage" ;;
    *) say "there is no stage $stage"; exit 2 ;;
    esac
    say "$stage: $((SECONDS - start)) s"
done
if [ -s "$out/tamis.json" ]; then
    [ -s "$out/peers.json" ] || echo '[]' >"$out/peers.json"
    python3 bench/gpu/table.py "$out/tamis.json" "$out/peers.json" >"$out/table.md" &&
        tail -n +4 "$out/table.md"
fi
say "all: $SECONDS s, $([ $failed -eq 0 ] && echo ok || echo FAILED)"
exit $failed
