/* SPDX-License-Identifier: Apache-2.0 */
#include "io_video_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- samples */

static void fill_part(const tamis_image *part, int bits, uint32_t *seed)
{
    int channels = part->format.channels, is_packed = part->format.layout == TAMIS_PACKED;
    uint32_t mask = (1u << bits) - 1;
    for (int plane = 0; plane < (is_packed ? 1 : channels); plane++)
        for (int32_t y = 0; y < part->h; y++) {
            uint8_t *row = tamis_image_row(part, plane, y);
            int n = part->w * (is_packed ? channels : 1);
            for (int x = 0; x < n; x++) {
                /* Noise on a slope, so that encoders have something to predict. */
                uint32_t value = ((uint32_t)(x + 3 * y) + (io_random(seed) >> 16 & 15)) & mask;
                if (bits == 8)
                    row[x] = (uint8_t)value;
                else
                    ((uint16_t *)(void *)row)[x] = (uint16_t)(value << (bits > 12 ? bits - 12 : 0));
            }
        }
}

static void hash_part(const tamis_image *part, uint32_t *hash)
{
    size_t size = tamis_type_size(part->format.type);
    for (int32_t y = 0; y < part->h; y++)
        for (int c = 0; c < part->format.channels; c++) {
            int is_packed = part->format.layout == TAMIS_PACKED;
            const uint8_t *row = tamis_image_row(part, is_packed ? 0 : c, y);
            size_t step = is_packed ? size * (size_t)part->format.channels : size;
            for (int32_t x = 0; x < part->w; x++)
                for (size_t b = 0; b < size; b++) {
                    size_t at = (size_t)x * step + (is_packed ? (size_t)c * size : 0) + b;
                    *hash = (*hash ^ row[at]) * 16777619u;
                }
        }
}

/* ---- clips */

tamis_video_read_options video_reading(const tamis_video_read_options *options)
{
    tamis_video_read_options out = options ? *options : (tamis_video_read_options){0};
    out.threads = TEST_VIDEO_THREADS;
    return out;
}

tamis_video_write_options video_writing(const tamis_video_write_options *options)
{
    tamis_video_write_options out = options ? *options : (tamis_video_write_options){0};
    out.threads = TEST_VIDEO_THREADS;
    return out;
}

void video_make(const char *path, const tamis_video_format *format, int frames, const double *time,
                const tamis_video_write_options *options)
{
    tamis_video_writer *writer;
    uint32_t seed = 7;
    tamis_video_write_options to = video_writing(options);
    assert_ok(tamis_video_writer_open(io_ctx, path, format, NULL, &to, &writer));
    for (int i = 0; i < frames; i++) {
        tamis_video_frame frame;
        double rate = options && options->rate > 0 ? options->rate : 25;
        assert_ok(tamis_video_writer_frame(writer, NULL, &frame));
        frame.time = time ? time[i] : i / rate;
        for (int p = 0; p < TAMIS_VIDEO_PARTS; p++)
            if (frame.part[p].format.channels)
                fill_part(&frame.part[p], format->bits, &seed);
        assert_ok(tamis_video_writer_write(writer, &frame));
    }
    assert_ok(tamis_video_writer_finish(writer));
    tamis_video_writer_close(&writer);
}

/* The next frame into the writer: 1, 0 at the end, -1. */
static int copy_frame(tamis_video_reader *reader, tamis_video_writer *writer)
{
    tamis_video_frame frame, out;
    if (tamis_video_reader_next(reader, &frame) != TAMIS_OK)
        return -1;
    if (!frame.part[TAMIS_VIDEO_MAIN].format.channels)
        return 0;
    int ok = tamis_video_writer_frame(writer, &frame, &out) == TAMIS_OK;
    for (int p = 0; ok && p < TAMIS_VIDEO_PARTS; p++)
        if (frame.part[p].format.channels)
            ok = tamis_image_copy(io_ctx, &frame.part[p], &out.part[p]) == TAMIS_OK;
    tamis_video_frame_release(&frame);
    return ok && tamis_video_writer_write(writer, &out) == TAMIS_OK ? 1 : -1;
}

int video_copy(const char *from, const char *to, const tamis_video_read_options *read,
               const tamis_video_write_options *write, char *dropped, char *damage)
{
    tamis_video_reader *reader;
    tamis_video_writer *writer;
    int frames = 0, more = 1;
    tamis_video_read_options in = video_reading(read);
    tamis_video_write_options out = video_writing(write);
    if (tamis_video_reader_open(io_ctx, from, &in, &reader) != TAMIS_OK)
        return -1;
    const tamis_video_info *info = tamis_video_reader_info(reader);
    if (tamis_video_writer_open(io_ctx, to, &info->format, reader, &out, &writer) != TAMIS_OK) {
        tamis_video_reader_close(&reader);
        return -1;
    }
    while ((more = copy_frame(reader, writer)) > 0)
        frames++;
    if (more < 0 || tamis_video_writer_finish(writer) != TAMIS_OK)
        frames = -1;
    if (dropped)
        snprintf(dropped, 512, "%s", tamis_video_writer_dropped(writer));
    if (damage)
        snprintf(damage, 512, "%s", tamis_video_reader_damage(reader));
    tamis_video_writer_close(&writer);
    tamis_video_reader_close(&reader);
    return frames;
}

uint32_t video_hash(const char *path, int *frames, double *times, tamis_video_info *info)
{
    tamis_video_reader *reader;
    uint32_t hash = 2166136261u;
    int n = 0;
    tamis_video_read_options in = video_reading(NULL);
    assert_ok(tamis_video_reader_open(io_ctx, path, &in, &reader));
    if (info)
        *info = *tamis_video_reader_info(reader);
    for (;; n++) {
        tamis_video_frame frame;
        assert_ok(tamis_video_reader_next(reader, &frame));
        if (!frame.part[TAMIS_VIDEO_MAIN].format.channels)
            break;
        if (times && n < 256)
            times[n] = frame.time;
        for (int p = 0; p < TAMIS_VIDEO_PARTS; p++)
            hash_part(&frame.part[p], &hash);
        tamis_video_frame_release(&frame);
    }
    tamis_video_reader_close(&reader);
    if (frames)
        *frames = n;
    return hash;
}

/* ---- FFmpeg's programs */

void video_ffmpeg(const char *arguments)
{
    char command[2048];
    if (system("ffmpeg -version >/dev/null 2>&1") != 0) {
        print_message("skipped: the program ffmpeg was not found\n");
        skip();
    }
    snprintf(command, sizeof command, "cd '%s' && ffmpeg -nostdin -v error -y %s", io_path(""),
             arguments);
    if (system(command) != 0)
        fail_msg("failed: %s", command);
}

const char *video_ask(const char *command)
{
    static char text[16384];
    char line[2048];
    snprintf(line, sizeof line, "cd '%s' && %s", io_path(""), command);
    FILE *pipe = popen(line, "r");
    assert_non_null(pipe);
    size_t n = fread(text, 1, sizeof text - 1, pipe);
    text[n] = '\0';
    assert_int_equal(pclose(pipe), 0);
    return text;
}
