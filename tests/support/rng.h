/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers that look random and are the same everywhere: a counter put through a 64-bit mixer. */
#ifndef TEST_RNG_H
#define TEST_RNG_H

#include <stdint.h>

typedef struct test_rng {
    uint64_t state;
} test_rng;

/* A well mixed 64-bit function of x. */
uint64_t test_mix(uint64_t x);

uint64_t test_rng_next(test_rng *rng);
/* 0 .. n-1, n >= 1. */
int test_rng_below(test_rng *rng, int n);
/* 0 <= u < 1. */
double test_rng_unit(test_rng *rng);

#endif
