#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Writes filters/<folder>/<name>.md from the head comment of the filter's header and its parameter
# table. With --check: fails when a page differs from what would be written.
set -eu
build=${1:-build}
check=${2:-}
status=0
grep '^[a-z]' filters/filters.list | while read -r line; do
    name=${line##*/}
    page=filters/${line%%/*}/$name.md
    "$build/tamis" docs "$name" >"$page.new"
    if [ "$check" = --check ]; then
        cmp -s "$page.new" "$page" || { echo "docs: $page is out of date: run make docs"; status=1; }
        rm -f "$page.new"
    else
        mv "$page.new" "$page"
    fi
    [ $status = 0 ] || exit $status
done
