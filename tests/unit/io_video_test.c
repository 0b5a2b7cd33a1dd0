/* SPDX-License-Identifier: Apache-2.0 */
/* Video of our own: Y4M and raw frames, in and out. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tamis/video.h>

#include "io_support.h"

typedef struct kind {
    const char *tag; /* behind C; NULL = none */
    tamis_video_model model;
    int bits, sub_x, sub_y, alpha;
    tamis_video_siting siting;
} kind;

static const kind kinds[] = {
    {NULL, TAMIS_VIDEO_YUV, 8, 1, 1, 0, TAMIS_VIDEO_SITING_CENTER},
    {"420", TAMIS_VIDEO_YUV, 8, 1, 1, 0, TAMIS_VIDEO_SITING_CENTER},
    {"420jpeg", TAMIS_VIDEO_YUV, 8, 1, 1, 0, TAMIS_VIDEO_SITING_CENTER},
    {"420mpeg2", TAMIS_VIDEO_YUV, 8, 1, 1, 0, TAMIS_VIDEO_SITING_LEFT},
    {"420paldv", TAMIS_VIDEO_YUV, 8, 1, 1, 0, TAMIS_VIDEO_SITING_TOPLEFT},
    {"411", TAMIS_VIDEO_YUV, 8, 2, 0, 0, TAMIS_VIDEO_SITING_UNKNOWN},
    {"422", TAMIS_VIDEO_YUV, 8, 1, 0, 0, TAMIS_VIDEO_SITING_UNKNOWN},
    {"444", TAMIS_VIDEO_YUV, 8, 0, 0, 0, TAMIS_VIDEO_SITING_UNKNOWN},
    {"444alpha", TAMIS_VIDEO_YUV, 8, 0, 0, 1, TAMIS_VIDEO_SITING_UNKNOWN},
    {"mono", TAMIS_VIDEO_GRAY, 8, 0, 0, 0, TAMIS_VIDEO_SITING_UNKNOWN},
    {"mono9", TAMIS_VIDEO_GRAY, 9, 0, 0, 0, TAMIS_VIDEO_SITING_UNKNOWN},
    {"mono16", TAMIS_VIDEO_GRAY, 16, 0, 0, 0, TAMIS_VIDEO_SITING_UNKNOWN},
    {"420p9", TAMIS_VIDEO_YUV, 9, 1, 1, 0, TAMIS_VIDEO_SITING_UNKNOWN},
    {"420p10", TAMIS_VIDEO_YUV, 10, 1, 1, 0, TAMIS_VIDEO_SITING_UNKNOWN},
    {"422p10", TAMIS_VIDEO_YUV, 10, 1, 0, 0, TAMIS_VIDEO_SITING_UNKNOWN},
    {"422p12", TAMIS_VIDEO_YUV, 12, 1, 0, 0, TAMIS_VIDEO_SITING_UNKNOWN},
    {"444p14", TAMIS_VIDEO_YUV, 14, 0, 0, 0, TAMIS_VIDEO_SITING_UNKNOWN},
    {"444p16", TAMIS_VIDEO_YUV, 16, 0, 0, 0, TAMIS_VIDEO_SITING_UNKNOWN},
};
#define KIND_COUNT (sizeof kinds / sizeof *kinds)

static size_t frame_bytes(const kind *k, int w, int h)
{
    size_t cw = (size_t)(w + (1 << k->sub_x) - 1) >> k->sub_x;
    size_t ch = (size_t)(h + (1 << k->sub_y) - 1) >> k->sub_y;
    size_t luma = (size_t)w * (size_t)h;
    size_t samples = luma + (k->model == TAMIS_VIDEO_YUV ? 2 * cw * ch : 0) + (k->alpha ? luma : 0);
    return samples * (k->bits > 8 ? 2 : 1);
}

/* A file of frames; tags of frames differ. */
static io_bytes make_file(const kind *k, int w, int h, int frames, const char *tags)
{
    size_t bytes = frame_bytes(k, w, h);
    io_bytes file = {malloc(512 + (bytes + 64) * (size_t)frames), 0};
    uint32_t seed = 1;
    file.size += (size_t)sprintf((char *)file.data, "YUV4MPEG2 W%d H%d F30000:1001%s%s%s\n", w, h,
                                 tags, k->tag ? " C" : "", k->tag ? k->tag : "");
    for (int i = 0; i < frames; i++) {
        const char *more = i % 2 ? " Ippp XSHOT=1" : "";
        file.size += (size_t)sprintf((char *)file.data + file.size, "FRAME%s\n", more);
        for (size_t j = 0; j < bytes; j++)
            file.data[file.size++] = (uint8_t)(io_random(&seed) >> 8);
    }
    return file;
}

static void copy_parts(const tamis_video_frame *from, const tamis_video_frame *to)
{
    for (int i = 0; i < TAMIS_VIDEO_PARTS; i++) {
        assert_int_equal(from->part[i].format.channels, to->part[i].format.channels);
        if (from->part[i].format.channels)
            assert_ok(tamis_image_copy(io_ctx, &from->part[i], &to->part[i]));
    }
}

/* Copies all frames; returns how many there were. */
static int copy_video(tamis_video_reader *reader, const char *path,
                      const tamis_video_write_options *options)
{
    tamis_video_writer *writer;
    tamis_video_frame frame, result;
    int count = 0;
    assert_ok(tamis_video_writer_open(io_ctx, path, &tamis_video_reader_info(reader)->format,
                                      reader, options, &writer));
    for (;;) {
        assert_ok(tamis_video_reader_next(reader, &frame));
        if (!frame.part[0].format.channels)
            break;
        assert_ok(tamis_video_writer_frame(writer, &frame, &result));
        copy_parts(&frame, &result);
        tamis_video_frame_release(&frame);
        assert_ok(tamis_video_writer_write(writer, &result));
        assert_null(result.owner);
        count++;
    }
    assert_ok(tamis_video_writer_finish(writer));
    tamis_video_writer_close(&writer);
    return count;
}

static void check_info(const tamis_video_info *info, const kind *k, int w, int h)
{
    assert_int_equal(info->format.w, w);
    assert_int_equal(info->format.h, h);
    assert_int_equal(info->format.model, k->model);
    assert_int_equal(info->format.bits, k->bits);
    assert_int_equal(info->format.type, k->bits > 8 ? TAMIS_U16 : TAMIS_U8);
    assert_int_equal(info->format.sub_x, k->sub_x);
    assert_int_equal(info->format.sub_y, k->sub_y);
    assert_int_equal(info->format.alpha, k->alpha);
    assert_int_equal(info->format.siting, k->siting);
    if (w * h > 100) /* the tags of smaller frames count */
        assert_int_equal(info->frames, 3);
    assert_int_equal(info->rate_num, 30000);
    assert_string_equal(info->container, "y4m");
}

static void every_sampling_comes_back_the_same(void **state)
{
    (void)state;
    static const int sizes[][2] = {{16, 8}, {17, 9}, {1, 1}, {3, 5}};
    for (size_t i = 0; i < KIND_COUNT; i++) {
        for (size_t j = 0; j < sizeof sizes / sizeof *sizes; j++) {
            int w = sizes[j][0], h = sizes[j][1];
            io_remove_all();
            io_bytes file = make_file(&kinds[i], w, h, 3, " Ip A1:1 XYSCSS=ANY XMORE=2");
            io_store(io_path("in.y4m"), file.data, file.size);
            assert_int_equal(tamis_video_probe(io_ctx, io_path("in.y4m")), 1);
            tamis_video_reader *reader;
            assert_ok(tamis_video_reader_open(io_ctx, io_path("in.y4m"), NULL, &reader));
            check_info(tamis_video_reader_info(reader), &kinds[i], w, h);
            assert_int_equal(copy_video(reader, io_path("out.y4m"), NULL), 3);
            assert_string_equal(tamis_video_reader_damage(reader), "");
            tamis_video_reader_close(&reader);
            io_bytes out = io_load(io_path("out.y4m"));
            assert_int_equal(out.size, file.size);
            assert_memory_equal(out.data, file.data, file.size);
            free(out.data);
            free(file.data);
        }
    }
    assert_int_equal(io_bytes_held(), 0);
}

/* Without a source the header is made from the format. */
static void headers_are_made(void **state)
{
    (void)state;
    for (size_t i = 0; i < KIND_COUNT; i++) {
        const kind *k = &kinds[i];
        tamis_video_format format = {.w = 5,
                                     .h = 3,
                                     .model = k->model,
                                     .type = k->bits > 8 ? TAMIS_U16 : TAMIS_U8,
                                     .bits = k->bits,
                                     .sub_x = k->sub_x,
                                     .sub_y = k->sub_y,
                                     .alpha = k->alpha,
                                     .full_range = i % 2 != 0,
                                     .siting = k->siting};
        tamis_video_writer *writer;
        tamis_video_reader *reader;
        tamis_video_frame frame;
        io_remove_all();
        assert_ok(tamis_video_writer_open(io_ctx, io_path("a.y4m"), &format, NULL,
                                          &(tamis_video_write_options){.rate = 23.976}, &writer));
        assert_ok(tamis_video_writer_frame(writer, NULL, &frame));
        for (int p = 0; p < TAMIS_VIDEO_PARTS; p++)
            for (int c = 0; c < tamis_image_planes(&frame.part[p]) && frame.part[p].w; c++)
                for (int y = 0; y < frame.part[p].h; y++)
                    memset(tamis_image_row(&frame.part[p], c, y), 7,
                           (size_t)frame.part[p].w * (k->bits > 8 ? 2 : 1));
        assert_ok(tamis_video_writer_write(writer, &frame));
        assert_ok(tamis_video_writer_finish(writer));
        tamis_video_writer_close(&writer);
        assert_ok(tamis_video_reader_open(io_ctx, io_path("a.y4m"), NULL, &reader));
        const tamis_video_info *info = tamis_video_reader_info(reader);
        tamis_video_format back = info->format;
        assert_int_equal(info->rate_num, 24000);
        assert_int_equal(info->rate_den, 1001);
        assert_int_equal(back.full_range, format.full_range);
        assert_int_equal(back.bits, format.bits);
        assert_int_equal(back.sub_x, format.sub_x);
        assert_int_equal(back.sub_y, format.sub_y);
        assert_int_equal(back.alpha, format.alpha);
        assert_int_equal(back.siting, format.siting);
        tamis_video_reader_close(&reader);
    }
}

static void parts_have_their_sizes(void **state)
{
    (void)state;
    tamis_video_format format = {.w = 7,
                                 .h = 5,
                                 .model = TAMIS_VIDEO_YUV,
                                 .type = TAMIS_U16,
                                 .bits = 10,
                                 .sub_x = 1,
                                 .sub_y = 1};
    int32_t w, h;
    char text[64];
    assert_int_equal(tamis_video_part_format(&format, TAMIS_VIDEO_MAIN, &w, &h).channels, 1);
    assert_true(w == 7 && h == 5);
    assert_int_equal(tamis_video_part_format(&format, TAMIS_VIDEO_CHROMA, &w, &h).channels, 2);
    assert_true(w == 4 && h == 3);
    assert_int_equal(tamis_video_part_format(&format, TAMIS_VIDEO_ALPHA, &w, &h).channels, 0);
    assert_string_equal(tamis_video_format_print(&format, text, sizeof text),
                        "7x5 yuv 4:2:0 10-bit limited");
}

static tamis_status open_text(const char *text, tamis_video_reader **reader)
{
    io_store(io_path("t.y4m"), text, strlen(text));
    return tamis_video_reader_open(io_ctx, io_path("t.y4m"), NULL, reader);
}

static void bad_headers_are_named(void **state)
{
    (void)state;
    static const char *const bad[][2] = {
        {"YUV4MPEG2 H4 F1:1\nFRAME\n", "no width"},
        {"YUV4MPEG2 W4 F1:1\nFRAME\n", "no height"},
        {"YUV4MPEG2 W4 H4 C999\nFRAME\n", "C999"},
        {"YUV4MPEG2 W4 H4 C420p8\nFRAME\n", "C420p8"},
        {"YUV4MPEG2 W4 H4 C420p99\nFRAME\n", "C420p99"},
        {"YUV4MPEG2 W-4 H4\nFRAME\n", "W-4"},
        {"YUV4MPEG2 W4 H4 F1\nFRAME\n", "F1"},
        {"YUV4MPEG2 W4 H4 Ix\nFRAME\n", "Ix"},
        {"YUV4MPEG2 W2000000000 H2000000000\nFRAME\n", "too large"},
        {"YUV4MPEG2 W60000 H60000\nFRAME\n", "takes"},
        {"YUV4MPEG2 W4 H4", "header"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        tamis_video_reader *reader;
        assert_int_not_equal(open_text(bad[i][0], &reader), TAMIS_OK);
        assert_null(reader);
        if (!strstr(io_message(), bad[i][1]))
            fail_msg("%s: %s", bad[i][0], io_message());
        assert_message_has("t.y4m");
    }
    assert_int_equal(io_bytes_held(), 0);
}

/* What can be read of a broken file; returns the number of frames, the damage goes to text. */
static int read_all(const char *path, char *text, size_t size)
{
    tamis_video_reader *reader;
    tamis_video_frame frame;
    int count = 0;
    assert_ok(tamis_video_reader_open(io_ctx, path, NULL, &reader));
    for (;;) {
        assert_ok(tamis_video_reader_next(reader, &frame));
        if (!frame.part[0].format.channels)
            break;
        tamis_video_frame_release(&frame);
        count++;
    }
    snprintf(text, size, "%s", tamis_video_reader_damage(reader));
    tamis_video_reader_close(&reader);
    return count;
}

static void damage_is_told(void **state)
{
    (void)state;
    char text[256];
    io_bytes file = make_file(&kinds[0], 16, 8, 5, "");
    io_remove_all();
    io_store(io_path("cut.y4m"), file.data, file.size - 1);
    assert_int_equal(read_all(io_path("cut.y4m"), text, sizeof text), 4);
    assert_string_equal(text, "the file ends in the middle of frame 4");
    io_store(io_path("cut.y4m"), file.data, file.size - frame_bytes(&kinds[0], 16, 8) - 3);
    assert_int_equal(read_all(io_path("cut.y4m"), text, sizeof text), 4);
    assert_string_equal(text, "the file ends in the middle of frame 4");
    file.data[file.size - frame_bytes(&kinds[0], 16, 8) - 6] = 'X';
    io_store(io_path("bad.y4m"), file.data, file.size);
    assert_int_equal(read_all(io_path("bad.y4m"), text, sizeof text), 4);
    assert_non_null(strstr(text, "does not begin with FRAME"));
    free(file.data);
}

/* Large frames are read by several threads; where devices are not, pinned frames are ordinary. */
static void large_frames_come_back_the_same(void **state)
{
    (void)state;
    enum { W = 2048, H = 1100 };
    static const size_t lost[] = {1, 1 << 20, (5 << 19) + 3, W * H * 3 / 2};
    const tamis_video_read_options read = {.pinned = 1};
    const tamis_video_write_options write = {.pinned = 1, .overwrite = 1};
    io_bytes file = make_file(&kinds[1], W, H, 3, "");
    tamis_video_reader *reader;
    io_remove_all();
    io_store(io_path("in.y4m"), file.data, file.size);
    assert_ok(tamis_video_reader_open(io_ctx, io_path("in.y4m"), &read, &reader));
    assert_int_equal(copy_video(reader, io_path("out.y4m"), &write), 3);
    tamis_video_reader_close(&reader);
    io_bytes out = io_load(io_path("out.y4m"));
    assert_int_equal(out.size, file.size);
    assert_memory_equal(out.data, file.data, file.size);
    free(out.data);
    for (size_t i = 0; i < sizeof lost / sizeof *lost; i++) {
        char text[256];
        io_store(io_path("cut.y4m"), file.data, file.size - lost[i]);
        assert_int_equal(read_all(io_path("cut.y4m"), text, sizeof text), 2);
        assert_string_equal(text, "the file ends in the middle of frame 2");
    }
    free(file.data);
    assert_int_equal(io_bytes_held(), 0);
}

static void frames_are_chosen(void **state)
{
    (void)state;
    static const struct {
        double start, end;
        int64_t first, count;
        int from, frames;
    } choices[] = {{0, 0, 2, 3, 2, 3},    {0, 0, 8, 9, 8, 2},   {0, 0, 20, 0, 20, 0},
                   {0.1, 0, 0, 0, 3, 7},  {0, 0.2, 0, 0, 0, 6}, {0.1, 0.2, 0, 0, 3, 3},
                   {0.1, 0.2, 1, 1, 4, 1}};
    io_bytes file = make_file(&kinds[0], 64, 64, 10, "");
    size_t bytes = frame_bytes(&kinds[0], 64, 64);
    io_store(io_path("t.y4m"), file.data, file.size);
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
        tamis_video_read_options options = {.start = choices[i].start,
                                            .end = choices[i].end,
                                            .first = choices[i].first,
                                            .count = choices[i].count};
        tamis_video_reader *reader;
        tamis_video_frame frame;
        assert_ok(tamis_video_reader_open(io_ctx, io_path("t.y4m"), &options, &reader));
        assert_true(llabs(tamis_video_reader_info(reader)->frames - choices[i].frames) <= 1);
        int count = 0;
        for (;; count++) {
            assert_ok(tamis_video_reader_next(reader, &frame));
            if (!frame.part[0].format.channels)
                break;
            assert_float_equal(frame.time, (choices[i].from + count) * 1001. / 30000, 1e-9);
            /* Frames end one behind the other; every second has tags. */
            size_t end = file.size;
            for (int k = 9; k > choices[i].from + count; k--)
                end -= bytes + 6 + (k % 2 ? strlen(" Ippp XSHOT=1") : 0);
            assert_memory_equal(frame.part[0].data[0], file.data + end - bytes, 16);
            tamis_video_frame_release(&frame);
        }
        assert_int_equal(count, choices[i].frames);
        tamis_video_reader_close(&reader);
    }
    tamis_video_reader *reader;
    tamis_video_read_options options = {.start = 2, .end = 1};
    assert_int_equal(tamis_video_reader_open(io_ctx, io_path("t.y4m"), &options, &reader),
                     TAMIS_ERR_ARGUMENT);
    free(file.data);
}

static void raw_frames_come_back_the_same(void **state)
{
    (void)state;
    static const char *const specs[] = {"5x3:yuv420p:25", "5x3:yuv422p10le:30000/1001",
                                        "5x3:gray",       "5x3:nv12",
                                        "5x3:gbrp12:24",  "5x3:rgb24",
                                        "5x3:yuva420p",   "5x3:grayf32"};
    uint8_t data[4096];
    uint32_t seed = 5;
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(io_random(&seed) >> 8);
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        io_remove_all();
        assert_int_equal(tamis_video_raw_is(specs[i]), 1);
        tamis_video_read_options options = {.raw = specs[i]};
        tamis_video_reader *reader;
        io_store(io_path("in.raw"), data, sizeof data);
        assert_ok(tamis_video_reader_open(io_ctx, io_path("in.raw"), &options, &reader));
        int64_t frames = tamis_video_reader_info(reader)->frames;
        assert_true(frames > 10);
        assert_int_equal(copy_video(reader, io_path("out.yuv"), NULL), frames);
        assert_non_null(strstr(tamis_video_reader_damage(reader), "middle of frame"));
        tamis_video_reader_close(&reader);
        io_bytes out = io_load(io_path("out.yuv"));
        assert_int_equal(out.size,
                         sizeof data / (out.size / (size_t)frames) * (out.size / (size_t)frames));
        assert_memory_equal(out.data, data, out.size);
        free(out.data);
    }
    assert_int_equal(tamis_video_raw_is("5x3:u8"), 0);
    assert_int_equal(tamis_video_raw_is("5x3:yuv420p:0"), 0);
    assert_int_equal(tamis_video_raw_is("5x3:yuv420p8"), 0);
    assert_int_equal(tamis_video_raw_is("5x:yuv420p"), 0);
}

static void videos_are_told_by_content(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t size;
        int is;
    } heads[] = {
        {"YUV4MPEG2 W1 H1\n", 16, 1},
        {"\x1A\x45\xDF\xA3_____", 9, 1},
        {"\0\0\0\x20"
         "ftypisom____",
         16, 1},
        {"\0\0\0\x20"
         "ftypavif____",
         16, 0},
        {"RIFF____AVI LIST", 16, 1},
        {"RIFF____WEBPVP8 ", 16, 0},
        {"\x89PNG\r\n\x1A\n________", 16, 0},
        {"P6 1 1 255\n...", 14, 0},
        {"\0\0\0\x01\x67\x64___", 9, 1}, /* H.264: parameters, */
        {"\0\0\x01\x27\x64___", 8, 1},
        {"\0\0\0\x01\x06\x05___", 9, 1}, /* what the encoder says, */
        {"\0\0\x01\x09\xf0___", 8, 1},   /* a delimiter */
        {"\0\0\0\x01\x40\x01___", 9, 1}, /* HEVC, likewise */
        {"\0\0\x01\x46\x01___", 8, 1},
        {"\0\0\0\x01\x40\x02___", 9, 0},
        {"\0\0\x01\0\x01\0\x10\x10", 8, 0}, /* an icon */
        {"\0\0\x02\0\0\0\0\0", 8, 0},       /* TGA */
        {"YUV4MPE", 7, 0},
        {"GIF89a__________", 16, 0},
        {"", 0, 0},
    };
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        io_store(io_path("x"), heads[i].bytes, heads[i].size);
        assert_int_equal(tamis_video_probe(io_ctx, io_path("x")), heads[i].is);
    }
    assert_int_equal(tamis_video_probe(io_ctx, io_path("missing")), 0);
    assert_int_equal(tamis_video_probe(io_ctx, "/"), 0);
}

/* What a probe sees of standard input is still there for the reader. */
static void standard_input_is_peeked_at(void **state)
{
    (void)state;
    char text[256];
    int pair[2], saved = dup(STDIN_FILENO);
    io_bytes file = make_file(&kinds[0], 4, 4, 3, "");
    assert_int_equal(pipe(pair), 0);
    assert_true(write(pair[1], file.data, file.size) == (ssize_t)file.size);
    close(pair[1]);
    dup2(pair[0], STDIN_FILENO);
    close(pair[0]);
#ifdef __linux__
    assert_int_equal(tamis_video_probe(io_ctx, "-"), 1);
#endif
    assert_int_equal(read_all("-", text, sizeof text), 3);
    assert_string_equal(text, "");
    dup2(saved, STDIN_FILENO);
    close(saved);
    free(file.data);
}

static void other_video_wants_the_module(void **state)
{
    (void)state;
    tamis_video_reader *reader;
    tamis_video_writer *writer;
    tamis_video_format format = {
        .w = 4, .h = 4, .model = TAMIS_VIDEO_GRAY, .type = TAMIS_U8, .bits = 8, .full_range = 1};
    char text[256];
    setenv("TAMIS_VIDEO_MODULE", "/nowhere/tamis_video.so", 1);
    io_remove_all();
    io_store(io_path("a.mkv"), "\x1A\x45\xDF\xA3________", 12);
    assert_int_equal(tamis_video_reader_open(io_ctx, io_path("a.mkv"), NULL, &reader),
                     TAMIS_ERR_UNSUPPORTED);
    assert_message_has("/nowhere/tamis_video.so");
    assert_int_equal(
        tamis_video_writer_open(io_ctx, io_path("b.mkv"), &format, NULL, NULL, &writer),
        TAMIS_ERR_UNSUPPORTED);
    assert_null(writer);
    assert_non_null(strstr(tamis_video_libraries(text, sizeof text), "cannot be opened"));
    assert_int_equal(io_file_count(), 1);
    unsetenv("TAMIS_VIDEO_MODULE");
}

static void what_is_not_finished_does_not_stay(void **state)
{
    (void)state;
    tamis_video_format format = {
        .w = 4, .h = 4, .model = TAMIS_VIDEO_GRAY, .type = TAMIS_U8, .bits = 8, .full_range = 1};
    tamis_video_writer *writer;
    io_remove_all();
    assert_ok(tamis_video_writer_open(io_ctx, io_path("a.y4m"), &format, NULL, NULL, &writer));
    assert_int_equal(io_file_count(), 1);
    tamis_video_writer_close(&writer);
    assert_int_equal(io_file_count(), 0);
    io_store(io_path("a.y4m"), "old", 3);
    assert_int_equal(
        tamis_video_writer_open(io_ctx, io_path("a.y4m"), &format, NULL, NULL, &writer),
        TAMIS_ERR_WRITE);
    format.model = TAMIS_VIDEO_RGB;
    assert_int_equal(
        tamis_video_writer_open(io_ctx, io_path("b.y4m"), &format, NULL, NULL, &writer),
        TAMIS_ERR_UNSUPPORTED);
    assert_message_has("rgb");
    assert_int_equal(io_file_count(), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_sampling_comes_back_the_same),
        cmocka_unit_test(headers_are_made),
        cmocka_unit_test(parts_have_their_sizes),
        cmocka_unit_test(bad_headers_are_named),
        cmocka_unit_test(damage_is_told),
        cmocka_unit_test(large_frames_come_back_the_same),
        cmocka_unit_test(frames_are_chosen),
        cmocka_unit_test(raw_frames_come_back_the_same),
        cmocka_unit_test(videos_are_told_by_content),
        cmocka_unit_test(standard_input_is_peeked_at),
        cmocka_unit_test(other_video_wants_the_module),
        cmocka_unit_test(what_is_not_finished_does_not_stay),
    };
    return cmocka_run_group_tests(tests, io_setup, io_teardown);
}
