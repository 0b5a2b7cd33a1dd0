/* SPDX-License-Identifier: Apache-2.0 */
/* libtamis-io: image files in and out, with what they carry besides pixels.
 *
 * PNG (1 to 16 bit, palette, gray+alpha), JPEG, TIFF and BigTIFF (strips and tiles; 8, 16, signed
 * 16, float; several pages), PNM / PAM / PFM, NPY and raw samples. The format of an input is found
 * by its content, that of an output by its name or by an option. Values are never rescaled, except
 * where a file's own scale says so (PNM maxval, PNG below 8 bit). */
#ifndef TAMIS_IO_H
#define TAMIS_IO_H

#include <stdio.h>

#include <tamis/image.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Metadata of a picture, kept as the bytes found in the file. An entry is a named block:
 *   "icc"          ICC profile
 *   "exif"         EXIF block, from its TIFF header on (without "Exif\0\0")
 *   "xmp"          XMP packet
 *   "xmp:more"     the rest of a long XMP packet in JPEG: its GUID (32 bytes), then the text
 *   "iptc"         Photoshop resource block ("8BIM"...), or a bare IPTC record
 *   "text:KEY"     a text entry in UTF-8 (PNG tEXt, zTXt, iTXt; JPEG comment as "text:Comment")
 *   "png:cHRM"...  a PNG ancillary chunk that describes color (gAMA, cHRM, sRGB, cICP)
 *   "tiff:TAG"     a TIFF tag by number that tamis does not interpret (GeoTIFF, GDAL, vendor),
 *                  with its TIFF type and count */
typedef struct tamis_meta_entry {
    char *name;
    uint8_t *data;
    size_t size;
    int tiff_type;       /* for "tiff:TAG" */
    uint64_t tiff_count; /* for "tiff:TAG" */
} tamis_meta_entry;

typedef struct tamis_meta {
    tamis_meta_entry *entries;
    size_t count;
    double dpi_x, dpi_y; /* resolution in pixels per inch; 0 = unknown */
    int orientation; /* as in EXIF, 1 .. 8, of the pixels as they are in memory; 1 after reading,
                        since readers turn the pixels upright */
} tamis_meta;

/* Frees all entries and clears the struct. */
TAMIS_API void tamis_meta_clear(tamis_meta *meta);
/* The entry of that name, which belongs to meta, or NULL. */
TAMIS_API const tamis_meta_entry *tamis_meta_find(const tamis_meta *meta, const char *name);
/* Adds or replaces an entry; data is copied, and may be NULL when size is 0. Errors:
 * ARGUMENT (NULL), MEMORY. */
TAMIS_API tamis_status tamis_meta_set(tamis_meta *meta, const char *name, const void *data,
                                      size_t size);

/* What a file says about itself without its pixels being read. */
typedef struct tamis_file_info {
    char format[16];          /* "png", "jpeg", "tiff", "pnm", "pfm", "npy", "raw"; others where
                                 libvips reads the file: "webp", "heif", "jxl" ... */
    tamis_format image;       /* of the pixels as tamis_reader_read() delivers them */
    int32_t w, h;             /* upright: after orientation */
    int pages;                /* 1, or more for a multi-page TIFF */
    int file_bits;            /* bits per sample in the file: 1, 2, 4, 8, 12, 16, 32 ... */
    int orientation;          /* as stored in the file, 1 .. 8 */
    int palette;              /* 1 when the file has a color palette */
    int reduced;              /* 1: a TIFF page that repeats another at a lower resolution */
    int32_t block_w, block_h; /* pixels that are stored as one piece and so are best read together:
                                 a tile, a strip, some rows; 0 x 0 = the page can be read whole only
                                 (PNG, JPEG, text, TIFF strips that lie on their side ...) */
    char detail[96];          /* "tiled 256x256, deflate", "progressive, 4:2:0" ... for people */
} tamis_file_info;

/* Options for reading. Zero-initialize. */
typedef struct tamis_read_options {
    uint64_t max_pixels;  /* refuse larger pictures; 0 = 2^34 */
    const char *raw;      /* "WxH:TYPE[:CHANNELS[:OFFSET]]", such as "640x480:u16:1": the file is
                             headerless little-endian samples; NULL = by content */
    int keep_orientation; /* 1: do not turn pixels upright; meta.orientation tells */
    size_t cache_bytes;   /* tamis_reader_read_part(): most bytes of pieces kept for the next part,
                             so that they are not expanded again; 0 = 16 MiB */
} tamis_read_options;

/* An open input. Thread-safety: one thread at a time. */
typedef struct tamis_reader tamis_reader;

/* Opens a file by content; "-" is standard input. Nothing large is allocated before the header has
 * been checked against the size of the file and the limits. options may be NULL.
 * The caller owns *out and gives it back with tamis_reader_close(); on failure it is NULL.
 * Errors: ARGUMENT (raw), READ (missing, not a picture, broken), UNSUPPORTED, LIMIT, MEMORY; the
 * message names the file. */
TAMIS_API tamis_status tamis_reader_open(tamis_ctx *ctx, const char *path,
                                         const tamis_read_options *options, tamis_reader **out);
/* Facts about page 0 .. pages-1. Errors: ARGUMENT (no such page), READ, UNSUPPORTED, LIMIT. */
TAMIS_API tamis_status tamis_reader_info(tamis_reader *reader, int page, tamis_file_info *out);
/* Reads a page into a new image and, when meta is not NULL, its metadata; the caller owns both and
 * gives them back with tamis_image_unref() and tamis_meta_clear(). Pixels are turned upright unless
 * keep_orientation was set. On failure both are empty.
 * Errors: ARGUMENT (no such page), READ, UNSUPPORTED, LIMIT, MEMORY. */
TAMIS_API tamis_status tamis_reader_read(tamis_reader *reader, int page, tamis_image *image,
                                         tamis_meta *meta);
/* Reads the part rect of a page into an image of its size and of the format that
 * tamis_reader_info() tells; rows may be apart by any stride. The samples are those that a whole
 * read gives there, and no more memory is taken than for one block and the cache on each thread.
 * After an error the contents of into are undefined.
 * Errors: ARGUMENT (no such page, rect outside, another format or size), UNSUPPORTED (block_w and
 * block_h are 0), READ, MEMORY. */
TAMIS_API tamis_status tamis_reader_read_part(tamis_reader *reader, int page, tamis_rect rect,
                                              const tamis_image *into);
/* A page's metadata alone, as tamis_reader_read() delivers it, for the caller to clear. Pages that
 * can be read whole only are read for it. Errors: as tamis_reader_read(). */
TAMIS_API tamis_status tamis_reader_meta(tamis_reader *reader, int page, tamis_meta *meta);
TAMIS_API void tamis_reader_close(tamis_reader **reader);

/* Options for writing. Zero-initialize. */
typedef struct tamis_write_options {
    const char *format;      /* "png", "jpeg", "tiff", "pnm", "pam", "pfm", "npy", "raw", and with
                                libvips "webp", "avif", "heif", "jp2", "jxl"; NULL = by the name's
                                extension */
    int overwrite;           /* 1: replace an existing file */
    int quality;             /* JPEG and formats of libvips, 1 .. 100; 0 = 92 */
    int level;               /* PNG and deflate, 1 .. 9; 0 = 6, or faster where a PNG gains
                                nothing from more */
    const char *compression; /* TIFF: "none", "deflate", "lzw"; NULL = "deflate" */
    int tile;                /* TIFF: tile side, a multiple of 16; 0 = strips */
    int pyramid;  /* TIFF: 1 = behind each page smaller ones, each half the size of the one
                     before by means of 2x2 pixels, down to a single tile; tile = 0
                     then means 256 */
    int pages;    /* TIFF: number of pages to come, where known, so that a file beyond
                     4 GiB is a BigTIFF from its start; 0 = 1 */
    int lossless; /* WebP, AVIF, HEIF, JPEG XL and JPEG 2000: 1 = the samples come back as they are
                     (AVIF and HEIF: as near as their libraries come to it) */
} tamis_write_options;

/* Checks options alone, before there is a path. Errors: ARGUMENT; the message names the option, its
 * value and what is allowed. */
TAMIS_API tamis_status tamis_write_options_check(tamis_ctx *ctx,
                                                 const tamis_write_options *options);

/* Whether pages of that format and size, options->pages of them, could be written under that name,
 * as far as that can be said before anything is opened or made. *parts, unless NULL, becomes 1
 * where they may come by parts. options may be NULL. Errors: those of tamis_writer_open() and
 * tamis_writer_write() that files and folders have no part in. */
TAMIS_API tamis_status tamis_writer_check(tamis_ctx *ctx, const char *path,
                                          const tamis_write_options *options, tamis_format format,
                                          int32_t w, int32_t h, int *parts);

/* An open output. Everything goes to a temporary file in the same folder, which takes the final
 * name only when tamis_writer_finish() succeeds; a device or "-" is written directly.
 * Thread-safety: one thread at a time. */
typedef struct tamis_writer tamis_writer;

/* Prepares an output, checking name, format and folder before any work is done. options may be
 * NULL. The caller owns *out and gives it back with tamis_writer_close(); on failure it is NULL.
 * Errors: ARGUMENT (an option, as above), WRITE (folder missing, not writable, file exists),
 * UNSUPPORTED (unknown extension), MEMORY; the message names the path. */
TAMIS_API tamis_status tamis_writer_open(tamis_ctx *ctx, const char *path,
                                         const tamis_write_options *options, tamis_writer **out);
/* The same into memory: options->format says what is written, and the bytes are those that a file
 * would have. tamis_writer_bytes() tells where they are. Errors: ARGUMENT, UNSUPPORTED (no format),
 * MEMORY. */
TAMIS_API tamis_status tamis_writer_open_memory(tamis_ctx *ctx, const tamis_write_options *options,
                                                tamis_writer **out);
/* What such a writer has made, once tamis_writer_finish() has succeeded; it belongs to the writer
 * and goes with it. NULL, and *size 0, before that and for writers to files. */
TAMIS_API const void *tamis_writer_bytes(const tamis_writer *writer, size_t *size);
/* Writes a page. Only TIFF takes more than one. meta may be NULL; of it is kept what the format
 * has a place for. PNG holds 2 and 4 channels as gray or RGB with straight alpha (premultiplied
 * color is divided); NPY and raw files do not say whether a channel is alpha.
 * Errors: ARGUMENT, MEMORY, WRITE (disk full, ...), UNSUPPORTED (the format cannot hold this sample
 * type or number of channels; the message says which formats can). */
TAMIS_API tamis_status tamis_writer_write(tamis_writer *writer, const tamis_image *image,
                                          const tamis_meta *meta);
/* Begins a page of that format and size, whose pixels come by parts; meta as above. Any number of
 * parts follow, and the page ends with its last pixel. Errors: as tamis_writer_write(), and
 * UNSUPPORTED where the format wants a page whole. */
TAMIS_API tamis_status tamis_writer_begin(tamis_writer *writer, tamis_format format, int32_t w,
                                          int32_t h, const tamis_meta *meta);
/* Takes the part rect of the page; image has its size and the page's format (layouts may differ).
 * Parts come from the top down and, where they are narrower than the page, side by side from the
 * left in bands of one height; these must consist of whole blocks, see tamis_writer_block(), but
 * for the page's right and lower edge. The file's bytes do not depend on the height of parts of
 * full width, nor on the number of threads.
 * Errors: ARGUMENT (not the part whose turn it is, another format), MEMORY, WRITE. */
TAMIS_API tamis_status tamis_writer_part(tamis_writer *writer, tamis_rect rect,
                                         const tamis_image *image);
/* How parts of such a page are best cut: into multiples of *block_w x *block_h. Where *block_w is
 * w, parts must have the full width; 0 x 0 = the format wants a page whole (PNG, JPEG; PFM into a
 * pipe). Errors: ARGUMENT (sizes below 1). */
TAMIS_API tamis_status tamis_writer_block(const tamis_writer *writer, tamis_format format,
                                          int32_t w, int32_t h, int32_t *block_w, int32_t *block_h);
/* Flushes, closes and gives the file its final name. Errors: WRITE; then nothing is left behind
 * and an older file of that name is untouched. */
TAMIS_API tamis_status tamis_writer_finish(tamis_writer *writer);
/* Closes; without a successful finish, removes the temporary file. */
TAMIS_API void tamis_writer_close(tamis_writer **writer);

/* Removes the temporary files in a folder that writers have left there whose processes ended before
 * they could: those of this machine that run no more. Returns how many; 0 also when the folder
 * cannot be read. May be called while others write there. */
TAMIS_API int tamis_folder_sweep(const char *folder);

/* Writes names and versions of the file libraries in use, such as "libpng 1.6.39, zlib 1.2.13",
 * into buf; returns buf. */
TAMIS_API const char *tamis_io_libraries(char *buf, size_t size);

/* The same of libvips, which reads and writes other formats, such as "libvips 8.14.1", or why it is
 * not there: it comes in the module tamis_vips.so, found beside this library, in its folder tamis/,
 * or where TAMIS_VIPS_MODULE says. */
TAMIS_API const char *tamis_vips_libraries(char *buf, size_t size);

/* Whole files in one call: first page only; tamis_image_save() replaces an existing file. Ownership
 * and errors are those of the functions above. */
TAMIS_API tamis_status tamis_image_load(tamis_ctx *ctx, const char *path, tamis_image *image,
                                        tamis_meta *meta);
TAMIS_API tamis_status tamis_image_save(tamis_ctx *ctx, const char *path, const tamis_image *image,
                                        const tamis_meta *meta);

#ifdef __cplusplus
}
#endif

#endif
