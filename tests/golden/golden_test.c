/* SPDX-License-Identifier: Apache-2.0 */
/* Compares every kernel row with float64 results of an independent program (make_golden.py), and
 * the C rows with checksums of what they gave before (hashes.txt), so that neither both sides of
 * the harness can be wrong together nor the reference drift.
 *
 *   golden_test            compares
 *   golden_test --print    prints the lines of hashes.txt as they are now */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tamis/tamis.h>

#include "support/picture.h"

enum { HEADER = 4096 };

typedef struct record {
    char chain[3072], type[8], pattern[16], guide[48], alpha[16];
    int channels, w, h, out_w, out_h, out_channels;
    double tolerance; /* levels, or for floats relative to max(1, |value|) */
} record;

static const char *const cpus[] = {"c", "base", "avx2", "avx512"};
enum { CPUS = 4 };
static tamis_ctx *contexts[CPUS];
static long passed, failed;

/* The formulas of make_golden.py. */
static uint32_t hash32(uint32_t x, uint32_t y, uint32_t c, uint32_t seed)
{
    uint32_t h = x * 0x9E3779B1u + y * 0x85157AF5u + c * 0x58F38DEDu + seed * 0x2C1B3C6Du;
    h = (h ^ h >> 15) * 0x2545F491u;
    h = (h ^ h >> 13) * 0x9E3779B1u;
    return h ^ h >> 16;
}

/* 0 .. 65535, or -1 for NaN. */
static long level16(const char *pattern, int x, int y, int c, int w, int h)
{
    uint32_t n = hash32((uint32_t)x, (uint32_t)y, (uint32_t)c, 1);

    if (strcmp(pattern, "edges") == 0)
        return (long)(hash32((uint32_t)x / 4, (uint32_t)y / 3, (uint32_t)c, 2) >> 30) * 20000 +
               (long)(n >> 16) % 3000;
    if (strcmp(pattern, "impulse") == 0)
        return x == w / 2 && y == h / 2 ? 65535 : 0;
    if (strcmp(pattern, "extremes") == 0)
        return (long)(n >> 31) * 65535;
    if ((strcmp(pattern, "nan") == 0 || strcmp(pattern, "map_nan") == 0) && n % 23 == 5)
        return -1;
    return (long)(n >> 16);
}

static double sample_of(tamis_type type, long level, const char *pattern, int c)
{
    int is_lab = strcmp(pattern, "lab") == 0, is_map = strncmp(pattern, "map", 3) == 0;

    switch (type) {
    case TAMIS_U8:
        return (double)(level >> 8);
    case TAMIS_U16:
        return (double)level;
    case TAMIS_S16:
        return (double)(level - 32768);
    default:
        if (is_lab)
            return c == 0 ? (double)level / 656 : (double)(level - 32768) / 256;
        return level < 0 ? (double)NAN : is_map ? (double)level / 2048 - 6 : (double)level / 65536;
    }
}

static void make_picture(test_picture *out, tamis_format format, int w, int h, const char *pattern)
{
    test_picture_make(out, format, w, h, TEST_ROWS_WIDE);
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            for (int c = 0; c < format.channels; c++)
                test_sample_set(
                    &out->image, x, y, c,
                    sample_of(format.type, level16(pattern, x, y, c, w, h), pattern, c));
}

static tamis_type type_of(const char *name)
{
    for (int t = 0; t < TAMIS_TYPE_COUNT; t++)
        if (strcmp(tamis_type_name((tamis_type)t), name) == 0)
            return (tamis_type)t;
    fprintf(stderr, "golden: unknown type '%s'\n", name);
    exit(1);
}

static tamis_alpha alpha_of(const char *name)
{
    return strcmp(name, "straight") == 0        ? TAMIS_ALPHA_STRAIGHT
           : strcmp(name, "premultiplied") == 0 ? TAMIS_ALPHA_PREMULTIPLIED
                                                : TAMIS_ALPHA_NONE;
}

static void fail(const record *r, const char *cpu, tamis_ctx *ctx, const char *what)
{
    char message[400];

    printf("FAIL %s %sx%d alpha %s %dx%d %s guide %s, row %s: %s: %s\n", r->chain, r->type,
           r->channels, r->alpha, r->w, r->h, r->pattern, r->guide, cpu, what,
           ctx ? tamis_ctx_last_message(ctx, message, sizeof message) : "");
    failed++;
}

/* Runs the record's chain; 0 when it worked, 1 when this chain has no such row. */
static int run_chain(const record *r, int cpu, tamis_layout layout, test_picture *out)
{
    tamis_ctx *ctx = contexts[cpu];
    tamis_format format = {type_of(r->type), r->channels, layout, alpha_of(r->alpha)}, guide_format;
    tamis_plan_options options = {.kernel = cpus[cpu]};
    tamis_run_options run = {0};
    tamis_graph *graph = NULL;
    tamis_plan *plan = NULL;
    test_picture src, guide = {0};
    char type[8], pattern[16];
    int channels, result = -1;
    tamis_status status;
    int32_t w, h;

    make_picture(&src, format, r->w, r->h, r->pattern);
    if (sscanf(r->guide, "%7[^,],%d,%15s", type, &channels, pattern) == 3) {
        guide_format = (tamis_format){type_of(type), channels, layout, TAMIS_ALPHA_NONE};
        make_picture(&guide, guide_format, r->w, r->h, pattern);
        options.guide = &guide_format;
        run.guide = &guide.image;
    }
    if (tamis_graph_parse(ctx, r->chain, &graph) != TAMIS_OK) {
        fail(r, cpus[cpu], ctx, "not parsed");
    } else if ((status = tamis_plan_create(ctx, graph, format, r->w, r->h, &options, &plan)) !=
               TAMIS_OK) {
        if (cpu > 0 && status == TAMIS_ERR_UNSUPPORTED)
            result = 1;
        else
            fail(r, cpus[cpu], ctx, "no plan");
    } else {
        tamis_plan_size(plan, &w, &h);
        test_picture_make(out, tamis_plan_format(plan), w, h, TEST_ROWS_TIGHT);
        if (tamis_plan_run(plan, &src.image, &out->image, &run) == TAMIS_OK)
            result = 0;
        else
            fail(r, cpus[cpu], ctx, "not run");
    }
    tamis_plan_free(&plan);
    tamis_graph_free(&graph);
    test_picture_free(&src);
    test_picture_free(&guide);
    return result;
}

static int agrees(const record *r, tamis_type type, double want, double got)
{
    if (isnan(want) || isnan(got))
        return isnan(want) && isnan(got);
    return fabs(got - want) <= r->tolerance * (type == TAMIS_F32 ? fmax(1, fabs(want)) : 1);
}

static void compare(const record *r, const float *want, const test_picture *got, const char *cpu)
{
    const tamis_image *image = &got->image;

    if (image->w != r->out_w || image->h != r->out_h || image->format.channels != r->out_channels) {
        fail(r, cpu, NULL, "another size");
        return;
    }
    for (int y = 0; y < r->out_h; y++)
        for (int x = 0; x < r->out_w; x++)
            for (int c = 0; c < r->out_channels; c++, want++) {
                double v = test_sample_get(image, x, y, c);
                if (!agrees(r, image->format.type, (double)*want, v)) {
                    char what[100];
                    snprintf(what, sizeof what, "x=%d y=%d channel %d is %.9g, not %.9g", x, y, c,
                             v, (double)*want);
                    fail(r, cpu, NULL, what);
                    return;
                }
            }
    passed++;
}

static void check_record(const record *r, const float *want)
{
    for (int layout = 0; layout < 2; layout++)
        for (int cpu = 0; cpu < CPUS; cpu++) {
            test_picture out = {0};
            if (contexts[cpu] && run_chain(r, cpu, (tamis_layout)layout, &out) == 0)
                compare(r, want, &out, cpus[cpu]);
            test_picture_free(&out);
        }
}

/* The fields that both files have; 1 when they are there. */
static int parse_chain(const char *line, record *r, int *end)
{
    strcpy(r->alpha, "none");
    return sscanf(line, "%3071[^|]|%7[^|]|%d|%d|%d|%15[^|]|%47[^|]|%d|%d%n", r->chain, r->type,
                  &r->channels, &r->w, &r->h, r->pattern, r->guide, &r->out_w, &r->out_h, end) == 9;
}

static int parse_record(const char *line, record *r)
{
    int end;
    return parse_chain(line, r, &end) &&
           sscanf(line + end, "|%d|%15[^|]|%lf", &r->out_channels, r->alpha, &r->tolerance) == 3;
}

static FILE *open_file(const char *name)
{
    char path[1024];
    FILE *f;

    snprintf(path, sizeof path, "%s/%s", TEST_GOLDEN_DIR, name);
    f = fopen(path, "rb");
    if (!f) {
        fprintf(stderr, "golden: cannot open %s\n", path);
        exit(1);
    }
    return f;
}

static void check_file(const char *filter)
{
    char name[64], line[HEADER];
    record r;
    FILE *f;

    snprintf(name, sizeof name, "%s.bin", filter);
    f = open_file(name);
    while (fgets(line, sizeof line, f)) {
        float *want;
        size_t count;
        if (!parse_record(line, &r)) {
            fprintf(stderr, "golden: %s: broken record\n", name);
            exit(1);
        }
        count = (size_t)r.out_w * (size_t)r.out_h * (size_t)r.out_channels;
        want = malloc(count * sizeof *want);
        if (!want || fread(want, sizeof *want, count, f) != count) {
            fprintf(stderr, "golden: %s: cut short\n", name);
            exit(1);
        }
        check_record(&r, want);
        free(want);
    }
    fclose(f);
}

static int has_filter(const char *chain)
{
    char name[64];
    return sscanf(chain, "%63[^=]", name) == 1 && tamis_filter_find(name) != NULL;
}

/* Lines "crc chain|type|channels|w|h|pattern|guide|0|0". */
static void check_hashes(int print)
{
    char line[HEADER];
    unsigned want;
    int start, end;
    FILE *f = open_file("hashes.txt");

    while (fgets(line, sizeof line, f)) {
        record r;
        test_picture out = {0};
        unsigned got;
        if (line[0] == '#') {
            if (print)
                fputs(line, stdout);
            continue;
        }
        if (sscanf(line, "%8x %n", &want, &start) != 1 || !parse_chain(line + start, &r, &end)) {
            fprintf(stderr, "golden: hashes.txt: broken line: %s", line);
            exit(1);
        }
        if (!has_filter(r.chain)) {
            printf(print ? "%s" : "skipped: no such filter here: %s", line);
            continue;
        }
        if (run_chain(&r, 0, TAMIS_PACKED, &out) == 0) {
            got = test_crc(&out.image);
            if (print)
                printf("%08x %s", got, line + start);
            else if (got == want)
                passed++;
            else
                fail(&r, "c", NULL, "the reference has drifted: another checksum");
        }
        test_picture_free(&out);
    }
    fclose(f);
}

int main(int argc, char **argv)
{
    static const char *const filters[] = {
        "gaussian", "median",      "bilateral", "nlmeans", "box",   "affine",
        "rotate",   "perspective", "remap",     "sobel",   "canny", "convolve",
        "resize",   "sharpen",     "unsharp",   "color",   "alpha"};
    int print = argc > 1 && strcmp(argv[1], "--print") == 0;

    for (int cpu = 0; cpu < CPUS; cpu++) {
        tamis_ctx_options o = {.threads = 1, .cpu = cpus[cpu]};
        if (tamis_ctx_create(&o, &contexts[cpu]) != TAMIS_OK)
            printf("skipped: this CPU has no %s\n", cpus[cpu]);
    }
    for (int i = 0; i < (int)(sizeof filters / sizeof *filters) && !print; i++) {
        if (tamis_filter_find(filters[i]))
            check_file(filters[i]);
        else
            printf("skipped: this build has no filter %s\n", filters[i]);
    }
    check_hashes(print);
    for (int cpu = 0; cpu < CPUS; cpu++)
        tamis_ctx_free(&contexts[cpu]);
    if (!print)
        printf("%ld passed, %ld failed\n", passed, failed);
    return failed ? 1 : 0;
}
