# SPDX-License-Identifier: Apache-2.0
"""Parts of Zarr arrays that lie in folders, read into memory that is there and written from it, one
chunk after the other in the calling thread; the zarr package schedules each chunk, and takes fresh
memory for it at each step. What compresses is numcodecs, as there. Arrays that are not as plain
(in other stores, sharded, with checksums, of the other byte order) are left to that package."""
import collections
import dataclasses
import errno
import functools
import itertools
import json
import os
import sys
from typing import Any, Optional

import numpy

from . import _arrays, _pool
from ._recent import recall


# Decoded chunks that stay, since tasks of neighbors need a part of them. As many bytes at most.
RECENT_BYTES = 64 << 20
_recent = collections.OrderedDict()  # file and its state -> chunk, oldest use first


def _remember(key, chunk):
    _recent[key] = chunk
    while len(_recent) > max(1, RECENT_BYTES // chunk.nbytes):
        try:
            _recent.popitem(last=False)
        except KeyError:
            break


@functools.lru_cache(16)
def _codec(config):
    import numcodecs
    return numcodecs.get_codec(dict(config))


def _read_file(file, memory, offset=0):
    """Fills the memory from a file, or says that the file is shorter."""
    rest = memoryview(memory.reshape(-1).view("uint8"))
    while rest:
        got = os.preadv(file, [rest], offset)
        if got == 0:
            return False
        rest, offset = rest[got:], offset + got
    return True


def _write_file(path, data):
    """The file has all of the data or is as it was: whoever is killed leaves no half of it."""
    part = "%s.%s.partial" % (path, os.urandom(8).hex())
    try:
        try:
            file = open(part, "xb", buffering=0)
        except FileNotFoundError:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            file = open(part, "xb", buffering=0)
        with file:
            rest = memoryview(data)
            while rest:
                rest = rest[file.write(rest):]
        os.replace(part, path)
    except BaseException:
        if os.path.exists(part):
            os.unlink(part)
        raise


@dataclasses.dataclass(frozen=True)
class Plain:
    """A Zarr array in a folder. Its chunks are files, each a whole chunk also at the edges."""
    path: str
    shape: tuple
    chunks: tuple
    dtype: Any
    fill: Any
    codec: Optional[tuple]  # the configuration for numcodecs
    prefix: tuple  # of the keys of chunks
    separator: str
    write_empty: bool  # whether chunks with nothing but the fill value are written

    def __dask_tokenize__(self):
        return ("tamis.dask.Plain",) + dataclasses.astuple(self)

    def _file(self, at):
        return os.path.join(self.path, self.separator.join(self.prefix + tuple(
            str(i) for i in at)))

    def _spans(self, index):
        """For each chunk that a region touches, along each axis: its number, what part of it, and
        where that is in the region."""
        axes = []
        for part, length, chunk in zip(index, self.shape, self.chunks):
            begin, end, step = part.indices(length)
            if step != 1:
                raise IndexError("step %d" % step)
            numbers = range(begin // chunk, -(-end // chunk)) if end > begin else ()
            axes.append([(i, slice(max(begin - i * chunk, 0), min(end - i * chunk, chunk)),
                          slice(max(i * chunk - begin, 0), min((i + 1) * chunk, end) - begin))
                         for i in numbers])
        return (tuple(zip(*spans)) for spans in itertools.product(*axes))

    def _check_place(self):
        """A chunk that is not there is empty; but where there is no array, this machine does not
        see its folder, or somebody took it away."""
        if not os.path.isdir(self.path):
            raise FileNotFoundError(errno.ENOENT, "the Zarr array is not here", self.path)

    def _part(self, at, inner):
        """A part of a chunk, or None where it is empty."""
        path = self._file(at)
        try:
            file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            self._check_place()
            return None
        try:
            if self.codec is None:
                return self._rows(file, path, inner[0])[(slice(None),) + inner[1:]]
            return self._chunk(file, path)[inner]
        finally:
            os.close(file)

    def _rows(self, file, path, rows):
        memory = _pool.empty((rows.stop - rows.start,) + self.chunks[1:], self.dtype)
        row = memory.nbytes // (rows.stop - rows.start)
        if not _read_file(file, memory, rows.start * row):
            raise OSError("%s: shorter than a chunk" % path)
        return memory

    def _chunk(self, file, path):
        """A chunk of what is compressed."""
        state = os.fstat(file)
        key = (path, state.st_ino, state.st_mtime_ns, state.st_size)
        found = recall(_recent, key)
        if found is not None:
            return found
        packed = _pool.empty((state.st_size,), "uint8")
        if not _read_file(file, packed):
            raise OSError("%s: became shorter while it was read" % path)
        try:
            chunk = self._decoded(packed)
        except (RuntimeError, ValueError) as e:
            raise OSError("%s: %s" % (path, e)) from e
        _remember(key, chunk)
        return chunk

    def _decoded(self, packed):
        codec = _codec(self.codec)
        if self.codec[0][1] in ("blosc", "zstd"):
            chunk = _pool.empty(self.chunks, self.dtype)
            end, mark = chunk.reshape(-1).view("uint8")[-8:], os.urandom(8)
            end[...] = numpy.frombuffer(mark, "uint8")[:end.size]
            codec.decode(packed, out=chunk)
            if end.tobytes() != mark[:end.size]:  # else what was decoded is shorter, or by chance
                return chunk
        return numpy.frombuffer(codec.decode(packed), self.dtype).reshape(self.chunks)

    def read(self, index):
        """array[index], for an index of slices."""
        shape = tuple(len(range(*part.indices(n))) for part, n in zip(index, self.shape))
        out = _pool.empty(shape, self.dtype)
        for at, inner, outer in self._spans(index):
            part = self._part(at, inner)
            out[outer] = self.fill if part is None else part
        return out

    def __getitem__(self, index):
        return self.read(index)

    def _whole_chunks(self, index):
        for part, length, chunk in zip(index, self.shape, self.chunks):
            begin, end, step = part.indices(length)
            if step != 1 or begin % chunk or (end % chunk and end != length):
                return False
        return True

    def _is_empty(self, chunk):
        """Whether all of it is the fill value, bit for bit."""
        fill = numpy.full(1, self.fill, self.dtype)
        bits = "u%d" % self.dtype.itemsize
        first, all_bits = fill.view(bits)[0], chunk.view(bits)
        return all_bits.flat[0] == first and bool((all_bits == first).all())

    def __setitem__(self, index, value):
        """Writes a region that ends where chunks end; others are left to zarr, which reads what
        else there is in the chunks."""
        if not self._whole_chunks(index):
            import zarr
            zarr.open_array(self.path, mode="r+")[index] = value
            return
        chunk = _pool.empty(self.chunks, self.dtype)
        for at, inner, outer in self._spans(index):
            part = value[outer]
            if part.shape != self.chunks:
                chunk[...] = self.fill
            chunk[inner] = part
            self._write(self._file(at), chunk)

    def _write(self, path, chunk):
        if not os.path.exists(path):
            self._check_place()
        if not self.write_empty and self._is_empty(chunk):
            try:
                os.unlink(path)
            except FileNotFoundError:
                pass
            return
        if self.codec is None:
            _write_file(path, chunk.reshape(-1).view("uint8"))
        else:
            _write_file(path, _codec(self.codec).encode(chunk))


# ---- what the metadata says

def _fill(value, dtype):
    """The fill value, or None where it is not a plain number."""
    named = {"NaN": numpy.nan, "Infinity": numpy.inf, "-Infinity": -numpy.inf}
    value = named.get(value, value) if isinstance(value, str) else value
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return dtype.type(value)
    return None


def _codec_of(codecs):
    """The configuration for numcodecs of what follows the bytes, () for none; None for what is not
    plain."""
    if not codecs or codecs[0]["name"] != "bytes" or len(codecs) > 2:
        return None
    endian = codecs[0].get("configuration", {}).get("endian", sys.byteorder)
    if endian != sys.byteorder:
        return None
    if len(codecs) == 1:
        return ()
    name, config = codecs[1]["name"], dict(codecs[1].get("configuration", {}))
    if name not in ("zstd", "gzip", "blosc"):
        return None
    if name == "blosc":
        config["shuffle"] = {"noshuffle": 0, "shuffle": 1, "bitshuffle": 2}[config["shuffle"]]
        config.pop("typesize", None)  # taken from the array
    return (("id", name),) + tuple(config.items())


def _facts_3(told):
    """dtype, fill value, chunks, codec, prefix and separator of an array of version 3, or None."""
    grid, keys, codec = told["chunk_grid"], told["chunk_key_encoding"], _codec_of(told["codecs"])
    if codec is None or grid["name"] != "regular" or told.get("storage_transformers"):
        return None
    if keys["name"] not in ("default", "v2") or not isinstance(told["data_type"], str):
        return None
    default = keys["name"] == "default"
    separator = keys.get("configuration", {}).get("separator", "/" if default else ".")
    return (told["data_type"], told["fill_value"], grid["configuration"]["chunk_shape"],
            codec or None, ("c",) if default else (), separator)


def _facts_2(told):
    """The same of one of version 2."""
    if told["filters"] or told["order"] != "C" or not isinstance(told["dtype"], str):
        return None
    codec = tuple(told["compressor"].items()) if told["compressor"] else None
    return (told["dtype"], told["fill_value"], told["chunks"], codec, (),
            told.get("dimension_separator", "."))


def _told(path, version):
    """What a folder says of the array; it may do so in both versions, of different chunks."""
    name, facts = {2: (".zarray", _facts_2), 3: ("zarr.json", _facts_3)}[version]
    with open(os.path.join(path, name), "rb") as f:
        return facts(json.load(f))


def place(array):
    """A text that is the same for the same Zarr array; None for what is none."""
    if isinstance(array, Plain):
        return array.path
    where = getattr(array, "store_path", None)
    if where is None:
        return None
    root = getattr(array.store, "root", None) or getattr(array.store, "path", None)
    path = os.path.join(root, array.path) if root else ""  # of a folder, by zarr or by fsspec
    return os.path.realpath(path) if os.path.exists(path) else str(where)


def plain(array):
    """An array of the zarr package as a Plain, or None where it has to be left to zarr."""
    zarr = sys.modules.get("zarr")
    try:
        local = type(array.store) is zarr.storage.LocalStore and isinstance(array, zarr.Array)
        path = os.path.realpath(os.path.join(array.store.root, array.path)) if local else None
        write_empty = local and array.config.write_empty_chunks
        facts = _told(path, array.metadata.zarr_format) if local else None
    except (AttributeError, KeyError, TypeError, OSError, ValueError):
        return None
    if facts is None or array.dtype not in _arrays.DTYPES or not array.shape:
        return None
    dtype, fill, chunks, codec, prefix, separator = facts
    value = _fill(0 if fill is None else fill, array.dtype)
    same = numpy.dtype(dtype) == array.dtype and tuple(chunks) == tuple(array.chunks)
    if value is None or not same:
        return None
    return Plain(path, tuple(array.shape), tuple(chunks), array.dtype, value, codec, prefix,
                 separator, write_empty or fill is None)
