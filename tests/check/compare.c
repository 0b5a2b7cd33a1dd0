/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "check.h"

static int is_float(tamis_type type)
{
    return type == TAMIS_F16 || type == TAMIS_F32;
}

/* What color was divided by: the alpha of the result, at its smallest before rounding. */
static double alpha_at(const tamis_image *image, int x, int y, int c)
{
    tamis_format f = image->format;
    double a;

    if (f.alpha != TAMIS_ALPHA_STRAIGHT || c == f.channels - 1)
        return 1;
    a = test_sample_get(image, x, y, f.channels - 1);
    a = (is_float(f.type) ? a : a - 0.5) / tamis_type_range(f.type);
    return isnan(a) || a > 1 ? 1 : a;
}

/* How far a result may be from the reference, whose value is ref. A row's tolerance holds before
 * the division by alpha; where large samples cancel out, it is their size that counts. */
static double allowed(const tamis_kernel *kernel, tamis_type type, double ref, double alpha,
                      double largest)
{
    double error;

    if (kernel->tolerance == 0)
        return 0;
    if (!is_float(kernel->type))
        return kernel->tolerance;
    if (!is_float(type)) /* either side of a rounding tie */
        return 1 + kernel->tolerance * tamis_type_range(type) / alpha;
    error = kernel->tolerance * fmax(fmax(1, largest), fabs(ref)) / alpha;
    return type == TAMIS_F16 ? error + fabs(ref) / 1024 + 0x1p-24 : error;
}

static int agree(const tamis_image *ref, const tamis_image *got, int x, int y, int c,
                 const tamis_kernel *kernel, double largest)
{
    double a = test_sample_get(ref, x, y, c), b = test_sample_get(got, x, y, c);

    if (a == b)
        return kernel->tolerance != 0 || signbit(a) == signbit(b);
    if (isnan(a) && isnan(b))
        return 1;
    if (kernel->tolerance != 0 && alpha_at(ref, x, y, c) < 1e-6)
        return 1; /* as good as clear: any color */
    if (isnan(a) || isnan(b))
        return 0;
    return fabs(a - b) <= allowed(kernel, ref->format.type, a, alpha_at(ref, x, y, c), largest);
}

double check_largest(const tamis_image *image)
{
    double largest = 0;

    for (int y = 0; y < image->h; y++)
        for (int x = 0; x < image->w; x++)
            for (int c = 0; c < image->format.channels; c++) {
                double v = fabs(test_sample_get(image, x, y, c));
                if (isfinite(v) && v > largest)
                    largest = v;
            }
    return largest;
}

int check_compare(const tamis_image *ref, const tamis_image *got, const tamis_kernel *kernel,
                  double largest, char *buf, size_t size)
{
    for (int y = 0; y < ref->h; y++)
        for (int x = 0; x < ref->w; x++)
            for (int c = 0; c < ref->format.channels; c++)
                if (!agree(ref, got, x, y, c, kernel, largest)) {
                    snprintf(buf, size, "first at x=%d y=%d channel %d: %.9g, expected %.9g", x, y,
                             c, test_sample_get(got, x, y, c), test_sample_get(ref, x, y, c));
                    return -1;
                }
    return 0;
}
