/* SPDX-License-Identifier: Apache-2.0 */
/* What FFmpeg's libraries say about one file or codec, kept instead of printed. */
#ifndef TAMIS_VIDEO_NOTE_H
#define TAMIS_VIDEO_NOTE_H

#include <pthread.h>

#include "av.h"

typedef struct tamis_av_note {
    pthread_mutex_t mutex; /* guards what follows: decoders speak from threads of their own */
    int errors;
    char first[160]; /* the first error, without its newline */
} tamis_av_note;

/* Keeps FFmpeg's texts off the terminal: those of contexts that were given a note go there, others
 * nowhere. For the whole process, since FFmpeg has one place for texts. */
void tamis_priv_av_note_install(void);

void tamis_priv_av_note_open(tamis_av_note *note);
void tamis_priv_av_note_close(tamis_av_note *note);
/* Forgets everything. */
void tamis_priv_av_note_clear(tamis_av_note *note);
/* Gives a context its note, before it is opened. */
void tamis_priv_av_note_codec(tamis_av_note *note, AVCodecContext *codec);
void tamis_priv_av_note_format(tamis_av_note *note, AVFormatContext *format);
/* Copies the first error into buf, "" when there was none; returns how many there were. */
int tamis_priv_av_note_read(tamis_av_note *note, char *buf, size_t size);

#endif
