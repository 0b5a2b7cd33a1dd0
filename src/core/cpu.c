/* SPDX-License-Identifier: Apache-2.0 */
#include "core/cpu.h"

#include <string.h>

static const struct {
    const char *name;
    unsigned flags;
} sets[] = {
    {"c", TAMIS_CPU_C},
    {"base", TAMIS_CPU_BASE},
    {"avx2", TAMIS_CPU_BASE | TAMIS_CPU_AVX2},
    {"avx512", TAMIS_CPU_BASE | TAMIS_CPU_AVX2 | TAMIS_CPU_AVX512},
};
enum { SET_COUNT = sizeof sets / sizeof *sets };

unsigned tamis_priv_cpu_detect(void)
{
    unsigned flags = TAMIS_CPU_BASE;
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
        __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2"))
        flags |= TAMIS_CPU_AVX2;
    if ((flags & TAMIS_CPU_AVX2) && __builtin_cpu_supports("avx512f") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512cd") &&
        __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2") &&
        __builtin_cpu_supports("avx512vnni"))
        flags |= TAMIS_CPU_AVX512;
#endif
    return flags;
}

const char *tamis_priv_cpu_name(unsigned flags)
{
    int best = 0;
    for (int i = 1; i < SET_COUNT; i++)
        if (flags & sets[i].flags & ~sets[i - 1].flags) /* what set i adds */
            best = i;
    return sets[best].name;
}

int tamis_priv_cpu_parse(const char *name, unsigned *out)
{
    for (int i = 0; i < SET_COUNT; i++) {
        if (strcmp(sets[i].name, name) == 0) {
            *out = sets[i].flags;
            return 1;
        }
    }
    return 0;
}
