#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rules that a compiler does not check: who may include whom, license lines, white space.

    python3 tests/style.py        prints each breach; the exit status is 1 when there is one
"""
import os
import re
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SOURCE = (".c", ".h", ".cu", ".cuh", ".cpp", ".py", ".sh", ".cmake")
# Layers of src/, from the bottom up: each sees itself and those before it.
LAYERS = ["core", "image", "cpu", "gpu", "graph"]
# Engine headers that filters may use.
CONTRACT = {"cpu/kernel.h", "cpu/simd.h", "cpu/simd_f32.h", "cpu/sample.h", "cpu/lanczos.h",
            "cpu/picture.h"}
# Of cuda/.
DEVICE_CONTRACT = {"kernel.cuh", "pixels.cuh", "products.cuh", "rows.cuh", "async.cuh",
                   "halves.cuh", "cpu/kernel.h"}
COLUMNS = 100

breaches = []


def breach(path, line, text):
    breaches.append("%s:%d: %s" % (path, line, text))


def files():
    """Paths, from the root, of all files that belong to the project."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT,
                            capture_output=True, text=True)
    if listed.returncode == 0:
        names = listed.stdout.splitlines()
    else:  # a release archive, not a repository
        names = []
        for folder, folders, found in os.walk(ROOT):
            folders[:] = [f for f in folders if not f.startswith((".", "build"))]
            names += [os.path.relpath(os.path.join(folder, f), ROOT) for f in found]
    return sorted(n for n in set(names) if os.path.isfile(os.path.join(ROOT, n)))


def is_source(path):
    return path.endswith(SOURCE) or os.path.basename(path) in ("CMakeLists.txt", "Makefile")


def check_text(path, text):
    lines = text.split("\n")
    if not any("SPDX-License-Identifier: Apache-2.0" in line for line in lines[:3]):
        breach(path, 1, "no SPDX line")
    for number, line in enumerate(lines, 1):
        if "\t" in line and os.path.basename(path) != "Makefile":
            breach(path, number, "a tab")
        if line != line.rstrip():
            breach(path, number, "blanks at the end")
        if len(line) > COLUMNS and path.endswith((".c", ".h", ".cu", ".cuh", ".py")):
            breach(path, number, "more than %d columns" % COLUMNS)
    if text and not text.endswith("\n"):
        breach(path, len(lines), "no newline at the end")


def includes(text):
    """(line number, <...> or "...", name) of each include."""
    for number, line in enumerate(text.split("\n"), 1):
        found = re.match(r'\s*#\s*include\s*([<"])([^>"]+)', line)
        if found:
            yield number, found.group(1), found.group(2)


def layer_of(name):
    return LAYERS.index(name.split("/")[0]) if name.split("/")[0] in LAYERS else None


def src_may(path, name):
    mine, theirs = layer_of(path[len("src/"):]), layer_of(name)
    return theirs is not None and theirs <= mine


def filter_may(path, name):
    folder = path.split("/")[1]
    own = "/" not in name and os.path.exists(os.path.join(ROOT, "filters", folder, name))
    return own or name in (DEVICE_CONTRACT if path.endswith((".cu", ".cuh")) else CONTRACT)


def plain_may(path, name):
    """io, tools and python: own headers only."""
    top, here = path.split("/")[0], os.path.dirname(path)
    return any(os.path.exists(os.path.join(ROOT, base, name)) for base in (here, top))


def check_layers(path, text):
    rules = {"src": src_may, "filters": filter_may, "io": plain_may, "tools": plain_may,
             "python": plain_may}
    top = path.split("/")[0]
    if top not in rules or path.endswith("_test.c"):
        return
    for number, kind, name in includes(text):
        if kind == '"' and (".." in name or not rules[top](path, name)):
            breach(path, number, '"%s" is not for %s' % (name, top))
        if kind == "<" and name.startswith("tamis/io") and top in ("src", "filters"):
            breach(path, number, "the engine knows no files")
        if kind == "<" and top == "src" and is_filter_header(name):
            breach(path, number, "the engine knows no filter by name")


def is_filter_header(name):
    found = re.match(r"tamis/(\w+)\.h$", name)
    return bool(found) and not os.path.exists(os.path.join(ROOT, "include", name))


def check_format(paths):
    tool = shutil.which("clang-format")
    if not tool:
        print("skipped: clang-format was not found")
        return
    run = subprocess.run([tool, "--dry-run", "-Werror"] + paths, cwd=ROOT, capture_output=True,
                         text=True)
    for line in run.stderr.splitlines():
        if "clang-format-violations" in line:
            breaches.append(line.strip())


def main():
    sources = [p for p in files() if is_source(p)]
    for path in sources:
        with open(os.path.join(ROOT, path), encoding="utf-8") as f:
            text = f.read()
        check_text(path, text)
        if path.endswith((".c", ".h", ".cu", ".cuh")):
            check_layers(path, text)
    check_format([p for p in sources if p.endswith((".c", ".h"))])
    for line in breaches:
        print(line)
    print("%d files, %d breaches" % (len(sources), len(breaches)))
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
