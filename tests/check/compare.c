/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "check.h"

static int is_float(tamis_type type)
{
    return type == TAMIS_F16 || type == TAMIS_F32;
}

/* How far a result may be from the reference, whose value is ref. */
static double allowed(const tamis_kernel *kernel, tamis_type type, double ref)
{
    double size = fmax(1.0, fabs(ref));

    if (kernel->tolerance == 0)
        return 0;
    if (!is_float(type)) /* an F32 row may sit on either side of a rounding tie */
        return is_float(kernel->type) ? 1 : kernel->tolerance;
    if (type == TAMIS_F16) /* likewise: one step of binary16 */
        return kernel->tolerance * size + fabs(ref) / 1024 + 0x1p-24;
    return kernel->tolerance * size;
}

/* Where color was divided by alpha, the row's tolerance holds before the division. */
static double alpha_weight(const tamis_image *image, int x, int y, int c)
{
    tamis_format f = image->format;
    double a;

    if (f.alpha != TAMIS_ALPHA_STRAIGHT || c == f.channels - 1)
        return 1;
    a = test_sample_get(image, x, y, f.channels - 1) / tamis_type_range(f.type);
    return a > 1e-6 && a < 1 ? a : 1;
}

static int agree(const tamis_image *ref, const tamis_image *got, int x, int y, int c,
                 const tamis_kernel *kernel)
{
    double a = test_sample_get(ref, x, y, c), b = test_sample_get(got, x, y, c);

    if (isnan(a) || isnan(b))
        return isnan(a) && isnan(b);
    if (a == b)
        return kernel->tolerance != 0 || signbit(a) == signbit(b);
    return fabs(a - b) <= allowed(kernel, ref->format.type, a) / alpha_weight(ref, x, y, c);
}

int check_compare(const tamis_image *ref, const tamis_image *got, const tamis_kernel *kernel,
                  char *buf, size_t size)
{
    for (int y = 0; y < ref->h; y++)
        for (int x = 0; x < ref->w; x++)
            for (int c = 0; c < ref->format.channels; c++)
                if (!agree(ref, got, x, y, c, kernel)) {
                    snprintf(buf, size, "first at x=%d y=%d channel %d: %.9g, expected %.9g", x, y,
                             c, test_sample_get(got, x, y, c), test_sample_get(ref, x, y, c));
                    return -1;
                }
    return 0;
}
