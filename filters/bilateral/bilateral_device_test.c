/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures wide enough that a warp's columns all lie inside. */
#include "support/device.h"

int main(void)
{
    static const test_device_row rows[] = {
        {"bilateral=sigma_space=2:sigma_color=30:ksize=3", TAMIS_U8, 1, 611, 37, 1},
        {"bilateral=sigma_space=2:sigma_color=30:ksize=5", TAMIS_U8, 1, 611, 37, 1},
        {"bilateral=sigma_space=2:sigma_color=30:ksize=7", TAMIS_U8, 1, 611, 37, 1},
        {"bilateral=sigma_space=2:sigma_color=30:ksize=11", TAMIS_U8, 1, 611, 24, 1},
        {"bilateral=sigma_space=3:sigma_color=40:ksize=3:window=disc", TAMIS_U8, 3, 811, 22, 1},
        {"bilateral=sigma_space=3:sigma_color=40:ksize=5:window=disc", TAMIS_U8, 3, 811, 22, 1},
        {"bilateral=sigma_space=3:sigma_color=40:ksize=7:window=disc", TAMIS_U8, 3, 811, 22, 1},
        {"bilateral=sigma_space=3:sigma_color=40:ksize=11:window=disc", TAMIS_U8, 3, 811, 22, 1},
        {"bilateral=sigma_space=2:sigma_color=30:ksize=3", TAMIS_U8, 2, 611, 22, 1},
        {"bilateral=sigma_space=2:sigma_color=30:ksize=5:border=wrap", TAMIS_U8, 2, 611, 22, 1},
        {"bilateral=sigma_space=2:sigma_color=30:ksize=7", TAMIS_U8, 2, 611, 22, 1},
        {"bilateral=sigma_space=2:sigma_color=30:ksize=11:window=disc", TAMIS_U8, 2, 611, 22, 1},
        {"bilateral=sigma_space=2:sigma_color=20%:ksize=5", TAMIS_U16, 2, 640, 21, 1},
        {"bilateral=sigma_space=2:sigma_color=20%:ksize=11", TAMIS_S16, 2, 640, 21, 1},
        {"bilateral=sigma_space=2:sigma_color=20%:ksize=5", TAMIS_U16, 1, 640, 21, 1},
        {"bilateral=sigma_space=2:sigma_color=20%:ksize=7", TAMIS_U16, 3, 307, 18, 1},
        {"bilateral=sigma_space=2:sigma_color=20%:ksize=7", TAMIS_S16, 1, 600, 18, 1},
        {"bilateral=sigma_space=2:sigma_color=20%:ksize=5", TAMIS_F32, 1, 640, 18, 1e-5},
        {"bilateral=sigma_space=2:sigma_color=20%:ksize=11", TAMIS_F32, 3, 301, 18, 1e-5},
    };
    return test_device_rows(rows, sizeof rows / sizeof rows[0]);
}
