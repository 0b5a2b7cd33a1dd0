/* SPDX-License-Identifier: Apache-2.0 */
/* Included once per sample size, with SAMPLE and NAME defined: packed pixels to planes and back.
 * There is no include guard, since there is more than one inclusion. */

static inline __attribute__((always_inline)) void
NAME(split_of)(void *const *planes, const SAMPLE *restrict s, const size_t channels, size_t n)
{
    SAMPLE *restrict a = planes[0], *restrict b = planes[1];
    SAMPLE *restrict c = channels > 2 ? planes[2] : NULL;
    SAMPLE *restrict d = channels > 3 ? planes[3] : NULL;
    for (size_t i = 0; i < n; i++) {
        a[i] = s[i * channels];
        b[i] = s[i * channels + 1];
        if (channels > 2)
            c[i] = s[i * channels + 2];
        if (channels > 3)
            d[i] = s[i * channels + 3];
    }
}

static inline __attribute__((always_inline)) void
NAME(join_of)(SAMPLE *restrict s, const void *const *planes, const size_t channels, size_t n)
{
    const SAMPLE *restrict a = planes[0], *restrict b = planes[1];
    const SAMPLE *restrict c = channels > 2 ? planes[2] : NULL;
    const SAMPLE *restrict d = channels > 3 ? planes[3] : NULL;
    for (size_t i = 0; i < n; i++) {
        s[i * channels] = a[i];
        s[i * channels + 1] = b[i];
        if (channels > 2)
            s[i * channels + 2] = c[i];
        if (channels > 3)
            s[i * channels + 3] = d[i];
    }
}

/* With the number of channels known to the compiler. */
static void NAME(split)(void *const *planes, const void *packed, int channels, size_t n)
{
    if (channels == 1)
        memcpy(planes[0], packed, n * sizeof(SAMPLE));
    else if (channels == 2)
        NAME(split_of)(planes, packed, 2, n);
    else if (channels == 3)
        NAME(split_of)(planes, packed, 3, n);
    else
        NAME(split_of)(planes, packed, 4, n);
}

static void NAME(join)(void *packed, const void *const *planes, int channels, size_t n)
{
    if (channels == 1)
        memcpy(packed, planes[0], n * sizeof(SAMPLE));
    else if (channels == 2)
        NAME(join_of)(packed, planes, 2, n);
    else if (channels == 3)
        NAME(join_of)(packed, planes, 3, n);
    else
        NAME(join_of)(packed, planes, 4, n);
}

#undef SAMPLE
#undef NAME
