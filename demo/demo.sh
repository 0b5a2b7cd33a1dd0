#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Cleans a noisy photo, measures the result against the clean original and writes a report.
set -eu
tamis=${1:-build}/tamis
out=${1:-build}/demo
here=$(dirname "$0")
chain='bilateral=sigma_space=1.5:sigma_color=50,bilateral=sigma_space=2:sigma_color=25'
mkdir -p "$out"

echo "tamis: cleaning demo/portrait_noisy.png with: $chain"
start=$(date +%s%N)
"$tamis" run "$chain" "$here/portrait_noisy.png" -o "$out/clean.png" --overwrite
end=$(date +%s%N)
"$tamis" run "$chain" "$here/portrait_noisy.png" -o "$out/clean.png" --overwrite -q \
    --report "$out/report.html" --original "$here/portrait.png" >/dev/null

echo
echo "Noisy against the original:"
"$tamis" compare "$here/portrait.png" "$here/portrait_noisy.png"
echo "Cleaned against the original:"
"$tamis" compare "$here/portrait.png" "$out/clean.png"
echo "Time, file to file: $(((end - start) / 1000000)) ms"
echo "Result: $out/clean.png"
echo "Before and after: $out/report.html (open it in a browser)"
