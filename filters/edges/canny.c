/* SPDX-License-Identifier: Apache-2.0 */
/* Canny: parameters, plan and reference. */
#include <tamis/canny.h>

#include <math.h>
#include <stdio.h>

#include "canny_kernel.h"
#include "cpu/picture.h"

static const char *const compat_names[] = {"none", "opencv", NULL};

#define SIGMA_MAX 50
/* high = auto: the slope that this share of all slopes does not exceed, but well above the median,
 * which is that of noise where there are few edges; low = auto by high. */
#define MANY         0.8
#define ABOVE_MEDIAN 3.0
#define LOW_BY_HIGH  0.4

static const tamis_param params[] = {
    TAMIS_PARAM(
        struct tamis_canny, low, .def = 20, .min = 0, .max = 1e9, .percent = 1, .automatic = 1,
        .unit = "levels",
        .doc = "size of slope above which a pixel may belong to an edge; auto: 0.4 times high"),
    TAMIS_PARAM(struct tamis_canny, high, .def = 60, .min = 0, .max = 1e9, .percent = 1,
                .automatic = 1, .unit = "levels",
                .doc =
                    "size of slope above which it begins one; not below low; auto: by the slopes "
                    "that the picture has"),
    TAMIS_PARAM(struct tamis_canny, sigma, .def = 0, .min = 0, .max = SIGMA_MAX, .unit = "px",
                .doc = "standard deviation of the Gaussian that smooths first; 0: none"),
    TAMIS_PARAM(struct tamis_canny, ksize, .def = 3, .min = 3, .max = 7, .odd = 1, .unit = "px",
                .doc = "width and height of the slopes' window: 3, 5 or 7"),
    EDGES_PARAM_NORM(struct tamis_canny),
    TAMIS_PARAM(struct tamis_canny, color, .def = TAMIS_GRADIENT_LUMA, .max = TAMIS_GRADIENT_LUMA,
                .choices = tamis_priv_edges_color_names, .unit = "",
                .doc = "each channel alone, or the luma of RGB"),
    TAMIS_PARAM(struct tamis_canny, compat, .def = TAMIS_CANNY_COMPAT_NONE,
                .max = TAMIS_CANNY_COMPAT_OPENCV, .choices = compat_names, .unit = "",
                .doc = "opencv: its border rule, and its scale of ksize 7; u8, no sigma"),
    TAMIS_PARAM_BORDER(struct tamis_canny),
    TAMIS_PARAM_ALPHA(struct tamis_canny),
};

/* ---- the reference */

/* The source as floats around a tile: sample (x, y) at rows[y][x]. */
typedef struct floats {
    const void **rows;
    int halo;
} floats;

static floats take_rows(char **scratch, const canny_coef *k, int w, int h, int halo)
{
    size_t stride = canny_row_floats(k, w), count = (size_t)h + 2 * (size_t)halo;
    const void **rows = (const void **)(void *)*scratch;
    char *data = *scratch + count * sizeof *rows;
    for (size_t y = 0; y < count; y++)
        rows[y] = data + (y * stride + 64 + (size_t)halo) * sizeof(float);
    *scratch = data + count * stride * sizeof(float);
    return (floats){rows + halo, halo};
}

static float *at(const floats *f, int y)
{
    return (float *)f->rows[y];
}

static void load_rows(const tamis_tile *t, const canny_coef *k, int p, const floats *out)
{
    for (int y = -out->halo; y < t->h + out->halo; y++)
        for (int x = -out->halo; x < t->w + out->halo; x++)
            at(out, y)[x] = tamis_priv_edges_sample(t, k->type, k->luma, p, y, x);
}

/* Columns into one row, then along it. */
static void smooth_rows(const tamis_tile *t, const canny_coef *k, const floats *in,
                        const floats *out, float *column)
{
    for (int y = -out->halo; y < t->h + out->halo; y++) {
        for (int x = -in->halo; x < t->w + in->halo; x++) {
            float sum = k->smooth[0] * at(in, y)[x];
            for (int j = 1; j <= k->smooth_radius; j++)
                sum += k->smooth[j] * (at(in, y - j)[x] + at(in, y + j)[x]);
            column[x] = sum;
        }
        for (int x = -out->halo; x < t->w + out->halo; x++) {
            float sum = k->smooth[0] * column[x];
            for (int j = 1; j <= k->smooth_radius; j++)
                sum += k->smooth[j] * (column[x - j] + column[x + j]);
            at(out, y)[x] = sum;
        }
    }
}

typedef struct slope {
    double dx, dy, size; /* size is squared for L2 */
} slope;

/* What exact arithmetic leaves alone, and binary32 rounds. The operands being binary32 themselves,
 * rounding what binary64 gives is the same as computing in binary32. */
static double rounded(const canny_coef *k, double v)
{
    return k->exact ? v : (double)(float)v;
}

static slope slope_at(const tamis_tile *t, const canny_coef *k, int y, int x)
{
    slope s;
    s.dx = (double)tamis_priv_edges_dx(t, &k->taps, TAMIS_F32, 0, 0, y, x);
    s.dy = (double)tamis_priv_edges_dy(t, &k->taps, TAMIS_F32, 0, 0, y, x);
    if (k->sixteenth) {
        s.dx = rint(s.dx / 16);
        s.dy = rint(s.dy / 16);
    }
    s.size = k->l1 ? rounded(k, fabs(s.dx) + fabs(s.dy))
                   : rounded(k, rounded(k, s.dx * s.dx) + rounded(k, s.dy * s.dy));
    int64_t px = (int64_t)t->x + x, py = (int64_t)t->y + y;
    if (isnan(s.size) || (k->nothing_beyond && (px < 0 || py < 0 || px >= k->w || py >= k->h)))
        s.size = 0;
    return s;
}

static int is_greatest(const tamis_tile *t, const canny_coef *k, int y, int x, const slope *s)
{
    const double tan = CANNY_TAN / 32768.0;
    double ax = fabs(s->dx), ay = fabs(s->dy), m = s->size;
    if (ay < rounded(k, tan * ax))
        return m > slope_at(t, k, y, x - 1).size && m >= slope_at(t, k, y, x + 1).size;
    if (ay > rounded(k, (2 + tan) * ax))
        return m > slope_at(t, k, y - 1, x).size && m >= slope_at(t, k, y + 1, x).size;
    int side = (s->dx < 0) == (s->dy < 0) ? 1 : -1;
    return m > slope_at(t, k, y - 1, x - side).size && m > slope_at(t, k, y + 1, x + side).size;
}

static int class_at(const tamis_tile *t, const canny_coef *k, int y, int x)
{
    slope s = slope_at(t, k, y, x);
    if (!(s.size > k->low) || !is_greatest(t, k, y, x, &s))
        return 0;
    return s.size > k->high ? CANNY_STRONG : CANNY_WEAK;
}

static void canny_c(const tamis_tile *t, const void *coef, void *scratch)
{
    const canny_coef *k = coef;
    for (int p = 0; p < (k->luma ? 1 : t->planes); p++) {
        char *free = scratch;
        floats in = take_rows(&free, k, t->w, t->h, canny_halo(k)), smooth = in;
        load_rows(t, k, p, &in);
        if (k->smooth_radius) {
            smooth = take_rows(&free, k, t->w, t->h, canny_slope_halo(k));
            smooth_rows(t, k, &in, &smooth, (float *)(void *)free + 64 + in.halo);
        }
        tamis_tile of_floats = *t;
        of_floats.src[0] = smooth.rows;
        for (int y = 0; y < t->h; y++)
            for (int x = 0; x < t->w; x++)
                ((uint8_t *)t->dst[p])[y * t->dst_stride[p] + x] =
                    (uint8_t)class_at(&of_floats, k, y, x);
    }
    canny_widen(t, k);
}

static const tamis_kernel canny_kernels_c[] = {
    {"canny", TAMIS_U8, TAMIS_CPU_C, canny_c, 0},
    {"canny", TAMIS_U16, TAMIS_CPU_C, canny_c, 0},
    {"canny", TAMIS_S16, TAMIS_CPU_C, canny_c, 0},
    {"canny", TAMIS_F32, TAMIS_CPU_C, canny_c, 0},
    {NULL},
};

TAMIS_KERNEL_DECLARE(canny);
static const tamis_kernel *const kernels[] = TAMIS_KERNEL_LIST(canny);

/* ---- plan */

static tamis_status check_compat(tamis_node *node, const struct tamis_canny *p)
{
    if (p->compat != TAMIS_CANNY_COMPAT_OPENCV)
        return TAMIS_OK;
    if (node->in.type != TAMIS_U8)
        return tamis_priv_fail(node->ctx, TAMIS_ERR_UNSUPPORTED,
                               "canny: compat = opencv is for u8, not %s",
                               tamis_type_name(node->in.type));
    if (node->work != TAMIS_U8)
        return tamis_priv_fail(node->ctx, TAMIS_ERR_UNSUPPORTED,
                               "canny: alpha = premultiply: compat = opencv is for u8, which color "
                               "weighted by alpha is not; possible: ignore, straight");
    if (p->sigma > 0)
        return tamis_priv_fail(node->ctx, TAMIS_ERR_UNSUPPORTED,
                               "canny: sigma = %g: compat = opencv has no smoothing; put gaussian "
                               "before it",
                               p->sigma);
    return TAMIS_OK;
}

static tamis_status set_thresholds(tamis_node *node, const struct tamis_canny *p, canny_coef *k)
{
    double low = tamis_priv_node_value(node, p->low);
    double high = tamis_priv_node_value(node, p->high);
    if (low > high)
        return tamis_priv_fail(node->ctx, TAMIS_ERR_ARGUMENT,
                               "canny: low = %g levels must not be above high = %g levels", low,
                               high);
    if (k->sixteenth) {
        low /= 16;
        high /= 16;
    }
    if (k->exact) { /* no slope is larger, and whole ones compare with the whole part alike */
        low = fmin(low, 32767);
        high = fmin(high, 32767);
    }
    k->low = k->l1 ? low : low * low;
    k->high = k->l1 ? high : high * high;
    k->low = k->exact ? floor(k->low) : (double)(float)k->low;
    k->high = k->exact ? floor(k->high) : (double)(float)k->high;
    return TAMIS_OK;
}

static tamis_status set_smoothing(tamis_node *node, double sigma, canny_coef *k)
{
    int radius = (int)ceil(3 * sigma);
    if (radius == 0)
        return TAMIS_OK;
    float *taps = tamis_priv_node_alloc(node, ((size_t)radius + 1) * sizeof *taps);
    if (!taps)
        return tamis_priv_fail(node->ctx, TAMIS_ERR_MEMORY, "canny: no memory");
    double sum = 1;
    for (int i = 1; i <= radius; i++)
        sum += 2 * exp(-0.5 * (i / sigma) * (i / sigma));
    for (int i = 0; i <= radius; i++)
        taps[i] = (float)(exp(-0.5 * (i / sigma) * (i / sigma)) / sum);
    k->smooth = taps;
    k->smooth_radius = radius;
    return TAMIS_OK;
}

static size_t canny_scratch(const void *coef, int w, int h, int step)
{
    const canny_coef *k = coef;
    (void)step;
    size_t luma = k->luma ? tamis_priv_edges_luma_bytes(k->type, canny_halo(k), w, h) : 0;
    return 3 * CANNY_RING_BYTES + EDGES_SLOPES_BYTES + canny_rows_bytes(k, w, h) + luma;
}

static tamis_status plan(tamis_node *node)
{
    static const edges_kind kinds[] = {EDGES_SOBEL3, EDGES_SOBEL5, EDGES_SOBEL7};
    const struct tamis_canny *p = node->params;
    int opencv = p->compat == TAMIS_CANNY_COMPAT_OPENCV;
    canny_coef *k = tamis_priv_node_alloc(node, sizeof *k);
    if (!k)
        return tamis_priv_fail(node->ctx, TAMIS_ERR_MEMORY, "canny: no memory");
    TAMIS_TRY(tamis_priv_edges_channels(node, "canny", p->color, p->alpha, &k->luma));
    TAMIS_TRY(check_compat(node, p));
    k->kind = kinds[(p->ksize - 3) / 2];
    k->taps = tamis_priv_edges_taps[k->kind];
    k->type = node->work;
    k->l1 = p->norm == TAMIS_GRADIENT_L1;
    k->exact = node->work == TAMIS_U8 && p->sigma == 0 && (opencv || p->ksize < 7);
    k->sixteenth = opencv && p->ksize == 7;
    k->nothing_beyond = opencv;
    k->w = node->w;
    k->h = node->h;
    TAMIS_TRY(set_thresholds(node, p, k));
    TAMIS_TRY(set_smoothing(node, p->sigma, k));

    int halo = canny_halo(k);
    node->stage = "canny";
    node->planar = 1;
    node->out.type = TAMIS_U8;
    k->widens = tamis_priv_node_result(node) == TAMIS_F32;
    node->halo = (tamis_halo){halo, halo, halo, halo};
    node->border = opencv ? TAMIS_BORDER_REPLICATE : p->border;
    node->border_value = tamis_priv_node_value(node, p->border_value);
    node->coef = k;
    node->scratch = canny_scratch;
    node->finish = tamis_priv_canny_finish;
    node->finish_scratch = tamis_priv_canny_finish_bytes(node->w, node->h);
    return TAMIS_OK;
}

/* ---- thresholds from the picture */

/* What slopes the picture has, all of them and not only ridges. */
static void measure(const void *given, char *chain, size_t size)
{
    const struct tamis_canny *p = given;
    char smooth[64] = "";
    if (p->sigma > 0)
        tamis_priv_number_print(smooth, sizeof smooth, "gaussian=sigma=%.6g,",
                                fmax(p->sigma, 0.01));
    snprintf(chain, size, "%ssobel=type=f32:ksize=%d:norm=%s:color=%s:alpha=%s", smooth, p->ksize,
             p->norm == TAMIS_GRADIENT_L1 ? "l1" : "l2", tamis_priv_edges_color_names[p->color],
             tamis_priv_alpha_names[p->alpha]);
}

static void choose(const tamis_picture *picture, void *open)
{
    struct tamis_canny *p = open;
    double many = tamis_priv_histogram_quantile(picture->histogram, MANY);
    double median = tamis_priv_histogram_quantile(picture->histogram, 0.5);
    double high = tamis_priv_picture_round(fmax(many, ABOVE_MEDIAN * median));
    if (!tamis_priv_value_is_auto(p->high))
        high = tamis_value_resolve(p->high, picture->format.type);
    else if (!tamis_priv_value_is_auto(p->low))
        high = fmax(high, tamis_value_resolve(p->low, picture->format.type));
    if (tamis_priv_value_is_auto(p->low))
        p->low = (tamis_value){.value = tamis_priv_picture_round(LOW_BY_HIGH * high)};
    if (tamis_priv_value_is_auto(p->high))
        p->high = (tamis_value){.value = high};
}

extern const tamis_filter tamis_priv_filter_canny;
const tamis_filter tamis_priv_filter_canny = {
    .name = "canny",
    .brief = "edges as lines one pixel wide, by slopes and two thresholds",
    .params = params,
    .param_count = sizeof params / sizeof *params,
    .params_size = sizeof(struct tamis_canny),
    .traits = TAMIS_TRAIT_EDGES,
    .max_inputs = 1,
    .plan = plan,
    .kernels = kernels,
    .measure = measure,
    .choose = choose,
};
