#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints tamis/_filters.pyi, made from what `tamis list --json` says: make_stubs.py TAMIS"""
import importlib.util
import json
import os
import subprocess
import sys

HEAD = '''# SPDX-License-Identifier: Apache-2.0
# Made by ../make_stubs.py from the filters' tables; `make docs` writes it anew.
from typing import Any, Literal, Sequence, overload

from numpy import ndarray
from numpy.typing import NDArray

_Size = int | Sequence[int] | str
_Value = float | str
_Numbers = float | Sequence[float] | NDArray[Any] | str
_Matrix = Sequence[Sequence[float]] | NDArray[Any] | str

def specs() -> list[dict[str, Any]]: ...
'''
COMMON = '''out: Any = None
channel_axis: int | None | Literal["auto"] = "auto"
alpha_channel: Literal["straight", "premultiplied"] | None = None
guide: Any = None
device: str | None = None
threads: int | None = None'''


def signatures():
    """The module python/tamis/_signature.py, without the package around it."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tamis", "_signature.py")
    spec = importlib.util.spec_from_file_location("_signature", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def literal(value):
    return '"%s"' % value if isinstance(value, str) else repr(value)


def arguments(spec, s, image):
    """Lines of a signature whose picture is of that type."""
    lines = ["    image: %s," % image, "    /,"]
    first = s.second(spec)
    if first == "guide":
        lines += ["    guide: Any,", "    *,"]
    for p in spec["params"]:
        lines.append("    %s: %s = %s," % (s.identifier(p["name"]), s.annotation(p),
                                           literal(s.default(p))))
        if s.identifier(p["name"]) == first:
            lines.append("    *,")
    return lines + ["    %s," % line for line in COMMON.split("\n")
                    if not line.startswith(first + ":")]


def function(spec, s):
    """The stub of one filter: arrays of NumPy give such, others what their library has."""
    begin = ["@overload", "def %s(" % spec["name"]]
    text = '    """%s"""' % s.docstring(spec).rstrip().replace("\n", "\n    ").replace(
        "\n    \n", "\n\n")
    lines = begin + arguments(spec, s, "ndarray[Any, Any]") + [") -> NDArray[Any]:", text]
    return "\n".join(lines + begin + arguments(spec, s, "Any") + [") -> Any: ..."])


def main():
    said = subprocess.run([sys.argv[1], "list", "--json"], stdout=subprocess.PIPE, check=True)
    s = signatures()
    filters = json.loads(said.stdout)["filters"]
    names = ", ".join('"%s"' % f["name"] for f in filters)
    print(HEAD + "\n__all__ = [%s]\n\n" % names + "\n\n".join(function(f, s) for f in filters))


if __name__ == "__main__":
    main()
