/* SPDX-License-Identifier: Apache-2.0 */
/* The video module: samples of every kind go through files unchanged, and codecs that cannot hold
 * them are refused. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io_video_support.h"

static const tamis_video_format kinds[] = {
    {85, 47, TAMIS_VIDEO_GRAY, TAMIS_U8, 8, 0, 0, 0, 1, TAMIS_VIDEO_SITING_UNKNOWN},
    {85, 47, TAMIS_VIDEO_GRAY, TAMIS_U16, 10, 0, 0, 0, 1, TAMIS_VIDEO_SITING_UNKNOWN},
    {85, 47, TAMIS_VIDEO_GRAY, TAMIS_U16, 16, 0, 0, 0, 1, TAMIS_VIDEO_SITING_UNKNOWN},
    {85, 47, TAMIS_VIDEO_GRAY, TAMIS_U8, 8, 0, 0, 1, 1, TAMIS_VIDEO_SITING_UNKNOWN},
    {85, 47, TAMIS_VIDEO_YUV, TAMIS_U8, 8, 1, 1, 0, 0, TAMIS_VIDEO_SITING_LEFT},
    {85, 47, TAMIS_VIDEO_YUV, TAMIS_U8, 8, 1, 0, 0, 0, TAMIS_VIDEO_SITING_LEFT},
    {85, 47, TAMIS_VIDEO_YUV, TAMIS_U8, 8, 0, 0, 0, 1, TAMIS_VIDEO_SITING_UNKNOWN},
    {85, 47, TAMIS_VIDEO_YUV, TAMIS_U8, 8, 0, 1, 0, 0, TAMIS_VIDEO_SITING_LEFT},
    {85, 47, TAMIS_VIDEO_YUV, TAMIS_U8, 8, 2, 0, 0, 0, TAMIS_VIDEO_SITING_LEFT},
    {85, 47, TAMIS_VIDEO_YUV, TAMIS_U8, 8, 2, 2, 0, 0, TAMIS_VIDEO_SITING_LEFT},
    {85, 47, TAMIS_VIDEO_YUV, TAMIS_U16, 10, 1, 1, 0, 0, TAMIS_VIDEO_SITING_TOPLEFT},
    {85, 47, TAMIS_VIDEO_YUV, TAMIS_U16, 10, 1, 0, 0, 0, TAMIS_VIDEO_SITING_LEFT},
    {85, 47, TAMIS_VIDEO_YUV, TAMIS_U16, 12, 0, 0, 0, 0, TAMIS_VIDEO_SITING_UNKNOWN},
    {85, 47, TAMIS_VIDEO_YUV, TAMIS_U16, 14, 1, 1, 0, 0, TAMIS_VIDEO_SITING_LEFT},
    {85, 47, TAMIS_VIDEO_YUV, TAMIS_U16, 16, 1, 1, 0, 0, TAMIS_VIDEO_SITING_LEFT},
    {85, 47, TAMIS_VIDEO_YUV, TAMIS_U8, 8, 1, 1, 1, 0, TAMIS_VIDEO_SITING_LEFT},
    {85, 47, TAMIS_VIDEO_YUV, TAMIS_U16, 10, 0, 0, 1, 0, TAMIS_VIDEO_SITING_UNKNOWN},
    {85, 47, TAMIS_VIDEO_RGB, TAMIS_U8, 8, 0, 0, 0, 1, TAMIS_VIDEO_SITING_UNKNOWN},
    {85, 47, TAMIS_VIDEO_RGB, TAMIS_U8, 8, 0, 0, 1, 1, TAMIS_VIDEO_SITING_UNKNOWN},
    {85, 47, TAMIS_VIDEO_RGB, TAMIS_U16, 10, 0, 0, 0, 1, TAMIS_VIDEO_SITING_UNKNOWN},
    {85, 47, TAMIS_VIDEO_RGB, TAMIS_U16, 12, 0, 0, 1, 1, TAMIS_VIDEO_SITING_UNKNOWN},
    {85, 47, TAMIS_VIDEO_RGB, TAMIS_U16, 16, 0, 0, 0, 1, TAMIS_VIDEO_SITING_UNKNOWN},
};
#define KIND_COUNT (sizeof kinds / sizeof *kinds)

static const tamis_video_write_options to_ffv1 = {.codec = "ffv1", .overwrite = 1};

static void check_alike(const tamis_video_format *a, const tamis_video_format *b)
{
    assert_int_equal(a->w, b->w);
    assert_int_equal(a->h, b->h);
    assert_int_equal(a->model, b->model);
    assert_int_equal(a->type, b->type);
    assert_int_equal(a->bits, b->bits);
    assert_int_equal(a->sub_x, b->sub_x);
    assert_int_equal(a->sub_y, b->sub_y);
    assert_int_equal(a->alpha, b->alpha);
    assert_int_equal(a->full_range, b->full_range);
}

/* What was made comes back, and again after a copy; a second clip differs. */
static void test_every_kind_is_kept(void **state)
{
    (void)state;
    for (size_t i = 0; i < KIND_COUNT; i++) {
        tamis_video_info info;
        int frames;
        video_make(io_path("a.mkv"), &kinds[i], 3, NULL, &to_ffv1);
        uint32_t made = video_hash(io_path("a.mkv"), &frames, NULL, &info);
        check_alike(&kinds[i], &info.format);
        assert_int_equal(frames, 3);
        assert_string_equal(info.codec, "ffv1");
        assert_int_equal(video_copy(io_path("a.mkv"), io_path("b.mkv"), NULL, &to_ffv1, NULL, NULL),
                         3);
        assert_int_equal(video_hash(io_path("b.mkv"), NULL, NULL, &info), made);
        check_alike(&kinds[i], &info.format);
        video_make(io_path("a.mkv"), &kinds[i], 2, NULL, &to_ffv1);
        assert_int_not_equal(video_hash(io_path("a.mkv"), NULL, NULL, NULL), made);
    }
}

/* The same samples where a codec has others than planes: packed RGB, luma alone. */
static void test_other_codecs_without_loss(void **state)
{
    static const struct {
        const char *file, *codec;
        size_t kind;
    } rows[] = {{"o.mkv", "libx264", 6},     {"o.mp4", "libx264rgb", 17}, {"o.mkv", "libx265", 12},
                {"o.webm", "libvpx-vp9", 4}, {"o.mov", "png", 18},        {"o.mkv", "utvideo", 17},
                {"p.mov", "png", 21}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tamis_video_write_options options = {.codec = rows[i].codec, .lossless = 1, .overwrite = 1};
        tamis_video_info info;
        video_make(io_path("a.mkv"), &kinds[rows[i].kind], 3, NULL, &to_ffv1);
        int n = video_copy(io_path("a.mkv"), io_path(rows[i].file), NULL, &options, NULL, NULL);
        if (n < 0 && strstr(io_message(), "is no encoder"))
            continue; /* this FFmpeg was built without it */
        assert_int_equal(n, 3);
        assert_int_equal(video_hash(io_path(rows[i].file), NULL, NULL, &info),
                         video_hash(io_path("a.mkv"), NULL, NULL, NULL));
    }
}

/* Case G26: 853x481 stays 853x481 in every sample, or is refused with the reason. */
static void test_odd_sizes(void **state)
{
    tamis_video_format odd = kinds[4];
    tamis_video_info info;
    (void)state;
    odd.w = 853;
    odd.h = 481;
    video_make(io_path("odd.mkv"), &odd, 5, NULL, &to_ffv1);
    uint32_t made = video_hash(io_path("odd.mkv"), NULL, NULL, NULL);
    assert_int_equal(video_copy(io_path("odd.mkv"), io_path("o.mkv"), NULL, &to_ffv1, NULL, NULL),
                     5);
    assert_int_equal(video_hash(io_path("o.mkv"), NULL, NULL, &info), made);
    check_alike(&odd, &info.format);
    tamis_video_write_options plain = {.overwrite = 1};
    assert_int_equal(video_copy(io_path("odd.mkv"), io_path("o.mkv"), NULL, &plain, NULL, NULL), 5);
    video_hash(io_path("o.mkv"), NULL, NULL, &info);
    check_alike(&odd, &info.format);
    tamis_video_write_options x264 = {.codec = "libx264", .overwrite = 1};
    if (video_copy(io_path("odd.mkv"), io_path("x.mkv"), NULL, &x264, NULL, NULL) >= 0)
        fail_msg("libx264 takes odd sizes of 4:2:0 now");
    if (strstr(io_message(), "is no encoder"))
        return;
    assert_message_has("853x481");
    assert_message_has("divisible by 2");
    assert_message_has("ffv1");
    FILE *left = fopen(io_path("x.mkv"), "rb");
    assert_null(left);
    /* What is advised is something that its container takes. */
    assert_int_equal(video_copy(io_path("odd.mkv"), io_path("x.mov"), NULL, &plain, NULL, NULL),
                     -1);
    assert_message_has("in mkv: ");
}

/* Case G27: depth and color tags. */
static void test_depth_and_color(void **state)
{
    tamis_video_info info;
    (void)state;
    video_ffmpeg("-f lavfi -i testsrc2=s=64x48:r=25:d=0.4 -pix_fmt yuv420p10le -color_range tv "
                 "-colorspace bt2020nc -color_trc smpte2084 -color_primaries bt2020 -c:v ffv1 "
                 "ten.mkv");
    uint32_t made = video_hash(io_path("ten.mkv"), NULL, NULL, NULL);
    tamis_video_write_options plain = {.overwrite = 1};
    static const char *const outputs[] = {"t.mkv", "t.mp4", "t.webm"};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(
            video_copy(io_path("ten.mkv"), io_path(outputs[i]), NULL, &plain, NULL, NULL), 10);
        video_hash(io_path(outputs[i]), NULL, NULL, &info);
        assert_int_equal(info.format.bits, 10);
        assert_int_equal(info.format.full_range, 0);
        assert_string_equal(info.color, "bt2020nc smpte2084 bt2020");
    }
    assert_int_equal(video_copy(io_path("ten.mkv"), io_path("f.mkv"), NULL, &to_ffv1, NULL, NULL),
                     10);
    assert_int_equal(video_hash(io_path("f.mkv"), NULL, NULL, &info), made);
    assert_string_equal(info.color, "bt2020nc smpte2084 bt2020");
}

/* Frames that decoders give in other shapes than planes. */
static void test_shapes_of_decoders(void **state)
{
    static const struct {
        const char *pixels, *shown;
        tamis_video_model model;
        int bits, alpha;
    } rows[] = {{"bgr24", "bgr24", TAMIS_VIDEO_RGB, 8, 0},
                {"rgba", "rgba", TAMIS_VIDEO_RGB, 8, 1},
                {"nv12", "nv12", TAMIS_VIDEO_YUV, 8, 0},
                {"rgb48be", "rgb48be", TAMIS_VIDEO_RGB, 16, 0},
                {"yuyv422", "yuyv422", TAMIS_VIDEO_YUV, 8, 0},
                {"gray16be", "gray16be", TAMIS_VIDEO_GRAY, 16, 0},
                {"rgb565le", "rgb565le", TAMIS_VIDEO_RGB, 8, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char command[256];
        tamis_video_info info;
        snprintf(command, sizeof command,
                 "-f lavfi -i testsrc2=s=86x48:r=25:d=0.12 -pix_fmt %s -c:v rawvideo a.nut",
                 rows[i].pixels);
        video_ffmpeg(command);
        /* A first copy has planes; the second one of it must agree in every sample. */
        uint32_t shown = video_hash(io_path("a.nut"), NULL, NULL, &info);
        assert_string_equal(info.pixels, rows[i].shown);
        assert_int_equal(info.format.model, rows[i].model);
        assert_int_equal(info.format.bits, rows[i].bits);
        assert_int_equal(info.format.alpha, rows[i].alpha);
        assert_int_equal(video_copy(io_path("a.nut"), io_path("b.mkv"), NULL, &to_ffv1, NULL, NULL),
                         3);
        assert_int_equal(video_hash(io_path("b.mkv"), NULL, NULL, NULL), shown);
        if (i == 6)
            continue; /* FFmpeg itself widens 5 bits in another way */
        snprintf(command, sizeof command,
                 "ffmpeg -nostdin -v error -i a.nut -pix_fmt %s -f md5 - && ffmpeg -nostdin -v "
                 "error -i b.mkv -pix_fmt %s -f md5 -",
                 rows[i].pixels, rows[i].pixels);
        const char *sums = video_ask(command);
        assert_memory_equal(sums, sums + 37, 36);
    }
}

static void test_options_are_checked(void **state)
{
    static const struct {
        tamis_video_write_options options;
        const char *file, *message;
        size_t kind; /* 0 = 4:2:0 of 10 bits */
    } rows[] = {
        {{.codec = "libvpx-vp9"}, "x.mp4", "libvpx-vp9 does not hold pixels like yuva420p", 15},
        {{.codec = "nonesuch"}, "x.mkv", "codec = nonesuch"},
        {{.codec = "aac"}, "x.mkv", "codec = aac"},
        {{.codec = "ffv1", .quality = 9}, "x.mkv", "quality = 9"},
        {{.codec = "prores_ks", .percent = 50}, "x.mov", "quality = 50"},
        {{.codec = "libx265", .percent = 101}, "x.mkv", "percent = 101"},
        {{.codec = "libx265", .percent = -1}, "x.mkv", "percent = -1"},
        {{.codec = "libx265", .percent = 50, .quality = 20}, "x.mkv", "only one"},
        {{.codec = "libx265", .quality = 20, .lossless = 1}, "x.mkv", "only one"},
        {{.codec = "libx265", .quality = 52}, "x.mkv", "outside 0 .. 51"},
        {{.codec = "ffv1", .preset = "fast"}, "x.mkv", "preset = fast"},
        {{.codec = "ffv1", .pixels = "nonesuch"}, "x.mkv", "pixels = nonesuch"},
        {{.codec = "ffv1"}, "x.webm", "webm does not hold ffv1"},
        {{.codec = "mpeg4", .lossless = 1}, "x.mkv", "mpeg4 cannot be lossless"},
        {{.codec = "mpeg4"}, "x.mkv", "mpeg4 does not hold pixels like yuv420p10le"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tamis_video_writer *writer;
        size_t kind = rows[i].kind ? rows[i].kind : 10;
        assert_int_not_equal(tamis_video_writer_open(io_ctx, io_path(rows[i].file), &kinds[kind],
                                                     NULL, &rows[i].options, &writer),
                             TAMIS_OK);
        assert_null(writer);
        assert_message_has(rows[i].message);
    }
}

/* Percents are those of pictures: 92 is what is written without a wish, 100 the codec's best. */
static void test_quality_in_percent(void **state)
{
    static const struct {
        const char *codec, *detail;
        int percent;
    } rows[] = {
        {"libx264", " crf 14", 0}, {"libx264", " crf 14", 92}, {"libx264", " crf 0", 100},
        {"libx264", " crf 7", 96}, {"libx264", " crf 51", 1},  {"libx265", " crf 32", 50},
        {"mpeg4", " q 2", 92},     {"mpeg4", " q 1", 100},     {"mpeg4", " q 31", 1},
        {"ffv1", " lossless", 50},
    };
    tamis_video_format format = {.w = 96,
                                 .h = 64,
                                 .model = TAMIS_VIDEO_YUV,
                                 .bits = 8,
                                 .sub_x = 1,
                                 .sub_y = 1,
                                 .siting = TAMIS_VIDEO_SITING_LEFT};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tamis_video_write_options options = {.codec = rows[i].codec, .percent = rows[i].percent};
        tamis_video_writer *writer;
        assert_int_equal(tamis_video_writer_open(io_ctx, io_path("percent.mkv"), &format, NULL,
                                                 &options, &writer),
                         TAMIS_OK);
        const char *detail = tamis_video_writer_detail(writer);
        assert_string_equal(detail + strlen(detail) - strlen(rows[i].detail), rows[i].detail);
        tamis_video_writer_close(&writer);
    }
}

/* Pure colors survive the way to RGB by the matrix that the clip is tagged with, or that its height
 * stands for. */
static void test_matrix_to_rgb(void **state)
{
    static const char *const tags[] = {"bt709 -colorspace bt709", "smpte170m -colorspace smpte170m",
                                       "bt601", "smpte240m -colorspace smpte240m"};
    tamis_video_write_options rgb = {.codec = "ffv1", .pixels = "bgr0", .overwrite = 1};
    (void)state;
    for (int i = 0; i < 4; i++) {
        char command[256];
        const char *matrix = tags[i];
        int n = (int)strcspn(matrix, " ");
        snprintf(command, sizeof command,
                 "-f lavfi -i color=0xff0000:s=64x48:d=0.2 -vf "
                 "scale=out_color_matrix=%.*s:out_range=tv,format=yuv444p -c:v ffv1 %s m.mkv",
                 n, matrix, matrix + n);
        video_ffmpeg(command);
        assert_true(video_copy(io_path("m.mkv"), io_path("o.mkv"), NULL, &rgb, NULL, NULL) > 0);
        video_ffmpeg("-i o.mkv -frames:v 1 -f rawvideo -pix_fmt rgb24 o.rgb");
        io_bytes raw = io_load(io_path("o.rgb"));
        assert_int_equal(raw.size, 64 * 48 * 3);
        assert_true(raw.data[0] >= 252 && raw.data[1] <= 3 && raw.data[2] <= 3);
        free(raw.data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_kind_is_kept),
        cmocka_unit_test(test_odd_sizes),
        cmocka_unit_test(test_other_codecs_without_loss),
        cmocka_unit_test(test_depth_and_color),
        cmocka_unit_test(test_shapes_of_decoders),
        cmocka_unit_test(test_options_are_checked),
        cmocka_unit_test(test_quality_in_percent),
        cmocka_unit_test(test_matrix_to_rgb),
    };
    return cmocka_run_group_tests(tests, io_setup, io_teardown);
}
