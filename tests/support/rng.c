/* SPDX-License-Identifier: Apache-2.0 */
#include "support/rng.h"

uint64_t test_mix(uint64_t x)
{
    /* Odd multipliers and shifts over half the word: every input bit reaches every output bit. */
    x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93u;
    x = (x ^ (x >> 29)) * 0x9e3779b97f4a7c15u;
    return x ^ (x >> 32);
}

uint64_t test_rng_next(test_rng *rng)
{
    rng->state += 0x9e3779b97f4a7c15u;
    return test_mix(rng->state);
}

int test_rng_below(test_rng *rng, int n)
{
    return (int)((test_rng_next(rng) >> 33) % (uint64_t)n);
}

double test_rng_unit(test_rng *rng)
{
    return (double)(test_rng_next(rng) >> 11) / 9007199254740992.0;
}
