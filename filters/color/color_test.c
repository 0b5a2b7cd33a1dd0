/* SPDX-License-Identifier: Apache-2.0 */
/* Known colors in known spaces, and the ways back. */
#include <math.h>
#include <stdio.h>

#include <tamis/tamis.h>

#include "support/picture.h"

static long passed, failed;

static void check(int holds, const char *chain, const double *in, const double *want,
                  const tamis_image *got)
{
    if (holds) {
        passed++;
        return;
    }
    failed++;
    printf("FAIL %s of %g %g %g: ", chain, in[0], in[1], in[2]);
    for (int c = 0; c < got->format.channels; c++)
        printf("%g (%g) ", test_sample_get(got, 0, 0, c), want[c]);
    putchar('\n');
}

/* Runs a chain on a picture of one color; the result has one pixel. */
static int run(tamis_ctx *ctx, const char *chain, tamis_format format, const double *in,
               test_picture *out)
{
    tamis_graph *graph = NULL;
    tamis_plan *plan = NULL;
    test_picture src;
    tamis_status status = tamis_graph_parse(ctx, chain, &graph);

    *out = (test_picture){0};
    test_picture_make(&src, format, 1, 1, TEST_ROWS_ODD);
    for (int c = 0; c < format.channels; c++)
        test_sample_set(&src.image, 0, 0, c, in[c]);
    if (status == TAMIS_OK)
        status = tamis_plan_create(ctx, graph, format, 1, 1, NULL, &plan);
    if (status == TAMIS_OK) {
        test_picture_make(out, tamis_plan_format(plan), 1, 1, TEST_ROWS_ODD);
        status = tamis_plan_run(plan, &src.image, &out->image, NULL);
    }
    test_picture_free(&src);
    tamis_plan_free(&plan);
    tamis_graph_free(&graph);
    return status == TAMIS_OK ? 0 : -1;
}

static void expect(tamis_ctx *ctx, const char *chain, tamis_type type, int channels,
                   const double *in, int outputs, const double *want, double tolerance)
{
    test_picture out;
    int holds = run(ctx, chain, test_format(type, channels), in, &out) == 0 &&
                out.image.format.channels == outputs;

    for (int c = 0; holds && c < outputs; c++)
        holds = fabs(test_sample_get(&out.image, 0, 0, c) - want[c]) <= tolerance;
    check(holds, chain, in, want, &out.image);
    test_picture_free(&out);
}

struct row {
    const char *chain;
    tamis_type type;
    int channels;
    double in[3];
    int outputs;
    double want[3], tolerance;
};

/* YCbCr from the formulas by hand; Lab from the CIE's definition, as published for sRGB. */
static const struct row rows[] = {
    {"color", TAMIS_U8, 3, {255, 0, 0}, 1, {76}, 0},
    {"color", TAMIS_U8, 3, {0, 255, 0}, 1, {150}, 0},
    {"color", TAMIS_U8, 3, {0, 0, 255}, 1, {29}, 0},
    {"color=matrix=bt709", TAMIS_U16, 3, {65535, 0, 0}, 1, {13933}, 0},
    {"color", TAMIS_U8, 3, {200, 200, 200}, 1, {200}, 0},
    {"color=to=rgb", TAMIS_U8, 1, {77}, 3, {77, 77, 77}, 0},
    {"color=to=ycbcr", TAMIS_U8, 3, {255, 0, 0}, 3, {76, 85, 255}, 0},
    {"color=to=ycbcr", TAMIS_U8, 3, {90, 90, 90}, 3, {90, 128, 128}, 0},
    {"color=to=ycbcr", TAMIS_U16, 3, {5000, 5000, 5000}, 3, {5000, 32768, 32768}, 0},
    {"color=to=ycbcr", TAMIS_F32, 3, {0.5, 0.5, 0.5}, 3, {0.5, 0.5, 0.5}, 1e-6},
    {"color=to=ycbcr:range=limited", TAMIS_U8, 3, {255, 255, 255}, 3, {235, 128, 128}, 0},
    {"color=to=ycbcr:range=limited", TAMIS_U8, 3, {0, 0, 255}, 3, {41, 240, 110}, 0},
    {"color=to=ycbcr:range=limited:matrix=bt709", TAMIS_U8, 3, {255, 0, 0}, 3, {63, 102, 240}, 0},
    {"color=to=lab", TAMIS_F32, 3, {1, 0, 0}, 3, {53.2408, 80.0925, 67.2032}, 0.01},
    {"color=to=lab", TAMIS_F32, 3, {0, 0, 1}, 3, {32.2970, 79.1875, -107.8602}, 0.01},
    {"color=to=lab", TAMIS_F32, 3, {1, 1, 1}, 3, {100, 0, 0}, 0.01},
    {"color=to=lab", TAMIS_U8, 3, {255, 255, 255}, 3, {255, 128, 128}, 0},
    {"color=to=lab", TAMIS_F32, 1, {0}, 3, {0, 0, 0}, 1e-6},
};

static void known(tamis_ctx *ctx)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        expect(ctx, rows[i].chain, rows[i].type, rows[i].channels, rows[i].in, rows[i].outputs,
               rows[i].want, rows[i].tolerance);
}

static void there_and_back(tamis_ctx *ctx)
{
    static const struct {
        const char *chain;
        tamis_type type;
        double tolerance;
    } ways[] = {
        {"color=to=ycbcr,color=from=ycbcr:to=rgb", TAMIS_U8, 2},
        {"color=to=ycbcr,color=from=ycbcr:to=rgb", TAMIS_U16, 2},
        {"color=to=ycbcr:range=limited,color=from=ycbcr:to=rgb:range=limited", TAMIS_U16, 2},
        {"color=to=ycbcr:matrix=bt2020,color=from=ycbcr:to=rgb:matrix=bt2020", TAMIS_F32, 1e-6},
        {"color=to=lab,color=from=lab:to=rgb", TAMIS_F32, 2e-5},
        {"color=to=lab,color=from=lab:to=rgb", TAMIS_U16, 30},
        {"color=from=rgb:to=rgb", TAMIS_U8, 0},
    };

    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        for (int n = 0; n < 216; n++) {
            double range = tamis_type_range(ways[i].type), in[3];
            for (int c = 0; c < 3; c++) {
                in[c] = (c == 0 ? n % 6 : c == 1 ? n / 6 % 6 : n / 36) / 5.0 * range;
                if (ways[i].type == TAMIS_F32)
                    in[c] = (float)in[c];
            }
            expect(ctx, ways[i].chain, ways[i].type, 3, in, 3, in, ways[i].tolerance);
        }
}

/* Alpha goes through untouched, and what makes no sense is refused. */
static void alpha(tamis_ctx *ctx)
{
    static const double in[] = {255, 0, 0, 33}, want[] = {76, 33};
    tamis_format format = {TAMIS_U8, 4, TAMIS_PACKED, TAMIS_ALPHA_STRAIGHT};
    test_picture out;
    int holds = run(ctx, "color", format, in, &out) == 0 && out.image.format.channels == 2 &&
                out.image.format.alpha == TAMIS_ALPHA_STRAIGHT &&
                test_sample_get(&out.image, 0, 0, 0) == want[0] &&
                test_sample_get(&out.image, 0, 0, 1) == want[1];

    check(holds, "color with alpha", in, want, &out.image);
    test_picture_free(&out);
    format.alpha = TAMIS_ALPHA_PREMULTIPLIED;
    holds = run(ctx, "color=to=lab", format, in, &out) != 0;
    check(holds, "color=to=lab, premultiplied", in, want, &out.image);
    holds = run(ctx, "color=from=rgb", test_format(TAMIS_U8, 2), in, &out) != 0;
    check(holds, "color of two channels", in, want, &out.image);
}

int main(void)
{
    tamis_ctx *ctx = NULL;

    if (tamis_ctx_create(NULL, &ctx) != TAMIS_OK)
        return 1;
    known(ctx);
    there_and_back(ctx);
    alpha(ctx);
    tamis_ctx_free(&ctx);
    printf("%ld passed, %ld failed, 0 skipped\n", passed, failed);
    return failed ? 1 : 0;
}
