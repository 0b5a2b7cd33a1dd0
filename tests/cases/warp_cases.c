/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cases.h"

#define FOR_EACH_CPU(ctx)                                                                          \
    for (int cpu_ = 0; cpu_ < CASE_CPUS; cpu_++)                                                   \
        for (tamis_ctx *ctx = case_ctx[cpu_]; ctx; ctx = NULL)

/* The chain makes want, w x h, of src; exact, or to 1e-5 x max(1, |right|) for floats. */
static void makes(const char *id, tamis_ctx *ctx, const char *chain, const tamis_image *src,
                  const double *want, int w, int h)
{
    test_picture out;

    if (case_run_ok(id, ctx, chain, src, &out) == 0) {
        int wrong = out.image.w != w || out.image.h != h;
        for (int i = 0; !wrong && i < w * h; i++) {
            double v = test_sample_get(&out.image, i % w, i / w, 0);
            double slack = src->format.type == TAMIS_F32 ? 1e-5 * fmax(1, fabs(want[i])) : 0;
            wrong = !(fabs(v - want[i]) <= slack);
            case_check(!wrong, id, "%s: %.9g instead of %.9g at %d, %d", chain, v, want[i], i % w,
                       i / w);
        }
        case_check(out.image.w == w && out.image.h == h, id, "%s makes %dx%d, not %dx%d", chain,
                   out.image.w, out.image.h, w, h);
    }
    test_picture_free(&out);
}

void case_halves(void)
{
    static const double two[2] = {0, 100}, three[3] = {0, 60, 240};
    static const double five[5] = {0, 50, 100, 150, 200};
    static const double doubled[4] = {0, 25, 75, 100}, wider[5] = {0, 24, 60, 168, 240};
    static const double sharp[2] = {15, 195}, smooth[2] = {22.5, 172.5}, levels[2] = {23, 173};
    static const double picked[3] = {0, 100, 200}, middle[1] = {100};
    static const tamis_type types[] = {TAMIS_U8, TAMIS_U16, TAMIS_F32};

    if (!case_has("G16", "resize"))
        return;
    for (int i = 0; i < 3; i++)
        FOR_EACH_CPU(ctx)
        {
            test_picture a, b, c;
            case_row(&a, types[i], two, 2);
            case_row(&b, types[i], three, 3);
            case_row(&c, types[i], five, 5);
            makes("G16", ctx, "resize=size=4x1", &a.image, doubled, 4, 1);
            makes("G16", ctx, "resize=size=5x1:antialias=0", &b.image, wider, 5, 1);
            makes("G16", ctx, "resize=size=5x1", &b.image, wider, 5, 1);
            makes("G16", ctx, "resize=size=2x1:antialias=0", &b.image, sharp, 2, 1);
            if (types[i] == TAMIS_U8) /* halves go up */
                makes("G16", ctx, "resize=size=2x1", &b.image, levels, 2, 1);
            if (types[i] == TAMIS_F32)
                makes("G16", ctx, "resize=size=2x1", &b.image, smooth, 2, 1);
            makes("G16", ctx, "resize=size=3x1:interp=nearest", &c.image, picked, 3, 1);
            makes("G16", ctx, "resize=size=1x1:interp=nearest", &c.image, middle, 1, 1);
            test_picture_free(&a);
            test_picture_free(&b);
            test_picture_free(&c);
        }
}

static double q4(int x, int y, int c)
{
    (void)c;
    return 40 * y + 10 * x;
}

void case_turns(void)
{
    static const double left[16] = {30, 70, 110, 150, 20, 60, 100, 140,
                                    10, 50, 90,  130, 0,  40, 80,  120};
    static const double right[16] = {120, 80,  40, 0,  130, 90,  50, 10,
                                     140, 100, 60, 20, 150, 110, 70, 30};
    static const char *const interps[] = {"nearest", "linear", "cubic", "lanczos3", "area"};
    test_picture src;

    if (!case_has("G17", "rotate"))
        return;
    case_picture(&src, test_format(TAMIS_U8, 1), 4, 4, q4);
    for (int i = 0; i < 5; i++)
        FOR_EACH_CPU(ctx)
        {
            char chain[128];
            const char *rest = "border=constant:border_value=99";
            snprintf(chain, sizeof chain, "rotate=angle=90:interp=%s:%s", interps[i], rest);
            makes("G17", ctx, chain, &src.image, left, 4, 4);
            snprintf(chain, sizeof chain, "rotate=angle=-90:size=fit:interp=%s:%s", interps[i],
                     rest);
            makes("G17", ctx, chain, &src.image, right, 4, 4);
            snprintf(chain, sizeof chain, "affine=angle=-450:interp=%s:%s", interps[i], rest);
            makes("G17", ctx, chain, &src.image, right, 4, 4);
        }
    test_picture_free(&src);
}

void case_matrices(void)
{
    static const double transposed[16] = {0,  40, 80,  120, 10, 50, 90,  130,
                                          20, 60, 100, 140, 30, 70, 110, 150};
    static const char *const singular[] = {"affine=matrix=1,2,0,2,4,0",
                                           "affine=matrix=1,2,0,2,4,0:inverse=1",
                                           "affine=matrix=0,0,0,0,0,0",
                                           "affine=matrix=0,0,0,0,0,0:inverse=1",
                                           "affine=matrix=1,2,0,2,4,0:angle=30",
                                           "affine=scale=0",
                                           "affine=shear=1,1",
                                           "perspective=matrix=1,0,0,0,1,0,0,0,0",
                                           "perspective=matrix=0,0,0,0,0,0,0,0,0"};
    char message[400];
    test_picture src;

    if (!case_has("G18", "affine") || !case_has("G18", "perspective"))
        return;
    case_picture(&src, test_format(TAMIS_U8, 1), 4, 4, q4);
    FOR_EACH_CPU(ctx)
    {
        for (size_t i = 0; i < sizeof singular / sizeof *singular; i++) {
            case_check(case_refused(ctx, singular[i], &src.image), "G18", "%s is not refused",
                       singular[i]);
            tamis_ctx_last_message(ctx, message, sizeof message);
            case_check(strstr(message, "matrix") && strstr(message, "singular"), "G18",
                       "%s: the message is: %s", singular[i], message);
        }
        makes("G18", ctx, "affine=matrix=0,1,0,1,0,0", &src.image, transposed, 4, 4);
        makes("G18", ctx, "perspective=matrix=0,1,0,1,0,0,0,0,1", &src.image, transposed, 4, 4);
        makes("G18", ctx, "affine=matrix=0,1,0,1,0,0:interp=cubic", &src.image, transposed, 4, 4);
    }
    test_picture_free(&src);
}

static double wide(int x, int y, int c)
{
    (void)y;
    (void)c;
    return (7 * x + x / 256) % 256;
}

void case_wide(void)
{
    static const char *const interps[] = {"nearest", "linear", "cubic", "lanczos3"};
    /* A touch of shear keeps the positions from being whole numbers, which would be copied. */
    static const char *const moves[] = {
        "affine=matrix=1,0,-35000,0,1,0", "perspective=matrix=1,0,-35000,0,1,0,0,0,1",
        "perspective=matrix=2,0,-70000,0,2,0,0,0,2", "affine=matrix=1,1e-12,-35000,0,1,0"};
    test_picture src, out;

    if (!case_has("G19", "affine") || !case_has("G19", "perspective"))
        return;
    case_picture(&src, test_format(TAMIS_U8, 1), 40000, 2, wide);
    for (int m = 0; m < 4; m++)
        for (int i = 0; i < 4; i++)
            FOR_EACH_CPU(ctx)
            {
                char chain[128];
                snprintf(chain, sizeof chain, "%s:interp=%s:border=constant", moves[m], interps[i]);
                if (case_run_ok("G19", ctx, chain, &src.image, &out) == 0)
                    case_check(test_crc(&out.image) == 0x7c7a632d, "G19", "%s: another CRC", chain);
                test_picture_free(&out);
            }
    test_picture_free(&src);
}

void case_precision(void)
{
    static const double step[8] = {0, 0, 0, 0, 65535, 65535, 65535, 65535};
    static const double moved[8] = {0, 0, 0, 0, 64511.015625, 65535, 65535, 65535};
    static const double ends[3] = {1, 0, 1};
    static const double blended[3] = {0.6, 0.4, 0.6}, kept[3] = {1, 0.4, 0.6};
    test_picture a, b;

    if (!case_has("G20", "affine"))
        return;
    case_row(&a, TAMIS_F32, step, 8);
    case_row(&b, TAMIS_F32, ends, 3);
    FOR_EACH_CPU(ctx)
    {
        makes("G20", ctx, "affine=translate=0.015625,0:border=replicate", &a.image, moved, 8, 1);
        makes("G20", ctx, "affine=translate=0.4,0:border=constant", &b.image, blended, 3, 1);
        makes("G20", ctx, "affine=translate=0.4,0:border=replicate", &b.image, kept, 3, 1);
    }
    test_picture_free(&a);
    test_picture_free(&b);
}

/* A move by whole pixels is a shifted copy, with any interpolation, sample type and alpha; twice as
 * a chain, too. */
void case_shifts(void)
{
    static const char *const interps[] = {"nearest", "linear", "cubic", "lanczos3", "area"};

    if (!case_has("shift", "affine"))
        return;
    for (int type = 0; type < TAMIS_TYPE_COUNT; type++)
        for (int i = 0; i < 5; i++)
            FOR_EACH_CPU(ctx)
            {
                tamis_format format = test_format((tamis_type)type, 4);
                test_picture src, out;
                char chain[160];
                int wrong = 0;
                format.alpha = TAMIS_ALPHA_STRAIGHT;
                test_picture_make(&src, format, 150, 70, TEST_ROWS_ODD);
                test_picture_fill(&src.image, TEST_FILL_SPECIALS, 7);
                snprintf(chain, sizeof chain,
                         "affine=translate=5,-3:interp=%s:border=wrap,affine=matrix=1,0,2,0,1,0:"
                         "interp=%s:border=wrap",
                         interps[i], interps[i]);
                if (case_run_ok("shift", ctx, chain, &src.image, &out) == 0)
                    for (int y = 0; y < 70; y++)
                        for (int x = 0; x < 150; x++)
                            for (int c = 0; c < 4; c++) {
                                double v = test_sample_get(&out.image, x, y, c);
                                double w =
                                    test_sample_get(&src.image, (x + 143) % 150, (y + 3) % 70, c);
                                wrong += v != w && !(isnan(v) && isnan(w));
                            }
                case_check(!wrong, "shift", "%s on %s: %d samples differ", chain,
                           tamis_type_name((tamis_type)type), wrong);
                test_picture_free(&out);
                test_picture_free(&src);
            }
}
