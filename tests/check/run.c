/* SPDX-License-Identifier: Apache-2.0 */
/* One sample: the C row first, then every other row in several ways. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "support/parts.h"

/* What the runs of one sample share. */
typedef struct job {
    check_machine *machine;
    const check_sample *sample;
    tamis_graph *graph;
    test_picture src, guide;
    test_picture frame[2 * TAMIS_MAX_FRAMES + 1]; /* for temporal filters */
    const tamis_image *frames[2 * TAMIS_MAX_FRAMES + 1];
    uint8_t *src_before;
    double largest; /* of the source's finite samples */
    test_rng rng;
    const char *row; /* the row being run, for messages */
    int failed;
} job;

static void describe(const check_sample *s)
{
    char format[64], guide[64] = "none";

    tamis_format_print(s->format, format, sizeof format);
    if (s->has_guide)
        tamis_format_print(s->guide, guide, sizeof guide);
    printf("  chain '%s'\n  %s %dx%d, rows %s to %s, picture %s, guide %s\n", s->text, format, s->w,
           s->h, test_rows_names[s->src_rows], test_rows_names[s->dst_rows],
           test_fill_names[s->fill], guide);
}

static void fail(job *j, const char *what)
{
    const check_options *o = j->machine->options;

    printf("FAIL %s %s: %s\n", j->sample->filter->name, j->row, what);
    describe(j->sample);
    printf("  again: check --filter %s --seed %llu%s --only %d\n", j->sample->filter->name,
           (unsigned long long)o->seed, o->full ? " --full" : "", j->sample->index);
    j->failed = 1;
}

static void fail_message(job *j, tamis_ctx *ctx, const char *what)
{
    char text[800], message[600];

    snprintf(text, sizeof text, "%s: %s", what,
             tamis_ctx_last_message(ctx, message, sizeof message));
    fail(j, text);
}

static tamis_status make_plan(job *j, tamis_ctx *ctx, const char *kernel, int tile_w, int tile_h,
                              tamis_plan **out)
{
    const check_sample *s = j->sample;
    tamis_plan_options options = {.kernel = kernel,
                                  .tile_w = tile_w,
                                  .tile_h = tile_h,
                                  .guide = s->has_guide ? &s->guide : NULL,
                                  .guide_w = s->guide_w,
                                  .guide_h = s->guide_h};
    return tamis_plan_create(ctx, j->graph, s->format, s->w, s->h, &options, out);
}

/* A picture that fits the plan's result. */
static void make_result(const tamis_plan *plan, test_rows rows, test_picture *out)
{
    int32_t w, h;
    tamis_plan_size(plan, &w, &h);
    test_picture_make(out, tamis_plan_format(plan), w, h, rows);
}

/* Runs a plan, whole or for a part, and checks the memory around. */
static int run_plan(job *j, tamis_ctx *ctx, const tamis_plan *plan, const tamis_rect *rect,
                    test_picture *dst)
{
    tamis_run_options options = {.guide = j->sample->has_guide ? &j->guide.image : NULL,
                                 .frames = j->frames};
    tamis_status status =
        rect ? tamis_plan_run_region(plan, &j->src.image, *rect, &dst->image, &options)
             : tamis_plan_run(plan, &j->src.image, &dst->image, &options);

    if (status != TAMIS_OK)
        fail_message(j, ctx, "the run failed");
    else if (!test_picture_intact(dst))
        fail(j, "bytes outside the result were written");
    else if (memcmp(j->src.block, j->src_before, j->src.size) != 0)
        fail(j, "the source was changed");
    else
        return 0;
    return -1;
}

/* A copy of a part of a picture in memory of exactly that size, so that a sanitizer sees reads
 * beyond it. */
static tamis_image cut_out(tamis_ctx *ctx, const tamis_image *from, tamis_rect rect)
{
    tamis_image view, to = {.format = from->format, .w = rect.w, .h = rect.h};
    int packed = from->format.layout == TAMIS_PACKED;
    size_t row = tamis_type_size(from->format.type) * (size_t)rect.w *
                 (size_t)(packed ? from->format.channels : 1);
    for (int p = 0; p < tamis_image_planes(&to); p++) {
        to.data[p] = malloc(row * (size_t)rect.h);
        to.stride[p] = (ptrdiff_t)row;
        if (!to.data[p])
            abort();
    }
    if (tamis_image_view(ctx, from, rect, &view) != TAMIS_OK ||
        tamis_image_copy(ctx, &view, &to) != TAMIS_OK)
        abort();
    return to;
}

static void free_cut(tamis_image *image)
{
    for (int p = 0; p < TAMIS_MAX_CHANNELS; p++)
        free(image->data[p]);
}

/* Runs a plan for a part of the result, on no more of the pictures than it says it needs. */
static int run_window(job *j, tamis_ctx *ctx, const tamis_plan *plan, tamis_rect rect,
                      test_picture *dst)
{
    tamis_rect window, guided;
    tamis_image src, guide = {0}, cuts[2 * TAMIS_MAX_FRAMES + 1] = {0};
    const tamis_image *frames[2 * TAMIS_MAX_FRAMES + 1] = {0};
    tamis_run_options options = {.frames = frames, .window = &window};

    if (tamis_plan_need(plan, rect, &window) != TAMIS_OK)
        abort();
    src = cut_out(ctx, &j->src.image, window);
    if (j->sample->has_guide) {
        if (tamis_plan_need_guide(plan, rect, &guided) != TAMIS_OK)
            abort();
        guide = cut_out(ctx, &j->guide.image, guided);
        options.guide = &guide;
        options.guide_window = &guided;
    }
    for (int f = 0; f <= 2 * tamis_plan_frames(plan); f++)
        if (j->frames[f]) {
            cuts[f] = cut_out(ctx, j->frames[f], window);
            frames[f] = &cuts[f];
        }
    tamis_status status = tamis_plan_run_region(plan, &src, rect, &dst->image, &options);
    if (status != TAMIS_OK)
        fail_message(j, ctx, "the run on a window failed");
    free_cut(&src);
    free_cut(&guide);
    for (int f = 0; f <= 2 * TAMIS_MAX_FRAMES; f++)
        free_cut(&cuts[f]);
    return status == TAMIS_OK ? 0 : -1;
}

/* The whole result part by part, in blocks and memory drawn at random: the same bits. */
static void check_parts(job *j, int cpu, const tamis_plan *plan, const test_picture *whole)
{
    tamis_ctx *ctx = j->machine->ctx[cpu][0];
    test_picture dst;
    make_result(plan, TEST_ROWS_ODD, &dst);
    size_t bytes = dst.size + j->src.size, bound = bytes / 8 + bytes * test_rng_below(&j->rng, 4);
    int32_t block_w = test_rng_below(&j->rng, 2) * (1 + test_rng_below(&j->rng, 40));
    int32_t block_h = test_rng_below(&j->rng, 20);
    test_store from = {ctx, &j->src.image, block_w, block_h};
    test_store guide = {ctx, &j->guide.image, block_w, block_h};
    test_store to = {ctx, &dst.image, block_w, block_h};
    tamis_status status =
        test_parts_run(plan, &from, j->sample->has_guide ? &guide : NULL, &to, bound, NULL);
    if (status == TAMIS_ERR_LIMIT) /* rows of blocks that are too large together */
        status = test_parts_run(plan, &from, j->sample->has_guide ? &guide : NULL, &to, 0, NULL);
    if (status != TAMIS_OK)
        fail_message(j, ctx, "the run part by part failed");
    else if (from.misused || guide.misused || to.misused)
        fail(j, from.misused ? from.misused : guide.misused ? guide.misused : to.misused);
    else if (!test_same(&whole->image, &dst.image))
        fail(j, "a run part by part gives other bits");
    test_picture_free(&dst);
}

/* Other tiles, other thread counts: the same bits as whole. */
static void check_tiles(job *j, int cpu, const test_picture *whole)
{
    int threads = 1 + test_rng_below(&j->rng, CHECK_THREAD_COUNTS - 1);
    tamis_ctx *ctx = j->machine->ctx[cpu][threads];
    int tile_w = 1 + test_rng_below(&j->rng, test_rng_below(&j->rng, 2) ? 7 : 90);
    int tile_h = 1 + test_rng_below(&j->rng, test_rng_below(&j->rng, 2) ? 5 : 40);
    tamis_plan *plan = NULL;
    test_picture dst = {0};
    char what[300], where[200] = "";

    if (test_rng_below(&j->rng, 4) == 0)
        tile_w = tile_h = 0;
    if (make_plan(j, ctx, NULL, tile_w, tile_h, &plan) != TAMIS_OK) {
        fail_message(j, ctx, "no plan with other tiles");
        return;
    }
    make_result(plan, j->sample->dst_rows, &dst);
    if (run_plan(j, ctx, plan, NULL, &dst) == 0 && !test_same(&whole->image, &dst.image)) {
        check_compare(&whole->image, &dst.image, &(tamis_kernel){.tolerance = 0}, 0, where,
                      sizeof where);
        snprintf(what, sizeof what, "tiles of %dx%d on %d threads give other bits, %s", tile_w,
                 tile_h, check_thread_counts[threads], where);
        fail(j, what);
    }
    test_picture_free(&dst);
    tamis_plan_free(&plan);
}

/* A part of the result: the same bits as in the whole. */
static void check_region(job *j, int cpu, const tamis_plan *plan, const test_picture *whole)
{
    tamis_ctx *ctx = j->machine->ctx[cpu][0];
    tamis_rect r = {0};
    tamis_image part;
    test_picture dst;

    r.x = test_rng_below(&j->rng, whole->image.w);
    r.y = test_rng_below(&j->rng, whole->image.h);
    r.w = 1 + test_rng_below(&j->rng, whole->image.w - r.x);
    r.h = 1 + test_rng_below(&j->rng, whole->image.h - r.y);
    test_picture_make(&dst, whole->image.format, r.w, r.h, TEST_ROWS_ODD);
    if (tamis_image_view(ctx, &whole->image, r, &part) != TAMIS_OK)
        abort();
    if (run_plan(j, ctx, plan, &r, &dst) == 0 && !test_same(&part, &dst.image))
        fail(j, "a region gives other bits");
    if (!j->failed && run_window(j, ctx, plan, r, &dst) == 0 && !test_same(&part, &dst.image))
        fail(j, "a window on the input gives other bits");
    test_picture_free(&dst);
}

/* Pictures for a run over many: in one block below each other, or each in its own. */
enum { MOST_PICTURES = 5 };
typedef struct pictures {
    test_picture block, own[MOST_PICTURES];
    tamis_image image[MOST_PICTURES];
    int count;
} pictures;

static void make_pictures(job *j, tamis_format format, int w, int h, test_rows rows, pictures *p)
{
    if (test_rng_below(&j->rng, 2)) {
        test_picture_make(&p->block, format, w, h * p->count, rows);
        for (int i = 0; i < p->count; i++)
            tamis_image_view(j->machine->ctx[0][0], &p->block.image, (tamis_rect){0, i * h, w, h},
                             &p->image[i]);
        return;
    }
    for (int i = 0; i < p->count; i++) {
        test_picture_make(&p->own[i], format, w, h, rows);
        p->image[i] = p->own[i].image;
    }
}

static int pictures_intact(const pictures *p)
{
    for (int i = 0; i < p->count && p->own[0].block; i++)
        if (!test_picture_intact(&p->own[i]))
            return 0;
    return p->own[0].block || test_picture_intact(&p->block);
}

static void free_pictures(pictures *p)
{
    test_picture_free(&p->block);
    for (int i = 0; i < p->count; i++)
        test_picture_free(&p->own[i]);
}

static void compare_many(job *j, tamis_ctx *ctx, const tamis_plan *plan, const pictures *src,
                         const pictures *dst)
{
    tamis_run_options options = {.guide = j->sample->has_guide ? &j->guide.image : NULL};
    test_picture one;
    char what[80];

    if (tamis_plan_run_many(plan, src->image, dst->image, (size_t)src->count, &options) !=
        TAMIS_OK) {
        fail_message(j, ctx, "the run over many failed");
        return;
    }
    if (!pictures_intact(dst))
        fail(j, "a run over many wrote bytes outside the results");
    make_result(plan, j->sample->dst_rows, &one);
    for (int i = 0; i < src->count && !j->failed; i++) {
        tamis_status status = tamis_plan_run(plan, &src->image[i], &one.image, &options);
        snprintf(what, sizeof what, "picture %d of %d together has other bits than alone", i,
                 src->count);
        if (status != TAMIS_OK || !test_same(&one.image, &dst->image[i]))
            fail(j, what);
    }
    test_picture_free(&one);
}

/* Several pictures in one run: the same bits as one by one. */
static void check_many(job *j, int cpu)
{
    const check_sample *s = j->sample;
    int threads = test_rng_below(&j->rng, CHECK_THREAD_COUNTS);
    tamis_ctx *ctx = j->machine->ctx[cpu][threads];
    pictures src = {.count = 1 + test_rng_below(&j->rng, MOST_PICTURES)};
    pictures dst = {.count = src.count};
    tamis_plan *plan = NULL;
    int32_t w, h;

    if (make_plan(j, ctx, NULL, 0, 0, &plan) != TAMIS_OK) {
        fail_message(j, ctx, "no plan for many pictures");
        return;
    }
    tamis_plan_size(plan, &w, &h);
    make_pictures(j, s->format, s->w, s->h, s->src_rows, &src);
    make_pictures(j, tamis_plan_format(plan), w, h, s->dst_rows, &dst);
    for (int i = 0; i < src.count; i++)
        test_picture_fill(&src.image[i], s->fill, s->seed + (uint64_t)i);
    compare_many(j, ctx, plan, &src, &dst);
    free_pictures(&src);
    free_pictures(&dst);
    tamis_plan_free(&plan);
}

/* Turns 0 .. 1 into places in and around the picture; some maps stay near their own place, as those
 * that people make. */
static void make_map(const check_sample *s, const tamis_image *map)
{
    for (int y = 0; y < map->h; y++)
        for (int x = 0; x < map->w; x++)
            for (int c = 0; c < 2; c++) {
                double v = test_sample_get(map, x, y, c), n = c ? s->h : s->w;
                double at = c ? y : x;
                v = s->seed % 3 ? at + 3 * v - 1.5 : (2 * v - 0.5) * n;
                test_sample_set(map, x, y, c, v);
            }
}

/* Frames around the source, some of them missing. */
static void make_frames(job *j, int around)
{
    const check_sample *s = j->sample;

    for (int f = 0; f <= 2 * around; f++) {
        if (f == around || test_rng_below(&j->rng, 4) == 0)
            continue;
        test_picture_make(&j->frame[f], s->format, s->w, s->h, s->src_rows);
        /* Of one level all together, lest a flat picture be none. */
        test_picture_fill(&j->frame[f].image, s->fill,
                          s->seed + (s->fill == TEST_FILL_CONSTANT ? 0 : 2 + (uint64_t)f % 3));
        j->frames[f] = &j->frame[f].image;
    }
}

static void make_inputs(job *j, const tamis_plan *plan)
{
    const check_sample *s = j->sample;

    test_picture_make(&j->src, s->format, s->w, s->h, s->src_rows);
    test_picture_fill(&j->src.image, s->fill, s->seed);
    if (s->has_guide) {
        test_picture_make(&j->guide, s->guide, s->guide_w, s->guide_h, s->dst_rows);
        test_picture_fill(&j->guide.image, s->fill, s->seed + 1);
        if (s->filter->needs_guide)
            make_map(s, &j->guide.image);
    }
    make_frames(j, tamis_plan_frames(plan));
    j->largest = s->format.type >= TAMIS_F16 ? check_largest(&j->src.image) : 0;
    j->src_before = malloc(j->src.size);
    if (!j->src_before)
        abort();
    memcpy(j->src_before, j->src.block, j->src.size);
}

static void free_inputs(job *j)
{
    test_picture_free(&j->src);
    test_picture_free(&j->guide);
    for (int f = 0; f <= 2 * TAMIS_MAX_FRAMES; f++)
        test_picture_free(&j->frame[f]);
    free(j->src_before);
}

/* ---- parts of wide pictures */

static void compare_region(job *j, int cpu, const tamis_kernel *row, tamis_rect r,
                           const tamis_plan *ref_plan, const tamis_plan *plan)
{
    test_picture ref, dst;
    char where[200], what[300];

    test_picture_make(&ref, tamis_plan_format(plan), r.w, r.h, TEST_ROWS_TIGHT);
    test_picture_make(&dst, tamis_plan_format(plan), r.w, r.h, j->sample->dst_rows);
    if (run_plan(j, j->machine->ctx[0][0], ref_plan, &r, &ref) == 0 &&
        run_plan(j, j->machine->ctx[cpu][0], plan, &r, &dst) == 0 &&
        check_compare(&ref.image, &dst.image, row, j->largest, where, sizeof where)) {
        snprintf(what, sizeof what, "the region %dx%d at %d,%d differs from the C row's, %s", r.w,
                 r.h, r.x, r.y, where);
        fail(j, what);
    }
    test_picture_free(&ref);
    test_picture_free(&dst);
}

/* Near the left edge, the right one and neither, each narrow. */
static void check_wide_parts(job *j, int cpu, const tamis_kernel *row, const tamis_plan *ref_plan,
                             const tamis_plan *plan)
{
    int32_t w, h;

    tamis_plan_size(plan, &w, &h);
    make_inputs(j, plan);
    for (int place = 0; place < 3 && !j->failed; place++) {
        tamis_rect r = {.w = 1 + test_rng_below(&j->rng, 150)};
        r.w = r.w < w ? r.w : w;
        r.x = place == 1 ? (w - r.w) / 2 : test_rng_below(&j->rng, w - r.w < 9 ? w - r.w + 1 : 9);
        r.x = place == 2 ? w - r.w - r.x : r.x;
        r.y = test_rng_below(&j->rng, h);
        r.h = 1 + test_rng_below(&j->rng, h - r.y < 12 ? h - r.y : 12);
        compare_region(j, cpu, row, r, ref_plan, plan);
    }
    free_inputs(j);
}

/* Of pictures so wide that a device holds only a part of their rows. */
static void check_wide(job *j, int cpu, const tamis_kernel *row)
{
    tamis_ctx *ctx = j->machine->ctx[cpu][0], *ref_ctx = j->machine->ctx[0][0];
    check_sample *sample = malloc(sizeof *sample);
    tamis_plan *ref_plan = NULL, *plan = NULL;
    job wide = {.machine = j->machine, .graph = j->graph, .rng = j->rng, .row = j->row};

    if (!sample)
        abort();
    *sample = *j->sample;
    sample->w = 2500 + test_rng_below(&j->rng, 2000);
    /* In low ones what is read beyond the part is beyond its memory, which sanitizers see. */
    sample->h = 1 + test_rng_below(&j->rng, test_rng_below(&j->rng, 2) ? 4 : 24);
    if (sample->has_guide && !sample->filter->needs_guide) {
        sample->guide_w = sample->w;
        sample->guide_h = sample->h;
    }
    wide.sample = sample;
    if (make_plan(&wide, ref_ctx, "c", 0, 0, &ref_plan) == TAMIS_OK &&
        make_plan(&wide, ctx, check_cpu_names[cpu], 0, 0, &plan) == TAMIS_OK)
        check_wide_parts(&wide, cpu, row, ref_plan, plan);
    j->failed |= wide.failed;
    tamis_plan_free(&ref_plan);
    tamis_plan_free(&plan);
    free(sample);
}

/* ---- all */

static void check_row(job *j, int cpu, const tamis_kernel *row, const test_picture *ref)
{
    tamis_ctx *ctx = j->machine->ctx[cpu][0];
    tamis_plan *plan = NULL;
    test_picture dst = {0};
    char where[200], what[260];

    if (make_plan(j, ctx, check_cpu_names[cpu], 0, 0, &plan) != TAMIS_OK) {
        fail_message(j, ctx, "no plan though the row exists");
        return;
    }
    if (check_plan_kernel(plan) != row)
        fail(j, "the plan uses another row than asked for");
    check_row_chosen(row);
    make_result(plan, j->sample->dst_rows, &dst);
    if (run_plan(j, ctx, plan, NULL, &dst) == 0) {
        j->machine->counts.compared++;
        if (check_compare(&ref->image, &dst.image, row, j->largest, where, sizeof where)) {
            snprintf(what, sizeof what, "differs from the C row, %s", where);
            fail(j, what);
        }
        check_region(j, cpu, plan, &dst);
        check_tiles(j, cpu, &dst);
        if (!j->failed && tamis_plan_frames(plan) == 0 && test_rng_below(&j->rng, 4) == 0)
            check_parts(j, cpu, plan, &dst);
        if (!j->failed && test_rng_below(&j->rng, 4) == 0)
            check_many(j, cpu);
        if (!j->failed && cpu == CHECK_CUDA && test_rng_below(&j->rng, 4) == 0)
            check_wide(j, cpu, row);
    }
    test_picture_free(&dst);
    tamis_plan_free(&plan);
}

/* A refusal must be clean, and the same whatever the instruction set. */
static void check_refusal(job *j, tamis_status status)
{
    tamis_ctx *ctx = j->machine->ctx[0][0];
    char message[600];

    tamis_ctx_last_message(ctx, message, sizeof message);
    if ((status != TAMIS_ERR_ARGUMENT && status != TAMIS_ERR_UNSUPPORTED) || !message[0])
        fail_message(j, ctx, "not refused cleanly");
    for (int cpu = 1; cpu < CHECK_CPUS; cpu++) {
        tamis_plan *plan = NULL;
        if (!j->machine->ctx[cpu][0])
            continue;
        if (make_plan(j, j->machine->ctx[cpu][0], NULL, 0, 0, &plan) != status)
            fail(j, "refused by some instruction sets only");
        tamis_plan_free(&plan);
    }
    j->machine->counts.refused++;
}

/* Pixels of a window that a parameter of the sample names. */
static double area(const check_sample *s, const char *name)
{
    char text[32];
    int w = 1, h;

    tamis_filter_get(s->filter, s->params, name, text, sizeof text);
    return sscanf(text, "%dx%d", &w, &h) == 2 ? (double)w * h : (double)w * w;
}

static double cost(const check_sample *s, const tamis_plan *plan)
{
    tamis_halo halo = tamis_plan_halo(plan);
    int32_t w, h;

    tamis_plan_size(plan, &w, &h);
    if (halo.left == TAMIS_HALO_ALL) /* warps: by what they make, at 36 samples a pixel */
        return 36.0 * w * h * s->format.channels;
    double taps = (double)(halo.left + halo.right + 1) * (halo.top + halo.bottom + 1);
    if (strcmp(s->filter->name, "nlmeans") == 0) /* compares a patch for each place searched */
        taps = area(s, "search") * area(s, "patch") / 3;
    taps *= 2 * tamis_plan_frames(plan) + 1;
    return taps * s->w * s->h * s->format.channels;
}

/* Such pixels have no color to keep. */
static int is_clear(const check_sample *s, const tamis_image *src)
{
    return s->format.alpha != TAMIS_ALPHA_NONE &&
           test_sample_get(src, 0, 0, s->format.channels - 1) <= 0;
}

/* Filters that give a flat picture back as it is, whatever their parameters. */
static int keeps_flat(const check_sample *s, const tamis_image *src)
{
    static const char *const names[] = {"affine", "bilateral", "box",         "gaussian",
                                        "median", "nlmeans",   "perspective", "remap",
                                        "resize", "rotate",    "sharpen",     "unsharp"};
    char border[32];

    tamis_filter_get(s->filter, s->params, "border", border, sizeof border);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(s->filter->name, names[i]) == 0)
            return s->fill == TEST_FILL_CONSTANT && strcmp(border, "constant") != 0 &&
                   !is_clear(s, src);
    return 0;
}

/* Exact in integers; in floats, color may have been weighted by alpha and back. */
static void check_flat(job *j, const tamis_image *result)
{
    tamis_format f = result->format;
    double slack = f.type == TAMIS_F32 ? 1e-6 : 0;
    char what[160];

    for (int y = 0; y < result->h; y++)
        for (int x = 0; x < result->w; x++)
            for (int c = 0; c < f.channels; c++) {
                double want = test_sample_get(&j->src.image, 0, 0, c);
                double got = test_sample_get(result, x, y, c);
                if (!(fabs(got - want) <= slack * fmax(1, fabs(want))) && !j->failed) {
                    snprintf(
                        what, sizeof what,
                        "a flat picture changes, first at x=%d y=%d channel %d: %.9g, not %.9g", x,
                        y, c, got, want);
                    fail(j, what);
                }
            }
}

/* The C row's result, then each other row's. */
static void check_rows(job *j, const tamis_plan *plan)
{
    const tamis_filter *filter = j->sample->filter;
    const tamis_kernel *c_row = check_plan_kernel(plan);
    const char *wanted = j->machine->options->cpu;
    test_picture ref = {0};

    make_inputs(j, plan);
    make_result(plan, TEST_ROWS_TIGHT, &ref);
    check_row_chosen(c_row);
    if (run_plan(j, j->machine->ctx[0][0], plan, NULL, &ref) == 0) {
        if (keeps_flat(j->sample, &j->src.image))
            check_flat(j, &ref.image);
        for (int cpu = 0; cpu < CHECK_CPUS && !j->failed; cpu++) {
            const tamis_kernel *row = check_row_find(j->machine, filter, c_row, cpu);
            j->row = check_cpu_names[cpu];
            if (row && j->machine->ctx[cpu][0] && (!wanted || strcmp(wanted, j->row) == 0))
                check_row(j, cpu, row, &ref);
        }
    }
    test_picture_free(&ref);
    free_inputs(j);
}

void check_run(check_machine *machine, const check_sample *sample)
{
    job j = {.machine = machine, .sample = sample, .rng = {sample->seed}, .row = "c"};
    tamis_ctx *ctx = machine->ctx[0][0];
    tamis_plan *plan = NULL;
    tamis_status status;

    if (tamis_graph_create(ctx, &j.graph) != TAMIS_OK ||
        tamis_graph_add(j.graph, sample->filter, sample->params) != TAMIS_OK) {
        fail_message(&j, ctx, "no graph");
        machine->counts.failed++;
        tamis_graph_free(&j.graph);
        return;
    }
    status = make_plan(&j, ctx, "c", 0, 0, &plan);
    if (status != TAMIS_OK)
        check_refusal(&j, status);
    else if (cost(sample, plan) > sample->budget)
        machine->counts.costly++;
    else if (!machine->seeking ||
             check_rows_new(machine, sample->filter, check_plan_kernel(plan))) {
        check_rows(&j, plan);
        machine->counts.passed += !j.failed;
    }
    machine->counts.failed += j.failed;
    tamis_plan_free(&plan);
    tamis_graph_free(&j.graph);
}
