/* SPDX-License-Identifier: Apache-2.0 */
/* Each kernel for 8 bit: search windows of common widths, and those that come in bands of rows. */
#include "support/device.h"

int main(void)
{
    static const test_device_row rows[] = {
        {"nlmeans=h=20:patch=7:search=21", TAMIS_U8, 1, 45, 19, 1},
        {"nlmeans=h=4:patch=5:search=17", TAMIS_U8, 1, 21, 18, 1},
        {"nlmeans=h=9:patch=3:search=21:border=wrap", TAMIS_U8, 1, 33, 17, 1},
        {"nlmeans=h=20:patch=9:search=5:frames=1", TAMIS_U8, 1, 37, 21, 1},
        {"nlmeans=h=20:patch=9:search=5:sigma=20:border=constant", TAMIS_U8, 1, 37, 21, 1},
        {"nlmeans=h=15:patch=9:search=23", TAMIS_U8, 1, 13, 9, 1},
        {"nlmeans=h=60:patch=7:search=99", TAMIS_U8, 1, 13, 9, 1},
        {"nlmeans=h=20:patch=7:search=21", TAMIS_U8, 3, 35, 9, 1},
        {"nlmeans=h=20:patch=7:search=41x61", TAMIS_U8, 3, 9, 9, 1},
        {"nlmeans=h=120:patch=7:search=13", TAMIS_U8, 4, 11, 10, 1},
        {"nlmeans=h=0.5:patch=7:search=7", TAMIS_U8, 1, 35, 9, 1},
        {"nlmeans=h=20:patch=7:search=21", TAMIS_U8, 1, 96, 50, 1},
        {"nlmeans=h=15:patch=7:search=13:frames=1", TAMIS_U8, 1, 37, 34, 1},
        {"nlmeans=h=30:patch=7:search=21:sigma=30", TAMIS_U8, 1, 37, 21, 1},
        {"nlmeans=h=20:patch=3:search=5", TAMIS_U8, 1, 260, 70, 1},
        {"nlmeans=h=20:patch=5:search=7:border=reflect", TAMIS_U8, 1, 141, 21, 1},
        {"nlmeans=h=20:patch=7:search=3x7:frames=1", TAMIS_U8, 1, 133, 20, 1},
        {"nlmeans=h=20:patch=9:search=7x3:border=constant", TAMIS_U8, 1, 130, 60, 1},
        /* as chroma of videos is */
        {"nlmeans=h=20:patch=9:search=3:frames=1", TAMIS_U8, 2, 133, 21, 1},
        {"nlmeans=h=20:patch=7:search=5:border=reflect", TAMIS_U8, 2, 141, 40, 1},
        {"nlmeans=h=20:patch=5:search=7x3:frames=1", TAMIS_U8, 2, 130, 35, 1},
        {"nlmeans=h=20:patch=3:search=5:border=constant", TAMIS_U8, 2, 260, 34, 1},
        {"nlmeans=h=255:patch=9:search=5", TAMIS_U8, 2, 40, 20, 1, .stripes = 1},
        {"nlmeans=h=255:patch=7:search=5", TAMIS_U8, 2, 40, 20, 1, .stripes = 1},
        {"nlmeans=h=20:patch=9:search=13", TAMIS_U8, 2, 33, 17, 1},
        {"nlmeans=h=20:patch=9:search=5:sigma=20:frames=1", TAMIS_U8, 2, 35, 17, 1},
        {"nlmeans=h=15:patch=9:search=33", TAMIS_U8, 2, 13, 9, 1},
        {"nlmeans=h=20:patch=7:search=21", TAMIS_U8, 2, 35, 9, 1},
        {"nlmeans=h=20:patch=3:search=11:border=wrap", TAMIS_U8, 2, 35, 19, 1},
        {"nlmeans=h=20:patch=7:search=5:frames=1", TAMIS_U16, 2, 133, 20, 257},
        {"nlmeans=h=20:patch=9:search=5:frames=1:motion=32", TAMIS_U8, 1, 141, 37, 1},
        {"nlmeans=h=20:patch=5:search=7x3:frames=1:motion=9", TAMIS_U8, 2, 50, 35, 1},
        {"nlmeans=h=9:patch=3:search=3:frames=1:motion=8", TAMIS_U8, 1, 450, 29, 1},
        {"nlmeans=h=9:patch=3:search=3:frames=1:motion=16", TAMIS_U8, 4, 29, 260, 1},
        {"nlmeans=h=20:patch=5:search=3:frames=1:motion=8:color=separate", TAMIS_U8, 3, 37, 21, 1},
        {"nlmeans=h=20:patch=5:search=5:frames=1:motion=17:color=luma", TAMIS_U8, 3, 37, 21, 1},
        {"nlmeans=h=8%:patch=9:search=5:frames=1:motion=8", TAMIS_U16, 1, 67, 20, 1},
        {"nlmeans=h=8%:patch=3:search=5:frames=1:motion=8:border=constant", TAMIS_S16, 1, 40, 20,
         1},
        {"nlmeans=h=8%:patch=3:search=5:frames=1:motion=8:border=valid", TAMIS_F32, 1, 141, 130,
         1e-5},
    };
    return test_device_rows(rows, sizeof rows / sizeof rows[0]);
}
