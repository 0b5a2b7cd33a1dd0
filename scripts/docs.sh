#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Writes filters/<folder>/<name>.md from the head comment of the filter's header and its parameter
# table, the table in doc/presets.md, and the signatures of the Python package. With --check: fails when one differs from what
# would be written.
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

# The lines between two marks of the page are the table.
page=doc/presets.md
"$build/tamis" docs presets >"$page.table"
awk -v table="$page.table" '
    /^<!-- end of the table -->/ { inside = 0 }
    !inside { print }
    /^<!-- table:/ { inside = 1; while ((getline line <table) > 0) print line }
' "$page" >"$page.new"
rm -f "$page.table"
if [ "$check" = --check ]; then
    cmp -s "$page.new" "$page" || { echo "docs: $page is out of date: run make docs"; status=1; }
    rm -f "$page.new"
else
    mv "$page.new" "$page"
fi

stubs=python/tamis/_filters.pyi
if command -v python3 >/dev/null; then
    python3 python/make_stubs.py "$build/tamis" >"$stubs.new"
    if [ "$check" = --check ]; then
        cmp -s "$stubs.new" "$stubs" || { echo "docs: $stubs is out of date: run make docs"; status=1; }
        rm -f "$stubs.new"
    else
        mv "$stubs.new" "$stubs"
    fi
fi
exit $status
