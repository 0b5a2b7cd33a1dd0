# SPDX-License-Identifier: Apache-2.0
"""Pictures of any size on any number of machines, by Dask.

    import tamis.dask, zarr
    result = tamis.dask.map("median,gaussian=sigma=3", zarr.open("in.zarr"))
    tamis.dask.store(result, zarr.open("out.zarr"))

map() makes one task for each chunk of the result. A task gets exactly the part of the picture that
its chunk depends on, and knows where in the whole picture that lies; so the result has the same
bits as tamis.Pipeline gives for the whole picture in memory, for any chunks. Chains are cut where a
filter looks far away (warps, resizing): each such filter is a layer of tasks of its own. Canny
follows lines through the whole picture, so it is one task, on one worker, which must have room for
the picture and the result.

Works with any scheduler of Dask. In a distributed worker tamis uses as many threads as the worker
has. With dask-cuda each worker sees one GPU: device="cuda".
"""
from __future__ import annotations

import itertools
import operator
import os
import sys
from typing import Any, NamedTuple, Optional

import numpy

import dask
import dask.array
from dask.base import tokenize
from dask.highlevelgraph import HighLevelGraph

from . import _arrays, _core, _files, _pool, _runtime, _zarr
from ._dask_files import FileResult, files
from ._dask_workers import client_here, threads_here
from ._pipeline import Pipeline

__all__ = ["FileResult", "Source", "files", "map", "open", "store", "write"]

# Sides of chunks where neither the caller nor the source says better.
CHUNK = 2048


# ---- on workers

class _Spec(NamedTuple):
    """What all tasks of a layer have in common."""
    text: str
    key: tuple  # of the whole picture, as View.key
    lead: int  # axes before rows and columns
    channels: bool  # whether the input has an axis of channels, the last
    out_channels: bool
    device: Optional[str]
    threads: Optional[int]


class _Part:
    """A part of what can be sliced, for the task that needs it to read."""
    __slots__ = ("source", "index", "axis")

    def __init__(self, source, index, axis):
        self.source, self.index, self.axis = source, index, axis

    def read(self):
        """With its channels last."""
        part = numpy.asarray(self.source[self.index])
        return part if self.axis is None else numpy.moveaxis(part, self.axis, -1)


def _join(pieces):
    """One array of rows of pieces."""
    if isinstance(pieces, _Part):
        return pieces.read()
    if len(pieces) == 1 and len(pieces[0]) == 1:
        return numpy.asarray(pieces[0][0][1])
    lead = pieces[0][0][0]
    return numpy.concatenate([numpy.concatenate([p for _, p in row], axis=lead + 1)
                              for row in pieces], axis=lead)


def _block(spec, rect, window, pieces):
    """The part rect of the result, from the part window of the picture."""
    data = _join(pieces)
    plan = _runtime.plan(spec.text, spec.device, threads_here(spec.threads), spec.key)
    out_key = plan.key
    shape = data.shape[:spec.lead] + (rect[3], rect[2])
    out = _pool.empty(shape + ((out_key[1],) if spec.out_channels else ()),
                      _arrays.DTYPES[out_key[0]])
    alpha = _arrays.ALPHA_NAMES[spec.key[3]]
    for at in numpy.ndindex(data.shape[:spec.lead]):
        src = _arrays.host_view(data[at], -1 if spec.channels else None, alpha, 0)
        dst = _core.View(out[at], -1 if spec.out_channels else _arrays.axis_code(None), out_key[3],
                         0, 1)
        plan.run(src, dst, None, rect, window)
    return out


def _cut(block, index):
    return block[index]


# ---- layers

def _starts(sizes):
    return list(itertools.accumulate(sizes, initial=0))


def _overlapping(starts, begin, end):
    """(number, first, last) of the chunks that share entries with begin .. end - 1."""
    for i in range(len(starts) - 1):
        lo, hi = max(begin, starts[i]), min(end, starts[i + 1])
        if lo < hi:
            yield i, lo - starts[i], hi - starts[i]


class _Chunked:
    """A dask array with channels last and in one chunk: where parts come from."""

    def __init__(self, array, lead, channels):
        rest = {array.ndim - 1: -1} if channels else {}
        self.array = array.rechunk(rest) if rest else array
        self.lead, self.tail = lead, (0,) if channels else ()
        self.starts = [_starts(self.array.chunks[lead + i]) for i in (0, 1)]
        self.lead_chunks = self.array.chunks[:lead]
        self.parents = [self.array]
        self.token = self.array.name

    def part(self, graph, name, lead_index, at, window):
        """Tasks for a part; returns what _block() gets of them."""
        x, y, w, h = window
        rows = []
        for i, y0, y1 in _overlapping(self.starts[0], y, y + h):
            row = []
            for j, x0, x1 in _overlapping(self.starts[1], x, x + w):
                key = (self.array.name,) + lead_index + (i, j) + self.tail
                whole = (y1 - y0 == self.array.chunks[self.lead][i] and
                         x1 - x0 == self.array.chunks[self.lead + 1][j])
                if not whole:
                    index = (slice(None),) * self.lead + (slice(y0, y1), slice(x0, x1))
                    cut = (name + "-cut",) + at + (i, j)
                    graph[cut] = (_cut, key, index)
                    key = cut
                row.append([self.lead, key])
            rows.append(row)
        return rows


class _Sliced:
    """What has a shape and can be sliced, such as a Zarr array: tasks read what they need."""

    def __init__(self, source, lead, axis, lead_chunks):
        self.source, self.lead, self.axis = _zarr.plain(source) or source, lead, axis
        self.lead_chunks, self.parents, self.token = lead_chunks, [], tokenize(self.source)

    def part(self, graph, name, lead_index, at, window):
        x, y, w, h = window
        index = [slice(_starts(c)[i], _starts(c)[i + 1])
                 for c, i in zip(self.lead_chunks, lead_index)]
        index += [slice(y, y + h), slice(x, x + w)]
        if self.axis is not None:
            index.insert(self.axis, slice(None))
        return _Part(self.source, tuple(index), self.axis)


def _layer(source, text, key, channels, chunks, device, threads):
    """One layer of tasks. Returns a dask array, whether it has channels, and the key of a whole
    picture of it."""
    plan = _runtime.plan(text, "cpu", None, key)
    if plan.frames:
        raise ValueError("%s: a task sees one picture, without the frames around it: tamis.dask is "
                         "not for frames=" % text)
    out_key = plan.key
    width, height, lead = out_key[4], out_key[5], source.lead
    if (width, height) != (key[4], key[5]):
        chunks = [_even(height, max(chunks[0])), _even(width, max(chunks[1]))]
    out_channels = out_key[1] > 1 or (channels and key[1] == 1)
    spec = _Spec(text, key, lead, channels, out_channels, device, threads)
    name = "tamis-" + tokenize(text, source.token, key, chunks, device, threads)
    starts = [_starts(c) for c in chunks]
    whole_picture = (0, 0, key[4], key[5])
    rects = {(i, j): (starts[1][j], starts[0][i], chunks[1][j], chunks[0][i])
             for i in range(len(chunks[0])) for j in range(len(chunks[1]))}
    needs = {at: plan.need(rect) for at, rect in rects.items()}
    at_once = len(rects) > 1 and all(n == whole_picture for n in needs.values())
    graph, tail = {}, (0,) if out_channels else ()
    for lead_index in itertools.product(*(range(len(c)) for c in source.lead_chunks)):
        if at_once:
            all_of_it = (name + "-whole",) + lead_index
            pieces = source.part(graph, name, lead_index, lead_index, whole_picture)
            graph[all_of_it] = (_block, spec, (0, 0, width, height), whole_picture, pieces)
        for at, (x, y, w, h) in rects.items():
            out = (name,) + lead_index + at + tail
            if at_once:
                index = (slice(None),) * lead + (slice(y, y + h), slice(x, x + w))
                graph[out] = (_cut, all_of_it, index)
            else:
                pieces = source.part(graph, name, lead_index, lead_index + at, needs[at])
                graph[out] = (_block, spec, (x, y, w, h), needs[at], pieces)
    layers = HighLevelGraph.from_collections(name, graph, dependencies=source.parents)
    all_chunks = tuple(source.lead_chunks) + tuple(tuple(int(n) for n in c) for c in chunks)
    if out_channels:
        all_chunks += ((out_key[1],),)
    array = dask.array.Array(layers, name, all_chunks, dtype=_arrays.DTYPES[out_key[0]])
    return array, out_channels, out_key


def _even(length, size):
    size = int(min(size, length))
    return tuple([size] * (length // size) + ([length % size] if length % size else []))


def _sides(chunks):
    """What a caller says of chunks: (rows, columns)."""
    try:
        rows, columns = (operator.index(n) for n in chunks)
    except (TypeError, ValueError):
        raise TypeError("chunks=%r: it is (rows, columns) of a chunk" % (chunks,)) from None
    if rows < 1 or columns < 1:
        raise ValueError("chunks=%r: a chunk has rows and columns" % (chunks,))
    return rows, columns


def _groups(pipeline, key):
    """The chain in parts that are one layer each: (text, key of their input)."""
    group, first = [], key
    for step in pipeline.steps:
        plan = _runtime.plan(step.text, "cpu", None, key)
        far = plan.halo is None
        if far and group:
            yield ",".join(group), first
            group = []
        if not group:
            first = key
        group.append(step.text)
        key = plan.key
        if far:
            yield step.text, first
            group = []
    if group or not pipeline.text:
        yield ",".join(group), first


def _check_array(array, *wanted):
    for name in wanted:
        if not hasattr(array, name):
            raise TypeError("%s is no array: it has no %s" % (type(array).__name__, name))
    if any(n != n for n in array.shape):
        raise ValueError("an array of unknown shape %s: call its compute_chunk_sizes() first"
                         % (tuple(array.shape),))
    if isinstance(getattr(array, "_meta", array), numpy.ma.MaskedArray):
        raise TypeError("an array with a mask, and filters know no masks: fill it first")


def _blank_view(shape, dtype, channel_axis, alpha_channel):
    blank = numpy.broadcast_to(numpy.empty((), dtype), shape)
    return _core.View(blank, _arrays.axis_code(channel_axis), _arrays.alpha_code(alpha_channel), 0)


def map(pipeline: str | Pipeline, array: Any, *,
        channel_axis: _arrays.Axis = "auto", alpha_channel: _arrays.Alpha = None,
        chunks: tuple[int, int] | None = None, device: str | None = None,
        threads: int | None = None) -> dask.array.Array:
    """A pipeline (or a chain's text) on a picture that is a dask array, or on anything that has a
    shape and a dtype and can be sliced, such as a Zarr array or tamis.dask.open(path): then tasks
    read their part of it themselves.

    Returns a dask array; nothing is computed yet. Rows and columns keep their chunks unless chunks,
    (rows, columns) of a chunk, says otherwise; a channel axis comes back as the last one. The bits
    are those of Pipeline(...)(the whole picture). Guides and frames= are not for this.
    """
    if not isinstance(pipeline, Pipeline):
        pipeline = Pipeline(pipeline)
    _check_array(array, "shape", "dtype", "__getitem__")
    if _runtime.is_open(pipeline.text):
        raise ValueError("%s: something is to be chosen from the picture; choose it first, from a "
                         "part of it: pipeline.resolve(part)" % pipeline)
    device = pipeline.device if device is None else device
    threads = pipeline.threads if threads is None else threads
    view = _blank_view(array.shape, array.dtype, channel_axis, alpha_channel)
    rows, columns = view.axes
    if rows is None:
        raise ValueError("an array of one axis is no picture for tamis.dask")
    axis, channels, key = view.channel_axis, view.channel_axis is not None, view.key
    lead_axes = [i for i in range(len(array.shape)) if i not in (rows, columns, axis)]
    lazy = isinstance(array, dask.array.Array)
    given = _chunks_of(array, lazy)
    if chunks is None:
        sides = [given[rows], given[columns]]
    else:
        sides = [_even(array.shape[a], n) for a, n in zip((rows, columns), _sides(chunks))]
    if lazy:
        last = dask.array.moveaxis(array, axis, -1) if channels else array
        source = _Chunked(last, len(lead_axes), channels)
    else:
        source = _Sliced(array, len(lead_axes), axis, [given[i] for i in lead_axes])
    for text, stage_key in _groups(pipeline, key):
        result, channels, key = _layer(source, text, stage_key, channels, sides, device, threads)
        sides = result.chunks[len(lead_axes):len(lead_axes) + 2]
        source = _Chunked(result, len(lead_axes), channels)
    return result


def store(array: dask.array.Array, target: Any, *, compute: bool = True) -> Any:
    """Computes a dask array, such as map() gives, and writes it to a Zarr array, each task its
    chunk; or to anything of that shape that takes target[index] = part.

    The target is none of the Zarr arrays that the tasks read, since they read what others of
    them would have replaced. No two tasks may write to one chunk of a Zarr array (one shard, if
    it has some), so chunks of the array have to end where those of the target end; map(...,
    chunks=) makes such. Targets of other kinds are written by one task at a time. With
    compute=False nothing is done yet: returns a dask array for dask.compute() or
    Client.compute(), whose samples mean nothing.
    """
    _check_lazy(array)
    _check_array(target, "shape", "dtype", "__setitem__")
    if array.shape != tuple(target.shape) or array.dtype != target.dtype:
        raise ValueError("the array is %s of shape %s, the target %s of shape %s"
                         % (array.dtype, array.shape, target.dtype, tuple(target.shape)))
    zarr = sys.modules.get("zarr")
    by_chunks = zarr is not None and isinstance(target, zarr.Array)
    if by_chunks:
        if target.read_only:
            raise ValueError("the Zarr array to write to was opened for reading alone")
        _check_chunks(array.chunks, getattr(target, "shards", None) or target.chunks)
        if _zarr.place(target) in _places_read(array):
            raise ValueError("%s is read and would be written: tasks need what others would have "
                             "replaced; write to another array" % _zarr.place(target))
    return dask.array.store(array, _zarr.plain(target) or target, lock=not by_chunks,
                            compute=compute)


def _read_by(layer):
    """What a layer of a graph has in its tasks to be read: for map() a _Part, for dask.array an
    array by itself or among the arguments."""
    if hasattr(layer, "indices"):  # of dask.array: tasks are not made yet
        return [argument for argument, _ in layer.indices]
    if not hasattr(layer, "mapping"):
        return []
    parts = (task[-1] if isinstance(task, tuple) else task for task in layer.mapping.values())
    return [part.source if isinstance(part, _Part) else part for part in parts]


def _places_read(array):
    """Where the Zarr arrays lie that are read for a dask array."""
    return {_zarr.place(source) for layer in array.dask.layers.values()
            for source in _read_by(layer)} - {None}


def _check_lazy(array):
    if not isinstance(array, dask.array.Array):
        raise TypeError("%s is no dask array, such as map() gives" % type(array).__name__)


def _check_chunks(chunks, stored):
    for axis, (sizes, unit) in enumerate(zip(chunks, stored)):
        if any(end % unit for end in _starts(sizes)[1:-1]):
            raise ValueError("chunks of %d along axis %d do not end where the target's of %d end, "
                             "so two tasks would write to one of these" % (sizes[0], axis, unit))


def _chunks_of(array, lazy):
    """Chunks of each axis, as dask arrays have them; for others their own, made larger."""
    if lazy:
        return array.chunks
    own = getattr(array, "chunks", None) or (CHUNK,) * len(array.shape)
    return [_even(n, max(c, c * (CHUNK // c)) if n > CHUNK else n)
            for n, c in zip(array.shape, own)]


# ---- files

class Source:
    """A page of a picture file as what map() can slice: open(path). Tasks open the file
    themselves, so all workers must see it under the same path."""

    def __init__(self, path: str | os.PathLike[str], page: int = 0,
                 raw: str | None = None) -> None:
        self.path, self.page, self.raw = os.fspath(path), page, raw
        i = _files.info(path, page, raw=raw)
        self.shape, self.dtype, self.alpha_channel = i.shape, i.dtype, i.alpha_channel
        self.ndim = len(i.shape)
        by_parts = all(i.block)
        self.chunks = (tuple(i.block) if by_parts else i.shape[:2]) + i.shape[2:]
        self.by_parts = by_parts

    def __dask_tokenize__(self):
        return "tamis.dask.Source", self.path, self.page, self.raw, os.stat(self.path).st_mtime_ns

    def __getitem__(self, index):
        """A part, by slices of step 1."""
        y, bottom, x, right, rest = self._places(index)
        if bottom <= y or right <= x:
            return numpy.empty((max(bottom - y, 0), max(right - x, 0)) + self.shape[2:],
                               self.dtype)[rest]
        return self._read(y, bottom, x, right)[rest]

    def _places(self, index):
        index = index if isinstance(index, tuple) else (index,)
        index += (slice(None),) * (len(self.shape) - len(index))
        if len(index) > len(self.shape) or not all(isinstance(i, slice) and i.step in (None, 1)
                                                   for i in index):
            raise IndexError("%s: parts are taken by a slice of step 1 for each axis" % self.path)
        y, bottom, _ = index[0].indices(self.shape[0])
        x, right, _ = index[1].indices(self.shape[1])
        return y, bottom, x, right, (slice(None),) * 2 + index[2:]

    def _read(self, y, bottom, x, right):
        reader = _files.open_reader(self.path, self.raw)
        try:
            if not self.by_parts:
                return _files.read_page(reader, self.page)[0][y:bottom, x:right]
            form = reader.info(self.page)["image"]
            out = numpy.empty((bottom - y, right - x) + self.shape[2:], self.dtype)
            view = _core.View(out, -1 if len(self.shape) > 2 else _arrays.axis_code(None), form[3],
                              form[2], 1)
            reader.read(self.page, view, (x, y, right - x, bottom - y))
            return out
        finally:
            reader.close()


def open(path: str | os.PathLike[str], page: int = 0, *, raw: str | None = None) -> Source:
    """A picture file for map(), read by the tasks, each its part; tiled TIFF is best for that."""
    return Source(path, page, raw)


def write(path: str | os.PathLike[str], array: dask.array.Array, *,
          alpha_channel: _arrays.Alpha = None, meta: _files.Meta | None = None,
          compression: str | None = None, tile: int = 256, pyramid: bool = False,
          format: str | None = None, overwrite: bool = True, ahead: int = 2) -> None:
    """Computes a dask array of one picture and writes it to a file (TIFF, PNM, PAM, PFM, NPY) band
    by band: no more than `ahead` bands besides the one that is written are in work at a time."""
    _files._need_files()
    _check_lazy(array)
    _check_array(array)
    if alpha_channel is None:
        alpha_channel = _files.alpha_of(meta)
    view = _blank_view(array.shape, array.dtype, "auto", alpha_channel)
    if view.count != 1 or view.channel_axis == 0:
        raise ValueError("an array of shape %s is not one picture" % (array.shape,))
    key, axis = view.key, view.channel_axis
    tiff = format == "tiff" or os.fspath(path).lower().endswith((".tif", ".tiff"))
    writer = _core.Writer(_runtime.context(), path, format, overwrite, 0, 0, compression,
                          tile if tiff else 0, pyramid, 1)
    try:
        block = writer.block(key)[1]
        if block == 0:
            raise ValueError("%s: this format takes pictures as a whole only" % (path,))
        writer.begin(key, None if meta is None else meta._told())
        rows = max(block, max(array.chunks[0]) // block * block)
        bands = [(y, array[y:y + rows]) for y in range(0, array.shape[0], rows)]
        for y, band in _computed(bands, ahead):
            part = _arrays.host_view(band, axis, alpha_channel, 0)
            writer.part((0, y, key[4], band.shape[0]), part)
        writer.finish()
    finally:
        writer.close()


def _computed(bands, ahead):
    """The bands with their samples, in order; some are computed while one is used."""
    client = client_here()
    if client is None:
        for y, band in bands:
            yield y, band.compute()
        return
    waiting = []
    for y, band in bands:
        waiting.append((y, client.compute(band)))
        if len(waiting) > ahead:
            y0, future = waiting.pop(0)
            yield y0, future.result()
    for y0, future in waiting:
        yield y0, future.result()
