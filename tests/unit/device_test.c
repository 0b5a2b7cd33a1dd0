/* SPDX-License-Identifier: Apache-2.0 */
/* The host side of devices, on emulated ones and without any. */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <tamis/tamis.h>

#include "support/picture.h"

static char last_log[600];

static void keep_log(void *user, tamis_log_level level, const char *text)
{
    (void)user;
    (void)level;
    snprintf(last_log, sizeof last_log, "%s", text);
}

static tamis_status open_ctx(const char *device, tamis_ctx **ctx)
{
    tamis_ctx_options o = {.device = device, .threads = 1, .log = keep_log};
    last_log[0] = '\0';
    return tamis_ctx_create(&o, ctx);
}

static tamis_ctx *cuda(void)
{
    tamis_ctx *ctx = NULL;
    if (open_ctx("cuda", &ctx) != TAMIS_OK)
        fail_msg("%s", last_log);
    return ctx;
}

static tamis_plan *plan_of(tamis_ctx *ctx, const char *chain, tamis_format f, int w, int h)
{
    tamis_graph *graph = NULL;
    tamis_plan *plan = NULL;
    assert_int_equal(tamis_graph_parse(ctx, chain, &graph), TAMIS_OK);
    assert_int_equal(tamis_plan_create(ctx, graph, f, w, h, NULL, &plan), TAMIS_OK);
    tamis_graph_free(&graph);
    return plan;
}

static const tamis_format rgba = {TAMIS_U8, 4, TAMIS_PACKED, TAMIS_ALPHA_STRAIGHT};
static const tamis_format gray = {TAMIS_U8, 1, TAMIS_PACKED, TAMIS_ALPHA_NONE};
static const char chain[] = "gaussian=sigma=1.2,gaussian=sigma=0.8:border=wrap";

/* What the CPU makes of the picture. */
static void expected(const tamis_image *src, test_picture *out)
{
    tamis_ctx *ctx = NULL;
    assert_int_equal(open_ctx("cpu", &ctx), TAMIS_OK);
    tamis_plan *plan = plan_of(ctx, chain, src->format, src->w, src->h);
    assert_string_equal(tamis_plan_device(plan), "cpu");
    test_picture_make(out, src->format, src->w, src->h, TEST_ROWS_TIGHT);
    assert_int_equal(tamis_plan_run(plan, src, &out->image, NULL), TAMIS_OK);
    tamis_plan_free(&plan);
    tamis_ctx_free(&ctx);
}

static int near(const tamis_image *a, const tamis_image *b)
{
    for (int y = 0; y < a->h; y++)
        for (int x = 0; x < a->w; x++)
            for (int c = 0; c < a->format.channels; c++) {
                double d = test_sample_get(a, x, y, c) - test_sample_get(b, x, y, c);
                if (d > 1 || d < -1)
                    return 0;
            }
    return 1;
}

static void test_names(void **state)
{
    static const char *const wrong[] = {"cuda:", "cuda:x", "cuda:1x", "cuda:-1", "gpu", "cuda:64"};
    tamis_ctx *ctx = NULL;
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(open_ctx(wrong[i], &ctx), TAMIS_ERR_ARGUMENT);
        assert_null(ctx);
        assert_non_null(strstr(last_log, wrong[i]));
    }
    assert_int_equal(open_ctx("cuda:7", &ctx), TAMIS_ERR_DEVICE);
    assert_non_null(strstr(last_log, "no device 7"));
}

static void test_no_module(void **state)
{
    tamis_ctx *ctx = NULL;
    const char *module = getenv("TAMIS_CUDA_MODULE");
    char saved[4096];
    (void)state;
    snprintf(saved, sizeof saved, "%s", module ? module : "");
    setenv("TAMIS_CUDA_MODULE", "/nowhere/tamis_cuda.so", 1);
    assert_int_equal(open_ctx("cuda", &ctx), TAMIS_ERR_DEVICE);
    assert_non_null(strstr(last_log, "/nowhere/tamis_cuda.so"));
    assert_int_equal(open_ctx("auto", &ctx), TAMIS_OK);
    assert_int_equal(tamis_device_count(ctx), 0);
    tamis_plan *plan = plan_of(ctx, chain, rgba, 8, 8);
    assert_string_equal(tamis_plan_device(plan), "cpu");
    tamis_plan_free(&plan);
    tamis_ctx_free(&ctx);
    setenv("TAMIS_CUDA_MODULE", saved, 1);
}

static void test_no_device(void **state)
{
    tamis_ctx *ctx = NULL;
    (void)state;
    setenv("TAMIS_EMULATE_DEVICES", "0", 1);
    assert_int_equal(open_ctx("cuda", &ctx), TAMIS_ERR_DEVICE);
    assert_non_null(strstr(last_log, "no NVIDIA GPU"));
    unsetenv("TAMIS_EMULATE_DEVICES");
}

static void test_describe(void **state)
{
    tamis_ctx *ctx = NULL;
    tamis_device_info info;
    (void)state;
    setenv("TAMIS_EMULATE_DEVICES", "2", 1);
    assert_int_equal(open_ctx("cuda:1", &ctx), TAMIS_OK);
    unsetenv("TAMIS_EMULATE_DEVICES");
    assert_int_equal(tamis_device_count(ctx), 2);
    assert_int_equal(tamis_device_describe(ctx, 1, &info), TAMIS_OK);
    assert_string_equal(info.name, "emulated device 1");
    assert_int_equal(tamis_device_describe(ctx, 2, &info), TAMIS_ERR_ARGUMENT);
    const tamis_filter *gaussian = tamis_filter_find("gaussian");
    tamis_kernel_info row;
    int rows = 0;
    while (tamis_device_kernel(ctx, gaussian, rows, &row))
        rows++;
    assert_true(rows > 0);
    assert_string_equal(row.cpu, "cuda");
    assert_int_equal(tamis_device_kernel(ctx, gaussian, -1, &row), 0);
    assert_int_equal(tamis_device_kernel(ctx, NULL, 0, &row), 0);
    assert_int_equal(tamis_device_kernel(NULL, gaussian, 0, &row), 0);
    tamis_plan *plan = plan_of(ctx, chain, rgba, 8, 8);
    assert_string_equal(tamis_plan_device(plan), "cuda:1");
    tamis_plan_free(&plan);
    tamis_ctx_free(&ctx);
}

/* Host memory: too little device memory leads to bands with the same result. */
static void test_bands(void **state)
{
    test_picture src, want, whole, banded;
    (void)state;
    test_picture_make(&src, rgba, 120, 90, TEST_ROWS_NEGATIVE);
    test_picture_fill(&src.image, TEST_FILL_NOISE, 7);
    expected(&src.image, &want);
    test_picture_make(&whole, rgba, 120, 90, TEST_ROWS_ODD);
    test_picture_make(&banded, rgba, 120, 90, TEST_ROWS_NEGATIVE);

    tamis_ctx *ctx = cuda();
    tamis_plan *plan = plan_of(ctx, "gaussian=sigma=1.2,gaussian=sigma=0.8", rgba, 120, 90);
    assert_int_equal(tamis_plan_run(plan, &src.image, &whole.image, NULL), TAMIS_OK);
    setenv("TAMIS_EMULATE_BYTES", "400000", 1);
    assert_int_equal(tamis_plan_run(plan, &src.image, &banded.image, NULL), TAMIS_OK);
    assert_non_null(strstr(last_log, "bands"));
    setenv("TAMIS_EMULATE_BYTES", "4000", 1);
    assert_int_equal(tamis_plan_run(plan, &src.image, &banded.image, NULL), TAMIS_ERR_MEMORY);
    unsetenv("TAMIS_EMULATE_BYTES");
    assert_int_equal(tamis_plan_run(plan, &src.image, &banded.image, NULL), TAMIS_OK);
    assert_true(test_same(&whole.image, &banded.image));
    tamis_plan_free(&plan);

    plan = plan_of(ctx, chain, rgba, 120, 90);
    assert_int_equal(tamis_plan_run(plan, &src.image, &whole.image, NULL), TAMIS_OK);
    assert_true(near(&whole.image, &want.image));
    tamis_plan_free(&plan);
    tamis_ctx_free(&ctx);
    test_picture_free(&src);
    test_picture_free(&want);
    test_picture_free(&whole);
    test_picture_free(&banded);
}

/* Device memory: an emulated device's can be filled like any. */
static void test_there(void **state)
{
    test_picture src, here, back;
    tamis_image a, b, part;
    (void)state;
    test_picture_make(&src, rgba, 70, 50, TEST_ROWS_TIGHT);
    test_picture_fill(&src.image, TEST_FILL_NOISE, 8);
    test_picture_make(&here, rgba, 70, 50, TEST_ROWS_TIGHT);
    tamis_ctx *ctx = cuda();
    tamis_plan *plan = plan_of(ctx, chain, rgba, 70, 50);
    assert_int_equal(tamis_plan_run(plan, &src.image, &here.image, NULL), TAMIS_OK);

    assert_int_equal(tamis_image_create_on_device(ctx, 0, rgba, 70, 50, &a), TAMIS_OK);
    assert_int_equal(tamis_image_create_on_device(ctx, 0, rgba, 70, 50, &b), TAMIS_OK);
    assert_int_equal(a.device, 1);
    for (int y = 0; y < 50; y++)
        memcpy(tamis_image_row(&a, 0, y), tamis_image_row(&src.image, 0, y), 280);
    assert_int_equal(tamis_plan_run(plan, &a, &b, NULL), TAMIS_OK);
    for (int y = 0; y < 50; y++)
        assert_memory_equal(tamis_image_row(&b, 0, y), tamis_image_row(&here.image, 0, y), 280);

    /* A part, at an odd place. */
    assert_int_equal(tamis_image_view(ctx, &b, (tamis_rect){3, 5, 21, 17}, &part), TAMIS_OK);
    memset(tamis_image_row(&b, 0, 0), 0, 280);
    assert_int_equal(tamis_plan_run_region(plan, &a, (tamis_rect){30, 20, 21, 17}, &part, NULL),
                     TAMIS_OK);
    for (int y = 0; y < 17; y++)
        assert_memory_equal(tamis_image_row(&part, 0, y),
                            (char *)tamis_image_row(&here.image, 0, 20 + y) + 30 * 4, 21 * 4);

    /* A result may come from there, but not go there from here. */
    test_picture_make(&back, rgba, 70, 50, TEST_ROWS_ODD);
    assert_int_equal(tamis_plan_run(plan, &a, &back.image, NULL), TAMIS_OK);
    assert_true(test_same(&here.image, &back.image));
    assert_int_equal(tamis_image_view(ctx, &back.image, (tamis_rect){3, 5, 21, 17}, &part),
                     TAMIS_OK);
    assert_int_equal(tamis_plan_run_region(plan, &a, (tamis_rect){30, 20, 21, 17}, &part, NULL),
                     TAMIS_OK);
    for (int y = 0; y < 17; y++)
        assert_memory_equal(tamis_image_row(&part, 0, y),
                            (char *)tamis_image_row(&here.image, 0, 20 + y) + 30 * 4, 21 * 4);
    test_picture_free(&back);
    /* A stream is for images that are there. */
    assert_int_equal(tamis_plan_run(plan, &src.image, &b, NULL), TAMIS_ERR_ARGUMENT);
    tamis_run_options o = {.stream = &o};
    assert_int_equal(tamis_plan_run(plan, &src.image, &here.image, &o), TAMIS_ERR_ARGUMENT);
    tamis_plan_free(&plan);

    tamis_ctx *cpu = NULL;
    assert_int_equal(open_ctx("cpu", &cpu), TAMIS_OK);
    plan = plan_of(cpu, chain, rgba, 70, 50);
    assert_int_equal(tamis_plan_run(plan, &a, &b, NULL), TAMIS_ERR_ARGUMENT);
    assert_non_null(strstr(last_log, "memory of device 0"));
    tamis_plan_free(&plan);
    tamis_ctx_free(&cpu);
    tamis_image_unref(&a);
    tamis_image_unref(&b);
    tamis_ctx_free(&ctx);
    test_picture_free(&src);
    test_picture_free(&here);
}

/* What the default stream has still to bring is waited for by every call without a stream. */
static void test_default_stream(void **state)
{
    void (*enqueue)(int device, void *to, const void *bytes, size_t size) = NULL;
    void *module = dlopen(getenv("TAMIS_CUDA_MODULE"), RTLD_NOW);
    test_picture out;
    tamis_image a, b;
    uint8_t bytes[16], *result;
    (void)state;
    void *symbol = dlsym(module, "tamis_emulate_enqueue");
    memcpy(&enqueue, &symbol, sizeof enqueue);
    test_picture_make(&out, gray, 16, 1, TEST_ROWS_TIGHT);
    result = out.image.data[0];
    tamis_ctx *ctx = cuda();
    tamis_plan *plan = plan_of(ctx, "", gray, 16, 1);
    tamis_stream *stream = NULL;
    tamis_stream_result r;
    assert_int_equal(tamis_stream_create(plan, NULL, &stream), TAMIS_OK);
    assert_int_equal(tamis_image_create_on_device(ctx, 0, gray, 16, 1, &a), TAMIS_OK);
    assert_int_equal(tamis_image_create_on_device(ctx, 0, gray, 16, 1, &b), TAMIS_OK);
    for (int k = 0; k < 6; k++) {
        tamis_status status = TAMIS_OK;
        memset(bytes, 10 + k, sizeof bytes);
        enqueue(0, a.data[0], bytes, sizeof bytes);
        if (k == 0)
            status = tamis_image_transfer(ctx, &a, &out.image);
        else if (k < 3)
            status = tamis_plan_run(plan, &a, k == 1 ? &out.image : &b, NULL);
        else if (k < 5)
            status = tamis_plan_run_many(plan, &a, k == 3 ? &out.image : &b, 1, NULL);
        else
            status = tamis_stream_submit(stream, &a, &out.image, NULL, 0);
        if (k == 5)
            assert_int_equal(tamis_stream_wait(stream, -1, &r), TAMIS_OK);
        assert_int_equal(status, TAMIS_OK);
        if (k == 2 || k == 4)
            memcpy(result, b.data[0], sizeof bytes); /* an emulated device's memory is ours */
        assert_memory_equal(result, bytes, sizeof bytes);
    }
    tamis_stream_free(&stream);
    tamis_image_unref(&a);
    tamis_image_unref(&b);
    tamis_plan_free(&plan);
    tamis_ctx_free(&ctx);
    dlclose(module);
    test_picture_free(&out);
}

/* What runs have left in the pool is there for images, and goes with its context. */
static void test_pool(void **state)
{
    tamis_device_info info;
    tamis_image image;
    test_picture src, dst;
    (void)state;
    setenv("TAMIS_EMULATE_BYTES", "400000", 1);
    test_picture_make(&src, rgba, 120, 90, TEST_ROWS_TIGHT);
    test_picture_make(&dst, rgba, 120, 90, TEST_ROWS_TIGHT);
    tamis_ctx *ctx = cuda();
    tamis_plan *plan = plan_of(ctx, "", rgba, 120, 90);
    assert_int_equal(tamis_plan_run(plan, &src.image, &dst.image, NULL), TAMIS_OK);
    assert_int_equal(tamis_device_describe(ctx, 0, &info), TAMIS_OK);
    assert_true(info.free < 350000); /* it is kept */
    assert_int_equal(tamis_image_create_on_device(ctx, 0, rgba, 256, 360, &image), TAMIS_OK);
    tamis_image_unref(&image);
    assert_int_equal(tamis_plan_run(plan, &src.image, &dst.image, NULL), TAMIS_OK);
    tamis_plan_free(&plan);
    tamis_ctx_free(&ctx);
    ctx = cuda();
    assert_int_equal(tamis_device_describe(ctx, 0, &info), TAMIS_OK);
    assert_int_equal(info.free, 400000);
    tamis_ctx_free(&ctx);
    unsetenv("TAMIS_EMULATE_BYTES");
    test_picture_free(&src);
    test_picture_free(&dst);
}

/* There and back, of all layouts, from bottom up as well. */
static void test_transfer(void **state)
{
    static const tamis_format formats[] = {{TAMIS_U8, 4, TAMIS_PACKED, TAMIS_ALPHA_STRAIGHT},
                                           {TAMIS_U16, 3, TAMIS_PLANAR, 0},
                                           {TAMIS_F32, 1, TAMIS_PACKED, 0}};
    (void)state;
    tamis_ctx *ctx = cuda();
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        test_picture src, dst;
        tamis_image there, flipped, other;
        test_picture_make(&src, formats[i], 37, 23, TEST_ROWS_ODD);
        test_picture_fill(&src.image, TEST_FILL_NOISE, 10);
        test_picture_make(&dst, formats[i], 37, 23, TEST_ROWS_WIDE);
        assert_int_equal(tamis_image_create_on_device(ctx, 0, formats[i], 37, 23, &there),
                         TAMIS_OK);
        assert_int_equal(tamis_image_transfer(ctx, &src.image, &there), TAMIS_OK);
        assert_int_equal(tamis_image_transfer(ctx, &there, &dst.image), TAMIS_OK);
        assert_true(test_same(&src.image, &dst.image));

        flipped = there;
        for (int p = 0; p < tamis_image_planes(&there); p++) {
            flipped.data[p] = tamis_image_row(&there, p, 22);
            flipped.stride[p] = -there.stride[p];
        }
        memset(tamis_image_row(&there, 0, 0), 0x55, 37);
        assert_int_equal(tamis_image_transfer(ctx, &src.image, &flipped), TAMIS_OK);
        assert_int_equal(tamis_image_transfer(ctx, &flipped, &dst.image), TAMIS_OK);
        assert_true(test_same(&src.image, &dst.image));
        assert_memory_equal(tamis_image_row(&there, 0, 22), tamis_image_row(&src.image, 0, 0), 37);

        assert_int_equal(tamis_image_transfer(ctx, &src.image, &dst.image), TAMIS_ERR_ARGUMENT);
        assert_int_equal(tamis_image_transfer(ctx, &there, &there), TAMIS_ERR_ARGUMENT);
        assert_int_equal(tamis_image_copy(ctx, &there, &dst.image), TAMIS_ERR_ARGUMENT);
        other = dst.image; /* rows of the result apart, those of the source as they like */
        other.stride[0] = 36 * (ptrdiff_t)tamis_type_size(formats[i].type);
        assert_int_equal(tamis_image_transfer(ctx, &there, &other), TAMIS_ERR_ARGUMENT);
        assert_non_null(strstr(last_log, "transfer: the destination's stride[0]"));
        other = there;
        other.stride[0] = 0;
        assert_int_equal(tamis_image_transfer(ctx, &src.image, &other), TAMIS_ERR_ARGUMENT);
        assert_int_equal(tamis_image_transfer(ctx, &other, &dst.image), TAMIS_OK);
        assert_memory_equal(tamis_image_row(&dst.image, 0, 22), tamis_image_row(&dst.image, 0, 0),
                            37 * tamis_type_size(formats[i].type));
        other = src.image;
        other.h--;
        assert_int_equal(tamis_image_transfer(ctx, &other, &there), TAMIS_ERR_ARGUMENT);
        other = there;
        other.device = 64;
        assert_int_equal(tamis_image_transfer(ctx, &other, &dst.image), TAMIS_ERR_DEVICE);
        assert_non_null(strstr(last_log, "device 63"));
        tamis_image_unref(&there);
        test_picture_free(&src);
        test_picture_free(&dst);
    }
    tamis_ctx_free(&ctx);
}

/* Rows that are longer than those which devices copy many at a time. */
static void test_long_rows(void **state)
{
    test_picture src, here, back;
    tamis_image pinned, there;
    (void)state;
    test_picture_make(&src, rgba, 120, 9, TEST_ROWS_WIDE);
    test_picture_fill(&src.image, TEST_FILL_NOISE, 11);
    test_picture_make(&here, rgba, 120, 9, TEST_ROWS_TIGHT);
    test_picture_make(&back, rgba, 120, 9, TEST_ROWS_WIDE);
    for (int limit = 0; limit < 2; limit++) {
        if (limit)
            setenv("TAMIS_EMULATE_PITCH", "100", 1);
        tamis_ctx *ctx = cuda();
        tamis_plan *plan = plan_of(ctx, chain, rgba, 120, 9);
        test_picture *dst = limit ? &back : &here;
        assert_int_equal(tamis_image_create_pinned(ctx, rgba, 120, 9, &pinned), TAMIS_OK);
        assert_int_equal(tamis_image_create_on_device(ctx, 0, rgba, 120, 9, &there), TAMIS_OK);
        if (tamis_image_copy(ctx, &src.image, &pinned) != TAMIS_OK ||
            tamis_plan_run(plan, &src.image, &dst->image, NULL) != TAMIS_OK ||
            tamis_plan_run(plan, &pinned, &dst->image, NULL) != TAMIS_OK ||
            tamis_image_transfer(ctx, &pinned, &there) != TAMIS_OK ||
            tamis_image_transfer(ctx, &there, &pinned) != TAMIS_OK)
            fail_msg("%s", last_log);
        assert_true(test_same(&pinned, &src.image));
        tamis_image_unref(&pinned);
        tamis_image_unref(&there);
        tamis_plan_free(&plan);
        tamis_ctx_free(&ctx);
    }
    unsetenv("TAMIS_EMULATE_PITCH");
    assert_true(test_same(&here.image, &back.image));
    test_picture_free(&src);
    test_picture_free(&here);
    test_picture_free(&back);
}

/* The last rows of a high picture, of which only what they need is in memory. */
static void last_rows(const char *device, int32_t h, const tamis_image *window, test_picture *out)
{
    tamis_ctx *ctx = NULL;
    tamis_rect rect = {0, h - 20, 17, 20}, held;
    tamis_run_options options = {.window = &held};
    assert_int_equal(open_ctx(device, &ctx), TAMIS_OK);
    tamis_plan *plan = plan_of(ctx, "box=ksize=31", gray, 17, h);
    test_picture_make(out, gray, 17, 20, TEST_ROWS_TIGHT);
    assert_int_equal(tamis_plan_need(plan, rect, &held), TAMIS_OK);
    assert_int_equal(held.h, window->h);
    assert_int_equal(tamis_plan_run_region(plan, window, rect, &out->image, &options), TAMIS_OK);
    tamis_plan_free(&plan);
    tamis_ctx_free(&ctx);
}

static void check_too_large(int32_t w, int32_t h, const char *why)
{
    for (int choose = 0; choose < 2; choose++) {
        tamis_ctx *ctx = NULL;
        tamis_graph *graph = NULL;
        tamis_plan *plan = NULL;
        assert_int_equal(open_ctx(choose ? "auto" : "cuda", &ctx), TAMIS_OK);
        assert_int_equal(tamis_graph_parse(ctx, "box=ksize=3", &graph), TAMIS_OK);
        assert_int_equal(tamis_plan_create(ctx, graph, gray, w, h, NULL, &plan),
                         choose ? TAMIS_OK : TAMIS_ERR_UNSUPPORTED);
        assert_non_null(strstr(last_log, why));
        if (choose)
            assert_string_equal(tamis_plan_device(plan), "cpu");
        tamis_plan_free(&plan);
        tamis_graph_free(&graph);
        tamis_ctx_free(&ctx);
    }
}

/* Kernels count in 32 bits: what is so large that they could not is the CPU's, or refused. */
static void test_too_large(void **state)
{
    const int32_t most = INT32_MAX - (1 << 20);
    test_picture window, here, there;
    (void)state;
    check_too_large(most + 1, 1, "too long");
    check_too_large(1, most + 1, "too many");
    test_picture_make(&window, gray, 17, 35, TEST_ROWS_TIGHT);
    test_picture_fill(&window.image, TEST_FILL_NOISE, 12);
    last_rows("cpu", most, &window.image, &here);
    last_rows("cuda", most, &window.image, &there);
    assert_true(test_same(&here.image, &there.image));
    test_picture_free(&window);
    test_picture_free(&here);
    test_picture_free(&there);
}

/* Samples of a frame as decoders leave it: pixels side by side, 10 bits in the upper ones. */
static void test_rearrange(void **state)
{
    const tamis_format pairs = {TAMIS_U16, 2, TAMIS_PACKED, 0};
    const tamis_format planes = {TAMIS_U16, 2, TAMIS_PLANAR, 0};
    test_picture src, dst;
    tamis_image a, b, other;
    (void)state;
    tamis_ctx *ctx = cuda();
    test_picture_make(&src, pairs, 37, 23, TEST_ROWS_ODD);
    test_picture_make(&dst, planes, 37, 23, TEST_ROWS_ODD);
    for (int y = 0; y < 23; y++)
        for (int x = 0; x < 37; x++)
            for (int c = 0; c < 2; c++)
                test_sample_set(&src.image, x, y, c, (x * 23 + y + c * 500) % 1024 * 64);
    assert_int_equal(tamis_image_create_on_device(ctx, 0, pairs, 37, 23, &a), TAMIS_OK);
    assert_int_equal(tamis_image_create_on_device(ctx, 0, planes, 37, 23, &b), TAMIS_OK);
    assert_int_equal(tamis_image_transfer(ctx, &src.image, &a), TAMIS_OK);
    assert_int_equal(tamis_image_rearrange(ctx, &a, &b, 6), TAMIS_OK);
    assert_int_equal(tamis_image_transfer(ctx, &b, &dst.image), TAMIS_OK);
    for (int y = 0; y < 23; y++)
        for (int x = 0; x < 37; x++)
            for (int c = 0; c < 2; c++)
                assert_int_equal(test_sample_get(&dst.image, x, y, c),
                                 (x * 23 + y + c * 500) % 1024);
    assert_int_equal(tamis_image_rearrange(ctx, &a, &b, 0), TAMIS_OK);
    assert_int_equal(tamis_image_transfer(ctx, &b, &dst.image), TAMIS_OK);
    assert_int_equal(test_sample_get(&dst.image, 3, 2, 1), (3 * 23 + 2 + 500) * 64);

    assert_int_equal(tamis_image_rearrange(ctx, &a, &b, 16), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_image_rearrange(ctx, &a, &dst.image, 0), TAMIS_ERR_ARGUMENT);
    assert_int_equal(tamis_image_rearrange(ctx, &a, &a, 0), TAMIS_ERR_ARGUMENT);
    assert_non_null(strstr(last_log, "share memory"));
    other = b;
    other.stride[1] = -72;
    assert_int_equal(tamis_image_rearrange(ctx, &a, &other, 0), TAMIS_ERR_ARGUMENT);
    assert_non_null(strstr(last_log, "stride[1] = -72"));
    other = b;
    other.w--;
    assert_int_equal(tamis_image_rearrange(ctx, &a, &other, 0), TAMIS_ERR_ARGUMENT);
    other = b;
    other.format.type = TAMIS_S16;
    assert_int_equal(tamis_image_rearrange(ctx, &a, &other, 0), TAMIS_ERR_ARGUMENT);
    tamis_image_unref(&a);
    tamis_image_unref(&b);
    tamis_ctx_free(&ctx);
    test_picture_free(&src);
    test_picture_free(&dst);
}

static void test_cancel_and_copy(void **state)
{
    test_picture src, dst;
    volatile int cancel = 1;
    (void)state;
    test_picture_make(&src, rgba, 40, 30, TEST_ROWS_ODD);
    test_picture_fill(&src.image, TEST_FILL_NOISE, 9);
    test_picture_make(&dst, rgba, 40, 30, TEST_ROWS_WIDE);
    tamis_ctx *ctx = cuda();
    tamis_plan *plan = plan_of(ctx, "", rgba, 40, 30);
    tamis_run_options o = {.cancel = &cancel};
    assert_int_equal(tamis_plan_run(plan, &src.image, &dst.image, &o), TAMIS_ERR_CANCELED);
    assert_int_equal(tamis_plan_run(plan, &src.image, &dst.image, NULL), TAMIS_OK);
    assert_true(test_same(&src.image, &dst.image));
    tamis_plan_free(&plan);
    tamis_image pinned;
    assert_int_equal(tamis_image_create_pinned(ctx, rgba, 5, 5, &pinned), TAMIS_OK);
    assert_int_equal(pinned.device, 0);
    tamis_image_unref(&pinned);
    setenv("TAMIS_EMULATE_BYTES", "1000", 1);
    assert_int_equal(tamis_image_create_on_device(ctx, 0, rgba, 40, 30, &pinned), TAMIS_ERR_MEMORY);
    assert_non_null(strstr(last_log, "no device memory for 40x30"));
    unsetenv("TAMIS_EMULATE_BYTES");
    tamis_ctx_free(&ctx);
    test_picture_free(&src);
    test_picture_free(&dst);
}

int main(void)
{
    if (!getenv("TAMIS_CUDA_MODULE")) {
        printf("skipped: no emulated devices\n");
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_no_module),
        cmocka_unit_test(test_no_device),
        cmocka_unit_test(test_describe),
        cmocka_unit_test(test_bands),
        cmocka_unit_test(test_there),
        cmocka_unit_test(test_transfer),
        cmocka_unit_test(test_rearrange),
        cmocka_unit_test(test_cancel_and_copy),
        cmocka_unit_test(test_default_stream),
        cmocka_unit_test(test_long_rows),
        cmocka_unit_test(test_too_large),
        cmocka_unit_test(test_pool),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
