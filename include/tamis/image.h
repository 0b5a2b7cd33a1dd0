/* SPDX-License-Identifier: Apache-2.0 */
/* Sample types, formats, borders and images.
 *
 * A tamis_image is a plain view of pixels: it says where samples lie and how far apart rows are.
 * Any memory can be described by filling one in; tamis_image_create() makes one with memory of its
 * own. A region of an image is again an image (tamis_image_view()), so every function takes
 * regions. */
#ifndef TAMIS_IMAGE_H
#define TAMIS_IMAGE_H

#include <tamis/core.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tamis_type {
    TAMIS_U8,  /* 0 .. 255 */
    TAMIS_U16, /* 0 .. 65535 */
    TAMIS_S16, /* -32768 .. 32767 */
    TAMIS_F16, /* IEEE 754 binary16; filtered as F32 */
    TAMIS_F32  /* IEEE 754 binary32; never clipped */
} tamis_type;
#define TAMIS_TYPE_COUNT 5

/* Bytes of one sample: 1, 2 or 4. */
TAMIS_API size_t tamis_type_size(tamis_type type);
/* "u8", "u16", "s16", "f16" or "f32". Static storage. */
TAMIS_API const char *tamis_type_name(tamis_type type);
/* The distance from the lowest to the highest level: 255 for U8, 65535 for U16 and S16, and 1 for
 * F16 and F32, whose pictures conventionally span 0 .. 1. "10%" of a type is a tenth of this. */
TAMIS_API double tamis_type_range(tamis_type type);

typedef enum tamis_layout {
    TAMIS_PACKED, /* interleaved: all channels of a pixel side by side, in data[0] */
    TAMIS_PLANAR  /* channel c in data[c] */
} tamis_layout;

/* Whether the last channel is alpha, and how color relates to it. */
typedef enum tamis_alpha {
    TAMIS_ALPHA_NONE,         /* no alpha: every channel is filtered alike */
    TAMIS_ALPHA_STRAIGHT,     /* color is stored unweighted, as in PNG */
    TAMIS_ALPHA_PREMULTIPLIED /* color is already multiplied by alpha / range */
} tamis_alpha;

#define TAMIS_MAX_CHANNELS 4

/* What samples mean. A plain value: compare it field by field or with tamis_format_equal(). */
typedef struct tamis_format {
    tamis_type type;
    int channels; /* 1 .. TAMIS_MAX_CHANNELS, alpha included */
    tamis_layout layout;
    tamis_alpha alpha;
} tamis_format;

TAMIS_API int tamis_format_equal(tamis_format a, tamis_format b);
/* Writes text such as "u8x3 packed" or "u16x4 planar straight-alpha" into buf; returns buf. */
TAMIS_API const char *tamis_format_print(tamis_format format, char *buf, size_t size);

/* How a picture continues outside itself. The same definition holds in every filter. */
typedef enum tamis_border {
    TAMIS_BORDER_REFLECT101, /* dcb|abcd|cba : mirrored about the center of the edge pixel */
    TAMIS_BORDER_REFLECT,    /* cba|abcd|dcb : mirrored about the outer side of the edge pixel */
    TAMIS_BORDER_REPLICATE,  /* aaa|abcd|ddd : the edge pixel repeated */
    TAMIS_BORDER_WRAP,       /* bcd|abcd|abc : the picture repeated */
    TAMIS_BORDER_CONSTANT,   /* vvv|abcd|vvv : a given value */
    TAMIS_BORDER_VALID       /* no outside: the result shrinks to where the window fits */
} tamis_border;
#define TAMIS_BORDER_COUNT 6

/* How values between pixels are found. The same definition holds in every filter that warps. */
typedef enum tamis_interp {
    TAMIS_INTERP_NEAREST,  /* the nearest pixel; halves go right and down */
    TAMIS_INTERP_LINEAR,   /* between 2x2 pixels, with the triangle max(0, 1 - |t|) */
    TAMIS_INTERP_CUBIC,    /* 4x4, with the piecewise cubic that cubic_a selects */
    TAMIS_INTERP_LANCZOS3, /* 6x6, with sinc(t) sinc(t/3), scaled so that the weights sum to one */
    TAMIS_INTERP_AREA      /* the mean of what an output pixel covers */
} tamis_interp;
#define TAMIS_INTERP_COUNT 5

/* Index inside 0 .. n-1 that stands for index i (any integer) of an axis with n >= 1 samples.
 * Returns -1 where the border is TAMIS_BORDER_CONSTANT or TAMIS_BORDER_VALID and i lies outside. */
TAMIS_API int64_t tamis_border_index(tamis_border border, int64_t i, int64_t n);

typedef struct tamis_rect {
    int32_t x, y, w, h;
} tamis_rect;

/* Memory shared by images; counted, see tamis_image_ref(). */
typedef struct tamis_buffer tamis_buffer;

/* A view of pixels. Zero-initialize, then fill in what applies.
 * Row y of plane p starts at (char *)data[p] + y * stride[p]. Strides are in bytes and may be
 * negative (bottom-up pictures); neither data nor strides need any alignment. PACKED images use
 * data[0] and stride[0] only. */
typedef struct tamis_image {
    tamis_format format;
    int32_t w, h; /* pixels, 1 .. 2^31-1 */
    void *data[TAMIS_MAX_CHANNELS];
    ptrdiff_t stride[TAMIS_MAX_CHANNELS];
    tamis_buffer *buffer; /* owner of the memory, or NULL when it belongs to the caller */
    int device; /* 0: host memory; 1 + i: memory of device number i, see device.h. The functions of
                   this header that read or write samples want host memory */
} tamis_image;

/* Allocates an image; samples are not initialized. Rows start at 64-byte boundaries,
 * those of fewer bytes at multiples of the power of two that holds one.
 * The caller owns one reference and gives it back with tamis_image_unref().
 * Errors: ARGUMENT (size or format out of range), MEMORY, LIMIT. */
TAMIS_API tamis_status tamis_image_create(tamis_ctx *ctx, tamis_format format, int32_t w, int32_t h,
                                          tamis_image *out);

/* Another reference to the same memory; a no-op for images that own none. Thread-safe. */
TAMIS_API void tamis_image_ref(const tamis_image *image);
/* Gives a reference back and clears the view; the last one frees the memory. Thread-safe for
 * distinct views of the same memory. NULL is fine. */
TAMIS_API void tamis_image_unref(tamis_image *image);

/* The part of image inside rect as a view; shares memory without taking a reference.
 * Errors: ARGUMENT when rect is empty or leaves the image. */
TAMIS_API tamis_status tamis_image_view(tamis_ctx *ctx, const tamis_image *image, tamis_rect rect,
                                        tamis_image *out);

/* Checks that a view is usable: sizes, channels, non-NULL planes. Errors: ARGUMENT. */
TAMIS_API tamis_status tamis_image_check(tamis_ctx *ctx, const tamis_image *image);

/* Address of the first sample of row y of plane p. */
TAMIS_API void *tamis_image_row(const tamis_image *image, int plane, int32_t y);

/* Number of planes: channels when planar, else 1. */
TAMIS_API int tamis_image_planes(const tamis_image *image);

/* Copies src into dst, changing type and layout where they differ. Values keep their number
 * (200 in U8 is 200.0 in F32), rounded to nearest with ties to even and saturated; NaN becomes 0 in
 * integers. Alpha is a channel like the others: neither multiplied in nor divided out. Sizes and
 * numbers of channels must agree, and the two must not share memory. Errors: ARGUMENT. */
TAMIS_API tamis_status tamis_image_copy(tamis_ctx *ctx, const tamis_image *src,
                                        const tamis_image *dst);

#ifdef __cplusplus
}
#endif

#endif
