/* SPDX-License-Identifier: Apache-2.0 */
/* At the public border of the library: arguments that must not be NULL. */
#ifndef TAMIS_IO_REQUIRE_H
#define TAMIS_IO_REQUIRE_H

#include <tamis/core.h>

/* Returns ARGUMENT when the pointer is NULL. ctx may be NULL as well. */
#define TAMIS_IO_REQUIRE(ctx, pointer)                                                             \
    do {                                                                                           \
        if (!(pointer))                                                                            \
            return tamis_ctx_fail(ctx, TAMIS_ERR_ARGUMENT, "%s: %s is NULL", __func__, #pointer);  \
    } while (0)

#endif
