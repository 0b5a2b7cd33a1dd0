/* SPDX-License-Identifier: Apache-2.0 */
/* The one face that every peer shows to run.py: a shared library with these five functions.
 *
 * Pictures cross it packed and without gaps between rows. A peer takes the source into its own
 * memory and layout when it is opened, so that only filtering is timed. */
#ifndef PEER_H
#define PEER_H

#ifdef __cplusplus
extern "C" {
#endif

#define PEER_API __attribute__((visibility("default")))

typedef struct peer_job {
    const char *filter; /* "gaussian", "box", "convolve", "median", "bilateral", "nlmeans",
                           "sobel" (magnitude), "canny", "rotate", "perspective", "resize" */
    const char *type;   /* "u8", "u16", "f32" */
    int w, h, channels, threads;
    int ksize;
    double sigma;        /* in pixels: gaussian, bilateral; of nlmeans the search window */
    double sigma_color;  /* in levels, 0 .. 1 for f32: bilateral; of nlmeans the strength,
                            of canny the lower threshold, a third of the upper one */
    const float *kernel; /* ksize * ksize weights: convolve; to be copied by peer_open() */
    const char *interp;  /* "linear", "cubic", "area", "lanczos3": rotate, perspective, resize */
    int result_w, result_h;
    double matrix[9]; /* picture to result, row by row: rotate, perspective */
} peer_job;

/* Name and version of the library in use; static storage. */
PEER_API const char *peer_version(void);
/* Gets ready to filter src, which is copied; the strings of job must outlive the peer.
 * NULL: the peer has no such filter for such pictures. */
PEER_API void *peer_open(const peer_job *job, const void *src);
/* Filters once; 0 on success. This is what is timed. */
PEER_API int peer_run(void *peer);
/* Copies the newest result to dst; 0 on success. */
PEER_API int peer_result(void *peer, void *dst);
PEER_API void peer_close(void *peer);

#ifdef __cplusplus
}
#endif

#endif
