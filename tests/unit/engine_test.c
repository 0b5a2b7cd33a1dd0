/* SPDX-License-Identifier: Apache-2.0 */
/* What a node may ask of the engine, by filters made for this: other output types, channels and
 * sizes, reading anywhere, finishing the whole, other frames. */
#include <math.h>
#include <string.h>

#include "cpu/kernel.h"
#include "support/picture.h"
#include "unit.h"

static const tamis_param no_params[1];

#define TEST_FILTER(id, plan_fn, rows)                                                             \
    static const tamis_kernel *const id##_tables[] = {rows, NULL};                                 \
    static const tamis_filter id = {.name = #id,                                                   \
                                    .brief = "for tests",                                          \
                                    .params = no_params,                                           \
                                    .params_size = 1,                                              \
                                    .max_inputs = 2,                                               \
                                    .plan = plan_fn,                                               \
                                    .kernels = id##_tables}

#define NO_MORE_ROWS                                                                               \
    {                                                                                              \
        .fn = NULL                                                                                 \
    }

/* ---- slope: u8 to s16, right neighbor minus left */

static void slope_kernel(const tamis_tile *t, const void *coef, void *scratch)
{
    (void)coef;
    (void)scratch;
    for (int y = 0; y < t->h; y++) {
        const uint8_t *s = t->src[0][y];
        int16_t *d = (int16_t *)(void *)((char *)t->dst[0] + y * t->dst_stride[0]);
        for (int i = 0; i < t->w * t->step; i++)
            d[i] = (int16_t)(s[i + t->step] - s[i - t->step]);
    }
}

static tamis_status slope_plan(tamis_node *node)
{
    node->stage = "slope";
    node->halo = (tamis_halo){1, 1, 0, 0};
    node->out.type = TAMIS_S16;
    node->alpha = TAMIS_ALPHA_MODE_STRAIGHT;
    node->work = TAMIS_U8;
    return TAMIS_OK;
}
static const tamis_kernel slope_rows[] = {{"slope", TAMIS_U8, TAMIS_CPU_C, slope_kernel, 0},
                                          NO_MORE_ROWS};
TEST_FILTER(slope, slope_plan, slope_rows);

/* ---- sum: all color channels into one; alpha is dropped */

static void sum_kernel(const tamis_tile *t, const void *coef, void *scratch)
{
    (void)coef;
    (void)scratch;
    for (int y = 0; y < t->h; y++)
        for (int x = 0; x < t->w; x++) {
            int sum = 0;
            for (int p = 0; p < t->planes; p++)
                sum += ((const uint8_t *)t->src[p][y])[x];
            ((uint8_t *)t->dst[0])[y * t->dst_stride[0] + x] = (uint8_t)sum;
        }
}

static tamis_status sum_plan(tamis_node *node)
{
    node->stage = "sum";
    node->planar = 1;
    node->alpha = TAMIS_ALPHA_MODE_IGNORE;
    node->work = TAMIS_U8;
    node->out.channels = 1;
    node->out.alpha = TAMIS_ALPHA_NONE;
    return TAMIS_OK;
}
static const tamis_kernel sum_rows[] = {{"sum", TAMIS_U8, TAMIS_CPU_C, sum_kernel, 0},
                                        NO_MORE_ROWS};
TEST_FILTER(sum, sum_plan, sum_rows);

/* ---- weigh: color multiplied by alpha, which is dropped */

static void weigh_kernel(const tamis_tile *t, const void *coef, void *scratch)
{
    (void)coef;
    (void)scratch;
    for (int y = 0; y < t->h; y++)
        memcpy((char *)t->dst[0] + y * t->dst_stride[0], t->src[0][y],
               (size_t)t->w * sizeof(float));
}

static tamis_status weigh_plan(tamis_node *node)
{
    node->stage = "weigh";
    node->out.channels--;
    node->out.alpha = TAMIS_ALPHA_NONE;
    return TAMIS_OK;
}
static const tamis_kernel weigh_rows[] = {{"weigh", TAMIS_F32, TAMIS_CPU_C, weigh_kernel, 0},
                                          NO_MORE_ROWS};
TEST_FILTER(weigh, weigh_plan, weigh_rows);

/* ---- turn: transposes, reading its input anywhere */

#define TURN(name, type)                                                                           \
    static void name(const tamis_tile *t, const void *coef, void *scratch)                         \
    {                                                                                              \
        (void)coef;                                                                                \
        (void)scratch;                                                                             \
        for (int p = 0; p < t->planes; p++)                                                        \
            for (int y = 0; y < t->h; y++)                                                         \
                for (int i = 0; i < t->w * t->step; i++) {                                         \
                    int x = t->x + i / t->step, c = i % t->step;                                   \
                    const char *row =                                                              \
                        (const char *)t->whole->data[p] + (ptrdiff_t)x * t->whole->stride[p];      \
                    char *to = (char *)t->dst[p] + y * t->dst_stride[p];                           \
                    memcpy(to + (size_t)i * sizeof(type),                                          \
                           row +                                                                   \
                               ((size_t)(t->y + y) * (size_t)t->step + (size_t)c) * sizeof(type),  \
                           sizeof(type));                                                          \
                }                                                                                  \
    }
TURN(turn_u8, uint8_t)
TURN(turn_u16, uint16_t)
TURN(turn_f32, float)

static tamis_box turn_need(const void *coef, tamis_rect part)
{
    (void)coef;
    return (tamis_box){part.y, part.x, part.h, part.w};
}

static tamis_status turn_plan(tamis_node *node)
{
    node->stage = "turn";
    node->gather = 1;
    node->need = turn_need;
    node->out_w = node->h;
    node->out_h = node->w;
    node->tile_w = node->tile_h = 16;
    return TAMIS_OK;
}
static const tamis_kernel turn_rows[] = {{"turn", TAMIS_U8, TAMIS_CPU_C, turn_u8, 0},
                                         {"turn", TAMIS_U16, TAMIS_CPU_C, turn_u16, 0},
                                         {"turn", TAMIS_S16, TAMIS_CPU_C, turn_u16, 0},
                                         {"turn", TAMIS_F32, TAMIS_CPU_C, turn_f32, 0},
                                         NO_MORE_ROWS};
TEST_FILTER(turn, turn_plan, turn_rows);

/* ---- third: every third pixel plus the one before it, over the border's edge too */

static void third_kernel(const tamis_tile *t, const void *coef, void *scratch)
{
    (void)coef;
    (void)scratch;
    for (int y = 0; y < t->h; y++) {
        const uint8_t *s = t->src[0][3 * (t->y + y) - t->from.y];
        uint8_t *d = (uint8_t *)t->dst[0] + y * t->dst_stride[0];
        for (int x = 0; x < t->w; x++) {
            int64_t at = 3 * (int64_t)(t->x + x) - t->from.x;
            for (int c = 0; c < t->step; c++)
                d[x * t->step + c] =
                    (uint8_t)((s[at * t->step + c] + 2 * s[(at - 1) * t->step + c]) / 3);
        }
    }
}

static tamis_box third_need(const void *coef, tamis_rect part)
{
    (void)coef;
    return (tamis_box){3 * (int64_t)part.x - 1, 3 * (int64_t)part.y, 3 * part.w - 1,
                       3 * part.h - 2};
}

static tamis_status third_plan(tamis_node *node)
{
    node->stage = "third";
    node->need = third_need;
    node->work = TAMIS_U8;
    node->border = TAMIS_BORDER_WRAP;
    node->alpha = TAMIS_ALPHA_MODE_STRAIGHT;
    node->out_w = (node->w + 2) / 3;
    node->out_h = (node->h + 2) / 3;
    return TAMIS_OK;
}
static const tamis_kernel third_rows[] = {{"third", TAMIS_U8, TAMIS_CPU_C, third_kernel, 0},
                                          NO_MORE_ROWS};
TEST_FILTER(third, third_plan, third_rows);

/* ---- rank: how many samples of the whole picture are larger, modulo 256 */

static void copy_kernel(const tamis_tile *t, const void *coef, void *scratch)
{
    (void)coef;
    (void)scratch;
    for (int y = 0; y < t->h; y++)
        memcpy((char *)t->dst[0] + y * t->dst_stride[0], t->src[0][y], (size_t)(t->w * t->step));
}

struct rank_job {
    const tamis_result *result;
    uint8_t table[256];
};

static void rank_row(void *user, int64_t y)
{
    struct rank_job *job = user;
    uint8_t *row = (uint8_t *)job->result->data[0] + y * job->result->stride[0];
    for (int x = 0; x < job->result->w; x++)
        row[x] = job->table[row[x]];
}

static void rank_finish(const tamis_result *r, const void *coef, void *scratch)
{
    struct rank_job job = {.result = r};
    int *count = scratch, larger = 0;
    (void)coef;
    memset(count, 0, 256 * sizeof *count);
    for (int y = 0; y < r->h; y++)
        for (int x = 0; x < r->w; x++)
            count[((uint8_t *)r->data[0])[y * r->stride[0] + x]]++;
    for (int v = 255; v >= 0; v--) {
        job.table[v] = (uint8_t)larger;
        larger += count[v];
    }
    tamis_priv_pool_each(r->pool, r->h, rank_row, &job);
}

static tamis_status rank_plan(tamis_node *node)
{
    node->stage = "copy";
    node->work = TAMIS_U8;
    node->finish = rank_finish;
    node->finish_scratch = 256 * sizeof(int);
    return TAMIS_OK;
}
static const tamis_kernel rank_rows[] = {{"copy", TAMIS_U8, TAMIS_CPU_C, copy_kernel, 0},
                                         NO_MORE_ROWS};
TEST_FILTER(rank, rank_plan, rank_rows);

/* ---- trail: the largest of this frame and those there are, one before and one after */

static void trail_kernel(const tamis_tile *t, const void *coef, void *scratch)
{
    (void)coef;
    (void)scratch;
    for (int y = 0; y < t->h; y++)
        for (int i = 0; i < t->w * t->step; i++) {
            uint8_t v = 0;
            for (int f = -1; f <= 1; f++) {
                const void *const *rows = t->frames->rows[TAMIS_MAX_FRAMES + f][t->plane];
                if (rows && ((const uint8_t *)rows[y])[i] > v)
                    v = ((const uint8_t *)rows[y])[i];
            }
            ((uint8_t *)t->dst[0])[y * t->dst_stride[0] + i] = v;
        }
}

static tamis_status trail_plan(tamis_node *node)
{
    node->stage = "trail";
    node->work = TAMIS_U8;
    node->alpha = TAMIS_ALPHA_MODE_STRAIGHT;
    node->frames = 1;
    return TAMIS_OK;
}
static const tamis_kernel trail_rows[] = {{"trail", TAMIS_U8, TAMIS_CPU_C, trail_kernel, 0},
                                          NO_MORE_ROWS};
TEST_FILTER(trail, trail_plan, trail_rows);

/* ---- move: a pixel from where the map says, in whole pixels */

static void move_kernel(const tamis_tile *t, const void *coef, void *scratch)
{
    (void)coef;
    (void)scratch;
    for (int y = 0; y < t->h; y++)
        for (int x = 0; x < t->w; x++) {
            int from_x = (int)((const float *)t->guide[0][y])[x];
            int from_y = (int)((const float *)t->guide[1][y])[x];
            int inside = from_x >= 0 && from_y >= 0 && from_x < t->whole->w && from_y < t->whole->h;
            const uint8_t *row =
                (const uint8_t *)t->whole->data[0] + (ptrdiff_t)from_y * t->whole->stride[0];
            ((uint8_t *)t->dst[0])[y * t->dst_stride[0] + x] =
                inside ? row[from_x] : (uint8_t)t->whole->outside[0];
        }
}

static tamis_status move_plan(tamis_node *node)
{
    node->stage = "move";
    node->work = TAMIS_U8;
    node->gather = 1;
    node->guide_is_map = 1;
    node->border = TAMIS_BORDER_CONSTANT;
    node->border_value = 7;
    node->out_w = node->guide_w;
    node->out_h = node->guide_h;
    return TAMIS_OK;
}
static const tamis_kernel move_rows[] = {{"move", TAMIS_U8, TAMIS_CPU_C, move_kernel, 0},
                                         NO_MORE_ROWS};
TEST_FILTER(move, move_plan, move_rows);

/* ---- running them */

enum { MAX_CHAIN = 4 };

static tamis_plan *plan_chain(tamis_ctx *ctx, const tamis_filter *const *chain, tamis_format format,
                              int w, int h, int tile)
{
    tamis_plan_options options = {.tile_w = tile, .tile_h = tile ? tile + 2 : 0};
    char message[600], params[1] = {0};
    tamis_graph *graph;
    tamis_plan *plan;

    assert_int_equal(tamis_graph_create(ctx, &graph), TAMIS_OK);
    for (int i = 0; chain[i]; i++)
        assert_int_equal(tamis_graph_add(graph, chain[i], params), TAMIS_OK);
    if (tamis_plan_create(ctx, graph, format, w, h, &options, &plan) != TAMIS_OK)
        fail_msg("%s", tamis_ctx_last_message(ctx, message, sizeof message));
    tamis_graph_free(&graph);
    return plan;
}

static void run_chain(tamis_ctx *ctx, const tamis_filter *const *chain, const tamis_image *src,
                      int tile, test_picture *dst)
{
    tamis_plan *plan = plan_chain(ctx, chain, src->format, src->w, src->h, tile);
    int32_t w, h;

    tamis_plan_size(plan, &w, &h);
    test_picture_make(dst, tamis_plan_format(plan), w, h, TEST_ROWS_ODD);
    assert_int_equal(tamis_plan_run(plan, src, &dst->image, NULL), TAMIS_OK);
    assert_true(test_picture_intact(dst));
    tamis_plan_free(&plan);
}

/* A chain gives what its filters give one by one. */
static void expect_chain(const tamis_filter *const *chain, const tamis_image *src)
{
    tamis_ctx *ctx = unit_ctx(3);
    test_picture last = {0}, whole;
    const tamis_image *from = src;

    for (int i = 0; chain[i]; i++) {
        const tamis_filter *const one[] = {chain[i], NULL};
        test_picture next;
        run_chain(ctx, one, from, 0, &next);
        test_picture_free(&last);
        last = next;
        from = &last.image;
    }
    for (int tile = 0; tile < 24; tile += 5) {
        run_chain(ctx, chain, src, tile, &whole);
        assert_true(test_same(from, &whole.image));
        test_picture_free(&whole);
    }
    test_picture_free(&last);
    tamis_ctx_free(&ctx);
}

/* Every part of the result has the bits of the whole, and depends on no more than what need()
 * tells. */
static void expect_parts(const tamis_filter *const *chain, const tamis_image *src)
{
    tamis_ctx *ctx = unit_ctx(2);
    tamis_plan *plan = plan_chain(ctx, chain, src->format, src->w, src->h, 9);
    test_picture whole, part, poor;
    test_rng rng = {5};

    run_chain(ctx, chain, src, 0, &whole);
    for (int i = 0; i < 12; i++) {
        tamis_rect r = {test_rng_below(&rng, whole.image.w), test_rng_below(&rng, whole.image.h), 1,
                        1};
        tamis_rect need;
        tamis_image view, from, to;
        r.w += test_rng_below(&rng, whole.image.w - r.x);
        r.h += test_rng_below(&rng, whole.image.h - r.y);
        assert_int_equal(tamis_plan_need(plan, r, &need), TAMIS_OK);
        test_picture_make(&poor, src->format, src->w, src->h, TEST_ROWS_WIDE);
        test_picture_fill(&poor.image, TEST_FILL_NOISE, 99);
        assert_int_equal(tamis_image_view(ctx, src, need, &from), TAMIS_OK);
        assert_int_equal(tamis_image_view(ctx, &poor.image, need, &to), TAMIS_OK);
        assert_int_equal(tamis_image_copy(ctx, &from, &to), TAMIS_OK);
        test_picture_make(&part, whole.image.format, r.w, r.h, TEST_ROWS_TIGHT);
        assert_int_equal(tamis_plan_run_region(plan, &poor.image, r, &part.image, NULL), TAMIS_OK);
        assert_int_equal(tamis_image_view(ctx, &whole.image, r, &view), TAMIS_OK);
        assert_true(test_same(&view, &part.image));
        test_picture_free(&part);
        test_picture_free(&poor);
    }
    test_picture_free(&whole);
    tamis_plan_free(&plan);
    tamis_ctx_free(&ctx);
}

static void with_picture(tamis_format format, const tamis_filter *const *chain,
                         void (*expect)(const tamis_filter *const *, const tamis_image *))
{
    test_picture src;
    test_picture_make(&src, format, 61, 37, TEST_ROWS_ODD);
    test_picture_fill(&src.image, TEST_FILL_NOISE, 3);
    expect(chain, &src.image);
    test_picture_free(&src);
}

/* ---- tests */

static void test_types(void **state)
{
    const tamis_filter *const chain[] = {&slope, NULL};
    tamis_ctx *ctx = unit_ctx(1);
    test_picture src, dst;

    (void)state;
    for (int channels = 1; channels <= 4; channels++) {
        test_picture_make(&src, test_format(TAMIS_U8, channels), 20, 5, TEST_ROWS_TIGHT);
        test_picture_fill(&src.image, TEST_FILL_EXTREMES, 4);
        run_chain(ctx, chain, &src.image, 3, &dst);
        assert_int_equal(dst.image.format.type, TAMIS_S16);
        for (int x = 1; x < 19; x++)
            for (int c = 0; c < channels; c++)
                assert_true(test_sample_get(&dst.image, x, 2, c) ==
                            test_sample_get(&src.image, x + 1, 2, c) -
                                test_sample_get(&src.image, x - 1, 2, c));
        test_picture_free(&src);
        test_picture_free(&dst);
    }
    tamis_ctx_free(&ctx);
}

static void test_weighted(void **state)
{
    const tamis_filter *const chain[] = {&weigh, NULL};
    tamis_ctx *ctx = unit_ctx(1);

    (void)state;
    for (int layout = 0; layout < 2; layout++)
        for (int channels = 2; channels <= 4; channels += 2) {
            tamis_format format = {TAMIS_U8, channels, (tamis_layout)layout, TAMIS_ALPHA_STRAIGHT};
            test_picture src, dst;
            test_picture_make(&src, format, 20, 5, TEST_ROWS_TIGHT);
            test_picture_fill(&src.image, TEST_FILL_NOISE, 4);
            run_chain(ctx, chain, &src.image, 3, &dst);
            assert_int_equal(dst.image.format.channels, channels - 1);
            for (int x = 0; x < 20; x++)
                for (int c = 0; c < channels - 1; c++) {
                    double alpha = test_sample_get(&src.image, x, 2, channels - 1) / 255;
                    double exact = test_sample_get(&src.image, x, 2, c) * alpha;
                    assert_true(fabs(test_sample_get(&dst.image, x, 2, c) - exact) < 0.5001);
                }
            test_picture_free(&src);
            test_picture_free(&dst);
        }
    tamis_ctx_free(&ctx);
}

static void test_channels(void **state)
{
    const tamis_filter *const chain[] = {&sum, NULL};
    tamis_ctx *ctx = unit_ctx(1);
    test_picture src, dst;

    (void)state;
    for (int planar = 0; planar < 2; planar++) {
        tamis_format format = {TAMIS_U8, 4, planar ? TAMIS_PLANAR : TAMIS_PACKED,
                               TAMIS_ALPHA_STRAIGHT};
        test_picture_make(&src, format, 20, 5, TEST_ROWS_ODD);
        test_picture_fill(&src.image, TEST_FILL_NOISE, 4);
        run_chain(ctx, chain, &src.image, 4, &dst);
        assert_int_equal(dst.image.format.channels, 1);
        assert_int_equal(dst.image.format.alpha, TAMIS_ALPHA_NONE);
        for (int x = 0; x < 20; x++) {
            int want = 0;
            for (int c = 0; c < 3; c++)
                want += (int)test_sample_get(&src.image, x, 3, c);
            assert_int_equal((int)test_sample_get(&dst.image, x, 3, 0), want & 255);
        }
        test_picture_free(&src);
        test_picture_free(&dst);
    }
    tamis_ctx_free(&ctx);
}

static void test_gather(void **state)
{
    const tamis_filter *const chain[] = {&turn, NULL};
    static const tamis_type types[] = {TAMIS_U8, TAMIS_U16, TAMIS_F16, TAMIS_F32};
    tamis_ctx *ctx = unit_ctx(2);
    test_picture src, dst;

    (void)state;
    for (int t = 0; t < 4; t++)
        for (int alpha = 0; alpha < 2; alpha++) {
            tamis_format format = {types[t], alpha ? 4 : 3, TAMIS_PACKED,
                                   alpha ? TAMIS_ALPHA_STRAIGHT : TAMIS_ALPHA_NONE};
            test_picture_make(&src, format, 41, 23, TEST_ROWS_ODD);
            test_picture_fill(&src.image, TEST_FILL_SMOOTH, 4);
            run_chain(ctx, chain, &src.image, 0, &dst);
            assert_int_equal(dst.image.w, 23);
            for (int y = 0; y < 23; y++)
                for (int c = 0; c < (alpha ? 4 : 3); c++) {
                    double want = test_sample_get(&src.image, 17, y, c);
                    double got = test_sample_get(&dst.image, y, 17, c);
                    int clear = alpha && test_sample_get(&src.image, 17, y, 3) <= 0;
                    if (!clear) /* color was weighted by alpha and back */
                        assert_float_equal(got, want, alpha ? 1e-3 * fabs(want) : 0);
                }
            test_picture_free(&src);
            test_picture_free(&dst);
        }
    tamis_ctx_free(&ctx);
}

static void test_chains(void **state)
{
    const tamis_filter *const chains[][MAX_CHAIN + 1] = {
        {&turn, &turn},         {&third},         {&rank},
        {&third, &third},       {&turn, &third},  {&third, &turn},
        {&third, &rank, &turn}, {&rank, &third},  {&rank, &rank},
        {&turn, &slope},        {&third, &slope}, {&rank, &turn, &third, &slope},
    };

    (void)state;
    for (size_t i = 0; i < sizeof chains / sizeof *chains; i++) {
        with_picture(test_format(TAMIS_U8, 1), chains[i], expect_chain);
        with_picture(test_format(TAMIS_U8, 1), chains[i], expect_parts);
    }
    with_picture(test_format(TAMIS_U8, 3), chains[4], expect_chain);
    with_picture(test_format(TAMIS_U8, 3), chains[5], expect_parts);
}

static void test_frames(void **state)
{
    const tamis_filter *const chain[] = {&trail, &trail, NULL};
    tamis_ctx *ctx = unit_ctx(2);
    tamis_format format = test_format(TAMIS_U8, 2);
    tamis_plan *plan = plan_chain(ctx, chain, format, 30, 20, 8);
    test_picture frame[5], dst;
    const tamis_image *list[5];

    (void)state;
    format.layout = TAMIS_PACKED;
    assert_int_equal(tamis_plan_frames(plan), 2);
    test_picture_make(&dst, format, 30, 20, TEST_ROWS_WIDE);
    for (int f = 0; f < 5; f++) {
        test_picture_make(&frame[f], format, 30, 20, TEST_ROWS_WIDE);
        test_picture_fill(&frame[f].image, TEST_FILL_NOISE, (uint64_t)f + 1);
    }
    for (int have = 1; have <= 5; have++) { /* frames 2 - have/2 .. */
        int first = 2 - have / 2, end = first + have;
        for (int f = 0; f < 5; f++)
            list[f] = f >= first && f < end ? &frame[f].image : NULL;
        tamis_run_options options = {.frames = have > 1 ? list : NULL};
        assert_int_equal(tamis_plan_run(plan, &frame[2].image, &dst.image, &options), TAMIS_OK);
        for (int x = 0; x < 30; x++)
            for (int c = 0; c < 2; c++) {
                double want = 0;
                for (int f = first; f < end; f++)
                    want = fmax(want, test_sample_get(&frame[f].image, x, 11, c));
                assert_true(test_sample_get(&dst.image, x, 11, c) == want);
            }
    }
    for (int f = 0; f < 5; f++)
        test_picture_free(&frame[f]);
    test_picture_free(&dst);
    tamis_plan_free(&plan);
    tamis_ctx_free(&ctx);
}

static void test_late_frames(void **state)
{
    const tamis_filter *const chain[] = {&rank, &trail};
    tamis_ctx *ctx = unit_ctx(1);
    tamis_graph *graph;
    tamis_plan *plan;
    char params[1] = {0}, message[600];

    (void)state;
    assert_int_equal(tamis_graph_create(ctx, &graph), TAMIS_OK);
    for (int i = 0; i < 2; i++)
        assert_int_equal(tamis_graph_add(graph, chain[i], params), TAMIS_OK);
    assert_int_equal(tamis_plan_create(ctx, graph, test_format(TAMIS_U8, 1), 30, 20, NULL, &plan),
                     TAMIS_ERR_UNSUPPORTED);
    assert_non_null(
        strstr(tamis_ctx_last_message(ctx, message, sizeof message), "trail: reading 1 frames"));
    tamis_graph_free(&graph);
    tamis_ctx_free(&ctx);
}

static void test_map(void **state)
{
    tamis_ctx *ctx = unit_ctx(2);
    tamis_format map_format = test_format(TAMIS_F32, 2);
    tamis_plan_options options = {.guide = &map_format, .guide_w = 50, .guide_h = 9, .tile_w = 7};
    test_picture src, map, dst;
    char params[1] = {0};
    tamis_graph *graph;
    tamis_plan *plan;

    (void)state;
    test_picture_make(&src, test_format(TAMIS_U8, 1), 30, 20, TEST_ROWS_WIDE);
    test_picture_make(&dst, test_format(TAMIS_U8, 1), 50, 9, TEST_ROWS_WIDE);
    test_picture_make(&map, map_format, 50, 9, TEST_ROWS_WIDE);
    test_picture_fill(&src.image, TEST_FILL_NOISE, 8);
    for (int y = 0; y < 9; y++)
        for (int x = 0; x < 50; x++) {
            test_sample_set(&map.image, x, y, 0, x - 10);
            test_sample_set(&map.image, x, y, 1, 2 * y);
        }
    assert_int_equal(tamis_graph_create(ctx, &graph), TAMIS_OK);
    assert_int_equal(tamis_graph_add(graph, &move, params), TAMIS_OK);
    assert_int_equal(tamis_plan_create(ctx, graph, src.image.format, 30, 20, &options, &plan),
                     TAMIS_OK);
    tamis_run_options run = {.guide = &map.image};
    assert_int_equal(tamis_plan_run(plan, &src.image, &dst.image, &run), TAMIS_OK);
    for (int y = 0; y < 9; y++)
        for (int x = 0; x < 50; x++) {
            int inside = x >= 10 && x < 40;
            double want = inside ? test_sample_get(&src.image, x - 10, 2 * y, 0) : 7;
            assert_true(test_sample_get(&dst.image, x, y, 0) == want);
        }
    test_picture_free(&src);
    test_picture_free(&dst);
    test_picture_free(&map);
    tamis_plan_free(&plan);
    tamis_graph_free(&graph);
    tamis_ctx_free(&ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_types),       cmocka_unit_test(test_channels),
        cmocka_unit_test(test_weighted),    cmocka_unit_test(test_gather),
        cmocka_unit_test(test_chains),      cmocka_unit_test(test_frames),
        cmocka_unit_test(test_late_frames), cmocka_unit_test(test_map),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
