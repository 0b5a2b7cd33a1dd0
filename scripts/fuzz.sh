#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Fuzzes the chain parser and the file readers, SECONDS (default 30) each, with a dictionary made
# from the parameter tables. Crashing inputs are left in build-fuzz/.
set -eu
seconds=${1:-30}
cmake -S . -B build-fuzz -G Ninja -DCMAKE_C_COMPILER=clang -DTAMIS_FUZZ=ON \
    -DTAMIS_SANITIZE=address,undefined,fuzzer-no-link >/dev/null
cmake --build build-fuzz
cd build-fuzz
./fuzz/fuzz_words >fuzz/chain.dict
for target in fuzz_chain fuzz_reader; do
    mkdir -p "fuzz/corpus_$target"
    echo "fuzz: $target for $seconds s"
    extra=""
    [ "$target" = fuzz_chain ] && extra=-dict=fuzz/chain.dict
    [ "$target" = fuzz_chain ] || ./fuzz/fuzz_seeds "fuzz/corpus_$target"
    ./fuzz/$target -max_total_time="$seconds" -rss_limit_mb=2048 -print_final_stats=1 $extra \
        "fuzz/corpus_$target" 2>fuzz/$target.log || { tail -n 40 fuzz/$target.log; exit 1; }
    grep -E 'number_of_executed_units|peak_rss' fuzz/$target.log
done
