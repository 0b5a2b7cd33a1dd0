/* SPDX-License-Identifier: Apache-2.0 */
/* Planes of video: levels of fewer bits than their type, and fewer samples than the picture. */
#include <math.h>

#include "unit.h"

static tamis_ctx *ctx;

static tamis_image make(tamis_type type, int32_t w, int32_t h)
{
    tamis_image image;
    tamis_format format = {type, 1, TAMIS_PACKED, TAMIS_ALPHA_NONE};
    assert_int_equal(tamis_image_create(ctx, format, w, h, &image), TAMIS_OK);
    return image;
}

static tamis_image noise(int32_t w, int32_t h, int bits)
{
    tamis_image image = make(TAMIS_U16, w, h);
    uint32_t seed = 7;
    for (int32_t y = 0; y < h; y++)
        for (int32_t x = 0; x < w; x++) {
            seed = seed * 1664525u + 1013904223u;
            ((uint16_t *)tamis_image_row(&image, 0, y))[x] = (uint16_t)(seed >> (32 - bits));
        }
    return image;
}

/* The result of a chain; the caller gives it back. */
static tamis_image filtered(const char *chain, const tamis_image *src, const tamis_plane *plane)
{
    tamis_graph *graph;
    tamis_plan *plan;
    tamis_plan_options options = {.plane = plane};
    int32_t w, h;
    assert_int_equal(tamis_graph_parse(ctx, chain, &graph), TAMIS_OK);
    assert_int_equal(tamis_plan_create(ctx, graph, src->format, src->w, src->h, &options, &plan),
                     TAMIS_OK);
    tamis_plan_size(plan, &w, &h);
    tamis_image dst = make(src->format.type, w, h);
    assert_int_equal(tamis_plan_run(plan, src, &dst, NULL), TAMIS_OK);
    tamis_plan_free(&plan);
    tamis_graph_free(&graph);
    return dst;
}

static int same(const tamis_image *a, const tamis_image *b)
{
    int equal = a->w == b->w && a->h == b->h;
    for (int32_t y = 0; y < a->h && equal; y++)
        equal = memcmp(tamis_image_row(a, 0, y), tamis_image_row(b, 0, y),
                       (size_t)a->w * tamis_type_size(a->format.type)) == 0;
    return equal;
}

static void assert_alike(const char *chain, const tamis_plane *plane, const char *plain, int bits)
{
    tamis_image src = noise(61, 47, bits);
    tamis_image a = filtered(chain, &src, plane), b = filtered(plain, &src, NULL);
    if (!same(&a, &b))
        fail_msg("%s is not %s", chain, plain);
    tamis_image_unref(&src);
    tamis_image_unref(&a);
    tamis_image_unref(&b);
}

static void percent_is_of_the_bits(void **state)
{
    (void)state;
    tamis_plane plane = {.bits = 10};
    assert_alike("bilateral=sigma_color=10%", &plane, "bilateral=sigma_color=102.3", 10);
    assert_alike("nlmeans=h=10%:search=7:patch=3", &plane, "nlmeans=h=102.3:search=7:patch=3", 10);
    assert_alike("unsharp=threshold=2%", &plane, "unsharp=threshold=20.46", 10);
    assert_alike("bilateral=sigma_color=20", &plane, "bilateral=sigma_color=20", 10);
    plane.bits = 12;
    assert_alike("bilateral=sigma_color=10%", &plane, "bilateral=sigma_color=409.5", 12);
}

static void windows_are_scaled(void **state)
{
    static const struct {
        int sub_x, sub_y;
        const char *chain, *plain;
    } rows[] = {
        {1, 1, "gaussian=sigma=2", "gaussian=sigma=1"},
        {1, 0, "gaussian=sigma=2", "gaussian=sigma_x=1:sigma_y=2"},
        {2, 2, "gaussian=sigma=2", "gaussian=sigma=0.5"},
        {1, 0, "gaussian=sigma=2:sigma_y=3", "gaussian=sigma_x=1:sigma_y=3"},
        {1, 1, "gaussian", "gaussian=sigma=0.75"},
        {1, 0, "gaussian", "gaussian=sigma_x=0.75:sigma_y=1.5"},
        {1, 1, "gaussian=ksize=9", "gaussian=ksize=5"},
        {1, 1, "median=ksize=3", "median=ksize=3"},
        {1, 1, "median=ksize=5", "median=ksize=3"},
        {1, 1, "median=ksize=7", "median=ksize=5"},
        {1, 0, "median=ksize=9", "median=ksize=5x9"},
        {1, 1, "median=ksize=1", "median=ksize=1"},
        {1, 1, "box=ksize=4", "box=ksize=2"},
        {1, 1, "box=ksize=5:anchor_x=4:anchor_y=0", "box=ksize=3:anchor_x=2:anchor_y=0"},
        {1, 1, "bilateral=sigma_space=4", "bilateral=sigma_space=2"},
        {1, 1, "unsharp=sigma=3", "unsharp=sigma=1.5"},
        {1, 1, "nlmeans=h=500:search=11:patch=5", "nlmeans=h=500:search=7:patch=5"},
        {0, 0, "gaussian=sigma=2", "gaussian=sigma=2"},
        {1, 1, "sobel=ksize=5", "sobel=ksize=5"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tamis_plane plane = {.sub_x = rows[i].sub_x, .sub_y = rows[i].sub_y};
        assert_alike(rows[i].chain, &plane, rows[i].plain, 16);
    }
}

static void outside_is_black(void **state)
{
    (void)state;
    tamis_plane plane = {.bits = 10, .outside = 64};
    assert_alike("gaussian=border=constant", &plane, "gaussian=border=constant:border_value=64",
                 10);
    assert_alike("gaussian=border=constant:border_value=10%", &plane,
                 "gaussian=border=constant:border_value=102.3", 10);
    plane = (tamis_plane){.outside = 512, .outside_always = 1};
    assert_alike("affine=translate=5,7:border=constant:border_value=10%", &plane,
                 "affine=translate=5,7:border=constant:border_value=512", 10);
}

/* A picture whose level is a plane in space, and one of its planes with fewer samples. */
static double level(double x, double y)
{
    return 0.25 * x - 0.125 * y + 3;
}

static tamis_image slope(const tamis_plane *plane)
{
    int sx = 1 << plane->sub_x, sy = 1 << plane->sub_y;
    tamis_image image = make(TAMIS_F32, (plane->w + sx - 1) / sx, (plane->h + sy - 1) / sy);
    for (int32_t y = 0; y < image.h; y++)
        for (int32_t x = 0; x < image.w; x++)
            ((float *)tamis_image_row(&image, 0, y))[x] =
                (float)level(sx * x + plane->at_x, sy * y + plane->at_y);
    return image;
}

/* Between pictures a chain moves (x, y) of the result to a x + b y + c, d x + e y + f. */
static void assert_follows(const char *chain, const tamis_plane *plane, const double m[6],
                           int32_t w, int32_t h, double margin)
{
    int sx = 1 << plane->sub_x, sy = 1 << plane->sub_y;
    tamis_image src = slope(plane), dst = filtered(chain, &src, plane);
    assert_int_equal(dst.w, (w + sx - 1) / sx);
    assert_int_equal(dst.h, (h + sy - 1) / sy);
    int checked = 0;
    double sum = 0;
    for (int32_t y = 0; y < dst.h; y++)
        for (int32_t x = 0; x < dst.w; x++) {
            double px = sx * x + plane->at_x, py = sy * y + plane->at_y;
            double qx = m[0] * px + m[1] * py + m[2], qy = m[3] * px + m[4] * py + m[5];
            float got = ((float *)tamis_image_row(&dst, 0, y))[x];
            if (qx < margin || qy < margin || qx > plane->w - margin || qy > plane->h - margin)
                continue;
            checked++;
            sum += got - level(qx, qy);
            /* Smoothed while it shrinks, a slope waves a little about its place. */
            if (fabs(got - level(qx, qy)) > (m[0] > 1 || m[4] > 1 ? 0.02 * sx : 1e-3))
                fail_msg("%s: %g at %d,%d is not %g", chain, got, x, y, level(qx, qy));
        }
    assert_true(checked > 20);
    assert_true(fabs(sum / checked) < 3e-3);
    tamis_image_unref(&src);
    tamis_image_unref(&dst);
}

static const tamis_plane kinds[] = {
    {.sub_x = 1, .sub_y = 1, .at_x = 0, .at_y = 0.5},   /* MPEG-2 */
    {.sub_x = 1, .sub_y = 1, .at_x = 0.5, .at_y = 0.5}, /* JPEG */
    {.sub_x = 1, .sub_y = 1, .at_x = 0, .at_y = 0},     /* BT.2020 */
    {.sub_x = 1, .sub_y = 0, .at_x = 0, .at_y = 0},     /* 4:2:2 */
    {.sub_x = 2, .sub_y = 0, .at_x = 0, .at_y = 0},     /* 4:1:1 */
    {.sub_x = 0, .sub_y = 0},                           /* 4:4:4 */
};

static void resizing_follows_the_picture(void **state)
{
    static const int32_t sizes[][4] = {{64, 48, 128, 96}, {65, 47, 130, 94}, {64, 48, 32, 24},
                                       {65, 47, 41, 33},  {64, 48, 97, 31},  {63, 49, 63, 98}};
    static const char *const interps[] = {"linear", "cubic", "linear:antialias=0"};
    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            for (size_t j = 0; j < sizeof interps / sizeof *interps; j++) {
                const int32_t *s = sizes[i];
                tamis_plane plane = kinds[k];
                char chain[80];
                plane.w = s[0];
                plane.h = s[1];
                double rx = (double)s[0] / s[2], ry = (double)s[1] / s[3];
                const double m[6] = {rx, 0, 0.5 * rx - 0.5, 0, ry, 0.5 * ry - 0.5};
                snprintf(chain, sizeof chain, "resize=size=%dx%d:interp=%s", (int)s[2], (int)s[3],
                         interps[j]);
                assert_follows(chain, &plane, m, s[2], s[3], 16);
            }
}

static void nearest_and_area_stay_close(void **state)
{
    static const char *const chains[] = {
        "resize=size=97x71:interp=nearest", "resize=size=33x20:interp=area",
        "resize=size=64x48:interp=area", "resize=size=1x1", "resize=size=500x400:interp=lanczos3"};
    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (size_t i = 0; i < sizeof chains / sizeof *chains; i++) {
            tamis_plane plane = kinds[k];
            plane.w = 65;
            plane.h = 49;
            tamis_image src = slope(&plane), dst = filtered(chains[i], &src, &plane);
            int sx = 1 << plane.sub_x, sy = 1 << plane.sub_y;
            for (int32_t y = 0; y < dst.h; y++)
                for (int32_t x = 0; x < dst.w; x++) {
                    float got = ((float *)tamis_image_row(&dst, 0, y))[x];
                    assert_true(got > level(-8, 60) && got < level(80, -8));
                    if (i > 0)
                        continue;
                    double want = level((sx * x + plane.at_x + 0.5) * 65 / 97 - 0.5,
                                        (sy * y + plane.at_y + 0.5) * 49 / 71 - 0.5);
                    assert_true(fabs(got - want) < 0.25 * sx + 0.125 * sy);
                }
            tamis_image_unref(&src);
            tamis_image_unref(&dst);
        }
}

static void warps_follow_the_picture(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        tamis_plane plane = kinds[k];
        plane.w = 65;
        plane.h = 47;
        const double moved[6] = {1, 0, -3, 0, 1, 5};
        assert_follows("affine=translate=3,-5", &plane, moved, 65, 47, 8);
        /* By 90 degrees about the middle, in a picture that holds it. */
        const double turned[6] = {0, -1, 64, 1, 0, 0};
        assert_follows("rotate=angle=90:size=fit", &plane, turned, 47, 65, 8);
        const double twice[6] = {0.5, 0, 16, 0, 0.5, 11.5};
        assert_follows("affine=scale=2", &plane, twice, 65, 47, 8);
        const double wider[6] = {1, 0, -10, 0, 1, -10};
        assert_follows("affine=translate=10,10:size=91x80", &plane, wider, 91, 80, 8);
        /* Two steps: the second one begins with the first one's picture. */
        const double both[6] = {0.5, 0, -0.25 - 1.5, 0, 0.5, -0.25 - 1};
        assert_follows("resize=scale=2,affine=translate=3,2", &plane, both, 130, 94, 16);
    }
}

static void bad_planes_are_refused(void **state)
{
    (void)state;
    tamis_graph *graph;
    tamis_plan *plan;
    tamis_format format = {TAMIS_U16, 1, TAMIS_PACKED, TAMIS_ALPHA_NONE};
    static const tamis_plane bad[] = {{.bits = 17},          {.sub_x = 13}, {.sub_y = -1},
                                      {.w = 33, .sub_x = 1}, {.h = 7},      {.at_x = NAN}};
    assert_int_equal(tamis_graph_parse(ctx, "gaussian", &graph), TAMIS_OK);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        tamis_plan_options options = {.plane = &bad[i]};
        assert_int_equal(tamis_plan_create(ctx, graph, format, 16, 8, &options, &plan),
                         TAMIS_ERR_ARGUMENT);
        unit_message_has(ctx, "plane: ");
    }
    tamis_graph_free(&graph);
}

static void traits_are_told(void **state)
{
    (void)state;
    assert_int_equal(tamis_filter_traits(tamis_filter_find("gaussian")), 0);
    assert_int_equal(tamis_filter_traits(tamis_filter_find("sobel")), TAMIS_TRAIT_EDGES);
    assert_int_equal(tamis_filter_traits(tamis_filter_find("resize")), TAMIS_TRAIT_GEOMETRY);
    assert_int_equal(tamis_filter_traits(NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(percent_is_of_the_bits),
        cmocka_unit_test(windows_are_scaled),
        cmocka_unit_test(outside_is_black),
        cmocka_unit_test(resizing_follows_the_picture),
        cmocka_unit_test(nearest_and_area_stay_close),
        cmocka_unit_test(warps_follow_the_picture),
        cmocka_unit_test(bad_planes_are_refused),
        cmocka_unit_test(traits_are_told),
    };
    ctx = unit_ctx(2);
    int bad = cmocka_run_group_tests(tests, NULL, NULL);
    tamis_ctx_free(&ctx);
    return bad;
}
