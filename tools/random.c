/* SPDX-License-Identifier: Apache-2.0 */
#include "random.h"

#include <math.h>

/* Three rounds of multiply and fold. The multipliers are odd and irregular: the leading 64 bits of
 * the fractions of the golden ratio, of sqrt(2) and of sqrt(3), last bit set. Each round spreads
 * every bit upwards by the product and downwards by the shift; after three, flipping any input bit
 * flips each output bit about half the time. */
static uint64_t mix(uint64_t x)
{
    x ^= x >> 32;
    x *= 0x9E3779B97F4A7C15u;
    x ^= x >> 29;
    x *= 0x6A09E667F3BCC909u;
    x ^= x >> 32;
    x *= 0xBB67AE8584CAA73Bu;
    return x ^ x >> 30;
}

uint64_t tool_random_bits(uint64_t seed, uint64_t counter)
{
    return mix(mix(seed + 0x9E3779B97F4A7C15u) ^ mix(counter));
}

double tool_random_uniform(uint64_t seed, uint64_t counter)
{
    return ((double)(tool_random_bits(seed, counter) >> 12) + 0.5) * 0x1p-52;
}

/* Box and Muller's method; the two uniforms are the halves of one stream apart by the seed. */
double tool_random_normal(uint64_t seed, uint64_t counter)
{
    double radius = sqrt(-2 * log(tool_random_uniform(seed, counter)));
    double turn = tool_random_uniform(~seed, counter);
    return radius * cos(6.283185307179586 * turn);
}

/* Walks from the mode outwards, to both sides in turn, until the probabilities met exceed the
 * uniform number: about sqrt(mean) steps. */
static double poisson_by_inversion(double u, double mean)
{
    double low = floor(mean), high = low;
    double p = exp(low * log(mean) - mean - lgamma(low + 1)), p_low = p, p_high = p;
    u -= p;
    while (u > 0) {
        p_high *= mean / (high + 1);
        high++;
        u -= p_high;
        if (u <= 0)
            return high;
        p_low *= low / mean;
        if (low > 0)
            low--;
        u -= p_low;
        if (u <= 0)
            return low;
        /* What rounding has lost of the total: nothing is left on either side. */
        if (p_high + p_low < 1e-18)
            return high;
    }
    return floor(mean);
}

double tool_random_poisson(uint64_t seed, uint64_t counter, double mean)
{
    if (mean <= 0)
        return 0;
    if (mean <= 10000)
        return poisson_by_inversion(tool_random_uniform(seed, counter), mean);
    double value = nearbyint(mean + sqrt(mean) * tool_random_normal(seed, counter));
    return value > 0 ? value : 0;
}
