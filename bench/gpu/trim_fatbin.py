#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Blanks the code of a CUDA library for all GPUs but one, so that it packs small.

    bench/gpu/trim_fatbin.py 90 LIBRARY...

The library stays as long as it was and nothing in it moves: code for other architectures becomes
zeros, which compress to nothing. It then runs on GPUs of that architecture alone. The layout of
"fat binaries" is what `cuobjdump --list-elf` shows of them: a header of 16 bytes (magic, version,
its size, size of what follows), then entries with a header each, whose 32-bit word at byte 28 is
the architecture.
"""
import struct
import sys

MAGIC = struct.pack("<I", 0xBA55ED50)


def entries(data):
    """(architecture, begin, end) of each piece of code."""
    at = data.find(MAGIC)
    while at >= 0:
        header, size = struct.unpack_from("<HQ", data, at + 6)
        entry, end = at + header, at + header + size
        if end > len(data):  # the same four bytes by chance
            at = data.find(MAGIC, at + 4)
            continue
        while entry < end:
            header, size = struct.unpack_from("<IQ", data, entry + 4)
            yield (struct.unpack_from("<I", data, entry + 28)[0], entry + header,
                   entry + header + size)
            entry += header + size
        at = data.find(MAGIC, end)


def trim(name, keep):
    with open(name, "rb") as file:
        data = bytearray(file.read())
    kept = blanked = 0
    for architecture, begin, end in list(entries(data)):
        if architecture == keep:
            kept += end - begin
        else:
            blanked += end - begin
            data[begin:end] = bytes(end - begin)
    if not kept:
        sys.exit(f"{name}: no code for sm_{keep}; nothing was changed")
    with open(name, "wb") as file:
        file.write(data)
    print(f"{name}: kept {kept} bytes of code, blanked {blanked}")


if __name__ == "__main__":
    if len(sys.argv) < 3 or not sys.argv[1].isdigit():
        sys.exit(__doc__.split("\n\n")[1].strip())
    for library in sys.argv[2:]:
        trim(library, int(sys.argv[1]))
