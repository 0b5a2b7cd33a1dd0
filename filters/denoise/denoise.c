/* SPDX-License-Identifier: Apache-2.0 */
/* denoise: which filters it stands for. */
#include <tamis/denoise.h>

#include "cpu/kernel.h"
#include "cpu/picture.h"

#define IMPULSES_FROM 0.01

static const char *const strength_names[] = {"auto", "light", "medium", "strong", NULL};

static const tamis_param params[] = {
    TAMIS_PARAM(struct tamis_denoise, strength, .def = TAMIS_DENOISE_AUTO,
                .max = TAMIS_DENOISE_STRONG, .choices = strength_names, .unit = "",
                .doc = "how much of the noise goes; auto: as medium, the best for most pictures"),
};

static int patch_for(double levels, int colors)
{
    if (colors >= 3)
        return levels <= 30 ? 3 : 5;
    return levels <= 12 ? 3 : levels <= 40 ? 5 : 7;
}

/* A median leaves of normal noise four tenths, which neighbors share. */
#define LEFT   0.4
#define LEFT_H 0.5

static void expand(const tamis_picture *picture, const void *given, char *chain, size_t size)
{
    static const double factors[] = {1, 0.7, 1, 1.4};
    const struct tamis_denoise *p = given;
    double noise = tamis_priv_picture_sigma(picture), factor = factors[p->strength];
    double range = tamis_type_range(picture->format.type);
    int impulses = tamis_priv_picture_impulses(picture) >= IMPULSES_FROM;
    double h = impulses ? LEFT_H * noise : tamis_priv_nlmeans_strength(noise, range, 1);
    h = tamis_priv_nlmeans_least(factor * h);
    if (impulses)
        tamis_priv_number_print(chain, size, "median=ksize=auto,nlmeans=h=%.4g:sigma=%.4g:patch=5",
                                h, LEFT * noise);
    else
        tamis_priv_number_print(chain, size, "nlmeans=h=%.4g:sigma=%.4g:patch=%d", h, noise,
                                patch_for(noise / range * 255, picture->colors));
}

static const tamis_kernel *const kernels[] = {NULL};

extern const tamis_filter tamis_priv_filter_denoise;
const tamis_filter tamis_priv_filter_denoise = {
    .name = "denoise",
    .brief = "removes noise with the filter and the strength that suit the picture",
    .params = params,
    .param_count = sizeof params / sizeof params[0],
    .params_size = sizeof(struct tamis_denoise),
    .max_inputs = 1,
    .kernels = kernels,
    .expand = expand,
};
