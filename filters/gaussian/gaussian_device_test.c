/* SPDX-License-Identifier: Apache-2.0 */
/* Windows on a device without a border: results lie beside their samples, by any number of bytes,
 * and kernels that load and store words must see that. With sanitizers, which watch addresses. */
#include "support/device.h"

static const test_device_row rows[] = {
    {"gaussian=ksize=17:border=valid", TAMIS_U8, 1, 61, 47, 0},
    {"gaussian=ksize=19:border=valid", TAMIS_U8, 1, 64, 47, 0},
    {"gaussian=ksize=23:border=valid", TAMIS_U8, 3, 61, 47, 0},
    {"unsharp=sigma=2.2:border=valid", TAMIS_U8, 1, 61, 47, 0},
    {"unsharp=sigma=2.5:border=valid", TAMIS_U8, 1, 64, 47, 0},
    {"unsharp=sigma=2.8:border=valid", TAMIS_U8, 1, 61, 47, 0},
    {"unsharp=sigma=3.2:border=valid", TAMIS_U8, 1, 61, 47, 0},
    {"unsharp=sigma=3.2:border=valid", TAMIS_U8, 3, 61, 47, 0},
    {"box=ksize=17:border=valid", TAMIS_U8, 1, 61, 47, 0},
    {"box=ksize=19:border=valid", TAMIS_U8, 3, 61, 47, 0},
    {"sharpen=border=valid", TAMIS_U8, 1, 61, 47, 0},
    {"sobel=border=valid", TAMIS_U8, 1, 61, 47, 0},
    {"median=ksize=3:border=valid", TAMIS_U8, 1, 61, 47, 0},
};

int main(void)
{
    return test_device_rows(rows, (int)(sizeof rows / sizeof rows[0]));
}
