/* SPDX-License-Identifier: Apache-2.0 */
#include "jpeg_common.h"

#include <jerror.h>
#include <string.h>

static void on_error(j_common_ptr cinfo)
{
    tamis_jpeg_errors *errors = (tamis_jpeg_errors *)cinfo->err;
    errors->base.format_message(cinfo, errors->message);
    switch (errors->base.msg_code) {
    case JERR_BAD_PRECISION:
    case JERR_SOF_UNSUPPORTED:
    case JERR_CONVERSION_NOTIMPL:
    case JERR_ARITH_NOTIMPL:
        errors->status = TAMIS_ERR_UNSUPPORTED;
        break;
    case JERR_OUT_OF_MEMORY:
        errors->status = TAMIS_ERR_MEMORY;
        break;
    default:
        break;
    }
    longjmp(errors->jump, 1);
}

static int means_damage(int code)
{
    return code == JWRN_HIT_MARKER || code == JWRN_HUFF_BAD_CODE || code == JWRN_JPEG_EOF ||
           code == JWRN_MUST_RESYNC || code == JWRN_ARITH_BAD_CODE;
}

static void on_message(j_common_ptr cinfo, int level)
{
    tamis_jpeg_errors *errors = (tamis_jpeg_errors *)cinfo->err;
    if (level >= 0)
        return; /* traces */
    char text[JMSG_LENGTH_MAX];
    errors->base.format_message(cinfo, text);
    if (means_damage(errors->base.msg_code)) { /* libjpeg would go on with gray */
        memcpy(errors->message, text, sizeof text);
        longjmp(errors->jump, 1);
    }
    if (errors->base.num_warnings++ == 0)
        tamis_ctx_log(errors->ctx, TAMIS_LOG_INFO, "%s: %s", errors->name, text);
}

static void print_nothing(j_common_ptr cinfo)
{
    (void)cinfo;
}

struct jpeg_error_mgr *tamis_priv_jpeg_errors(tamis_jpeg_errors *errors, tamis_ctx *ctx,
                                              const char *name, tamis_status failure)
{
    jpeg_std_error(&errors->base);
    errors->base.error_exit = on_error;
    errors->base.emit_message = on_message;
    errors->base.output_message = print_nothing;
    errors->ctx = ctx;
    errors->name = name;
    errors->status = failure;
    return &errors->base;
}
