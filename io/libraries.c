/* SPDX-License-Identifier: Apache-2.0 */
/* Which file libraries are in use. */
#include <stdio.h>

#include <png.h>
#include <tamis/io.h>
#include <zlib.h>

const char *tamis_io_libraries(char *buf, size_t size)
{
    snprintf(buf, size, "libpng %s, zlib %s", png_get_libpng_ver(NULL), zlibVersion());
    return buf;
}
