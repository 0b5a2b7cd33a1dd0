/* SPDX-License-Identifier: Apache-2.0 */
#include "png_errors.h"

void tamis_priv_png_on_error(png_structp png, png_const_charp text)
{
    tamis_png_errors *errors = png_get_error_ptr(png);
    snprintf(errors->message, sizeof errors->message, "%s", text);
    longjmp(errors->jump, 1);
}

void tamis_priv_png_on_warning(png_structp png, png_const_charp text)
{
    const tamis_png_errors *errors = png_get_error_ptr(png);
    tamis_ctx_log(errors->ctx, TAMIS_LOG_INFO, "%s: %s", errors->name, text);
}
