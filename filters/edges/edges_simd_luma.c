/* SPDX-License-Identifier: Apache-2.0 */
/* Luma rows for slopes. */
#include "edges_simd.h"

/* (9798 r + 19235 g + 3735 b + 16384) >> 15 */
TAMIS_INLINE tv_s16 luma_16(tv_s16 r, tv_s16 g, tv_s16 b)
{
    tv_s16 rg_low, rg_high, b1_low, b1_high, one = (tv_s16){0} + 1;
    const tv_s16 zero = {0};
    tv_s16 weights_rg, weights_b1, unused;
    tv_interleave_s16(zero + EDGES_LUMA_R, zero + EDGES_LUMA_G, &weights_rg, &unused);
    tv_interleave_s16(zero + EDGES_LUMA_B, zero + 16384, &weights_b1, &unused);
    tv_interleave_s16(r, g, &rg_low, &rg_high);
    tv_interleave_s16(b, one, &b1_low, &b1_high);
    tv_s32 low = tv_dot_s16(tv_dot_s16((tv_s32){0}, rg_low, weights_rg), b1_low, weights_b1);
    tv_s32 high = tv_dot_s16(tv_dot_s16((tv_s32){0}, rg_high, weights_rg), b1_high, weights_b1);
    return tv_pack_s32(low >> 15, high >> 15);
}

/* 16-bit samples, unsigned ones moved down by half their range and back: the weights' sum is 1. */
TAMIS_INLINE tv_s16 load_half(const void *row, ptrdiff_t i, tamis_type type)
{
    tv_s16 v = tv_load_s16((const int16_t *)row + i);
    return type == TAMIS_U16 ? v ^ INT16_MIN : v;
}

TAMIS_INLINE void luma_row(const tamis_tile *t, tamis_type type, int y, int first, int n, char *out)
{
    const void *r = t->src[0][y], *g = t->src[1][y], *b = t->src[2][y];
    for (int x = 0; x < n && type == TAMIS_U8; x += TV_BYTES) {
        tv_u16 half[2];
        for (int i = 0; i < 2; i++) {
            ptrdiff_t at = first + x + i * N16;
            half[i] = (tv_u16)luma_16(load_16(r, at), load_16(g, at), load_16(b, at));
        }
        tv_store_u8(out + x, tv_narrow_u16(half[0], half[1]));
    }
    for (int x = 0; x < n && (type == TAMIS_U16 || type == TAMIS_S16); x += N16) {
        ptrdiff_t at = first + x;
        tv_s16 v = luma_16(load_half(r, at, type), load_half(g, at, type), load_half(b, at, type));
        tv_store_s16(out + 2 * (ptrdiff_t)x, type == TAMIS_U16 ? v ^ INT16_MIN : v);
    }
    for (int x = 0; x < n && type == TAMIS_F32; x += N32) {
        ptrdiff_t at = first + x;
        tv_f32 v = load_32(type, r, at) * 0.299f + load_32(type, g, at) * 0.587f;
        tv_store_f32(out + 4 * (ptrdiff_t)x, v + load_32(type, b, at) * 0.114f);
    }
}

const void *const *TAMIS_FN(tamis_priv_edges_luma)(const tamis_tile *t, tamis_type type, int radius,
                                                   void *scratch)
{
    int count = t->h + 2 * radius, n = t->w + 2 * radius;
    size_t size = tamis_type_size(type);
    size_t row_bytes = ((size_t)n + 64) * size + 2 * 320; /* 256 before and after may be read */
    const void **rows = scratch;
    char *buffer = (char *)(rows + count);
    for (int y = 0; y < count; y++) {
        char *out = buffer + (size_t)y * row_bytes + 320;
        rows[y] = out + (size_t)radius * size;
        luma_row(t, type, y - radius, -radius, n, out);
    }
    return rows + radius;
}
