/* SPDX-License-Identifier: Apache-2.0 */
#include "png_level.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "bytes.h"

/* An eighth of a picture, at most 256 KiB, tells; what trying it costs is gained several times over
 * where the answer is yes. */
enum { BANDS = 4, BAND_BYTES = 64 << 10, PART = 8, LEAST_BYTES = 16 << 10 };

/* Size of data after deflate; SIZE_MAX when that fails. */
static size_t deflated_size(const uint8_t *data, size_t size, int level, int strategy)
{
    z_stream z = {.next_in = (Bytef *)data, .avail_in = (uInt)size};
    if (deflateInit2(&z, level, Z_DEFLATED, 15, 8, strategy) != Z_OK)
        return SIZE_MAX;
    uint8_t out[4096];
    int result = Z_OK;
    while (result == Z_OK) {
        z.next_out = out;
        z.avail_out = sizeof out;
        result = deflate(&z, Z_FINISH);
    }
    size_t total = z.total_out;
    deflateEnd(&z);
    return result == Z_STREAM_END ? total : SIZE_MAX;
}

/* Bands of whole rows (or beginnings of rows), spread over the picture. Returns their size. */
static size_t take_bands(tamis_rows *rows, uint8_t *out)
{
    int32_t h = rows->image->h;
    uint64_t part = rows->bytes * (uint64_t)h / (BANDS * PART);
    size_t most = part < BAND_BYTES ? (size_t)part : BAND_BYTES;
    size_t row = rows->bytes < most ? rows->bytes : most;
    int32_t per_band = (int32_t)(most / row);
    size_t n = 0;
    for (int band = 0; band < BANDS; band++) {
        int32_t y = (int32_t)((int64_t)(h - 1) * band / BANDS);
        for (int32_t i = 0; i < per_band && y + i < h; i++) {
            memcpy(out + n, tamis_priv_rows_get(rows, y + i), row);
            n += row;
        }
    }
    return n;
}

/* PNG's filter "Sub", over the joints of rows too, which are few. */
static void subtract_left(const uint8_t *src, uint8_t *dst, size_t size, size_t pixel)
{
    for (size_t i = 0; i < size; i++)
        dst[i] = (uint8_t)(src[i] - (i >= pixel ? src[i - pixel] : 0));
}

int tamis_priv_png_is_noisy(tamis_rows *rows)
{
    if (rows->bytes * (uint64_t)rows->image->h < LEAST_BYTES)
        return 0; /* fast anyway */
    uint8_t *bands = malloc(2 * (size_t)BANDS * BAND_BYTES);
    if (!bands)
        return 0;
    uint8_t *filtered = bands + (size_t)BANDS * BAND_BYTES;
    size_t size = take_bands(rows, bands);
    subtract_left(bands, filtered, size, tamis_priv_row_bytes(rows->image->format, 1));
    size_t runs = deflated_size(filtered, size, 1, Z_RLE);
    size_t strings = deflated_size(filtered, size, 6, Z_FILTERED);
    size_t plain = deflated_size(bands, size, 6, Z_DEFAULT_STRATEGY);
    free(bands);
    size_t best = strings < plain ? strings : plain;
    return runs != SIZE_MAX && runs - runs / 20 <= best;
}
