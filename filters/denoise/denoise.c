/* SPDX-License-Identifier: Apache-2.0 */
/* denoise: which filters it stands for. */
#include <math.h>
#include <tamis/denoise.h>

#include "cpu/kernel.h"
#include "cpu/picture.h"

#define IMPULSES_FROM 0.01
/* Such a part of the impulses must stand out from their neighbors. */
#define ALONE 0.3

static const char *const strength_names[] = {"auto", "light", "medium", "strong", NULL};

static const tamis_param params[] = {
    TAMIS_PARAM(struct tamis_denoise, strength, .def = TAMIS_DENOISE_AUTO,
                .max = TAMIS_DENOISE_STRONG, .choices = strength_names, .unit = "",
                .doc = "how much of the noise goes; auto and medium: the least error"),
};

/* ---- settings */

enum kind { NLMEANS, BILATERAL, GAUSSIAN };

/* A filter, and the places of its numbers in the lists below. */
typedef struct setting {
    enum kind kind;
    int size, strength;
    int wide; /* nlmeans: the large search window */
} setting;

#define COUNT(list) ((int)(sizeof(list) / sizeof(list)[0]))

static const int patches[] = {3, 5, 7, 9};
static const double hs[] = {0.2, 0.25, 0.3, 0.37, 0.45, 0.55, 0.67, 0.82, 1};
static const double spaces[] = {0.7, 1, 1.5, 2, 3};
static const double colors[] = {1, 1.5, 2, 2.5, 3, 4};
static const double gaussians[] = {0.4, 0.5, 0.6, 0.7, 0.85, 1, 1.25, 1.5, 2, 2.5};

static int sizes_of(enum kind kind)
{
    return kind == NLMEANS ? COUNT(patches) : kind == BILATERAL ? COUNT(spaces) : COUNT(gaussians);
}

static int strengths_of(enum kind kind)
{
    return kind == NLMEANS ? COUNT(hs) : kind == BILATERAL ? COUNT(colors) : 1;
}

/* The chain of a setting for that noise, with its strength times factor. */
static void print(setting s, double noise, double factor, char *chain, size_t size)
{
    if (s.kind == GAUSSIAN)
        tamis_priv_number_print(chain, size, "gaussian=sigma=%.4g", factor * gaussians[s.size]);
    else if (s.kind == BILATERAL)
        tamis_priv_number_print(chain, size, "bilateral=sigma_space=%.4g:sigma_color=%.4g",
                                spaces[s.size], factor * colors[s.strength] * noise);
    else
        tamis_priv_number_print(chain, size, "nlmeans=h=%.4g:sigma=%.4g:patch=%d:search=%d",
                                factor * hs[s.strength] * noise, noise, patches[s.size],
                                s.wide ? 21 : 11);
}

/* ---- search */

#define CHAIN_MAX 200
/* By such a part a neighbor must be better to be worth going on. */
#define WORTH 0.005
/* By such a part other filters must be better than nlmeans, for what is left looks worse. */
#define PREFER 0.02
/* Large windows of nlmeans, four times as slow, are tried where the small one is no farther behind
 * other filters than this: they gain as much at most. */
#define WITHIN 0.3
/* Errors under this part of the noise's variance are estimates of no use by themselves. */
#define LEAST_RISK 0.01

/* Settings that are tried at most; some 20 are usual. */
#define TRIED_MAX 40

/* A setting and the error that it would leave. */
typedef struct tried {
    setting setting;
    double risk;
} tried;

typedef struct search {
    const tamis_picture *picture;
    double noise;
    int count;
    tried list[TRIED_MAX]; /* so far */
} search;

static int is_same(setting a, setting b)
{
    return a.kind == b.kind && a.size == b.size && a.strength == b.strength && a.wide == b.wide;
}

/* After the last that there is room for, none is better. */
static tried try_one(search *s, setting wanted)
{
    char chain[CHAIN_MAX];
    for (int i = 0; i < s->count; i++)
        if (is_same(s->list[i].setting, wanted))
            return s->list[i];
    tried out = {wanted, INFINITY};
    if (s->count == TRIED_MAX)
        return out;
    print(wanted, s->noise, 1, chain, sizeof chain);
    out.risk = tamis_priv_picture_risk(s->picture, chain);
    s->list[s->count++] = out;
    return out;
}

static tried better(tried a, tried b)
{
    return b.risk < a.risk ? b : a;
}

/* How far b is below a, as a part of a. */
static double gain(const search *s, tried a, tried b)
{
    return (a.risk - b.risk) / fmax(a.risk, LEAST_RISK * s->noise * s->noise);
}

static tried best_of(search *s, const setting *settings, int count)
{
    tried best = try_one(s, settings[0]);
    for (int i = 1; i < count; i++)
        best = better(best, try_one(s, settings[i]));
    return best;
}

static int is_there(setting s)
{
    return s.size >= 0 && s.size < sizes_of(s.kind) && s.strength >= 0 &&
           s.strength < strengths_of(s.kind);
}

/* From neighbor to neighbor, as long as that gains. Each turn is for the size or the strength, by
 * one direction that has proved better. */
static tried climb(search *s, tried best)
{
    for (int failed = 0, by_size = 0; failed < 2; by_size = !by_size) {
        tried before = best;
        for (int way = -1; way <= 1 && best.risk == before.risk; way += 2)
            for (;;) {
                setting next = best.setting;
                *(by_size ? &next.size : &next.strength) += way;
                tried more = is_there(next) ? try_one(s, next) : best;
                if (!(gain(s, best, more) > WORTH))
                    break;
                best = more;
            }
        failed = best.risk < before.risk ? 0 : failed + 1;
    }
    return best;
}

/* With a large window, where that gains; h is less then. */
static tried widen(search *s, tried small)
{
    setting wide = small.setting;
    wide.wide = 1;
    tried large = try_one(s, wide);
    if (wide.strength > 0) {
        wide.strength--;
        large = better(large, try_one(s, wide));
    }
    return gain(s, small, large) > WORTH ? climb(s, large) : small;
}

/* With more samples at the ends of the range, noise is known too badly to tell filters apart. */
#define CUT_OFF 0.1

static setting find(search *s)
{
    static const setting small[] = {{NLMEANS, 0, 4, 0}, {NLMEANS, 0, 7, 0}, {NLMEANS, 1, 6, 0}};
    static const setting edges[] = {
        {BILATERAL, 0, 4, 0}, {BILATERAL, 2, 3, 0}, {BILATERAL, 3, 5, 0}};
    static const setting blurs[] = {{GAUSSIAN, 1, 0, 0}, {GAUSSIAN, 5, 0, 0}};
    tried means = climb(s, best_of(s, small, COUNT(small)));
    if (tamis_priv_picture_ends(s->picture) >= CUT_OFF)
        return widen(s, means).setting;
    tried other = better(climb(s, best_of(s, edges, COUNT(edges))),
                         climb(s, best_of(s, blurs, COUNT(blurs))));
    if (gain(s, other, means) > -WITHIN)
        means = widen(s, means);
    return gain(s, means, other) > PREFER ? other.setting : means.setting;
}

/* ---- chains */

/* A median leaves of normal noise four tenths, which neighbors share. */
#define LEFT   0.4
#define LEFT_H 0.5
/* Noise of less than so many levels is hidden by rounding. */
#define LEAST_LEVELS 0.5

/* The estimate sees noise of dark places, cut off at black beside brighter ones, as impulses too.
 */
static int has_impulses(const tamis_picture *picture)
{
    double share = tamis_priv_picture_impulses(picture);
    return share >= IMPULSES_FROM && tamis_priv_picture_alone(picture) >= ALONE * share;
}

static void expand(const tamis_picture *picture, const void *given, char *chain, size_t size)
{
    static const double factors[] = {1, 0.7, 1, 1.4};
    const struct tamis_denoise *p = given;
    tamis_type type = picture->format.type;
    double noise = tamis_priv_picture_sigma(picture), factor = factors[p->strength];
    double least = type == TAMIS_F16 || type == TAMIS_F32 ? 0 : LEAST_LEVELS;
    if (has_impulses(picture)) {
        tamis_priv_number_print(chain, size, "median=ksize=auto,nlmeans=h=%.4g:sigma=%.4g:patch=5",
                                tamis_priv_nlmeans_least(factor * LEFT_H * noise), LEFT * noise);
    } else if (noise > least && tamis_priv_nlmeans_least(hs[0] * noise) > 0) {
        search s = {.picture = picture, .noise = tamis_priv_picture_round(noise)};
        print(find(&s), s.noise, factor, chain, size);
    } else {
        double h = tamis_priv_nlmeans_strength(noise, tamis_type_range(type), 1);
        tamis_priv_number_print(chain, size, "nlmeans=h=%.4g:sigma=%.4g:patch=3",
                                tamis_priv_nlmeans_least(factor * h), noise);
    }
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
