/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TAMIS_IO_PNG_LEVEL_H
#define TAMIS_IO_PNG_LEVEL_H

#include "writer.h"

/* Whether a picture's PNG gets hardly smaller by searching for repeated strings, as photos do not:
 * then run lengths alone are as good and several times faster. Tried out on parts of the picture;
 * 0 also when memory lacks. */
int tamis_priv_png_is_noisy(tamis_rows *rows);

#endif
