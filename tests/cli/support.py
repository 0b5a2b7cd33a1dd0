# SPDX-License-Identifier: Apache-2.0
"""What the tests of the command share: running it, making and reading small pictures."""
import json
import os
import shutil
import struct
import subprocess
import tempfile
import unittest
import zlib

TAMIS = os.environ.get("TAMIS", "tamis")


def chunk(kind, data):
    return (struct.pack(">I", len(data)) + kind + data +
            struct.pack(">I", zlib.crc32(kind + data)))


def png_bytes(w, h, channels, rows, bits=8, extra=b""):
    """A PNG of rows of sample bytes; extra holds chunks to stand before the pixels."""
    color = {1: 0, 2: 4, 3: 2, 4: 6}[channels]
    head = struct.pack(">IIBBBBB", w, h, bits, color, 0, 0, 0)
    data = zlib.compress(b"".join(b"\0" + bytes(row) for row in rows), 6)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + extra + chunk(b"IDAT", data) +
            chunk(b"IEND", b""))


def pattern(w, h, channels=1, seed=1):
    """Rows of bytes that look like noise and are the same each time."""
    state, rows = seed * 2654435761 % 2**32, []
    for _ in range(h):
        row = bytearray()
        for _ in range(w * channels):
            state = (state * 1664525 + 1013904223) % 2**32
            row.append(state >> 24)
        rows.append(bytes(row))
    return rows


def read_pgm(path):
    """(w, h, bytes) of an 8-bit PGM."""
    with open(path, "rb") as f:
        data = f.read()
    fields, at = [], 2
    while len(fields) < 3:
        while data[at:at + 1].isspace():
            at += 1
        if data[at:at + 1] == b"#":
            at = data.index(b"\n", at)
            continue
        end = at
        while not data[end:end + 1].isspace():
            end += 1
        fields.append(int(data[at:end]))
        at = end
    return fields[0], fields[1], data[at + 1:]


def pgm_bytes(w, h, rows):
    return b"P5\n%d %d\n255\n" % (w, h) + b"".join(bytes(row) for row in rows)


def tiff_bytes(pages):
    """Pages of gray bytes, each (w, h, bytes, NewSubfileType), one strip a page."""
    data = struct.pack("<2sHI", b"II", 42, 8)
    for i, (w, h, samples, kind) in enumerate(pages):
        strip = len(data) + 2 + 10 * 12 + 4
        tags = ((254, kind), (256, w), (257, h), (258, 8), (259, 1), (262, 1), (273, strip),
                (277, 1), (278, h), (279, w * h))
        following = strip + w * h if i + 1 < len(pages) else 0
        data += struct.pack("<H", len(tags))
        data += b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in tags)
        data += struct.pack("<I", following) + samples
    return data


class Case(unittest.TestCase):
    """A test in a folder of its own, where in.png lies."""

    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="tamis-cli-")
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.write("in.png", png_bytes(48, 33, 3, pattern(48, 33, 3)))

    def path(self, name):
        return os.path.join(self.dir, name)

    def write(self, name, data):
        with open(self.path(name), "wb") as f:
            f.write(data)

    def read(self, name):
        with open(self.path(name), "rb") as f:
            return f.read()

    def names(self):
        return sorted(os.listdir(self.dir))

    def tamis(self, *args, code=0, data=None, env=None, **more):
        """Runs the command and checks its exit code; stdout and stderr are bytes and text. None in
        env: not set."""
        surroundings = dict(os.environ, LC_ALL="C.UTF-8", TAMIS_DEVICE="cpu", TAMIS_PRESETS="")
        surroundings.update(env or {})
        surroundings = {name: value for name, value in surroundings.items() if value is not None}
        run = subprocess.run([TAMIS, *args], cwd=self.dir, input=data, capture_output=True,
                             env=surroundings, timeout=600, check=False, **more)
        run.err = run.stderr.decode("utf-8", "replace")
        run.text = run.stdout.decode("utf-8", "replace")
        allowed = code if isinstance(code, tuple) else (code,)
        self.assertIn(run.returncode, allowed, "%r\n%s\n%s" % (args, run.text[:500], run.err))
        return run

    def json(self, *args, code=0):
        run = self.tamis(*args, "--json", code=code)
        result = json.loads(run.stdout)  # refuses anything after the one object
        self.assertEqual(result["schema_version"], 1)
        return result
