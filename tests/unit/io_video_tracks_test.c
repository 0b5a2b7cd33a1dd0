/* SPDX-License-Identifier: Apache-2.0 */
/* The video module: times, other tracks, chapters, attachments, and what trimming does to them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io_video_support.h"

static const tamis_video_write_options plain = {.overwrite = 1};

/* Two seconds: H.264 with B frames, sound in two languages, subtitles, chapters, a font, a cover.
 */
static void make_film(void)
{
    static const char subtitles[] = "1\n00:00:00,200 --> 00:00:00,900\nBonjour <i>le monde</i>\n\n"
                                    "2\n00:00:01,100 --> 00:00:01,800\ndeux lignes\nl\xc3\xa0\n";
    static const char chapters[] = ";FFMETADATA1\ntitle=A film\n"
                                   "[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=800\ntitle=One\n"
                                   "[CHAPTER]\nTIMEBASE=1/1000\nSTART=800\nEND=2000\ntitle=Two\n";
    static const char font[] = "this is not a font";
    io_store(io_path("s.srt"), subtitles, sizeof subtitles - 1);
    io_store(io_path("c.txt"), chapters, sizeof chapters - 1);
    io_store(io_path("font.ttf"), font, sizeof font);
    video_ffmpeg("-f lavfi -i color=red:s=32x32 -frames:v 1 cover.png");
    video_ffmpeg(
        "-f lavfi -i testsrc2=s=160x120:r=25:d=2 -f lavfi -i sine=440:d=2 -f lavfi -i "
        "sine=880:d=2 -i s.srt -i c.txt -map 0 -map 1 -map 2 -map 3 -map_metadata 4 -attach "
        "font.ttf -metadata:s:t:0 mimetype=application/x-truetype-font -attach cover.png "
        "-metadata:s:t:1 mimetype=image/png -c:v libx264 -preset veryfast -bf 2 -g 10 -c:a:0 "
        "pcm_s16le -c:a:1 aac -c:s srt -metadata:s:a:0 language=eng -metadata:s:a:1 language=deu "
        "-metadata:s:a:1 title=Kommentar -disposition:a:1 comment -metadata:s:s:0 language=fra "
        "film.mkv");
}

/* Hashes of a track's packets. */
static void packets_of(const char *file, const char *track, char *out, size_t size)
{
    char command[256];
    snprintf(command, sizeof command,
             "ffmpeg -nostdin -v error -i %s -map 0:%s -c copy -f streamhash -hash md5 -", file,
             track);
    snprintf(out, size, "%s", video_ask(command));
}

/* Case G29. */
static void test_tracks_are_kept(void **state)
{
    static const char facts[] =
        "ffprobe -v error -show_entries stream=index,codec_name,codec_type:stream_tags=language,"
        "title,filename:stream_disposition=default,comment,attached_pic:chapter=start_time,"
        "end_time:chapter_tags=title:format_tags=title -of compact %s";
    char command[512], before[4096], hash[2][128], dropped[512], damage[512];
    (void)state;
    make_film();
    assert_int_equal(
        video_copy(io_path("film.mkv"), io_path("o.mkv"), NULL, &plain, dropped, damage), 50);
    assert_string_equal(dropped, "");
    assert_string_equal(damage, "");
    snprintf(command, sizeof command, facts, "film.mkv");
    snprintf(before, sizeof before, "%s", video_ask(command));
    snprintf(command, sizeof command, facts, "o.mkv");
    assert_string_equal(video_ask(command), before);
    static const char *const tracks[] = {"a:0", "a:1", "s:0"};
    for (int i = 0; i < 3; i++) {
        packets_of("film.mkv", tracks[i], hash[0], sizeof hash[0]);
        packets_of("o.mkv", tracks[i], hash[1], sizeof hash[1]);
        assert_string_equal(hash[0], hash[1]);
    }
    const char *kinds = video_ask("ffprobe -v error -select_streams v:0 -show_entries "
                                  "frame=pict_type -of csv=p=0 o.mkv");
    assert_non_null(strchr(kinds, 'B'));
}

static void test_what_is_dropped_is_named(void **state)
{
    char dropped[512];
    (void)state;
    make_film();
    assert_int_equal(video_copy(io_path("film.mkv"), io_path("o.mp4"), NULL, &plain, dropped, NULL),
                     50);
    assert_non_null(strstr(dropped, "attachment 1 (font.ttf)"));
    assert_null(strstr(dropped, "aac"));
    assert_null(strstr(dropped, "subrip"));
    assert_null(strstr(dropped, "title"));
    assert_null(strstr(dropped, "language"));
    /* Subtitles of text change their kind, and back. */
    assert_int_equal(video_copy(io_path("o.mp4"), io_path("b.mkv"), NULL, &plain, dropped, NULL),
                     50);
    assert_string_equal(dropped, "");
    const char *text = video_ask("ffmpeg -nostdin -v error -i b.mkv -map 0:s:0 -f srt -");
    assert_non_null(strstr(text, "Bonjour <i>le monde</i>"));
    assert_non_null(strstr(text, "deux lignes"));
    assert_non_null(strstr(text, "\nl\xc3\xa0"));
    assert_int_equal(video_copy(io_path("film.mkv"), io_path("o.avi"), NULL, &plain, dropped, NULL),
                     50);
    assert_non_null(strstr(dropped, "subtitle track 1 (subrip, fra)"));
    assert_non_null(strstr(dropped, "2 chapters"));
    assert_non_null(strstr(dropped, "languages of tracks"));
    assert_null(strstr(dropped, "titles of tracks"));
    assert_int_equal(video_copy(io_path("film.mkv"), io_path("o.ts"), NULL, &plain, dropped, NULL),
                     50);
    assert_non_null(strstr(dropped, "the title"));
    assert_non_null(strstr(dropped, "titles of tracks"));
    assert_null(strstr(dropped, "language")); /* the video has none, and the others keep theirs */
    tamis_video_write_options bare = {.overwrite = 1, .strip = 1};
    assert_int_equal(video_copy(io_path("film.mkv"), io_path("o.mkv"), NULL, &bare, dropped, NULL),
                     50);
    tamis_video_info info;
    video_hash(io_path("o.mkv"), NULL, NULL, &info);
    assert_int_equal(info.audio + info.subtitles + info.attachments + info.chapters, 0);
}

static void test_colors_that_are_dropped_are_named(void **state)
{
    static const tamis_video_write_options ffv1 = {.overwrite = 1, .codec = "ffv1"};
    char dropped[512];
    (void)state;
    video_ffmpeg("-f lavfi -i testsrc2=s=64x48:d=0.2 -pix_fmt yuv420p10 -c:v libx265 -x265-params "
                 "'log-level=none:max-cll=1000,400:master-display=G(13250,34500)B(7500,3000)"
                 "R(34000,16000)WP(15635,16450)L(10000000,50)' -color_primaries bt2020 -color_trc "
                 "smpte2084 -colorspace bt2020nc hdr.mkv");
    video_copy(io_path("hdr.mkv"), io_path("o.mkv"), NULL, &ffv1, dropped, NULL);
    assert_string_equal(dropped, "");
    video_copy(io_path("hdr.mkv"), io_path("o.avi"), NULL, &ffv1, dropped, NULL);
    assert_string_equal(dropped, "tags of color\nHDR data");
    video_copy(io_path("hdr.mkv"), io_path("o.ts"), NULL, &plain, dropped, NULL);
    assert_string_equal(dropped, "HDR data");
}

/* Bare streams have no times but the rate that the codec tells. */
static void test_bare_streams_keep_their_rate(void **state)
{
    static const char *const names[] = {"o.h264", "o.hevc"};
    (void)state;
    video_ffmpeg("-f lavfi -i testsrc2=s=64x48:r=30000/1001:d=0.5 -c:v ffv1 ntsc.mkv");
    for (int i = 0; i < 2; i++) {
        tamis_video_info info;
        int frames = video_copy(io_path("ntsc.mkv"), io_path(names[i]), NULL, &plain, NULL, NULL);
        video_hash(io_path(names[i]), NULL, NULL, &info);
        assert_int_equal(frames, 15);
        assert_true(fabs(info.rate - 30000 / 1001.0) < 1e-3);
        assert_string_equal(video_ask(i ? "ffprobe -v error -show_entries stream=r_frame_rate -of "
                                          "csv=p=0 o.hevc"
                                        : "ffprobe -v error -show_entries stream=r_frame_rate -of "
                                          "csv=p=0 o.h264"),
                            "30000/1001\n");
    }
}

/* Case G28. */
static void test_variable_rate(void **state)
{
    static const double times[] = {0, 0.04, 0.1, 0.11, 0.5, 1.0};
    static const char *const outputs[] = {"o.mkv", "o.mp4", "o.webm", "o.mov"};
    tamis_video_format format = {64, 48, TAMIS_VIDEO_YUV,        TAMIS_U8, 8, 1, 1,
                                 0,  0,  TAMIS_VIDEO_SITING_LEFT};
    tamis_video_write_options fine = {.codec = "ffv1", .overwrite = 1, .rate = 1000};
    (void)state;
    video_make(io_path("vfr.mkv"), &format, 6, times, &fine);
    for (int i = 0; i < 4; i++) {
        double found[256];
        int frames;
        assert_int_equal(
            video_copy(io_path("vfr.mkv"), io_path(outputs[i]), NULL, &plain, NULL, NULL), 6);
        video_hash(io_path(outputs[i]), &frames, found, NULL);
        assert_int_equal(frames, 6);
        for (int k = 0; k < 6; k++)
            assert_true(fabs(found[k] - times[k]) < 1e-3);
    }
    /* AVI counts frames instead of timing them: what does not fit is no silent loss. */
    tamis_video_format quick = format;
    static const double uneven[] = {0, 0.04, 0.041, 0.12};
    video_make(io_path("vfr.mkv"), &quick, 4, uneven, &fine);
    if (video_copy(io_path("vfr.mkv"), io_path("o.avi"), NULL, &plain, NULL, NULL) < 0)
        assert_message_has("constant frame rate");
    else {
        int frames;
        video_hash(io_path("o.avi"), &frames, NULL, NULL);
        assert_true(frames >= 4);
    }
}

typedef struct range {
    tamis_video_read_options read;
    int frames;
    double first, last; /* times in the input */
} range;

/* The clip's frames are 0.04 s apart from a start that FFmpeg chooses. */
static void test_ranges(void **state)
{
    double all[256], found[256];
    int n;
    (void)state;
    make_film();
    video_hash(io_path("film.mkv"), &n, all, NULL);
    assert_int_equal(n, 50);
    const range ranges[] = {
        {{.start = all[12]}, 38, all[12], all[49]},
        {{.start = all[12] + 0.001}, 37, all[13], all[49]},
        {{.start = all[12], .end = all[20]}, 8, all[12], all[19]},
        {{.end = all[20] + 0.001}, 21, all[0], all[20]},
        {{.first = 7}, 43, all[7], all[49]},
        {{.first = 13, .count = 9}, 9, all[13], all[21]},
        {{.start = all[31], .first = 2, .count = 3}, 3, all[33], all[35]},
        {{.start = all[49]}, 1, all[49], all[49]},
    };
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        const range *r = &ranges[i];
        int is_cut = r->read.start > 0 || r->read.first > 0;
        double shift = is_cut ? r->first : 0;
        assert_int_equal(
            video_copy(io_path("film.mkv"), io_path("o.mkv"), &r->read, &plain, NULL, NULL),
            r->frames);
        video_hash(io_path("o.mkv"), &n, found, NULL);
        assert_int_equal(n, r->frames);
        assert_true(fabs(found[0] - (r->first - shift)) < 1.1e-3);
        assert_true(fabs(found[n - 1] - (r->last - shift)) < 1.1e-3);
        /* Sound begins and ends with the pictures, give or take a packet. */
        const char *sound = video_ask("ffprobe -v error -select_streams a:0 -show_entries "
                                      "packet=pts_time -of csv=p=0 o.mkv | sed -n '1p;$p'");
        double from = 0, to = 0;
        assert_int_equal(sscanf(sound, "%lf %lf", &from, &to), 2);
        assert_true(from >= 0 && from < 0.05);
        assert_true(fabs(to - (r->last - shift)) < 0.09);
    }
    tamis_video_read_options beyond = {.start = 100};
    assert_int_equal(video_copy(io_path("film.mkv"), io_path("x.mkv"), &beyond, &plain, NULL, NULL),
                     -1);
    assert_message_has("no frame lies in the range");
}

/* A cut's samples are those of the whole, B frames and late key frames included. */
static void test_a_range_has_the_same_samples(void **state)
{
    tamis_video_write_options lossless = {.codec = "ffv1", .overwrite = 1};
    tamis_video_read_options tail = {.first = 23};
    double all[256];
    (void)state;
    make_film();
    video_hash(io_path("film.mkv"), NULL, all, NULL);
    tamis_video_read_options sought = {.start = all[23]};
    assert_int_equal(
        video_copy(io_path("film.mkv"), io_path("a.mkv"), &tail, &lossless, NULL, NULL), 27);
    assert_int_equal(
        video_copy(io_path("film.mkv"), io_path("b.mkv"), &sought, &lossless, NULL, NULL), 27);
    assert_int_equal(video_hash(io_path("a.mkv"), NULL, NULL, NULL),
                     video_hash(io_path("b.mkv"), NULL, NULL, NULL));
}

/* Where a range is sought by an index, by looking, or not at all. */
static void test_ranges_in_other_containers(void **state)
{
    static const char *const files[] = {"a.ts", "a.mp4", "a.flv", "a.h264"};
    tamis_video_write_options lossless = {.codec = "ffv1", .overwrite = 1};
    (void)state;
    for (int i = 0; i < 4; i++) {
        char command[256];
        double all[256];
        int n;
        snprintf(command, sizeof command,
                 "-f lavfi -i testsrc2=s=64x48:r=25:d=3 -c:v libx264 -preset veryfast -g 20 %s",
                 files[i]);
        video_ffmpeg(command);
        video_hash(io_path(files[i]), &n, all, NULL);
        assert_int_equal(n, 75);
        tamis_video_read_options counted = {.first = 52, .count = 9};
        tamis_video_read_options sought = {.start = all[52], .count = 9};
        assert_int_equal(
            video_copy(io_path(files[i]), io_path("c.mkv"), &counted, &lossless, NULL, NULL), 9);
        assert_int_equal(
            video_copy(io_path(files[i]), io_path("s.mkv"), &sought, &lossless, NULL, NULL), 9);
        assert_int_equal(video_hash(io_path("c.mkv"), NULL, NULL, NULL),
                         video_hash(io_path("s.mkv"), NULL, NULL, NULL));
    }
}

/* Sound that starts a little before the pictures stays where it is, copy after copy. */
static void test_sound_does_not_wander(void **state)
{
    static const char ask[] = "ffprobe -v error -select_streams a -show_entries packet=pts_time "
                              "-of csv=p=0 %s | head -n 1";
    char command[256];
    (void)state;
    video_ffmpeg("-f lavfi -i testsrc2=s=64x48:r=25:d=1 -f lavfi -i sine=440:d=1 -c:v libx264 "
                 "-preset veryfast -c:a libopus a.mkv");
    snprintf(command, sizeof command, ask, "a.mkv");
    double before = atof(video_ask(command));
    for (int i = 0; i < 3; i++) {
        const char *from = i % 2 ? "b.mkv" : i ? "c.mkv" : "a.mkv";
        const char *to = i % 2 ? "c.mkv" : "b.mkv";
        assert_int_equal(video_copy(io_path(from), io_path(to), NULL, &plain, NULL, NULL), 25);
        snprintf(command, sizeof command, ask, to);
        assert_true(fabs(atof(video_ask(command)) - before) < 1.5e-3);
    }
}

static void test_pipes(void **state)
{
    char command[512];
    (void)state;
    make_film();
    /* A pipe that is not sought in, as a file with a name. */
    snprintf(command, sizeof command, "mkfifo '%s'", io_path("in.mkv"));
    assert_int_equal(system(command), 0);
    snprintf(command, sizeof command, "cat '%s' > '%s' &", io_path("film.mkv"), io_path("in.mkv"));
    assert_int_equal(system(command), 0);
    assert_int_equal(video_copy(io_path("in.mkv"), io_path("o.mkv"), NULL, &plain, NULL, NULL), 50);
}

/* Frames without a container: numbered where they have no rate, and from 0 where they are cut. */
static void test_plain_sources(void **state)
{
    static const char *const outputs[] = {"o.avi", "o.mkv", "o.mp4"};
    tamis_video_format format = {64, 48, TAMIS_VIDEO_YUV,        TAMIS_U8, 8, 1, 1,
                                 0,  0,  TAMIS_VIDEO_SITING_LEFT};
    tamis_video_read_options bare = {.raw = "64x48:yuv420p"}, cut = {.start = 0.5};
    double times[256];
    int n;
    (void)state;
    video_make(io_path("a.y4m"), &format, 25, NULL, &plain);
    video_make(io_path("a.raw"), &format, 25, NULL, &plain);
    for (int i = 0; i < 3; i++) {
        const char *to = io_path(outputs[i]);
        assert_int_equal(video_copy(io_path("a.raw"), to, &bare, &plain, NULL, NULL), 25);
        video_hash(to, &n, times, NULL);
        assert_int_equal(n, 25);
        assert_true(fabs(times[24] - times[0] - 0.96) < 1.1e-3);
        assert_int_equal(video_copy(io_path("a.y4m"), to, &cut, &plain, NULL, NULL), 12);
        video_hash(to, &n, times, NULL);
        assert_int_equal(n, 12);
        assert_true(fabs(times[0]) < 1.1e-3 && fabs(times[11] - 0.44) < 1.1e-3);
    }
}

static void test_facts_reach_y4m(void **state)
{
    static const double uneven[] = {0, 0.04, 0.1, 0.11, 0.5, 1.0};
    tamis_video_format format = {64, 48, TAMIS_VIDEO_YUV,        TAMIS_U8, 8, 1, 1,
                                 0,  0,  TAMIS_VIDEO_SITING_LEFT};
    tamis_video_write_options fine = {.codec = "ffv1", .overwrite = 1, .rate = 1000};
    tamis_video_info info;
    char dropped[512];
    (void)state;
    video_ffmpeg("-f lavfi -i testsrc2=s=64x48:r=30000/1001:d=1 -vf setsar=4/3,setfield=bff -c:v "
                 "mpeg2video -flags +ildct+ilme -top 0 a.mkv");
    assert_true(video_copy(io_path("a.mkv"), io_path("a.y4m"), NULL, &plain, dropped, NULL) > 0);
    assert_string_equal(dropped, "");
    video_hash(io_path("a.y4m"), NULL, NULL, &info);
    assert_int_equal(info.rate_num, 30000);
    assert_int_equal(info.rate_den, 1001);
    assert_int_equal(info.aspect_num, 4);
    assert_int_equal(info.aspect_den, 3);
    assert_int_equal(info.interlaced, 2);
    video_make(io_path("vfr.mkv"), &format, 6, uneven, &fine);
    assert_int_equal(video_copy(io_path("vfr.mkv"), io_path("b.y4m"), NULL, &plain, dropped, NULL),
                     6);
    assert_string_equal(dropped, "the times of frames");
}

/* Chapters of a cut by number end with it; with strip, the track keeps no tags. */
static void test_chapters_and_tags(void **state)
{
    tamis_video_read_options cut = {.count = 10};
    tamis_video_write_options bare = {.overwrite = 1, .strip = 1};
    tamis_video_reader *reader;
    tamis_video_writer *writer;
    tamis_video_frame frame, out;
    (void)state;
    make_film();
    video_ffmpeg("-i film.mkv -map 0 -c copy -metadata:s:v:0 title=secret -metadata:s:v:0 "
                 "handler_name=secret b.mkv");
    tamis_video_read_options in = video_reading(&cut);
    tamis_video_write_options to = video_writing(&plain);
    assert_ok(tamis_video_reader_open(io_ctx, io_path("b.mkv"), &in, &reader));
    assert_ok(tamis_video_reader_next(reader, &frame)); /* before the output is opened */
    assert_ok(tamis_video_writer_open(
        io_ctx, io_path("o.mkv"), &tamis_video_reader_info(reader)->format, reader, &to, &writer));
    while (frame.part[TAMIS_VIDEO_MAIN].format.channels) {
        assert_ok(tamis_video_writer_frame(writer, &frame, &out));
        for (int p = 0; p < TAMIS_VIDEO_PARTS; p++)
            if (frame.part[p].format.channels)
                assert_ok(tamis_image_copy(io_ctx, &frame.part[p], &out.part[p]));
        tamis_video_frame_release(&frame);
        assert_ok(tamis_video_writer_write(writer, &out));
        assert_ok(tamis_video_reader_next(reader, &frame));
    }
    assert_ok(tamis_video_writer_finish(writer));
    tamis_video_writer_close(&writer);
    tamis_video_reader_close(&reader);
    assert_string_equal(video_ask("ffprobe -v error -show_entries chapter=end_time -of csv=p=0 "
                                  "o.mkv"),
                        "0.400000\n");
    assert_non_null(strstr(video_ask("ffprobe -v error -show_streams o.mkv"), "secret"));
    assert_int_equal(video_copy(io_path("b.mkv"), io_path("o.mkv"), NULL, &bare, NULL, NULL), 50);
    assert_null(strstr(video_ask("ffprobe -v error -show_streams -show_format o.mkv"), "secret"));
}

/* Covers keep their kind; of those from other containers, Matroska gets PNG and JPEG. */
static void test_covers(void **state)
{
    static const char ask[] = "ffprobe -v error -select_streams v:1 -show_entries "
                              "stream=codec_name:stream_tags=mimetype -of csv=p=0 o.mkv";
    char dropped[512];
    (void)state;
    video_ffmpeg("-f lavfi -i color=red:s=32x32 -frames:v 1 cover.gif");
    video_ffmpeg("-i cover.gif -frames:v 1 cover.png");
    video_ffmpeg("-f lavfi -i testsrc2=s=64x48:r=25:d=0.2 -c:v libx264 -attach cover.gif "
                 "-metadata:s:t:0 mimetype=image/gif -metadata:s:t:0 filename=cover.gif a.mkv");
    assert_int_equal(video_copy(io_path("a.mkv"), io_path("o.mkv"), NULL, &plain, dropped, NULL),
                     5);
    assert_string_equal(dropped, "");
    assert_string_equal(video_ask(ask), "gif,image/gif\n");
    video_ffmpeg("-i a.mkv -i cover.png -map 0:0 -map 1 -c copy -disposition:v:1 attached_pic "
                 "a.mp4");
    assert_int_equal(video_copy(io_path("a.mp4"), io_path("o.mkv"), NULL, &plain, dropped, NULL),
                     5);
    assert_string_equal(dropped, "");
    assert_string_equal(video_ask(ask), "png,image/png\n");
}

/* A broadcast whose sound begins later than the reader looks ahead. */
static void test_late_tracks(void **state)
{
    char command[512], dropped[512];
    (void)state;
    video_ffmpeg("-f lavfi -i testsrc2=s=64x48:r=10:d=12 -c:v libx264 -preset veryfast -g 10 a.ts");
    video_ffmpeg("-f lavfi -i testsrc2=s=64x48:r=10:d=2 -f lavfi -i sine=440:d=2 -f lavfi -i "
                 "sine=880:d=2 -map 0 -map 1 -map 2 -c:v libx264 -preset veryfast -c:a mp2 "
                 "-output_ts_offset 12 b.ts");
    /* So much that what the reader sees at the end has no sound. */
    video_ffmpeg("-f lavfi -i testsrc2=s=320x240:r=10:d=4 -vf scale=64:48 -c:v libx264 -qp 1 "
                 "-preset ultrafast -g 1 -muxrate 2M -output_ts_offset 14 c.ts");
    snprintf(command, sizeof command, "cd '%s' && cat a.ts b.ts c.ts > late.ts && mkfifo pipe.ts",
             io_path(""));
    assert_int_equal(system(command), 0);
    assert_true(video_copy(io_path("late.ts"), io_path("o.mkv"), NULL, &plain, dropped, NULL) >
                100);
    assert_string_equal(dropped, "audio track 1 (mp2)\naudio track 2 (mp2)");
    snprintf(command, sizeof command, "cat '%s' > '%s' &", io_path("late.ts"), io_path("pipe.ts"));
    assert_int_equal(system(command), 0);
    assert_true(video_copy(io_path("pipe.ts"), io_path("p.mkv"), NULL, &plain, dropped, NULL) >
                100);
    assert_string_equal(dropped, "audio track 1 (mp2)\naudio track 2 (mp2)");
}

/* What a header of Y4M says of pixels and fields goes along. */
static void test_shape_of_y4m(void **state)
{
    (void)state;
    static const char *const fields[] = {"p", "t", "b"};
    for (int i = 0; i < 3; i++) {
        tamis_video_write_options options = {.codec = "ffv1", .overwrite = 1};
        tamis_video_info info;
        char file[200 + 3 * (6 + 32 * 16 * 3 / 2)];
        int n = sprintf(file, "YUV4MPEG2 W32 H16 F25:1 I%s A16:11 C420mpeg2\n", fields[i]);
        for (int k = 0; k < 3; k++) {
            memcpy(file + n, "FRAME\n", 6);
            memset(file + n + 6, 16 + k, 32 * 16 * 3 / 2);
            n += 6 + 32 * 16 * 3 / 2;
        }
        io_store(io_path("in.y4m"), file, (size_t)n);
        assert_int_equal(
            video_copy(io_path("in.y4m"), io_path("o.mkv"), NULL, &options, NULL, NULL), 3);
        video_hash(io_path("o.mkv"), NULL, NULL, &info);
        assert_int_equal(info.aspect_num, 16);
        assert_int_equal(info.aspect_den, 11);
        assert_int_equal(info.interlaced, i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tracks_are_kept),
        cmocka_unit_test(test_what_is_dropped_is_named),
        cmocka_unit_test(test_colors_that_are_dropped_are_named),
        cmocka_unit_test(test_bare_streams_keep_their_rate),
        cmocka_unit_test(test_variable_rate),
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_a_range_has_the_same_samples),
        cmocka_unit_test(test_sound_does_not_wander),
        cmocka_unit_test(test_ranges_in_other_containers),
        cmocka_unit_test(test_pipes),
        cmocka_unit_test(test_covers),
        cmocka_unit_test(test_late_tracks),
        cmocka_unit_test(test_plain_sources),
        cmocka_unit_test(test_facts_reach_y4m),
        cmocka_unit_test(test_chapters_and_tags),
        cmocka_unit_test(test_shape_of_y4m),
    };
    return cmocka_run_group_tests(tests, io_setup, io_teardown);
}
