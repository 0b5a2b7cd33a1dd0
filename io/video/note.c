/* SPDX-License-Identifier: Apache-2.0 */
#include "note.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Contexts of ours are known by these functions: opaque pointers of others mean something else. */
static enum AVPixelFormat choose_format(struct AVCodecContext *codec,
                                        const enum AVPixelFormat *formats)
{
    for (int i = 0; codec->hw_device_ctx && formats[i] != AV_PIX_FMT_NONE; i++)
        if (formats[i] == AV_PIX_FMT_CUDA)
            return formats[i];
    for (; *formats != AV_PIX_FMT_NONE; formats++) {
        const AVPixFmtDescriptor *d = av_pix_fmt_desc_get(*formats);
        if (d && !(d->flags & AV_PIX_FMT_FLAG_HWACCEL))
            return *formats;
    }
    return AV_PIX_FMT_NONE;
}

/* A file does not make others open, be it a playlist or a reference. */
static int open_nothing(struct AVFormatContext *s, AVIOContext **pb, const char *url, int flags,
                        AVDictionary **options)
{
    (void)s;
    (void)url;
    (void)flags;
    (void)options;
    *pb = NULL;
    return AVERROR(EACCES);
}

static tamis_av_note *note_of(void *context)
{
    const AVClass *class = context ? *(const AVClass **)context : NULL;
    if (class == NULL)
        return NULL;
    if (class == avcodec_get_class()) {
        const AVCodecContext *codec = context;
        return codec->get_format == choose_format ? codec->opaque : NULL;
    }
    if (class == avformat_get_class()) {
        const AVFormatContext *format = context;
        return format->io_open == open_nothing ? format->opaque : NULL;
    }
    return NULL;
}

static void keep(tamis_av_note *note, const char *format, va_list args)
{
    char line[160];
    int n = vsnprintf(line, sizeof line, format, args);
    size_t used = n < 0 ? 0 : strcspn(line, "\r\n");
    line[used] = '\0';
    pthread_mutex_lock(&note->mutex);
    note->errors++;
    if (!*note->first)
        memcpy(note->first, line, used + 1);
    pthread_mutex_unlock(&note->mutex);
}

static void take_line(void *context, int level, const char *format, va_list args)
{
    if (level > AV_LOG_ERROR)
        return;
    tamis_av_note *note = note_of(context);
    if (note)
        keep(note, format, args);
}

void tamis_priv_av_note_install(void)
{
    av_log_set_callback(take_line);
}

void tamis_priv_av_note_open(tamis_av_note *note)
{
    note->errors = 0;
    note->first[0] = '\0';
    pthread_mutex_init(&note->mutex, NULL);
}

void tamis_priv_av_note_close(tamis_av_note *note)
{
    pthread_mutex_destroy(&note->mutex);
}

void tamis_priv_av_note_clear(tamis_av_note *note)
{
    pthread_mutex_lock(&note->mutex);
    note->errors = 0;
    note->first[0] = '\0';
    pthread_mutex_unlock(&note->mutex);
}

void tamis_priv_av_note_codec(tamis_av_note *note, AVCodecContext *codec)
{
    codec->opaque = note;
    codec->get_format = choose_format;
}

void tamis_priv_av_note_format(tamis_av_note *note, AVFormatContext *format)
{
    format->opaque = note;
    format->io_open = open_nothing;
}

int tamis_priv_av_note_read(tamis_av_note *note, char *buf, size_t size)
{
    pthread_mutex_lock(&note->mutex);
    int errors = note->errors;
    snprintf(buf, size, "%s", note->first);
    pthread_mutex_unlock(&note->mutex);
    return errors;
}
