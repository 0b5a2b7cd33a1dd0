/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cases.h"

static double rise(int x, int y, int c)
{
    (void)y;
    (void)c;
    return x >= 6 ? 255 : 0;
}

static double fall(int x, int y, int c)
{
    (void)y;
    (void)c;
    return x < 6 ? 255 : 0;
}

static double impulse_7(int x, int y, int c)
{
    (void)c;
    return x == 3 && y == 3 ? 255 : 0;
}

static double step_slope(int x, int sign)
{
    return x == 5 || x == 6 ? sign * 1020 : 0;
}

/* Negative slopes survive in signed types and do not wrap in unsigned ones. */
static void step(tamis_ctx *ctx, case_formula formula, int sign)
{
    static const char *const chains[] = {"sobel=output=dx", "sobel=output=dx:type=f32",
                                         "sobel=output=dx:type=u8", "sobel", "sobel=norm=l1"};
    test_picture src, out;

    case_picture(&src, test_format(TAMIS_U8, 1), 12, 9, formula);
    for (int i = 0; i < 5; i++) {
        if (case_run_ok("G23", ctx, chains[i], &src.image, &out))
            continue;
        for (int y = 0; y < 9; y++)
            for (int x = 0; x < 12; x++) {
                double want = step_slope(x, sign), got = test_sample_get(&out.image, x, y, 0);
                if (i >= 3)
                    want = want != 0 ? 255 : 0;
                else if (i == 2)
                    want = want > 0 ? 255 : 0;
                case_check(got == want, "G23", "%s: x=%d y=%d: %g, not %g", chains[i], x, y, got,
                           want);
            }
        test_picture_free(&out);
    }
    test_picture_free(&src);
}

static void impulse(tamis_ctx *ctx, int corners)
{
    const char *chain = corners ? "laplacian=neighbors=8" : "laplacian";
    test_picture src, out;

    case_picture(&src, test_format(TAMIS_U8, 1), 7, 7, impulse_7);
    if (case_run_ok("G23", ctx, chain, &src.image, &out) == 0)
        for (int y = 0; y < 7; y++)
            for (int x = 0; x < 7; x++) {
                int dx = x > 3 ? x - 3 : 3 - x, dy = y > 3 ? y - 3 : 3 - y;
                int is_near = corners ? dx < 2 && dy < 2 : dx + dy < 2;
                double want = dx + dy == 0 ? (corners ? -2040 : -1020) : is_near ? 255 : 0;
                double got = test_sample_get(&out.image, x, y, 0);
                case_check(got == want, "G23", "%s: x=%d y=%d: %g, not %g", chain, x, y, got, want);
            }
    test_picture_free(&out);
    test_picture_free(&src);
}

/* Flat pictures, small ones too, have no slope, the frame included. */
static void flat(tamis_ctx *ctx)
{
    static const char *const chains[] = {
        "sobel=ksize=7",  "sobel=output=direction", "prewitt",
        "scharr=norm=l1", "laplacian=neighbors=8",  "sobel=color=luma"};
    static const int sizes[][2] = {{1, 1}, {2, 1}, {1, 5}, {32, 32}};
    static const double values[] = {77, 51400, -20000, 0.1, 0.1};
    test_picture src, out;

    for (int i = 0; i < 6; i++)
        for (int s = 0; s < 4; s++)
            for (int type = 0; type < TAMIS_TYPE_COUNT; type++) {
                case_constant(&src, test_format((tamis_type)type, 3), sizes[s][0], sizes[s][1],
                              values[type]);
                if (case_run_ok("G23", ctx, chains[i], &src.image, &out) == 0)
                    case_check(case_all(&out.image, 0), "G23", "%s on flat %s %dx%d", chains[i],
                               tamis_type_name((tamis_type)type), sizes[s][0], sizes[s][1]);
                test_picture_free(&out);
                test_picture_free(&src);
            }
}

static double ramp(int x, int y, int c)
{
    (void)c;
    return 3 * x + 2 * y;
}

/* dx is right minus left and dy below minus above; the angle grows clockwise. */
static void signs(tamis_ctx *ctx)
{
    static const struct {
        const char *chain;
        double want;
    } cases[] = {{"sobel=output=dx", 24},
                 {"sobel=output=dy", 16},
                 {"sobel=output=dy:ksize=5", 256},
                 {"sobel=output=dx:ksize=7", 6144},
                 {"prewitt=output=dx", 18},
                 {"scharr=output=dy", 64},
                 {"sobel=norm=l1:type=s16", 40},
                 {"sobel=type=f32", 28.8444102037119},
                 {"sobel", 29},
                 {"sobel=output=direction", 0.588002603547568},
                 {"sobel=output=dx:scale=-0.5:delta=10", -2},
                 {"laplacian=neighbors=8:delta=7", 7}};
    test_picture src, out;

    case_picture(&src, test_format(TAMIS_U8, 1), 20, 12, ramp);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (case_run_ok("slopes", ctx, cases[i].chain, &src.image, &out) == 0) {
            double got = test_sample_get(&out.image, 10, 6, 0);
            case_check(fabs(got - cases[i].want) < 2e-6, "slopes", "%s: %.9g, not %.9g",
                       cases[i].chain, got, cases[i].want);
        }
        test_picture_free(&out);
    }
    case_check(case_refused(ctx, "sobel=output=direction:type=u8", &src.image), "slopes", "u8");
    case_check(case_refused(ctx, "sobel=output=direction:scale=2", &src.image), "slopes", "scale");
    case_check(case_refused(ctx, "sobel=ksize=4", &src.image), "slopes", "ksize=4");
    case_check(case_refused(ctx, "sobel=ksize=1", &src.image), "slopes", "ksize=1");
    test_picture_free(&src);
}

static double mixed(int x, int y, int c)
{
    return (x * 37 + y * 91 + c * 53 + x * y * 7) % 256;
}

static double mixed_luma(int x, int y, int c)
{
    (void)c;
    return floor((9798 * mixed(x, y, 0) + 19235 * mixed(x, y, 1) + 3735 * mixed(x, y, 2)) / 32768 +
                 0.5);
}

/* The luma of a color picture has the slopes of the gray one, with alpha or without. */
static void luma(tamis_ctx *ctx)
{
    test_picture color, gray, want, out;

    case_picture(&gray, test_format(TAMIS_U8, 1), 40, 9, mixed_luma);
    for (int channels = 3; channels <= 4; channels++) {
        tamis_format format = {TAMIS_U8, channels, TAMIS_PACKED,
                               channels == 4 ? TAMIS_ALPHA_STRAIGHT : TAMIS_ALPHA_NONE};
        case_picture(&color, format, 40, 9, mixed);
        if (case_run_ok("slopes", ctx, "sobel=output=dx:color=luma:alpha=ignore", &color.image,
                        &out) == 0 &&
            case_run_ok("slopes", ctx, "sobel=output=dx", &gray.image, &want) == 0)
            case_check(test_same(&want.image, &out.image), "slopes", "luma of %d channels",
                       channels);
        test_picture_free(&want);
        test_picture_free(&out);
        test_picture_free(&color);
    }
    test_picture_free(&gray);
}

static double hidden(int x, int y, int c)
{
    return c == 3 ? 0 : mixed(x, y, c);
}

/* What clear pixels hide makes no edges, unless asked for; edges have no alpha. */
static void alpha(tamis_ctx *ctx)
{
    static const char *const chains[] = {"sobel", "scharr=output=dx", "laplacian",
                                         "sobel=color=luma"};
    tamis_format format = {TAMIS_U8, 4, TAMIS_PACKED, TAMIS_ALPHA_STRAIGHT};
    test_picture src, out;

    case_picture(&src, format, 40, 9, hidden);
    for (int i = 0; i < 4; i++) {
        if (case_run_ok("slopes", ctx, chains[i], &src.image, &out) == 0)
            case_check(out.image.format.alpha == TAMIS_ALPHA_NONE &&
                           out.image.format.channels == (i == 3 ? 1 : 3) && case_all(&out.image, 0),
                       "slopes", "%s of a clear picture", chains[i]);
        test_picture_free(&out);
    }
    if (case_run_ok("slopes", ctx, "sobel=alpha=straight", &src.image, &out) == 0)
        case_check(out.image.format.channels == 4 && !case_all(&out.image, 0), "slopes",
                   "alpha=straight");
    test_picture_free(&out);
    test_picture_free(&src);
}

void case_slopes(void)
{
    if (!case_has("G23", "sobel") || !case_has("G23", "laplacian"))
        return;
    for (int cpu = 0; cpu < CASE_CPUS; cpu++)
        if (case_ctx[cpu]) {
            step(case_ctx[cpu], rise, 1);
            step(case_ctx[cpu], fall, -1);
            impulse(case_ctx[cpu], 0);
            impulse(case_ctx[cpu], 1);
            flat(case_ctx[cpu]);
            signs(case_ctx[cpu]);
            luma(case_ctx[cpu]);
            alpha(case_ctx[cpu]);
        }
}

/* G21: nothing has no edges, its frame included. */
static void nothing(tamis_ctx *ctx)
{
    static const double values[] = {200, 51400, -20000, 1, 1},
                        units[] = {1, 257, 257, 0.004, 0.004};
    static const char *const rests[] = {"",
                                        ":norm=l1",
                                        ":sigma=1",
                                        ":sigma=3",
                                        ":ksize=5",
                                        ":ksize=7:norm=l1",
                                        ":border=wrap",
                                        ":border=reflect",
                                        ":border=valid"};
    static const double highs[] = {0, 2, 150};

    for (int type = 0; type < TAMIS_TYPE_COUNT; type++)
        for (int i = 0; i < 9; i++)
            for (int h = 0; h < 3; h++) {
                test_picture src, out;
                char chain[128];
                snprintf(chain, sizeof chain, "canny=low=%g:high=%g%s", highs[h] / 2 * units[type],
                         highs[h] * units[type], rests[i]);
                case_constant(&src, test_format((tamis_type)type, 1), 32, 32, values[type]);
                if (case_run_ok("G21", ctx, chain, &src.image, &out) == 0)
                    case_check(case_all(&out.image, 0), "G21", "%s on flat %s", chain,
                               tamis_type_name((tamis_type)type));
                test_picture_free(&out);
                test_picture_free(&src);
            }
}

static double long_edge(int x, int y, int c)
{
    int v = 60 - x / 2;
    (void)c;
    return y >= 32 ? 0 : v < 12 ? 12 : v;
}

static double long_edge_no_seed(int x, int y, int c)
{
    (void)x;
    (void)c;
    return y >= 32 ? 0 : 12;
}

/* Whether every column has an edge in rows 30 .. 33, and no other row has one. */
static int is_one_line(const tamis_image *image)
{
    for (int x = 0; x < image->w; x++) {
        int inside = 0, outside = 0;
        for (int y = 0; y < image->h; y++)
            if (test_sample_get(image, x, y, 0) != 0)
                *(y >= 30 && y <= 33 ? &inside : &outside) += 1;
        if (inside == 0 || outside)
            return 0;
    }
    return 1;
}

enum { LONG_W = 5000, LONG_H = 64 };

/* The long edge, with its seed and without, and the edges found first: all others are the same. */
typedef struct long_edges {
    test_picture seeded, bare, first;
    int has_first;
} long_edges;

static void weak_edge_run(long_edges *e, const tamis_plan *plan, test_picture *out,
                          const char *where)
{
    int done = tamis_plan_run(plan, &e->seeded.image, &out->image, NULL) == TAMIS_OK;
    case_check(done && is_one_line(&out->image), "G22", "%s: the edge is cut", where);
    if (!e->has_first)
        e->has_first = tamis_plan_run(plan, &e->seeded.image, &e->first.image, NULL) == TAMIS_OK;
    case_check(test_same(&e->first.image, &out->image), "G22", "%s: another answer", where);
    done = tamis_plan_run(plan, &e->bare.image, &out->image, NULL) == TAMIS_OK;
    case_check(done && case_all(&out->image, 0), "G22", "%s: an edge without a seed", where);
}

/* G22: a weak edge follows its seed across all tiles and threads. */
static void weak_edge(tamis_ctx *ctx, long_edges *e, const char *chain, int tile_w, int tile_h)
{
    tamis_plan_options options = {.tile_w = tile_w, .tile_h = tile_h};
    tamis_format format = test_format(TAMIS_U8, 1);
    tamis_graph *graph = NULL;
    tamis_plan *plan = NULL;
    test_picture out;
    char where[128];

    snprintf(where, sizeof where, "%s: %s, %d threads, tiles of %dx%d", chain, tamis_ctx_cpu(ctx),
             tamis_ctx_threads(ctx), tile_w, tile_h);
    test_picture_make(&out, format, LONG_W, LONG_H, TEST_ROWS_WIDE);
    if (tamis_graph_parse(ctx, chain, &graph) == TAMIS_OK &&
        tamis_plan_create(ctx, graph, format, LONG_W, LONG_H, &options, &plan) == TAMIS_OK)
        for (int i = 0; i < 2; i++)
            weak_edge_run(e, plan, &out, where);
    case_check(plan != NULL, "G22", "%s: no plan", where);
    tamis_plan_free(&plan);
    tamis_graph_free(&graph);
    test_picture_free(&out);
}

/* One chain on each instruction set that this CPU has. */
static void weak_edge_everywhere(const char *chain)
{
    static const int threads[] = {1, 3, 8}, tiles[][2] = {{0, 0}, {64, 64}, {100, 7}, {5000, 1}};
    tamis_format format = test_format(TAMIS_U8, 1);
    long_edges e = {.has_first = 0};

    case_picture(&e.seeded, format, LONG_W, LONG_H, long_edge);
    case_picture(&e.bare, format, LONG_W, LONG_H, long_edge_no_seed);
    test_picture_make(&e.first, format, LONG_W, LONG_H, TEST_ROWS_TIGHT);
    for (int i = 0; i < 3 * CASE_CPUS; i++) {
        tamis_ctx_options options = {.threads = threads[i % 3], .cpu = case_cpus[i / 3]};
        tamis_ctx *ctx = NULL;
        if (!case_ctx[i / 3])
            continue;
        if (tamis_ctx_create(&options, &ctx) != TAMIS_OK)
            abort();
        for (int t = 0; t < 4; t++)
            weak_edge(ctx, &e, chain, tiles[t][0], tiles[t][1]);
        tamis_ctx_free(&ctx);
    }
    test_picture_free(&e.first);
    test_picture_free(&e.bare);
    test_picture_free(&e.seeded);
}

static double column_step(int x, int y, int c)
{
    (void)y;
    (void)c;
    return x >= 10 ? 200 : 40;
}

static double row_step(int x, int y, int c)
{
    return column_step(y, x, c);
}

/* A step is one line, one pixel wide, from side to side. */
static void step_line(tamis_ctx *ctx, int down)
{
    static const char *const chains[] = {"canny", "canny=norm=l1:ksize=5", "canny=sigma=1.5",
                                         "canny=ksize=7", "canny=compat=opencv"};
    test_picture src, out;

    case_picture(&src, test_format(TAMIS_U8, 1), 20, 20, down ? row_step : column_step);
    for (int i = 0; i < 5; i++) {
        int wrong = 0;
        if (case_run_ok("canny", ctx, chains[i], &src.image, &out))
            continue;
        for (int y = 0; y < 20; y++) {
            int count = 0;
            for (int x = 0; x < 20; x++)
                count += test_sample_get(&out.image, down ? y : x, down ? x : y, 0) == 255;
            wrong += count != 1;
        }
        case_check(!wrong, "canny", "%s: a step is no single line in %d lines", chains[i], wrong);
        test_picture_free(&out);
    }
    test_picture_free(&src);
}

static void canny_refusals(tamis_ctx *ctx)
{
    test_picture src, wide;

    case_constant(&src, test_format(TAMIS_U8, 1), 8, 8, 1);
    case_constant(&wide, test_format(TAMIS_U16, 1), 8, 8, 1);
    case_check(case_refused(ctx, "canny=low=100:high=50", &src.image), "canny", "low above high");
    case_check(case_refused(ctx, "canny=ksize=9", &src.image), "canny", "ksize=9");
    case_check(case_refused(ctx, "canny=compat=opencv:sigma=1", &src.image), "canny", "sigma");
    case_check(case_refused(ctx, "canny=compat=opencv", &wide.image), "canny", "opencv on u16");
    test_picture_free(&wide);
    test_picture_free(&src);
}

void case_canny(void)
{
    if (!case_has("G21", "canny"))
        return;
    for (int cpu = 0; cpu < CASE_CPUS; cpu++)
        if (case_ctx[cpu]) {
            nothing(case_ctx[cpu]);
            step_line(case_ctx[cpu], 0);
            step_line(case_ctx[cpu], 1);
            canny_refusals(case_ctx[cpu]);
        }
    weak_edge_everywhere("canny=low=40:high=200:norm=l1");
    weak_edge_everywhere("canny=low=40:high=200:norm=l2");
    weak_edge_everywhere("canny=low=40:high=200:norm=l1:compat=opencv");
}
