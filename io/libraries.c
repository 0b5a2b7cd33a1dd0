/* SPDX-License-Identifier: Apache-2.0 */
/* Which file libraries are in use. */
#include <stdio.h>
#include <string.h>

#include <jpeglib.h>
#include <png.h>
#include <tamis/io.h>
#include <tiffio.h>
#include <zlib.h>

#define TEXT_OF(x) #x
#define TEXT(x)    TEXT_OF(x)
#ifdef LIBJPEG_TURBO_VERSION
#define JPEG_TEXT "libjpeg-turbo " TEXT(LIBJPEG_TURBO_VERSION)
#else
#define JPEG_TEXT "libjpeg " TEXT(JPEG_LIB_VERSION)
#endif

/* libtiff says "LIBTIFF, Version 4.5.0" and more on further lines. */
static const char *tiff_number(int *length)
{
    const char *text = TIFFGetVersion(), *word = strstr(text, "Version ");
    word = word ? word + strlen("Version ") : text;
    *length = (int)strcspn(word, "\n");
    return word;
}

const char *tamis_io_libraries(char *buf, size_t size)
{
    int length;
    const char *tiff = tiff_number(&length);
    snprintf(buf, size, "libpng %s, " JPEG_TEXT ", libtiff %.*s, zlib %s", png_get_libpng_ver(NULL),
             length, tiff, zlibVersion());
    return buf;
}
