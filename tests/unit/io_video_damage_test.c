/* SPDX-License-Identifier: Apache-2.0 */
/* The video module: damaged, hostile and unfinished files, full disks, and two threads at once. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "io_video_support.h"

static const tamis_video_write_options to_ffv1 = {.codec = "ffv1", .overwrite = 1};
static const tamis_video_format format = {96, 64, TAMIS_VIDEO_YUV,        TAMIS_U8, 8, 1, 1,
                                          0,  0,  TAMIS_VIDEO_SITING_LEFT};

/* What is there is delivered, and the loss is told. */
static void test_truncated(void **state)
{
    char damage[512];
    (void)state;
    video_make(io_path("whole.mkv"), &format, 40, NULL, &to_ffv1);
    io_bytes whole = io_load(io_path("whole.mkv"));
    io_store(io_path("cut.mkv"), whole.data, whole.size * 6 / 10);
    int n = video_copy(io_path("cut.mkv"), io_path("o.mkv"), NULL, &to_ffv1, NULL, damage);
    assert_true(n > 18 && n < 30);
    assert_string_not_equal(damage, "");
    /* Nothing at all, and less than a header. */
    io_store(io_path("cut.mkv"), whole.data, 40);
    assert_int_equal(video_copy(io_path("cut.mkv"), io_path("x.mkv"), NULL, &to_ffv1, NULL, NULL),
                     -1);
    assert_message_has("cut.mkv: ");
    io_store(io_path("cut.mkv"), whole.data, 0);
    assert_int_equal(video_copy(io_path("cut.mkv"), io_path("x.mkv"), NULL, &to_ffv1, NULL, NULL),
                     -1);
    assert_message_has("not a video");
    free(whole.data);
}

static void test_corrupt_middle(void **state)
{
    char damage[512];
    uint32_t seed = 5;
    (void)state;
    video_make(io_path("whole.mkv"), &format, 40, NULL, &to_ffv1);
    io_bytes whole = io_load(io_path("whole.mkv"));
    for (size_t i = 0; i < 600; i++)
        whole.data[whole.size / 2 + i] = (uint8_t)(io_random(&seed) >> 24);
    io_store(io_path("bad.mkv"), whole.data, whole.size);
    free(whole.data);
    int n = video_copy(io_path("bad.mkv"), io_path("o.mkv"), NULL, &to_ffv1, NULL, damage);
    assert_true(n >= 36 && n <= 40);
    assert_string_not_equal(damage, "");
}

/* Random changes of small files neither crash nor hang. */
static void test_random_changes(void **state)
{
    uint32_t seed = 11;
    (void)state;
    video_make(io_path("small.mkv"), &format, 2, NULL, &to_ffv1);
    io_bytes small = io_load(io_path("small.mkv"));
    for (int round = 0; round < 40; round++) {
        io_bytes bad = io_load(io_path("small.mkv"));
        for (int i = 0; i < 6; i++)
            bad.data[io_random(&seed) % (round % 2 ? 600 : bad.size)] =
                (uint8_t)(io_random(&seed) >> 24);
        io_store(io_path("bad.mkv"), bad.data, bad.size);
        free(bad.data);
        video_copy(io_path("bad.mkv"), io_path("o.mkv"), NULL, &to_ffv1, NULL, NULL);
    }
    free(small.data);
}

/* A header that promises far more than anyone shows. */
static void test_boastful_header(void **state)
{
    tamis_video_format large = format;
    tamis_video_reader *reader;
    int found = 0;
    (void)state;
    large.w = large.h = 300;
    video_make(io_path("a.mkv"), &large, 2, NULL, &to_ffv1);
    io_bytes file = io_load(io_path("a.mkv"));
    /* PixelWidth and PixelHeight: their ids, a size of two bytes each, 300. */
    for (size_t i = 0; i + 8 < file.size && !found; i++)
        if (memcmp(file.data + i, "\xb0\x82\x01\x2c\xba\x82\x01\x2c", 8) == 0) {
            memcpy(file.data + i, "\xb0\x82\xff\xff\xba\x82\xff\xff", 8);
            found = 1;
        }
    assert_true(found);
    io_store(io_path("b.mkv"), file.data, file.size);
    free(file.data);
    assert_int_equal(tamis_video_reader_open(io_ctx, io_path("b.mkv"), NULL, &reader),
                     TAMIS_ERR_UNSUPPORTED);
    assert_message_has("b.mkv: frames of 65535x65535 pixels; at most");
}

static void test_other_files_are_refused(void **state)
{
    static const char text[] = "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n/etc/passwd\n";
    tamis_video_reader *reader;
    (void)state;
    io_store(io_path("list.m3u8"), text, sizeof text - 1);
    assert_int_not_equal(tamis_video_reader_open(io_ctx, io_path("list.m3u8"), NULL, &reader),
                         TAMIS_OK);
    assert_int_equal(tamis_video_reader_open(io_ctx, io_path("none.mkv"), NULL, &reader),
                     TAMIS_ERR_READ);
    assert_message_has("No such file");
}

static void test_full_disk(void **state)
{
    struct stat st;
    (void)state;
    if (stat("/dev/full", &st) != 0)
        skip();
    tamis_video_write_options options = {.codec = "ffv1", .format = "matroska"};
    video_make(io_path("a.mkv"), &format, 40, NULL, &to_ffv1);
    assert_int_equal(video_copy(io_path("a.mkv"), "/dev/full", NULL, &options, NULL, NULL), -1);
    assert_message_has("/dev/full: cannot write: No space left on device");
}

/* Without a finish nothing is left, and an older file stays. */
static void test_given_up(void **state)
{
    tamis_video_writer *writer;
    tamis_video_frame frame;
    (void)state;
    io_remove_all();
    io_store(io_path("o.mkv"), "old", 3);
    tamis_video_write_options to = video_writing(&to_ffv1);
    assert_ok(tamis_video_writer_open(io_ctx, io_path("o.mkv"), &format, NULL, &to, &writer));
    assert_ok(tamis_video_writer_frame(writer, NULL, &frame));
    assert_ok(tamis_video_writer_write(writer, &frame));
    assert_int_equal(io_file_count(), 2);
    tamis_video_writer_close(&writer);
    assert_int_equal(io_file_count(), 1);
    io_bytes old = io_load(io_path("o.mkv"));
    assert_int_equal(old.size, 3);
    free(old.data);
}

/* ---- two threads */

typedef struct line {
    tamis_video_reader *reader;
    tamis_video_writer *writer;
    pthread_mutex_t mutex;
    pthread_cond_t change;
    tamis_video_frame frames[4];
    int count, over;
} line;

static void *read_all(void *user)
{
    line *l = user;
    for (int more = 1; more;) {
        tamis_video_frame frame;
        more = tamis_video_reader_next(l->reader, &frame) == TAMIS_OK &&
               frame.part[TAMIS_VIDEO_MAIN].format.channels > 0;
        pthread_mutex_lock(&l->mutex);
        while (more && l->count == 4)
            pthread_cond_wait(&l->change, &l->mutex);
        if (more)
            l->frames[l->count++] = frame;
        l->over = !more;
        pthread_cond_broadcast(&l->change);
        pthread_mutex_unlock(&l->mutex);
    }
    return NULL;
}

/* The next frame of the line; 0 at the end. */
static int take_frame(line *l, tamis_video_frame *frame)
{
    pthread_mutex_lock(&l->mutex);
    while (l->count == 0 && !l->over)
        pthread_cond_wait(&l->change, &l->mutex);
    int any = l->count > 0;
    if (any) {
        *frame = l->frames[0];
        memmove(l->frames, l->frames + 1, (size_t)--l->count * sizeof *frame);
    }
    pthread_cond_broadcast(&l->change);
    pthread_mutex_unlock(&l->mutex);
    return any;
}

static void test_two_threads(void **state)
{
    line l = {.mutex = PTHREAD_MUTEX_INITIALIZER, .change = PTHREAD_COND_INITIALIZER};
    pthread_t thread;
    tamis_video_frame frame, out;
    int n = 0;
    (void)state;
    video_ffmpeg("-f lavfi -i testsrc2=s=96x64:r=25:d=4 -f lavfi -i sine=440:d=4 -c:v ffv1 -c:a "
                 "pcm_s16le a.mkv");
    tamis_video_read_options in = video_reading(NULL);
    tamis_video_write_options to = video_writing(&to_ffv1);
    assert_ok(tamis_video_reader_open(io_ctx, io_path("a.mkv"), &in, &l.reader));
    assert_ok(tamis_video_writer_open(io_ctx, io_path("o.mkv"),
                                      &tamis_video_reader_info(l.reader)->format, l.reader, &to,
                                      &l.writer));
    assert_int_equal(pthread_create(&thread, NULL, read_all, &l), 0);
    while (take_frame(&l, &frame)) {
        assert_ok(tamis_video_writer_frame(l.writer, &frame, &out));
        for (int p = 0; p < TAMIS_VIDEO_PARTS; p++)
            if (frame.part[p].format.channels)
                assert_ok(tamis_image_copy(io_ctx, &frame.part[p], &out.part[p]));
        tamis_video_frame_release(&frame);
        assert_ok(tamis_video_writer_write(l.writer, &out));
        n++;
    }
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(n, 100);
    assert_ok(tamis_video_writer_finish(l.writer));
    tamis_video_writer_close(&l.writer);
    tamis_video_reader_close(&l.reader);
    const char *sums = video_ask("for f in a.mkv o.mkv; do ffmpeg -nostdin -v error -i $f -map 0:a "
                                 "-c copy -f md5 -; done");
    assert_memory_equal(sums, sums + 37, 36);
}

/* ---- what does not come */

typedef struct waiter {
    tamis_ctx *ctx;
    int cancel; /* the context's */
    pthread_t thread;
} waiter;

static void *cancel_soon(void *user)
{
    struct timespec a_moment = {0, 100000000};
    waiter *w = user;
    nanosleep(&a_moment, NULL);
    __atomic_store_n(&w->cancel, 1, __ATOMIC_RELAXED);
    return NULL;
}

/* A pipe without a writer, and one that gives half a header, end when the context is canceled. */
static void test_opening_is_canceled(void **state)
{
    (void)state;
    video_make(io_path("a.mkv"), &format, 4, NULL, &to_ffv1);
    io_bytes whole = io_load(io_path("a.mkv"));
    assert_int_equal(mkfifo(io_path("pipe.mkv"), 0600), 0);
    for (int given = 0; given < 3; given++) {
        waiter w = {.cancel = 0};
        tamis_ctx_options options = {.threads = 1, .cancel = &w.cancel};
        tamis_video_reader *reader = NULL;
        assert_ok(tamis_ctx_create(&options, &w.ctx));
        int fd = given ? open(io_path("pipe.mkv"), O_RDWR) : -1;
        if (given) /* a part of the header, or all but the end of the file */
            assert_true(write(fd, whole.data, given == 1 ? 100 : whole.size - 9) > 0);
        assert_int_equal(pthread_create(&w.thread, NULL, cancel_soon, &w), 0);
        tamis_status status = tamis_video_reader_open(w.ctx, io_path("pipe.mkv"), NULL, &reader);
        tamis_video_frame frame;
        while (status == TAMIS_OK) {
            status = tamis_video_reader_next(reader, &frame);
            tamis_video_frame_release(&frame);
        }
        assert_int_equal(status, TAMIS_ERR_CANCELED);
        assert_int_equal(pthread_join(w.thread, NULL), 0);
        tamis_video_reader_close(&reader);
        tamis_ctx_free(&w.ctx);
        if (given)
            close(fd);
    }
    free(whole.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_corrupt_middle),
        cmocka_unit_test(test_random_changes),
        cmocka_unit_test(test_boastful_header),
        cmocka_unit_test(test_full_disk),
        cmocka_unit_test(test_other_files_are_refused),
        cmocka_unit_test(test_given_up),
        cmocka_unit_test(test_two_threads),
        cmocka_unit_test(test_opening_is_canceled),
    };
    return cmocka_run_group_tests(tests, io_setup, io_teardown);
}
