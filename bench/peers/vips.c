/* SPDX-License-Identifier: Apache-2.0 */
/* libvips as a peer, from memory to memory. Its pipelines are lazy, so a run builds one, and its
 * cache of operations is off, lest later runs find the first one's result. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <vips/vips.h>

#include "peer.h"

typedef struct vips_peer {
    peer_job job;
    int median, resize;
    size_t bytes, result_bytes;
    void *src, *result;
} vips_peer;

static VipsBandFormat format_of(const char *type)
{
    return !strcmp(type, "u8")    ? VIPS_FORMAT_UCHAR
           : !strcmp(type, "u16") ? VIPS_FORMAT_USHORT
                                  : VIPS_FORMAT_FLOAT;
}

const char *peer_version(void)
{
    static char text[64];
    snprintf(text, sizeof text, "libvips %d.%d.%d", vips_version(0), vips_version(1),
             vips_version(2));
    return text;
}

void *peer_open(const peer_job *job, const void *src)
{
    int median = !strcmp(job->filter, "median");
    int resize = !strcmp(job->filter, "resize") &&
                 (!strcmp(job->interp, "cubic") || !strcmp(job->interp, "lanczos3"));
    if ((!median && !resize && strcmp(job->filter, "gaussian")) || VIPS_INIT("peers"))
        return NULL;
    vips_cache_set_max(0);
    vips_concurrency_set(job->threads);
    vips_peer *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    *p = (vips_peer){*job, median, resize};
    p->bytes = (size_t)job->w * (size_t)job->h * (size_t)job->channels *
               vips_format_sizeof(format_of(job->type));
    p->result_bytes = (size_t)job->result_w * (size_t)job->result_h * (size_t)job->channels *
                      vips_format_sizeof(format_of(job->type));
    p->src = malloc(p->bytes);
    if (!p->src) {
        free(p);
        return NULL;
    }
    memcpy(p->src, src, p->bytes);
    return p;
}

/* Its window ends where the Gaussian falls below a given height; this height, between those at the
 * last tap and at the next one, makes the window ksize wide. */
static double last_height(const peer_job *job)
{
    double r = job->ksize / 2 + 0.5;
    return exp(-r * r / (2 * job->sigma * job->sigma));
}

static int filter(const vips_peer *p, VipsImage *in, VipsImage **out)
{
    if (p->median)
        return vips_median(in, out, p->job.ksize, NULL);
    if (p->resize)
        return vips_resize(
            in, out, (double)p->job.result_w / p->job.w, "kernel",
            strcmp(p->job.interp, "cubic") ? VIPS_KERNEL_LANCZOS3 : VIPS_KERNEL_CUBIC, NULL);
    return vips_gaussblur(
        in, out, p->job.sigma, "min_ampl", last_height(&p->job), "precision",
        strcmp(p->job.type, "f32") ? VIPS_PRECISION_INTEGER : VIPS_PRECISION_FLOAT, NULL);
}

int peer_run(void *peer)
{
    vips_peer *p = peer;
    VipsImage *in = vips_image_new_from_memory(p->src, p->bytes, p->job.w, p->job.h,
                                               p->job.channels, format_of(p->job.type));
    VipsImage *out = NULL;
    size_t bytes = 0;
    if (!in || filter(p, in, &out)) {
        g_clear_object(&in);
        return 1;
    }
    g_free(p->result);
    p->result = vips_image_write_to_memory(out, &bytes);
    g_object_unref(out);
    g_object_unref(in);
    return bytes != p->result_bytes;
}

int peer_result(void *peer, void *dst)
{
    vips_peer *p = peer;
    if (!p->result)
        return 1;
    memcpy(dst, p->result, p->result_bytes);
    return 0;
}

void peer_close(void *peer)
{
    vips_peer *p = peer;
    g_free(p->result);
    free(p->src);
    free(p);
}
