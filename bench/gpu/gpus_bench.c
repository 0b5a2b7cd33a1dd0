/* SPDX-License-Identifier: Apache-2.0 */
/* gpus_bench: what several GPUs of one machine are worth, beside one of them.
 *
 *     gpus_bench [--devices N] [--frame WxH] [--huge WxH] [--frames N] [--rounds N] [--json FILE]
 *
 * A stream of u8 frames and one huge u8 picture, both in pinned host memory, through a Gaussian of
 * 11x11, which the bus bounds, and light non-local means, which the GPU bounds: on cuda:0, then on
 * the first N devices (2). Milliseconds are medians of the rounds; results are compared byte by
 * byte. Targets: 1.9 times one device on frames, 1.8 times on the picture, for two of them. The
 * status is 1 when results differ or something failed. Uses the public interface alone. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <tamis/tamis.h>

/* Pairs of pictures for each device: those under way, and more to fill and to empty. */
enum { MAX_ROUNDS = 99, MAX_DEVICES = 16, PAIRS = 6, MAX_PAIRS = PAIRS * MAX_DEVICES + 2 };

typedef struct settings {
    int devices, frames, rounds;
    int frame_w, frame_h, huge_w, huge_h;
    const char *json;
} settings;

/* One picture and what becomes of it, in pinned memory. */
typedef struct pair {
    tamis_image src, dst;
} pair;

static const tamis_format gray = {.type = TAMIS_U8, .channels = 1};

static void say(void *user, tamis_log_level level, const char *text)
{
    (void)user;
    if (level <= TAMIS_LOG_WARNING)
        fprintf(stderr, "gpus_bench: %s\n", text);
}

static void must(tamis_status status)
{
    if (status != TAMIS_OK)
        exit(1); /* the text has been logged */
}

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *ms, int count)
{
    qsort(ms, (size_t)count, sizeof *ms, by_size);
    return ms[count / 2];
}

/* ---- pictures */

/* A wave with noise, other for each seed. */
static void fill(const tamis_image *image, uint32_t seed)
{
    uint32_t state = seed * 2654435761u + 1;
    for (int y = 0; y < image->h; y++) {
        uint8_t *row = tamis_image_row(image, 0, y);
        for (int x = 0; x < image->w; x++) {
            state = state * 1664525u + 1013904223u;
            row[x] = (uint8_t)(((x + y) & 127) + (state >> 25));
        }
    }
}

static void make_pair(tamis_ctx *ctx, int w, int h, uint32_t seed, pair *out)
{
    must(tamis_image_create_pinned(ctx, gray, w, h, &out->src));
    must(tamis_image_create_pinned(ctx, gray, w, h, &out->dst));
    fill(&out->src, seed);
}

static void drop_pair(pair *p)
{
    tamis_image_unref(&p->src);
    tamis_image_unref(&p->dst);
}

/* FNV-1a of the picture's words: the same for the same bytes, and quick enough for gigabytes. */
static uint64_t digest(const tamis_image *image, uint64_t sum)
{
    for (int y = 0; y < image->h; y++) {
        const char *row = tamis_image_row(image, 0, y);
        for (int x = 0; x < image->w; x += 8) {
            uint64_t word = 0;
            memcpy(&word, row + x, (size_t)(image->w - x < 8 ? image->w - x : 8));
            sum = (sum ^ word) * 1099511628211u;
        }
    }
    return sum;
}

/* ---- measuring */

static tamis_plan *plan_of(tamis_ctx *ctx, const char *chain, int w, int h)
{
    tamis_graph *graph;
    tamis_plan *plan;
    must(tamis_graph_parse(ctx, chain, &graph));
    must(tamis_plan_create(ctx, graph, gray, w, h, NULL, &plan));
    tamis_graph_free(&graph);
    return plan;
}

static void take(tamis_stream *stream, uint64_t *sums)
{
    tamis_stream_result r;
    must(tamis_stream_wait(stream, -1, &r));
    must(r.status);
    if (sums)
        sums[r.index] = digest(&r.dst, 0);
}

/* All frames once; with sums, a digest of each. */
static double stream_once(tamis_stream *stream, pair *pairs, int count, int frames, uint64_t *sums)
{
    double start = now_ms();
    for (int i = 0; i < frames; i++) {
        if (i >= count)
            take(stream, sums);
        must(tamis_stream_submit(stream, &pairs[i % count].src, &pairs[i % count].dst, NULL, 0));
    }
    for (int i = 0; i < (count < frames ? count : frames); i++)
        take(stream, sums);
    return (now_ms() - start) / frames;
}

/* Frames repeat after `count`, so the digest is of all that were different. */
static double time_stream(tamis_ctx *ctx, const char *chain, const settings *s, uint64_t *sum)
{
    pair pairs[MAX_PAIRS];
    double ms[MAX_ROUNDS];
    tamis_plan *plan = plan_of(ctx, chain, s->frame_w, s->frame_h);
    tamis_stream *stream;
    must(tamis_stream_create(plan, NULL, &stream));
    /* As many as all devices want, so that one of them and all see the same frames. */
    int count = PAIRS * s->devices + 2;
    uint64_t *sums = calloc((size_t)s->frames, sizeof *sums);
    if (!sums)
        exit(1);
    for (int i = 0; i < count; i++)
        make_pair(ctx, s->frame_w, s->frame_h, (uint32_t)i, &pairs[i]);
    stream_once(stream, pairs, count, s->frames, sums);
    *sum = 0;
    for (int i = 0; i < s->frames; i++)
        *sum = (*sum ^ sums[i]) * 1099511628211u;
    for (int i = 0; i < s->rounds; i++)
        ms[i] = stream_once(stream, pairs, count, s->frames, NULL);
    tamis_stream_free(&stream);
    for (int i = 0; i < count; i++)
        drop_pair(&pairs[i]);
    free(sums);
    tamis_plan_free(&plan);
    return median(ms, s->rounds);
}

static double time_huge(tamis_ctx *ctx, const char *chain, const settings *s, uint64_t *sum)
{
    pair p;
    double ms[MAX_ROUNDS];
    tamis_plan *plan = plan_of(ctx, chain, s->huge_w, s->huge_h);
    make_pair(ctx, s->huge_w, s->huge_h, 1, &p);
    must(tamis_plan_run(plan, &p.src, &p.dst, NULL));
    *sum = digest(&p.dst, 0);
    for (int i = 0; i < s->rounds; i++) {
        double start = now_ms();
        must(tamis_plan_run(plan, &p.src, &p.dst, NULL));
        ms[i] = now_ms() - start;
    }
    drop_pair(&p);
    tamis_plan_free(&plan);
    return median(ms, s->rounds);
}

/* ---- rows */

typedef struct row {
    const char *name, *chain;
    int huge;
    double target; /* times one device, where there are two */
} row;

static const row rows[] = {
    {"gaussian 11, stream of frames", "gaussian=sigma=2:ksize=11", 0, 1.9},
    {"nlmeans light, stream of frames", "nlmeans=search=11:patch=5", 0, 1.9},
    {"gaussian 11, one huge picture", "gaussian=sigma=2:ksize=11", 1, 1.8},
    {"nlmeans light, one huge picture", "nlmeans=search=11:patch=5", 1, 1.8},
};

static tamis_ctx *ctx_for(int devices)
{
    char name[256] = "cuda:0";
    tamis_ctx *ctx;
    for (int i = 1; i < devices; i++)
        snprintf(name + strlen(name), sizeof name - strlen(name), ",%d", i);
    tamis_ctx_options o = {.device = name, .log = say};
    must(tamis_ctx_create(&o, &ctx));
    return ctx;
}

static double time_row(const row *r, const settings *s, int devices, uint64_t *sum)
{
    tamis_ctx *ctx = ctx_for(devices);
    double ms = r->huge ? time_huge(ctx, r->chain, s, sum) : time_stream(ctx, r->chain, s, sum);
    tamis_ctx_free(&ctx);
    return ms;
}

/* 1 when the results are the same. */
static int run_row(const row *r, const settings *s, FILE *json)
{
    uint64_t sums[2];
    double one = time_row(r, s, 1, &sums[0]);
    double all = time_row(r, s, s->devices, &sums[1]);
    int same = sums[0] == sums[1], w = r->huge ? s->huge_w : s->frame_w;
    int h = r->huge ? s->huge_h : s->frame_h;
    double pixels = (double)w * h, times = one / all;
    printf("%-32s %dx%d  1: %9.3f ms %7.2f Gpix/s  %d: %9.3f ms %7.2f Gpix/s  %.2f times", r->name,
           w, h, one, pixels / one * 1e-6, s->devices, all, pixels / all * 1e-6, times);
    if (s->devices == 2)
        printf(" (target %.1f: %s)", r->target, times >= r->target ? "ok" : "NO");
    printf("  bits %s\n", same ? "equal" : "DIFFER");
    fflush(stdout);
    if (json)
        fprintf(json,
                "%s\n  {\"row\": \"%s\", \"chain\": \"%s\", \"w\": %d, \"h\": %d, \"ms\": [%.6g, "
                "%.6g], \"times\": %.4g, \"target\": %.2g, \"bits_equal\": %s}",
                r == rows ? "" : ",", r->name, r->chain, w, h, one, all, times, r->target,
                same ? "true" : "false");
    return same;
}

/* ---- options */

static void usage(void)
{
    fprintf(stderr, "usage: gpus_bench [--devices N] [--frame WxH] [--huge WxH] [--frames N] "
                    "[--rounds N] [--json FILE]\n");
    exit(2);
}

static int number(const char *text, int least, int most)
{
    char *end;
    long v = strtol(text, &end, 10);
    if (*end || v < least || v > most)
        usage();
    return (int)v;
}

static void size(const char *text, int *w, int *h)
{
    if (sscanf(text, "%dx%d", w, h) != 2 || *w < 1 || *h < 1)
        usage();
}

static settings parse(int argc, char **argv)
{
    settings s = {.devices = 2,
                  .frames = 600,
                  .rounds = 5,
                  .frame_w = 3840,
                  .frame_h = 2160,
                  .huge_w = 32768,
                  .huge_h = 32768};
    for (int i = 1; i + 1 < argc; i += 2) {
        const char *name = argv[i], *value = argv[i + 1];
        if (strcmp(name, "--devices") == 0)
            s.devices = number(value, 1, MAX_DEVICES);
        else if (strcmp(name, "--frames") == 0)
            s.frames = number(value, 1, 1000000);
        else if (strcmp(name, "--rounds") == 0)
            s.rounds = number(value, 1, MAX_ROUNDS);
        else if (strcmp(name, "--frame") == 0)
            size(value, &s.frame_w, &s.frame_h);
        else if (strcmp(name, "--huge") == 0)
            size(value, &s.huge_w, &s.huge_h);
        else if (strcmp(name, "--json") == 0)
            s.json = value;
        else
            usage();
    }
    if (argc % 2 == 0)
        usage();
    return s;
}

static void say_devices(int count, FILE *json)
{
    tamis_ctx *ctx = ctx_for(count);
    printf("tamis %s on %d of %d:", tamis_version(), count, tamis_device_count(ctx));
    if (json)
        fprintf(json, "{\"schema_version\": 1, \"who\": \"tamis %s\", \"devices\": [",
                tamis_version());
    for (int i = 0; i < count; i++) {
        tamis_device_info info;
        must(tamis_device_describe(ctx, i, &info));
        printf("%s %s", i ? "," : "", info.name);
        if (json)
            fprintf(json, "%s\"%s\"", i ? ", " : "", info.name);
    }
    printf("\n");
    if (json)
        fprintf(json, "], \"rows\": [");
    tamis_ctx_free(&ctx);
}

int main(int argc, char **argv)
{
    settings s = parse(argc, argv);
    FILE *json = s.json ? fopen(s.json, "w") : NULL;
    int good = 1;
    if (s.json && !json) {
        perror(s.json);
        return 1;
    }
    say_devices(s.devices, json);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        good &= run_row(&rows[i], &s, json);
    if (json && (fprintf(json, "\n]}\n") < 0 || fclose(json) != 0)) {
        perror(s.json);
        return 1;
    }
    return !good;
}
