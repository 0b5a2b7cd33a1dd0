/* SPDX-License-Identifier: Apache-2.0 */
/* cmocka with what it wants included before it, and a few helpers. */
#ifndef TEST_UNIT_H
#define TEST_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <tamis/tamis.h>

enum { UNIT_PARAMS = 1 << 20 };

/* A context of so many threads; the test fails when there is none. */
static inline tamis_ctx *unit_ctx(int threads)
{
    tamis_ctx_options options = {.threads = threads};
    tamis_ctx *ctx;
    assert_int_equal(tamis_ctx_create(&options, &ctx), TAMIS_OK);
    return ctx;
}

/* The context's newest message holds the text. */
static inline void unit_message_has(const tamis_ctx *ctx, const char *text)
{
    char message[600];
    tamis_ctx_last_message(ctx, message, sizeof message);
    if (!strstr(message, text)) {
        print_error("the message '%s' lacks '%s'\n", message, text);
        fail();
    }
}

#endif
