/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures so large that kernels of devices have warps which see no edge: these do such parts in
 * other ways than those at the edges, and check draws smaller pictures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include <tamis/tamis.h>

#include "support/picture.h"

struct large_case {
    const char *chain;
    tamis_type type;
    int channels, w, h;
};

#define KERNEL_3 "convolve=kernel=1,2,3;4,9,6;7,8,5:divisor=45"
#define KERNEL_7                                                                                   \
    "convolve=kernel=1,2,3,4,5,6,7;8,9,3,4,1,2,5;7,6,1,9,8,2,3;4,4,5,1,7,9,6;2,8,7,3,5,1,4;"       \
    "9,1,6,2,4,8,5;3,5,2,7,6,4,1"

static const struct large_case cases[] = {
    {"box=ksize=3", TAMIS_U8, 1, 800, 77},
    {"box=ksize=5:border=wrap", TAMIS_U8, 1, 777, 90},
    {"box=ksize=7:border=reflect", TAMIS_U8, 1, 760, 90},
    {"box=ksize=9", TAMIS_U8, 1, 760, 90},
    {"box=ksize=11:border=constant:border_value=9", TAMIS_U8, 1, 760, 130},
    {"box=ksize=13", TAMIS_U8, 1, 760, 130},
    {"box=ksize=15:border=replicate", TAMIS_U8, 1, 765, 130},
    {"box=ksize=3", TAMIS_U8, 3, 271, 77},
    {"box=ksize=5", TAMIS_U8, 3, 271, 77},
    {"box=ksize=3", TAMIS_U8, 4, 203, 77},
    {"box=ksize=5", TAMIS_U8, 4, 203, 77},
    {"box=ksize=31", TAMIS_U8, 1, 1613, 190},
    {"box=ksize=101:border=wrap", TAMIS_U8, 1, 1620, 330},
    {"box=ksize=100x20:border=valid", TAMIS_U8, 1, 1613, 140},
    {"box=ksize=17:border=reflect", TAMIS_U8, 1, 1601, 90},
    {"box=ksize=255:border=replicate", TAMIS_U8, 1, 1111, 330},
    {"box=ksize=63x31:border=constant:border_value=200", TAMIS_U8, 1, 1111, 190},
    {"box=ksize=31:border=constant:border_value=999", TAMIS_U16, 1, 1307, 130},
    {"box=ksize=3", TAMIS_S16, 1, 1307, 70},
    {"box=ksize=31", TAMIS_U8, 1, 1602, 190},
    {"box=ksize=45", TAMIS_U8, 1, 1603, 190},
    {"box=ksize=31", TAMIS_U8, 1, 1604, 190},
    {"box=ksize=5:border=reflect", TAMIS_U16, 1, 1307, 99},
    {"box=ksize=40x9", TAMIS_U16, 1, 1307, 99},
    {"box=ksize=9x40", TAMIS_S16, 1, 1307, 160},
    {"box=ksize=21", TAMIS_U8, 3, 1100, 50},
    {"gaussian=ksize=3", TAMIS_U8, 1, 800, 79},
    {"gaussian=ksize=5:border=wrap", TAMIS_U8, 1, 777, 90},
    {"gaussian=ksize=7", TAMIS_U8, 1, 760, 90},
    {"gaussian=ksize=9:border=constant:border_value=77", TAMIS_U8, 1, 760, 91},
    {"gaussian=ksize=11", TAMIS_U8, 1, 760, 130},
    {"gaussian=ksize=13:border=reflect", TAMIS_U8, 1, 760, 130},
    {"gaussian=ksize=15", TAMIS_U8, 1, 765, 131},
    {"gaussian=ksize=3", TAMIS_U8, 3, 271, 77},
    {"gaussian=ksize=5", TAMIS_U8, 3, 271, 77},
    {"gaussian=ksize=5", TAMIS_U8, 4, 203, 77},
    {"gaussian=ksize=5", TAMIS_U8, 1, 320, 240},
    {"gaussian=ksize=3:border=constant:border_value=77", TAMIS_U8, 1, 311, 203},
    {"gaussian=ksize=9:border=reflect", TAMIS_U8, 1, 64, 300},
    {"box=ksize=5:border=wrap", TAMIS_U8, 1, 328, 131},
    {"sharpen=amount=1", TAMIS_U8, 1, 40, 500},
    {"sobel=type=u8", TAMIS_U8, 1, 320, 240},
    {"sharpen=amount=1", TAMIS_U8, 1, 800, 77},
    {"sharpen=amount=2:neighbors=8:border=wrap", TAMIS_U8, 1, 777, 77},
    {"sharpen=amount=-1:neighbors=8", TAMIS_U8, 3, 271, 77},
    {"sharpen=amount=1", TAMIS_U8, 4, 203, 77},
    {"laplacian", TAMIS_U8, 1, 800, 77},
    {"laplacian=neighbors=8:type=u8:border=constant:border_value=200", TAMIS_U8, 1, 777, 77},
    {"laplacian=neighbors=8", TAMIS_U8, 3, 271, 77},
    {"sobel=output=dx:type=u8", TAMIS_U8, 1, 800, 77},
    {"sobel=output=dy", TAMIS_U8, 1, 777, 77},
    {"scharr=output=dx", TAMIS_U8, 1, 800, 77},
    {"scharr=output=dy:type=u8:border=wrap", TAMIS_U8, 3, 271, 77},
    {"prewitt=output=dx", TAMIS_U8, 3, 271, 77},
    {"median=ksize=3", TAMIS_U8, 1, 600, 90},
    {"median=ksize=5:border=wrap", TAMIS_U8, 1, 400, 90},
    {"median=ksize=3:border=constant:border_value=77", TAMIS_U8, 3, 300, 90},
    {"median=ksize=3", TAMIS_S16, 1, 400, 90},
    {"median=ksize=5", TAMIS_U16, 2, 300, 90},
    {"median=ksize=15", TAMIS_U8, 1, 200, 60},
    {"resize=scale=0.5:interp=linear:antialias=0", TAMIS_U8, 1, 2400, 30},
    {"resize=scale=0.5:interp=linear:antialias=0", TAMIS_U16, 1, 1300, 30},
    {KERNEL_3, TAMIS_F32, 1, 600, 100},
    {KERNEL_7, TAMIS_F32, 1, 600, 100},
    {KERNEL_7 ":border=constant", TAMIS_U8, 1, 600, 100},
    {"affine=angle=30:scale=0.8", TAMIS_U8, 1, 400, 360},
    {"affine=angle=-100:scale=1.3:border=constant", TAMIS_U8, 1, 300, 300},
    {"affine=angle=3:interp=cubic", TAMIS_U8, 1, 260, 200},
    {"affine=angle=80:interp=cubic", TAMIS_U8, 3, 260, 200},
    {"affine=angle=-20:scale=0.9", TAMIS_U8, 3, 260, 200},
};

static void run(const char *device, const struct large_case *c, const tamis_image *src,
                test_picture *out)
{
    tamis_ctx_options o = {.device = device, .threads = 1, .cpu = "c"};
    tamis_ctx *ctx = NULL;
    tamis_graph *graph = NULL;
    tamis_plan *plan = NULL;
    assert_int_equal(tamis_ctx_create(&o, &ctx), TAMIS_OK);
    if (tamis_graph_parse(ctx, c->chain, &graph) != TAMIS_OK ||
        tamis_plan_create(ctx, graph, src->format, src->w, src->h, NULL, &plan) != TAMIS_OK) {
        char text[512];
        fail_msg("%s", tamis_ctx_last_message(ctx, text, sizeof text));
    }
    int32_t w, h;
    tamis_plan_size(plan, &w, &h);
    test_picture_make(out, tamis_plan_format(plan), w, h, TEST_ROWS_WIDE);
    assert_int_equal(tamis_plan_run(plan, src, &out->image, NULL), TAMIS_OK);
    tamis_plan_free(&plan);
    tamis_graph_free(&graph);
    tamis_ctx_free(&ctx);
}

static void test_large(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct large_case *c = &cases[i];
        test_picture src, here, there;
        test_picture_make(&src, test_format(c->type, c->channels), c->w, c->h, TEST_ROWS_TIGHT);
        test_picture_fill(&src.image, i % 2 ? TEST_FILL_EXTREMES : TEST_FILL_NOISE, i);
        run("cpu", c, &src.image, &here);
        run("cuda", c, &src.image, &there);
        if (!test_same(&here.image, &there.image))
            fail_msg("%s, %d channels, %d x %d: not the same", c->chain, c->channels, c->w, c->h);
        test_picture_free(&src);
        test_picture_free(&here);
        test_picture_free(&there);
    }
}

int main(void)
{
    if (!getenv("TAMIS_CUDA_MODULE")) {
        printf("skipped: no emulated devices\n");
        return 77;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_large)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
