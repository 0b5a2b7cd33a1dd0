/* SPDX-License-Identifier: Apache-2.0 */
/* Means of windows on a device. Integers are exact; floats are summed in binary64. Bytes: box_rows
 * for small windows, for color box_products up to about 113 samples; other integers: box_strips. */
#include "box_parts.cuh"
#include "box_products.cuh"
#include "box_rows.cuh"
#include "box_strips.cuh"

template <typename T>
static tamis_status launch(const tamis_gpu_work *w, const tamis_node *node, const void *state,
                           tamis_gpu_fault *fault)
{
    const struct box_coef *c = (const struct box_coef *)node->coef;
    box_args<T> a = box_args_of<T>(w, c);
    tamis_status status;
    (void)state;
    if constexpr (sizeof(T) == 1)
        if (launch_rows(w, c, fault, &status) ||
            launch_products(w, *(const box_products_plan *)state, fault, &status))
            return status;
    if constexpr (sizeof(T) < 4) {
        if (choose_strips<T>(&a)) {
            if constexpr (sizeof(T) == 1)
                if (c->h <= 257)
                    return launch_strips<T, box_columns_packed>(a, w, fault);
            return launch_strips<T, box_columns<T>>(a, w, fault);
        }
    }
    if (c->w <= DIRECT_MAX && c->h <= DIRECT_MAX)
        return launch_direct<T>(a, w, fault);
    return launch_parts<T>(a, w, c, fault);
}

/* u8 */
static tamis_status prepare(tamis_gpu_prep *prep)
{
    const struct box_coef *c = (const struct box_coef *)prep->node->coef;
    box_products_plan *plan = (box_products_plan *)prep->alloc(prep, sizeof *plan);
    box_args<uint8_t> a;
    prep->state = plan;
    if (!plan)
        return TAMIS_ERR_MEMORY;
    a.n = c->n;
    a.kw = c->w;
    return choose_strips<uint8_t>(&a) ? fill_box_products(prep, c, a, plan) : TAMIS_OK;
}

/* For box_parts; whether it will be used does not depend on the part's size. */
template <typename T>
static size_t scratch(const tamis_node *node, const void *state, int32_t w, int32_t h)
{
    (void)state;
    const struct box_coef *c = (const struct box_coef *)node->coef;
    box_args<T> a;
    a.n = c->n;
    a.kw = c->w;
    a.shift = 0;
    if constexpr (sizeof(T) < 4)
        if (choose_strips<T>(&a))
            return 0;
    if (c->w <= DIRECT_MAX && c->h <= DIRECT_MAX)
        return 0;
    return 2 * box_parts_bytes(c, node->in.channels, w, h);
}

TAMIS_CUDA_KERNELS(box) = {
    {"mean", TAMIS_U8, 0, prepare, scratch<uint8_t>, launch<uint8_t>},
    {"mean", TAMIS_U16, 0, NULL, scratch<uint16_t>, launch<uint16_t>},
    {"mean", TAMIS_S16, 0, NULL, scratch<int16_t>, launch<int16_t>},
    {"mean", TAMIS_F32, 1.2e-7, NULL, scratch<float>, launch<float>},
    {},
};
