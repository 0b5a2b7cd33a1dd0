/* SPDX-License-Identifier: Apache-2.0 */
/* libtamis-io: video in and out, frame by frame, in the samples that the file holds.
 *
 * YUV4MPEG2 ("y4m") and raw frames are read and written here. Everything else (Matroska, MP4, MOV,
 * WebM, AVI, MPEG-TS ...) comes through FFmpeg's libraries in the module tamis_video, which is
 * opened when it is first needed; without it such files are refused with a sentence that says so.
 *
 * Frames are not converted: 4:2:0 stays 4:2:0, 10 bits stay 10 bits (in the low bits of U16), and
 * limited range stays limited. A writer that is opened beside a reader keeps what the input carries
 * besides pixels: other tracks, chapters, attachments, timestamps, color tags, titles. */
#ifndef TAMIS_VIDEO_H
#define TAMIS_VIDEO_H

#include <tamis/io.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tamis_video_model {
    TAMIS_VIDEO_GRAY, /* luma alone */
    TAMIS_VIDEO_YUV,  /* luma and two chroma samples, Cb before Cr */
    TAMIS_VIDEO_RGB
} tamis_video_model;

/* The pictures that a frame consists of. */
enum {
    TAMIS_VIDEO_MAIN,   /* luma (1 channel), or R, G, B (3 channels) */
    TAMIS_VIDEO_CHROMA, /* YUV: Cb and Cr, 2 channels, planar or packed */
    TAMIS_VIDEO_ALPHA,  /* 1 channel, straight, as large as MAIN */
    TAMIS_VIDEO_PARTS
};

/* Where chroma samples lie among those of luma, where both are not equally many. */
typedef enum tamis_video_siting {
    TAMIS_VIDEO_SITING_UNKNOWN, /* taken as LEFT */
    TAMIS_VIDEO_SITING_LEFT,    /* MPEG-2, H.264: on luma columns, between luma rows */
    TAMIS_VIDEO_SITING_CENTER,  /* JPEG, MPEG-1: between both */
    TAMIS_VIDEO_SITING_TOPLEFT  /* BT.2020: on both */
} tamis_video_siting;

/* What every frame of a video is like. A plain value. */
typedef struct tamis_video_format {
    int32_t w, h;
    tamis_video_model model;
    tamis_type type;  /* U8; U16 for 9 to 16 bits; F32 */
    int bits;         /* samples are 0 .. 2^bits - 1; 32 for F32 */
    int sub_x, sub_y; /* 4:2:0 = 1, 1; 4:2:2 = 1, 0; 4:4:4 = 0, 0: chroma has (w + 2^sub_x - 1) >>
                         sub_x columns and likewise rows */
    int alpha;        /* 1: frames have an ALPHA part */
    int full_range;   /* 1: black is 0 and white 2^bits - 1; 0: as in television, 16 and 235 of 8
                         bits, chroma 16 .. 240 (RGB and gray without a tag: 1) */
    tamis_video_siting siting;
} tamis_video_format;

/* Part number part's image format; channels is 0 where such frames have no such part. */
TAMIS_API tamis_format tamis_video_part_format(const tamis_video_format *format, int part,
                                               int32_t *w, int32_t *h);
/* Writes text such as "1920x1080 yuv 4:2:0 10-bit limited" into buf; returns buf. */
TAMIS_API const char *tamis_video_format_print(const tamis_video_format *format, char *buf,
                                               size_t size);

/* A frame. Its parts are images whose memory belongs to the frame; part[i].format.channels is 0
 * where there is no such part. */
typedef struct tamis_video_frame {
    tamis_image part[TAMIS_VIDEO_PARTS];
    double time; /* seconds from the start of the video */
    void *owner; /* the memory, the exact timestamp and what else the frame carries */
} tamis_video_frame;

/* What a video says about itself. */
typedef struct tamis_video_info {
    tamis_video_format format;
    char container[32], codec[32], pixels[32]; /* "matroska", "h264", "yuv420p10le" */
    int64_t frames;             /* 0 = unknown before the end is seen; may be an estimate */
    double duration;            /* seconds; 0 = unknown */
    double rate;                /* frames a second, the average; 0 = unknown */
    int rate_num, rate_den;     /* the same as a fraction, 30000/1001; 0/0 = unknown */
    int variable_rate;          /* 1: frames are not equally far apart */
    int aspect_num, aspect_den; /* width : height of a sample; 0/0 = unknown */
    int interlaced; /* 1: frames are pairs of fields, the upper one first; 2: the lower one first */
    int turned;     /* degrees that players turn frames by, counter-clockwise: 0, 90, 180, 270 */
    int audio, subtitles, attachments, chapters, other; /* tracks besides this one, and chapters */
    char color[64]; /* "bt2020nc smpte2084 bt2020", empty when not tagged */
    char detail[96];
    /* What decodes: "software" or a device, "cuda:0", with a reason where it is not the device that
     * was asked for; "" for Y4M and raw. It changes where a device fails in the middle. */
    char decoder[224];
} tamis_video_info;

/* Options for reading. Zero-initialize. */
typedef struct tamis_video_read_options {
    const char *raw;   /* "WxH:PIXELS[:RATE]", such as "1920x1080:yuv420p10:30000/1001": headerless
                          frames, little-endian; NULL = by content */
    double start, end; /* seconds; frames with start <= time < end are delivered; end 0 = all */
    int64_t first, count; /* of these, frames first .. first + count - 1; count 0 = all */
    int threads;          /* for decoding; 0 = as many as are useful */
    int pinned;           /* 1: frames of Y4M and raw files in memory that devices copy at full
                             speed (device.h), where there are any; for frames that go there */
    int device; /* 1 + i: the hardware of device number i decodes, if it can, and frames lie in that
                   device's memory, as part[].device tells; else, and with 0, they are in host
                   memory. The bits are the same. Where hardware fails in the middle software takes
                   its place, and frames go to the device all the same. What is damaged in the data
                   of a frame hardware conceals without telling. For regular files */
} tamis_video_read_options;

typedef struct tamis_video_reader tamis_video_reader;
typedef struct tamis_video_writer tamis_video_writer;

/* 1 when the first bytes of the file are those of a video, 0 when not or when it cannot be read.
 * Still pictures are none, animated GIF and PNG are none either. "-" looks at standard input
 * without taking anything from it, where the system can (Linux), else gives 0; of other pipes the
 * name decides. */
TAMIS_API int tamis_video_probe(tamis_ctx *ctx, const char *path);
/* 1 when the text is as raw of tamis_video_read_options, 0 when not. */
TAMIS_API int tamis_video_raw_is(const char *raw);

/* Opens a video by content; "-" is standard input. options may be NULL. The caller owns *out; on
 * failure it is NULL. A reader is used by one thread at a time, but a writer that was opened beside
 * it may be used by another one at the same time.
 * Errors: ARGUMENT, READ (missing, no video in it, broken), UNSUPPORTED (pixels or codec that
 * nothing decodes, no module), CANCELED (the context's flag), MEMORY; the message names the file.
 */
TAMIS_API tamis_status tamis_video_reader_open(tamis_ctx *ctx, const char *path,
                                               const tamis_video_read_options *options,
                                               tamis_video_reader **out);
TAMIS_API const tamis_video_info *tamis_video_reader_info(const tamis_video_reader *reader);
/* The next frame in the order of showing, for the caller to give back with
 * tamis_video_frame_release() before the reader is closed. At the end *frame has no parts and the
 * call succeeds. Frames that cannot be decoded are left out and counted.
 * Errors: READ (nothing more can be read), UNSUPPORTED (the size or kind of frame changes in the
 * middle), CANCELED (by the context's flag or tamis_video_reader_cancel()), MEMORY. */
TAMIS_API tamis_status tamis_video_reader_next(tamis_video_reader *reader,
                                               tamis_video_frame *frame);
/* What was lost so far, in words such as "3 frames could not be decoded; the file ends in the
 * middle of a frame"; empty when nothing was. Belongs to the reader. */
TAMIS_API const char *tamis_video_reader_damage(const tamis_video_reader *reader);
/* From now on nothing is waited for: calls that wait for bytes of a pipe end, with CANCELED, and
 * later ones likewise. Any thread. */
TAMIS_API void tamis_video_reader_cancel(tamis_video_reader *reader);
TAMIS_API void tamis_video_reader_close(tamis_video_reader **reader);

/* Gives a frame's memory back. Any thread; NULL and empty frames are fine. */
TAMIS_API void tamis_video_frame_release(tamis_video_frame *frame);

/* 1 when video can be written into containers of that name or extension, without a dot: "y4m" and
 * "raw" always, others where the module holds them. */
TAMIS_API int tamis_video_container(const char *name);

/* Options for writing. Zero-initialize. */
typedef struct tamis_video_write_options {
    const char *format; /* container: "matroska", "mp4", "y4m", "raw" ...; NULL = by the name */
    int overwrite;      /* 1: replace an existing file */
    const char *codec;  /* an encoder or codec name: "h264", "hevc", "ffv1", "libsvtav1" ...; NULL =
                           one that the container takes and that holds the depth */
    double quality;     /* the codec's constant quality (CRF), 0 = by percent */
    int percent;        /* quality as of pictures, 1 .. 100: 100 = the best of the codec's scale,
                           92 = visually lossless, 1 = the worst; 0 = 92 */
    const char *preset; /* the codec's speed preset; NULL = its default */
    const char *pixels; /* "yuv420p10" ...; NULL = as the frames are; others are converted */
    int lossless;       /* 1: mathematically lossless, or refused */
    int strip;          /* 1: keep nothing but the video track, its times and its color */
    int threads;        /* for encoding; 0 = as many as are useful */
    double rate;        /* frames a second, where no reader tells; 0 = 25 */
    int pinned;         /* 1: frames to fill lie as those of tamis_video_read_options.pinned do */
    const char *journal; /* a file that what was encoded is kept in until the video is whole, for a
                            run that goes on where this one was cut off: in segments of 250 frames,
                            each with an encoder of its own. Made, or begun anew where its recipe is
                            another. Where FFmpeg's libraries write to a file; else nothing is kept.
                            NULL = nothing is */
    const char *recipe;  /* a text that says what the frames depend on; goes with journal */
} tamis_video_write_options;

/* Prepares an output of that format. With source, everything that it carries besides its frames
 * comes along; source then must stay open until the writer is closed. What the container cannot
 * hold is named by tamis_video_writer_dropped(). Files are written beside their final name, as
 * tamis_writer_open() does. Errors: ARGUMENT (an option), WRITE (place), UNSUPPORTED (the codec
 * cannot hold this size, depth or sampling; the message names its limit and what can be done),
 * MEMORY. */
TAMIS_API tamis_status tamis_video_writer_open(tamis_ctx *ctx, const char *path,
                                               const tamis_video_format *format,
                                               tamis_video_reader *source,
                                               const tamis_video_write_options *options,
                                               tamis_video_writer **out);
/* An empty frame for the caller to fill, with the time and the side data of like, which came from
 * the writer's source. Any thread. Errors: MEMORY. */
TAMIS_API tamis_status tamis_video_writer_frame(tamis_video_writer *writer,
                                                const tamis_video_frame *like,
                                                tamis_video_frame *frame);
/* Takes a frame that tamis_video_writer_frame() gave, in the order of showing; the frame is empty
 * afterwards, whether or not it succeeds. Errors: WRITE (disk full, ...), MEMORY. */
TAMIS_API tamis_status tamis_video_writer_write(tamis_video_writer *writer,
                                                tamis_video_frame *frame);
/* How many frames a journal of another run holds: the first ones, each of which goes to
 * tamis_video_writer_skip() instead of being written. */
TAMIS_API int64_t tamis_video_writer_kept(const tamis_video_writer *writer);
/* Takes what was kept of the next frame, whose time and side data are those of like: a frame of the
 * source, or one that tamis_video_writer_frame() has made for it; it stays the caller's. Errors:
 * ARGUMENT (no more were kept), WRITE, MEMORY. */
TAMIS_API tamis_status tamis_video_writer_skip(tamis_video_writer *writer,
                                               const tamis_video_frame *like);
/* What the container has no place for, such as "subtitle track 3 (hdmv_pgs_subtitle)"; one line
 * each, empty when all is kept. Belongs to the writer. */
TAMIS_API const char *tamis_video_writer_dropped(const tamis_video_writer *writer);
/* The encoder, its pixel format and settings, such as "libx264 yuv420p crf 14"; for people. */
TAMIS_API const char *tamis_video_writer_detail(const tamis_video_writer *writer);
/* Ends the video: with the rest of the other tracks, and the file takes its final name. Errors:
 * WRITE; then nothing is left behind. */
TAMIS_API tamis_status tamis_video_writer_finish(tamis_video_writer *writer);
/* Closes; without a successful finish the file does not stay. */
TAMIS_API void tamis_video_writer_close(tamis_video_writer **writer);

/* 1, with the codecs that the hardware of device number index decodes as far as FFmpeg knows, such
 * as "h264 hevc av1", in buf; 0, with why there are none. */
TAMIS_API int tamis_video_device(int index, char *buf, size_t size);

/* Names and versions of the video libraries, such as "libavcodec 59.37.100 (GPL)", or why there are
 * none; returns buf. */
TAMIS_API const char *tamis_video_libraries(char *buf, size_t size);

#ifdef __cplusplus
}
#endif

#endif
