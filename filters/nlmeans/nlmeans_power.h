/* SPDX-License-Identifier: Apache-2.0 */
/* Weights 2^-t in 16-bit lanes, at most 32767, rounded as nlmeans_tables says. */
#ifndef TAMIS_NLMEANS_POWER_H
#define TAMIS_NLMEANS_POWER_H

#include "nlmeans_words.h"

#if defined(TAMIS_AVX512)

/* 2^-f by a table for f, the part of t below 1. */
typedef struct nlmeans_power {
    __m512i last, low, high, threshold;
    int octave;
} nlmeans_power;

static nlmeans_power nlmeans_load_power(const nlmeans_levels *v, int phase)
{
    return (nlmeans_power){
        .last = (__m512i)words_all((uint16_t)(((32 << v->octave) - 1) & 0xffff)),
        .low = _mm512_load_si512(v->tables->power),
        .high = _mm512_load_si512(v->tables->power + 32),
        .threshold = _mm512_load_si512(v->tables->threshold[phase]),
        .octave = v->octave,
    };
}

TAMIS_INLINE tv_u16 nlmeans_find_power(const nlmeans_power *k, tv_u16 sum)
{
    __m512i t = _mm512_min_epu16((__m512i)sum, k->last);
    __m512i f = (__m512i)words_shift_right((tv_u16)t, k->octave - 6);
    __m512i e = (__m512i)words_shift_right((tv_u16)t, k->octave);
    __m512i power = _mm512_permutex2var_epi16(k->low, f, k->high);
    power = _mm512_avg_epu16(power, _mm512_permutexvar_epi16(e, k->threshold));
    return (tv_u16)_mm512_srlv_epi16(power, _mm512_min_epu16(e, _mm512_set1_epi16(15)));
}

#else

/* 2^-f by a polynomial that is off by 0.21 % at most. The shift by 1 + e bits is a product with
 * 2^(15 - e), where e = 15 leaves nothing: what is below the smallest weight comes by the reach.
 * There is no variable shift of 16-bit lanes. */
typedef struct nlmeans_power {
    tv_u16 last, reach, step;
    int octave;
} nlmeans_power;

#if defined(TAMIS_AVX2) || defined(TAMIS_NEON)
#define NLMEANS_LOOKS_UP 1
#else
#define NLMEANS_LOOKS_UP 0
#endif

/* Each 16 bytes of a vector as a table. */
TAMIS_INLINE tv_u16 nlmeans_table(const uint8_t table[16])
{
    tv_u16 v;
    for (int i = 0; i < TV_BYTES; i += 16)
        memcpy((char *)&v + i, table, 16);
    return v;
}

static nlmeans_power nlmeans_load_power(const nlmeans_levels *v, int phase)
{
    return (nlmeans_power){
        .last = words_all((uint16_t)((16 << v->octave) - 1)),
        .reach = words_all(v->tables->reach[phase]),
        .step = NLMEANS_LOOKS_UP ? nlmeans_table(v->tables->step[phase])
                                 : words_all((uint16_t)(v->tables->step[phase][7] << 8)),
        .octave = v->octave,
    };
}

#if NLMEANS_LOOKS_UP
/* The bytes of a table, by indices 0 .. 15. */
TAMIS_INLINE tv_u16 nlmeans_look_up(tv_u16 table, tv_u16 index)
{
#if defined(TAMIS_AVX2)
    return (tv_u16)_mm256_shuffle_epi8((__m256i)table, (__m256i)index);
#else
    return (tv_u16)vqtbl1q_u8((uint8x16_t)table, (uint8x16_t)index);
#endif
}

/* (power - (1 - part) * 2^(e + 1)) / 2^(e + 1). As each table has nothing but bytes, the lower byte
 * of a lane is looked up by e and the upper one, which is e - 8 places farther, by e xor 8. */
TAMIS_INLINE tv_u16 nlmeans_scale_power(const nlmeans_power *k, tv_u16 power, tv_u16 e)
{
    static const uint8_t scales[16] = {0, 0, 0, 0, 0, 0, 0, 0, 128, 64, 32, 16, 8, 4, 2, 1};
    tv_u16 index = e * 0x101 ^ 0x800;
    power -= nlmeans_look_up(k->step, index);
    return words_multiply_high(power, nlmeans_look_up(nlmeans_table(scales), index));
}
#else
/* The same where there are no tables: 2^(15 - e) by the exponent of a float, and the subtraction
 * from the lower half of the product. */
TAMIS_INLINE tv_u16 nlmeans_scale_power(const nlmeans_power *k, tv_u16 power, tv_u16 e)
{
    tv_s16 low, high;
    tv_interleave_s16((tv_s16){0}, (tv_s16)((142 - e) << 7), &low, &high);
    tv_u16 scale = (tv_u16)tv_pack_s32(__builtin_convertvector((tv_f32)low, tv_s32),
                                       __builtin_convertvector((tv_f32)high, tv_s32));
    tv_u16 borrow = (tv_u16)(power * scale < k->step);
    tv_s16 v = (tv_s16)(words_multiply_high(power, scale) + borrow);
    return (tv_u16)tv_max_s16(v, (tv_s16){0});
}
#endif

TAMIS_INLINE tv_u16 nlmeans_find_power(const nlmeans_power *k, tv_u16 sum)
{
    tv_u16 t = tv_min_u16(sum, k->last);
    tv_u16 f = words_shift_left(t, 16 - k->octave), e = words_shift_right(t, k->octave);
    tv_u16 slope = words_all(43820) - words_multiply_high(f, words_all(11160));
    tv_u16 power = words_all(65480) - words_multiply_high(f, slope);
    return nlmeans_scale_power(k, power, e) - (tv_u16)(sum <= k->reach);
}

#endif

#endif
