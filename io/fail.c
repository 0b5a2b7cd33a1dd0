/* SPDX-License-Identifier: Apache-2.0 */
#include "fail.h"

#include <stdio.h>

tamis_status tamis_priv_file_fail(tamis_ctx *ctx, const char *name, tamis_status status,
                                  const char *format, va_list args)
{
    char text[512];
    vsnprintf(text, sizeof text, format, args);
    return tamis_ctx_fail(ctx, status, "%s: %s", name, text);
}
