# SPDX-License-Identifier: Apache-2.0
"""Picture files."""
from __future__ import annotations

import errno
import operator
import os
from dataclasses import dataclass, field
from typing import Any, Literal, overload

import numpy
from numpy.typing import NDArray

from . import _arrays, _core, _runtime


@dataclass(repr=False)
class Meta:
    """What a file carries besides pixels; tamis.write() takes it back.

    entries has blocks as they are in the file: "icc", "exif", "xmp", "iptc", "text:KEY",
    "tiff:TAG" and others (see <tamis/io.h>).
    """
    entries: dict[str, bytes] = field(default_factory=dict)  # name -> bytes
    tags: dict[str, tuple[int, int]] = field(default_factory=dict)  # "tiff:TAG" -> (type, count)
    dpi: tuple[float, float] = (0.0, 0.0)  # across and down; 0: unknown
    orientation: int = 1  # of the pixels, as in EXIF
    alpha_channel: _arrays.Alpha = None  # None, "straight" or "premultiplied"

    def __repr__(self) -> str:
        held = ", ".join("%s: %d bytes" % (n, len(d)) for n, d in self.entries.items())
        return "tamis.Meta({%s}, dpi=%r, orientation=%d, alpha_channel=%r)" % (
            held, self.dpi, self.orientation, self.alpha_channel)

    @classmethod
    def _from(cls, said, alpha):
        entries, dpi, orientation = said
        return cls({e[0]: e[1] for e in entries}, {e[0]: e[2:] for e in entries if e[2]}, dpi,
                   orientation, _arrays.ALPHA_NAMES[alpha])

    def _told(self):
        entries = [(name, bytes(memoryview(data))) + tuple(self.tags.get(name, (0, 0)))
                   for name, data in self.entries.items()]
        return entries, tuple(map(float, self.dpi)), int(self.orientation)


def alpha_of(meta):
    """The alpha channel that metadata tells of, if there is some."""
    if meta is not None and not isinstance(meta, Meta):
        raise TypeError("meta is %s, not tamis.Meta" % type(meta).__name__)
    return None if meta is None else meta.alpha_channel


@dataclass(frozen=True)
class Info:
    """What a page of a file is like: tamis.info()."""
    format: str
    shape: tuple[int, ...]
    dtype: numpy.dtype[Any]
    alpha_channel: _arrays.Alpha
    pages: int
    bits: int
    orientation: int
    palette: bool
    reduced: bool  # a TIFF page that repeats another at a lower resolution
    block: tuple[int, int]  # rows and columns stored as one piece; (0, 0): the page as a whole
    detail: str


def _need_files():
    if not hasattr(_core, "Reader"):
        raise NotImplementedError("this build of tamis has no file formats (TAMIS_IO=OFF)")


def _whole(name, value, least=-2**31, most=2**31 - 1):
    """A whole number within limits: what the library's own checks are asked of."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError("%s=%r: it is a whole number" % (name, value)) from None
    if not least <= number <= most:
        raise ValueError("%s=%d is outside %d .. %d" % (name, number, least, most))
    return number


def open_reader(path, raw=None, keep_orientation=False, max_pixels=0):
    """A Reader, with the errors that open() has."""
    _need_files()
    try:
        return _core.Reader(_runtime.context(), path, raw, keep_orientation,
                            _whole("max_pixels", max_pixels, 0, 2**64 - 1))
    except OSError as e:
        if not os.path.exists(path) and os.fspath(path) != "-":
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT),
                                    os.fspath(path)) from e
        raise


def page_info(reader, page=0):
    """Info of a page of an open file."""
    return _info_of(reader.info(_whole("page", page)))


def _info_of(i):
    t, channels, _, alpha = i["image"]
    shape = (i["h"], i["w"]) + ((channels,) if channels > 1 else ())
    return Info(i["format"], shape, _arrays.DTYPES[t], _arrays.ALPHA_NAMES[alpha], i["pages"],
                i["bits"], i["orientation"], i["palette"], i["reduced"], i["block"][::-1],
                i["detail"])


def info(path: str | os.PathLike[str], page: int = 0, *, raw: str | None = None) -> Info:
    """What a file says about a page, without its pixels being read."""
    reader = open_reader(path, raw)
    try:
        return page_info(reader, page)
    finally:
        reader.close()


def _view_of(array, reader_format):
    t, channels, layout, alpha = reader_format
    axis = -1 if channels > 1 else _arrays.axis_code(None)
    return _core.View(array, axis, alpha, layout, 1)


def read_page(reader, page):
    """Pixels and Meta of a page."""
    page = _whole("page", page)
    told = reader.info(page)
    i, image = _info_of(told), told["image"]
    _, channels, layout, alpha = image
    pixels = numpy.empty(i.shape, i.dtype) if layout == 0 or channels == 1 else numpy.moveaxis(
        numpy.empty((channels,) + i.shape[:2], i.dtype), 0, -1)
    view = _view_of(pixels, image)
    if all(i.block):  # by parts: no second copy in memory
        said = reader.meta(page)
        reader.read(page, view, (0, 0, i.shape[1], i.shape[0]))
    else:
        said = reader.read(page, view)
    return pixels, Meta._from(said, alpha)


@overload
def read(path: str | os.PathLike[str], page: int | Literal["all"] = 0, *,
         meta: Literal[False] = False, raw: str | None = None, keep_orientation: bool = False,
         max_pixels: int = 0) -> NDArray[Any]: ...
@overload
def read(path: str | os.PathLike[str], page: int | Literal["all"] = 0, *, meta: Literal[True],
         raw: str | None = None, keep_orientation: bool = False, max_pixels: int = 0
         ) -> tuple[NDArray[Any], Meta]: ...


def read(path, page=0, *, meta=False, raw=None, keep_orientation=False, max_pixels=0):
    """Reads a picture: height x width, or height x width x channels.

    PNG, JPEG, TIFF and BigTIFF, PNM, PAM, PFM, NPY, and with raw="640x480:u16:1" headerless
    samples. page counts from 0; page="all" stacks the pages of one size along a first axis. Pixels
    are turned upright unless keep_orientation. With meta=True the result is (pixels, Meta). Values
    are those of the file: uint8, uint16, int16, float16 or float32.
    """
    reader = open_reader(path, raw, keep_orientation, max_pixels)
    try:
        if page != "all":
            pixels, said = read_page(reader, page)
        else:
            found = [read_page(reader, i) for i in range(reader.info()["pages"])]
            if len({(p.shape, p.dtype) for p, _ in found}) > 1:
                raise ValueError("%s: pages differ in size or type; read them one by one" % path)
            pixels, said = numpy.stack([p for p, _ in found]), found[0][1]
    finally:
        reader.close()
    return (pixels, said) if meta else pixels


def write(path: str | os.PathLike[str], image: Any, *, meta: Meta | None = None,
          channel_axis: _arrays.Axis = "auto", alpha_channel: _arrays.Alpha = None,
          format: str | None = None, overwrite: bool = True, quality: int = 0, level: int = 0,
          compression: str | None = None, tile: int = 0, pyramid: bool = False) -> None:
    """Writes a picture, or with TIFF the pictures of a batch as pages.

    The name's extension chooses the format, or format does: "png", "jpeg", "tiff", "pnm", "pam",
    "pfm", "npy", "raw". quality is for JPEG (92), level for PNG and deflate, compression ("none",
    "deflate", "lzw"), tile and pyramid for TIFF. alpha_channel is by default what meta says. The
    file appears when it is complete; an older one is replaced unless overwrite is False.
    """
    _need_files()
    if alpha_channel is None:
        alpha_channel = alpha_of(meta)
    view = _arrays.host_view(image, channel_axis, alpha_channel)
    said = None if meta is None else meta._told()
    writer = _core.Writer(_runtime.context(), path, format, overwrite,
                          _whole("quality", quality), _whole("level", level), compression,
                          _whole("tile", tile), pyramid, view.count)
    try:
        for one in _pictures(image, view, channel_axis, alpha_channel):
            writer.write(one, said)
        writer.finish()
    finally:
        writer.close()


def _pictures(image, view, channel_axis, alpha):
    if view.count == 1:
        yield view
        return
    image = numpy.asarray(image)
    axis = view.channel_axis
    if axis is not None:
        image = numpy.moveaxis(image, axis, -1)
    inner = image.shape[-2:] if axis is None else image.shape[-3:]
    for i in numpy.ndindex(image.shape[:image.ndim - len(inner)]):
        yield _arrays.host_view(image[i], None if axis is None else -1, alpha)
