# SPDX-License-Identifier: Apache-2.0
"""Picture files by the workers of Dask, one task for each."""
from __future__ import annotations

import os
from collections.abc import Iterable
from typing import NamedTuple, Optional

import dask

from . import _arrays, _core, _files, _runtime
from ._dask_workers import client_here, threads_here
from ._pipeline import Pipeline


class FileResult(NamedTuple):
    """What became of a file: error is None, or the text of the last attempt's error."""
    input: str
    output: str
    error: Optional[str]


def _one_file(pipeline, source, target, overwrite, threads):
    pages = _files.info(source).pages
    reader = _files.open_reader(source)
    context = _runtime.context()
    writer = None
    choose = _runtime.is_open(pipeline.text)
    try:
        for page in range(pages):
            pixels, meta = _files.read_page(reader, page)
            alpha = meta.alpha_channel
            chosen = pipeline.resolve(pixels, alpha_channel=alpha) if choose else pipeline
            result = chosen(pixels, alpha_channel=alpha, threads=threads_here(threads))
            alpha = chosen.format(pixels, alpha_channel=alpha).alpha_channel
            if writer is None:
                writer = _core.Writer(context, target, None, overwrite, 0, 0, None, 0, 0, pages)
            writer.write(_arrays.host_view(result, "auto", alpha), meta._told())
        writer.finish()
    finally:
        reader.close()
        if writer is not None:
            writer.close()
    return target


def _attempt(pipeline, source, target, overwrite, threads, retries):
    """One file, tried again after errors that may pass: those of files, memory and devices."""
    for left in range(retries, -1, -1):
        try:
            _one_file(pipeline, source, target, overwrite, threads)
            return FileResult(source, target, None)
        except (OSError, MemoryError, RuntimeError) as e:
            error = "%s: %s" % (type(e).__name__, e)
            if left == 0 or isinstance(e, FileNotFoundError):
                break
        except Exception as e:  # whatever it is, the other files go on
            error = "%s: %s" % (type(e).__name__, e)
            break
    return FileResult(source, target, error)


def _target(out, source):
    folder, name = os.path.split(source)
    stem, ext = os.path.splitext(name)
    if "{" in out:
        try:
            return out.format(dir=folder or ".", stem=stem, ext=ext)
        except (LookupError, ValueError, AttributeError):
            raise ValueError("out=%r: in names there are {dir}, {stem} and {ext} alone"
                             % out) from None
    return os.path.join(out, name)


def _check_targets(inputs, targets):
    """Results replace no input: a file that is tried again would be filtered twice."""
    there = {}
    for path in inputs:
        try:
            s = os.stat(path)
        except OSError:  # its task says so
            continue
        there[s.st_dev, s.st_ino] = path
    for path in targets:
        try:
            s = os.stat(path)
        except OSError:
            continue
        if (s.st_dev, s.st_ino) in there:
            raise ValueError("%s: the result would replace the input %s; give another out"
                             % (path, there[s.st_dev, s.st_ino]))


def _gathered(future, source, target):
    """The result of a task, or the failure of those that were lost with their workers."""
    try:
        return future.result()
    except Exception as e:
        return FileResult(source, target, "%s: %s" % (type(e).__name__, e))


def files(pipeline: str | Pipeline, inputs: Iterable[str | os.PathLike[str]],
          out: str | os.PathLike[str], *, retries: int = 2, overwrite: bool = True,
          threads: int | None = None) -> list[FileResult]:
    """Filters picture files, one task for each, and returns a FileResult for each, in their order.

    out is a folder, or a name with {dir}, {stem} and {ext} such as "clean/{stem}.tif"; results may
    not replace inputs. All pages and metadata are kept. With a client of dask.distributed files go
    to its workers, and a file whose worker was lost is given to another; else the local scheduler
    runs them. A file that cannot be read or written, or for which there is no memory or device, is
    tried `retries` times more; failing files do not stop the others.
    """
    if not isinstance(pipeline, Pipeline):
        pipeline = Pipeline(pipeline)
    if isinstance(inputs, (str, bytes, os.PathLike)):
        raise TypeError("inputs is one name: give a list of them")
    if retries < 0:
        raise ValueError("retries=%r: it is 0 or more" % (retries,))
    inputs = [os.fspath(i) for i in inputs]
    targets = [_target(os.fspath(out), i) for i in inputs]
    if len(set(targets)) < len(targets):
        raise ValueError("two inputs would be written to one file; out needs {dir} or {stem}")
    _check_targets(inputs, targets)
    threads = pipeline.threads if threads is None else threads
    for folder in {os.path.dirname(t) or "." for t in targets}:
        os.makedirs(folder, exist_ok=True)
    jobs = [dask.delayed(_attempt, pure=False)(pipeline, i, t, overwrite, threads, retries)
            for i, t in zip(inputs, targets)]
    client = client_here()
    if client is None:
        return list(dask.compute(*jobs))
    futures = client.compute(jobs, retries=retries)
    return [_gathered(*job) for job in zip(futures, inputs, targets)]
