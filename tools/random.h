/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers by position: number n of a seed is a function of both and of nothing else, so
 * that noise does not depend on order, threads or tiles. */
#ifndef TOOL_RANDOM_H
#define TOOL_RANDOM_H

#include <stdint.h>

/* 64 well-mixed bits. */
uint64_t tool_random_bits(uint64_t seed, uint64_t counter);

/* Uniform in 0 < x < 1. */
double tool_random_uniform(uint64_t seed, uint64_t counter);

/* Standard normal; uses no other counter than this one. */
double tool_random_normal(uint64_t seed, uint64_t counter);

/* Poisson with the given mean >= 0: exact by inversion up to a mean of 10000, beyond that a rounded
 * normal, which differs by less than 1% in any probability that matters. */
double tool_random_poisson(uint64_t seed, uint64_t counter, double mean);

#endif
