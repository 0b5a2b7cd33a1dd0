/* SPDX-License-Identifier: Apache-2.0 */
#include <tamis/image.h>

static int64_t modulo(int64_t i, int64_t n)
{
    int64_t r = i % n;
    return r < 0 ? r + n : r;
}

int64_t tamis_border_index(tamis_border border, int64_t i, int64_t n)
{
    if (i >= 0 && i < n)
        return i;
    switch (border) {
    case TAMIS_BORDER_REFLECT101: /* a period of 2n-2: both end pixels occur once */
        if (n == 1)
            return 0;
        i = modulo(i, 2 * n - 2);
        return i < n ? i : 2 * n - 2 - i;
    case TAMIS_BORDER_REFLECT:
        i = modulo(i, 2 * n);
        return i < n ? i : 2 * n - 1 - i;
    case TAMIS_BORDER_REPLICATE:
        return i < 0 ? 0 : n - 1;
    case TAMIS_BORDER_WRAP:
        return modulo(i, n);
    case TAMIS_BORDER_CONSTANT:
    case TAMIS_BORDER_VALID:
        break;
    }
    return -1;
}
