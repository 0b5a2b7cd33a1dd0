/* SPDX-License-Identifier: Apache-2.0 */
/* Fused multiply-add: what vector kernels use where the machine has none must give the bits of
 * fmaf(). */
#include <float.h>
#include <math.h>

#include "cpu/simd_f32.h"
#include "support/rng.h"

#include "unit.h"

enum { N32 = TV_BYTES / 4 };

typedef void make_operands(test_rng *rng, float abc[3]);

static int differs(float a, float b)
{
    return isnan(a) || isnan(b) ? isnan(a) != isnan(b) : memcmp(&a, &b, sizeof a) != 0;
}

static void check(float a, float b, float c, float got)
{
    float want = fmaf(a, b, c);
    if (differs(got, want))
        fail_msg("fma(%a, %a, %a) is %a instead of %a", a, b, c, got, want);
}

static void compare(make_operands *make, int count)
{
    test_rng rng = {1};
    for (int i = 0; i < count; i++) {
        tv_f32 v[3];
        for (int lane = 0; lane < N32; lane++) {
            float in[3];
            make(&rng, in);
            for (int k = 0; k < 3; k++)
                v[k][lane] = in[k];
        }
        tv_f32 each = tv_fma_f32(v[0], v[1], v[2]),
               all = tv_fma_by_f32(v[0][0], v[1], v[2], TV_SUMS_ANY);
        for (int lane = 0; lane < N32; lane++) {
            check(v[0][lane], v[1][lane], v[2][lane], each[lane]);
            check(v[0][0], v[1][lane], v[2][lane], all[lane]);
        }
    }
}

static float any_bits(test_rng *rng)
{
    uint32_t bits = (uint32_t)(test_rng_next(rng) >> 32);
    float v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

/* A significand of which most bits may be 0 or 1, so that products and sums are often exact. */
static float near_one(test_rng *rng)
{
    float v = 1 + (float)test_rng_below(rng, 1 << test_rng_below(rng, 24)) * 0x1p-23f;
    if (test_rng_below(rng, 2))
        v = 3 - v;
    return test_rng_below(rng, 2) ? -v : v;
}

static void make_any(test_rng *rng, float abc[3])
{
    for (int k = 0; k < 3; k++)
        abc[k] = any_bits(rng);
}

/* Products and addends of all sizes to each other, also where results are subnormal or overflow. */
static void make_near(test_rng *rng, float abc[3])
{
    int exponent = test_rng_below(rng, 400) - 250, half = exponent / 2;
    abc[0] = ldexpf(near_one(rng), half);
    abc[1] = ldexpf(near_one(rng), exponent - half);
    abc[2] = ldexpf(near_one(rng), exponent + test_rng_below(rng, 120) - 60);
}

/* (1 + k e)(1 - k e) 2^n is 2^n but for the last of many bits, and 2^n half of the addend's last
 * place, or near it. */
static void make_middle(test_rng *rng, float abc[3])
{
    int bits = test_rng_below(rng, 24), exponent = test_rng_below(rng, 290) - 155;
    float k = (float)test_rng_below(rng, 1 << bits) * 0x1p-23f;
    float addend = (float)(test_rng_below(rng, 1 << 23) + (test_rng_below(rng, 4) ? 1 << 23 : 0));
    abc[0] = ldexpf(1 + k, exponent / 2);
    abc[1] = ldexpf(test_rng_below(rng, 4) ? 1 - k : 1, exponent - exponent / 2);
    abc[2] = ldexpf(addend, exponent + 1 + (test_rng_below(rng, 8) ? 0 : test_rng_below(rng, 3)));
    for (int i = 0; i < 3; i++)
        abc[i] *= test_rng_below(rng, 2) ? -1 : 1;
}

/* Subnormal results: the addend is whole units of 2^-149, the product less than two or near half
 * of one. */
static void make_subnormal(test_rng *rng, float abc[3])
{
    make_middle(rng, abc);
    int exponent = test_rng_below(rng, 8) ? -150 : -test_rng_below(rng, 40) - 140;
    abc[0] = ldexpf(frexpf(abc[0], &(int){0}), exponent / 2 + 1);
    abc[1] = ldexpf(frexpf(abc[1], &(int){0}), exponent - exponent / 2 + 1);
    abc[2] = (float)(test_rng_below(rng, 1 << test_rng_below(rng, 25)) - 3) * 0x1p-149f;
}

/* The addend cancels the product but for its last bits. */
static void make_cancelling(test_rng *rng, float abc[3])
{
    int exponent = test_rng_below(rng, 240) - 120;
    abc[0] = ldexpf(near_one(rng), exponent / 2);
    abc[1] = ldexpf(near_one(rng), exponent - exponent / 2);
    abc[2] = -abc[0] * abc[1];
    for (int i = test_rng_below(rng, 3); i > 0; i--)
        abc[2] = nextafterf(abc[2], test_rng_below(rng, 2) ? INFINITY : -INFINITY);
}

static void make_extreme(test_rng *rng, float abc[3])
{
    static const float values[] = {0,
                                   1,
                                   2,
                                   0.5f,
                                   FLT_MIN,
                                   0x1p-149f,
                                   0x1.8p-148f,
                                   0x1p-75f,
                                   0x1p-126f,
                                   1e-40f,
                                   FLT_MAX,
                                   0x1.fffffep63f,
                                   0x1p64f,
                                   0x1p-24f,
                                   0x1p127f,
                                   0x1p103f,
                                   0x1p102f,
                                   INFINITY,
                                   NAN,
                                   0x1.000002p0f,
                                   0x1.fffffep0f};
    for (int k = 0; k < 3; k++) {
        float v = values[test_rng_below(rng, sizeof values / sizeof *values)];
        abc[k] = test_rng_below(rng, 2) ? -v : v;
    }
}

/* As kernels have them: taps of any kind, samples of integers, sums so far. */
static void make_sums(test_rng *rng, float abc[3])
{
    abc[0] = (float)test_rng_below(rng, 1 << 24) * 0x1p-24f;
    abc[1] = (float)test_rng_below(rng, 1 << (1 + test_rng_below(rng, 17)));
    abc[2] = (float)test_rng_unit(rng) * abc[1];
}

#define CASE(name)                                                                                 \
    static void name(void **state)                                                                 \
    {                                                                                              \
        (void)state;                                                                               \
        compare(make_##name, 1 << 20);                                                             \
    }
CASE(any)
CASE(near)
CASE(middle)
CASE(subnormal)
CASE(cancelling)
CASE(extreme)
CASE(sums)
#undef CASE

/* Sums of which kernels know something. */
static void known(void **state)
{
    test_rng rng = {1};
    (void)state;
    for (int i = 0; i < 1 << 20; i++) {
        float abc[3];
        tv_f32 zero = {0};
        make_sums(&rng, abc);
        tv_f32 v = tv_fma_sum_f32(zero + abc[0], zero + abc[1], zero + abc[2], TV_SUMS_NORMAL);
        check(abc[0], abc[1], abc[2], v[N32 - 1]);
        abc[2] = roundf(abc[2] * 0x1p24f) * 0x1p-24f;
        v = tv_fma_sum_f32(zero + abc[0], zero + abc[1], zero + abc[2], TV_SUMS_FIT);
        check(abc[0], abc[1], abc[2], v[N32 - 1]);
    }
}

/* Levels of 16 bits by a factor: the least last bit with which 53 bits hold the sum. */
static void factors(void **state)
{
    (void)state;
    assert_int_equal(tv_last_bit(0), 0);
    assert_int_equal(tv_last_bit(-12), 0);
    assert_int_equal(tv_last_bit(1 + 0x1p-23f), -23);
    assert_int_equal(tv_last_bit(0x1.8p-140f), -141);
    assert_int_equal(tv_last_bit(0x1p-149f), -149);
    enum tv_sums fit = TV_SUMS_MATTER ? TV_SUMS_FIT : TV_SUMS_ANY;
    assert_int_equal(tv_sums_of(TAMIS_U16, -36, 1), fit);
    assert_int_equal(tv_sums_of(TAMIS_U16, -36, 3), TV_SUMS_ANY);
    assert_int_equal(tv_sums_of(TAMIS_U16, -149, 1e-9f), TV_SUMS_ANY);
    assert_int_equal(tv_sums_of(TAMIS_F32, 0, 1), TV_SUMS_ANY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any),       cmocka_unit_test(near),       cmocka_unit_test(middle),
        cmocka_unit_test(subnormal), cmocka_unit_test(cancelling), cmocka_unit_test(extreme),
        cmocka_unit_test(sums),      cmocka_unit_test(known),      cmocka_unit_test(factors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
