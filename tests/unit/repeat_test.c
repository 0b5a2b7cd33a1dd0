/* SPDX-License-Identifier: Apache-2.0 */
/* Frames of a stream on emulated devices that are like those before: their launches are captured
 * and replayed, and the bits are those of runs that know nothing of it. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

#include "support/picture.h"
#include "unit.h"

enum { W = 39, H = 23, SEEDS = 4, MOST = 40 };

/* ---- what the emulation counts */

static int64_t counted(const char *name)
{
    void *module = dlopen(getenv("TAMIS_CUDA_MODULE"), RTLD_NOW);
    int64_t (*count)(void) = NULL;
    void *symbol = dlsym(module, name);
    assert_non_null(symbol);
    memcpy(&count, &symbol, sizeof count);
    dlclose(module); /* libtamis has it open, too */
    return count();
}

static int64_t replayed(void)
{
    return counted("tamis_emulate_replayed");
}

static int64_t graphs(void)
{
    return counted("tamis_emulate_graphs");
}

static int64_t in_use(void)
{
    return counted("tamis_emulate_in_use");
}

/* ---- a plan, a stream of it, and what runs of the plan make of some pictures */

typedef struct job {
    tamis_ctx *ctx;
    tamis_plan *plan;
    tamis_stream *stream;
    tamis_format format;
    test_picture guide, want[SEEDS];
    int64_t before; /* bytes in use */
} job;

/* Runs that went on in bands. */
static int bands;

static void watch_log(void *user, tamis_log_level level, const char *text)
{
    (void)user;
    (void)level;
    if (strstr(text, "in bands of"))
        __atomic_fetch_add(&bands, 1, __ATOMIC_RELAXED);
}

static void fill(const tamis_image *image, int seed)
{
    test_picture_fill(image, TEST_FILL_NOISE, 10 + (uint64_t)seed);
}

static void begin(job *j, const char *device, const char *chain, tamis_format format, int depth)
{
    static const tamis_format map = {TAMIS_F32, 2, TAMIS_PACKED, TAMIS_ALPHA_NONE};
    tamis_graph *graph = NULL;
    tamis_ctx_options c = {.device = device, .threads = 2, .log = watch_log};
    int guided = strncmp(chain, "remap", 5) == 0;
    tamis_plan_options p = {.guide = guided ? &map : NULL};
    tamis_stream_options o = {.depth = depth, .guide = guided ? &j->guide.image : NULL};
    tamis_run_options run = {.guide = o.guide};
    test_picture src;
    int32_t w, h;
    j->format = format;
    test_picture_make(&j->guide, map, W, H, TEST_ROWS_TIGHT);
    test_picture_fill(&j->guide.image, TEST_FILL_NOISE, 99);
    assert_int_equal(tamis_ctx_create(&c, &j->ctx), TAMIS_OK);
    assert_int_equal(tamis_graph_parse(j->ctx, chain, &graph), TAMIS_OK);
    assert_int_equal(tamis_plan_create(j->ctx, graph, format, W, H, &p, &j->plan), TAMIS_OK);
    tamis_graph_free(&graph);
    tamis_plan_size(j->plan, &w, &h);
    test_picture_make(&src, format, W, H, TEST_ROWS_WIDE);
    for (int i = 0; i < SEEDS; i++) {
        fill(&src.image, i);
        test_picture_make(&j->want[i], tamis_plan_format(j->plan), w, h, TEST_ROWS_TIGHT);
        assert_int_equal(tamis_plan_run(j->plan, &src.image, &j->want[i].image, &run), TAMIS_OK);
    }
    test_picture_free(&src);
    j->before = in_use();
    assert_int_equal(tamis_stream_create(j->plan, &o, &j->stream), TAMIS_OK);
}

static void end(job *j)
{
    tamis_stream_free(&j->stream);
    assert_int_equal(in_use(), j->before); /* all is given back */
    assert_int_equal(graphs(), 0);
    for (int i = 0; i < SEEDS; i++)
        test_picture_free(&j->want[i]);
    test_picture_free(&j->guide);
    tamis_plan_free(&j->plan);
    tamis_ctx_free(&j->ctx);
}

/* ---- pairs of images */

typedef struct pair {
    test_picture own_src, own_dst; /* in host memory */
    tamis_image src, dst;
} pair;

static void make_host(const job *j, pair *p, int count)
{
    for (int i = 0; i < count; i++) {
        const tamis_image *like = &j->want[0].image;
        test_picture_make(&p[i].own_src, j->format, W, H, i % 2 ? TEST_ROWS_ODD : TEST_ROWS_WIDE);
        test_picture_make(&p[i].own_dst, like->format, like->w, like->h, TEST_ROWS_NEGATIVE);
        p[i].src = p[i].own_src.image;
        p[i].dst = p[i].own_dst.image;
    }
}

static void free_host(pair *p, int count)
{
    for (int i = 0; i < count; i++) {
        assert_true(test_picture_intact(&p[i].own_dst));
        test_picture_free(&p[i].own_src);
        test_picture_free(&p[i].own_dst);
    }
}

static void make_there(const job *j, pair *p, int count, int device)
{
    for (int i = 0; i < count; i++) {
        const tamis_image *like = &j->want[0].image;
        assert_int_equal(tamis_image_create_on_device(j->ctx, device, j->format, W, H, &p[i].src),
                         TAMIS_OK);
        assert_int_equal(
            tamis_image_create_on_device(j->ctx, device, like->format, like->w, like->h, &p[i].dst),
            TAMIS_OK);
    }
}

static void free_there(pair *p, int count)
{
    for (int i = 0; i < count; i++) {
        tamis_image_unref(&p[i].src);
        tamis_image_unref(&p[i].dst);
    }
}

/* ---- frames */

/* What a pair shows changes from use to use. */
static int seed_of(int frame, int count)
{
    return (frame + frame / count) % SEEDS;
}

static void submit(job *j, const pair *p, int seed)
{
    fill(&p->src, seed);
    for (int plane = 0; plane < tamis_image_planes(&p->dst); plane++)
        for (int y = 0; y < p->dst.h; y++) /* where nothing is written, that is seen */
            memset(tamis_image_row(&p->dst, plane, y), 0x5a, (size_t)p->dst.w);
    assert_int_equal(tamis_stream_submit(j->stream, &p->src, &p->dst, NULL, 0), TAMIS_OK);
}

static void take(job *j, tamis_status status, int seed)
{
    tamis_stream_result r;
    assert_int_equal(tamis_stream_wait(j->stream, -1, &r), TAMIS_OK);
    if (r.status != status)
        fail_msg("frame %d: %s", (int)r.index, r.text);
    if (status == TAMIS_OK && !test_same(&r.dst, &j->want[seed].image))
        fail_msg("frame %d differs", (int)r.index);
}

/* So many frames, of the pairs in turns. */
static void go(job *j, const pair *p, int count, int frames)
{
    for (int i = 0; i < frames + count; i++) {
        if (i >= count && i - count < frames)
            take(j, TAMIS_OK, seed_of(i - count, count));
        if (i < frames)
            submit(j, &p[i % count], seed_of(i, count));
    }
}

/* ---- the same bits */

static const tamis_format gray = {TAMIS_U8, 1, TAMIS_PACKED, TAMIS_ALPHA_NONE};
static const tamis_format rgb = {TAMIS_U8, 3, TAMIS_PACKED, TAMIS_ALPHA_NONE};
static const tamis_format rgba = {TAMIS_U8, 4, TAMIS_PACKED, TAMIS_ALPHA_STRAIGHT};
static const tamis_format wide = {TAMIS_U16, 3, TAMIS_PLANAR, TAMIS_ALPHA_NONE};
static const tamis_format real = {TAMIS_F32, 1, TAMIS_PACKED, TAMIS_ALPHA_NONE};
static const tamis_format half = {TAMIS_F16, 2, TAMIS_PACKED, TAMIS_ALPHA_NONE};

static const char four[] = "nlmeans=h=6:search=3:patch=3,unsharp,gaussian,sobel";

static const struct sample {
    const char *chain;
    const tamis_format *format;
    int single; /* one launch, which no graph replaces */
} samples[] = {
    {"gaussian=ksize=5", &gray, 1},
    {four, &gray, 0},
    {"gaussian=sigma=1.2,median", &rgba, 0},
    {"resize=size=31x40,gaussian=border=valid,canny", &gray, 0},
    {"median=ksize=3,bilateral=ksize=3", &real, 0},
    {"box=ksize=9,affine=angle=20,laplacian", &wide, 0},
    {"gaussian", &half, 0}, /* which converts */
    {"color=to=gray,canny=sigma=1.4", &rgb, 0},
    {"remap,gaussian", &gray, 0},                /* with a guide */
    {"gaussian,affine=scale=3,sobel", &gray, 0}, /* of a part, with slack that is cleared */
};

static void compare(const char *device, const struct sample *s, int depth)
{
    enum { FRAMES = 10, PAIRS = 3 };
    job j;
    pair host[PAIRS], there[PAIRS];
    begin(&j, device, s->chain, *s->format, depth);
    make_host(&j, host, PAIRS);
    int64_t before = replayed();
    go(&j, host, PAIRS, FRAMES);
    /* Each room's first frame is launched; for one at a time there is one room. */
    int64_t least = s->single ? 0 : depth == 1 ? FRAMES - 1 : 1;
    assert_in_range(replayed() - before, least, s->single ? 0 : FRAMES - 1);
    if (!j.guide.block || strncmp(s->chain, "remap", 5) != 0) {
        make_there(&j, there, PAIRS, 0);
        before = replayed();
        go(&j, there, PAIRS, FRAMES);
        if (depth == 1)
            assert_int_equal(replayed() - before, s->single ? 0 : FRAMES - PAIRS);
        go(&j, host, PAIRS, 4);
        tamis_stream_flush(j.stream);
        free_there(there, PAIRS);
    }
    free_host(host, PAIRS);
    end(&j);
}

static void test_chains(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        compare("cuda", &samples[i], 1);
        compare("cuda", &samples[i], 5);
    }
}

/* ---- images that come and go */

static void test_other_images(void **state)
{
    job j;
    pair a[3], b[MOST];
    (void)state;
    begin(&j, "cuda", four, gray, 1);
    make_there(&j, a, 3, 0);
    go(&j, a, 3, 9);
    assert_int_equal(graphs(), 3);
    /* Parts of images: the same memory, other rows. */
    pair part = a[1];
    tamis_image whole;
    assert_int_equal(tamis_image_create_on_device(j.ctx, 0, gray, 3 * W, 3 * H, &whole), TAMIS_OK);
    for (int i = 0; i < 8; i++) {
        tamis_rect r = {i % 3, 5 * (i % 2), W, H};
        assert_int_equal(tamis_image_view(j.ctx, &whole, r, &part.src), TAMIS_OK);
        go(&j, &part, 1, 3);
    }
    tamis_image_unref(&whole);
    /* Others, some of which may lie where those did. */
    free_there(a, 3);
    make_there(&j, a, 2, 0);
    make_there(&j, a + 2, 1, 0);
    go(&j, a, 3, 9);
    /* More than are kept: none of them is seen again in time. */
    make_there(&j, b, MOST, 0);
    int64_t before = replayed();
    go(&j, b, MOST, 3 * MOST);
    assert_int_equal(replayed(), before);
    assert_in_range(graphs(), 0, 16);
    free_there(a, 3);
    free_there(b, MOST);
    end(&j);
}

/* Host frames, device frames and such whose results alone are in host memory, in turns, by several
 * threads. */
static void test_mixed(void **state)
{
    job j;
    pair p[6], halves[6];
    (void)state;
    begin(&j, "cuda", four, gray, 4);
    make_host(&j, p, 3);
    make_there(&j, p + 3, 3, 0);
    for (int i = 0; i < 6; i++) {
        halves[i] = p[i];
        if (i < 3)
            halves[i].src = p[i + 3].src;
    }
    go(&j, p, 6, 60);
    int64_t before = replayed();
    go(&j, halves, 3, 24);
    assert_true(replayed() > before);
    free_host(p, 3);
    free_there(p + 3, 3);
    end(&j);
}

static void test_devices(void **state)
{
    (void)state;
    setenv("TAMIS_EMULATE_DEVICES", "3", 1);
    compare("cuda:all", &samples[1], 0);
    compare("cuda:2,0", &samples[8], 7);
    job j;
    pair p[6];
    begin(&j, "cuda:all", four, gray, 3);
    for (int i = 0; i < 3; i++)
        make_there(&j, p + 2 * i, 2, i);
    int64_t before = replayed();
    go(&j, p, 6, 48);
    assert_true(replayed() > before);
    free_there(p, 6);
    end(&j);
    unsetenv("TAMIS_EMULATE_DEVICES");
}

/* ---- several streams of a plan */

typedef struct user {
    job j;
    pthread_t thread;
} user;

static void *use(void *arg)
{
    job *j = arg;
    pair p[4];
    make_host(j, p, 4);
    go(j, p, 4, 30);
    tamis_stream_free(&j->stream);
    free_host(p, 4);
    return NULL;
}

static void test_two_streams(void **state)
{
    job j;
    user users[2];
    (void)state;
    begin(&j, "cuda", four, gray, 4);
    for (int i = 0; i < 2; i++) {
        users[i].j = j;
        assert_int_equal(tamis_stream_create(j.plan, NULL, &users[i].j.stream), TAMIS_OK);
        assert_int_equal(pthread_create(&users[i].thread, NULL, use, &users[i].j), 0);
    }
    for (int i = 0; i < 2; i++)
        pthread_join(users[i].thread, NULL);
    end(&j);
}

/* ---- what goes wrong */

static void test_no_graphs(void **state)
{
    static const char *const settings[][2] = {
        {"TAMIS_EMULATE_GRAPHS", "0"}, {"TAMIS_EMULATE_GRAPHS", "1"}, {"TAMIS_STREAM_PLAIN", ""}};
    (void)state;
    for (int i = 0; i < 3; i++) {
        job j;
        pair p[2];
        setenv(settings[i][0], settings[i][1], 1);
        begin(&j, "cuda", four, gray, 1);
        make_host(&j, p, 2);
        int64_t before = replayed();
        go(&j, p, 2, 6);
        assert_int_equal(replayed(), before);
        /* Where a capture has failed none is tried again. */
        unsetenv(settings[i][0]);
        go(&j, p, 2, 6);
        assert_int_equal(replayed(), before);
        free_host(p, 2);
        end(&j);
    }
}

static void fail_once(job *j, const pair *p)
{
    setenv("TAMIS_EMULATE_FAIL", "0", 1);
    submit(j, p, 1);
    take(j, TAMIS_ERR_DEVICE, 1);
    unit_message_has(j->ctx, "unspecified launch failure");
    unsetenv("TAMIS_EMULATE_FAIL");
}

/* A device that fails while frames are launched, captured or replayed, and does so no longer. */
static void test_failure(void **state)
{
    (void)state;
    for (int done = 0; done < 4; done++) {
        job j;
        pair p[2];
        begin(&j, "cuda", four, gray, 1);
        make_host(&j, p, 2);
        go(&j, p, 2, done);
        fail_once(&j, p);
        int64_t before = replayed();
        go(&j, p, 2, 4);
        assert_int_equal(replayed() - before, done == 0 ? 3 : done == 1 ? 0 : 4);
        free_host(p, 2);
        end(&j);
    }
}

static void test_cancel(void **state)
{
    job j;
    pair p[6];
    tamis_stream_result r;
    (void)state;
    begin(&j, "cuda", four, gray, 4);
    make_host(&j, p, 3);
    make_there(&j, p + 3, 3, 0);
    for (int round = 0; round < 12; round++) {
        for (int i = 0; i < 4; i++)
            submit(&j, &p[(i + round) % 6], i);
        assert_int_equal(tamis_stream_cancel(j.stream), TAMIS_OK);
        for (int i = 0; i < 4; i++) {
            assert_int_equal(tamis_stream_poll(j.stream, &r), TAMIS_OK);
            assert_true(r.status == TAMIS_ERR_CANCELED ||
                        (r.status == TAMIS_OK && test_same(&r.dst, &j.want[i].image)));
        }
        go(&j, p, 6, round % 5);
    }
    go(&j, p, 6, 30);
    free_host(p, 3);
    free_there(p + 3, 3);
    end(&j);
}

/* Pictures of 200 rows of 256 bytes on the way. */
static const char high[] = "resize=size=31x200,gaussian,sobel,resize=size=15x12";

/* Memory for a few frames, for less than one, and for all again: what is kept is given up. */
static void test_little_memory(void **state)
{
    (void)state;
    for (int kilobytes = 100; kilobytes <= 400; kilobytes *= 2) {
        char bytes[32];
        job j;
        pair p[5];
        begin(&j, "cuda", high, gray, 4);
        make_host(&j, p, 5);
        snprintf(bytes, sizeof bytes, "%d", 1000 * kilobytes);
        if (kilobytes == 200)
            go(&j, p, 5, 6);
        bands = 0;
        setenv("TAMIS_EMULATE_BYTES", bytes, 1);
        go(&j, p, 5, 9);
        assert_true(kilobytes > 100 || bands > 0);
        unsetenv("TAMIS_EMULATE_BYTES");
        go(&j, p, 5, 4);
        free_host(p, 5);
        end(&j);
    }
}

/* Frames in device memory for which there is just enough: what others keep must go. */
static void test_little_memory_there(void **state)
{
    job j;
    pair p[4];
    char bytes[32];
    (void)state;
    begin(&j, "cuda", high, gray, 4);
    make_there(&j, p, 4, 0);
    int64_t most = in_use() + 2 * 200 * 256 + 20000; /* two pictures between, and small ones */
    go(&j, p, 4, 8);
    snprintf(bytes, sizeof bytes, "%lld", (long long)most);
    setenv("TAMIS_EMULATE_BYTES", bytes, 1);
    go(&j, p, 4, 8);
    go(&j, p, 4, 4);
    unsetenv("TAMIS_EMULATE_BYTES");
    free_there(p, 4);
    end(&j);
}

/* Large frames keep nothing. */
static void test_large(void **state)
{
    job j;
    pair p[1];
    (void)state;
    setenv("TAMIS_EMULATE_IDLE", "1", 1); /* for speed */
    begin(&j, "cuda", "resize=size=12000x6000,gaussian,sobel,resize=size=8x8", gray, 1);
    make_host(&j, p, 1);
    for (int i = 0; i < 2; i++) {
        tamis_stream_result r;
        submit(&j, p, i);
        assert_int_equal(tamis_stream_wait(j.stream, -1, &r), TAMIS_OK);
        assert_int_equal(r.status, TAMIS_OK);
        assert_int_equal(in_use(), j.before);
    }
    unsetenv("TAMIS_EMULATE_IDLE");
    free_host(p, 1);
    end(&j);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chains),        cmocka_unit_test(test_other_images),
        cmocka_unit_test(test_mixed),         cmocka_unit_test(test_devices),
        cmocka_unit_test(test_two_streams),   cmocka_unit_test(test_no_graphs),
        cmocka_unit_test(test_failure),       cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_little_memory), cmocka_unit_test(test_little_memory_there),
        cmocka_unit_test(test_large),
    };
    if (!getenv("TAMIS_CUDA_MODULE")) {
        printf("skipped: no emulated devices\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
