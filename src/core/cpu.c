/* SPDX-License-Identifier: Apache-2.0 */
#include "core/cpu.h"

#include <stddef.h>
#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

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

/* What the rows' flags (cmake/filters.cmake) let a compiler use: -march=x86-64-v3 for avx2, and
 * -march=x86-64-v4 -mavx512vbmi -mavx512vbmi2 -mavx512vnni for avx512. A virtual machine may hide
 * any of them. Bits are those of Intel's and AMD's manuals. */
static const struct {
    unsigned set, word, bits;
} needs[] = {
    /* SSE3 SSSE3 FMA CX16 SSE4.1 SSE4.2 MOVBE POPCNT XSAVE OSXSAVE AVX F16C */
    {TAMIS_CPU_AVX2, TAMIS_CPUID_1_ECX,
     1u << 0 | 1u << 9 | 1u << 12 | 1u << 13 | 1u << 19 | 1u << 20 | 1u << 22 | 1u << 23 |
         1u << 26 | 1u << 27 | 1u << 28 | 1u << 29},
    /* BMI1 AVX2 BMI2 */
    {TAMIS_CPU_AVX2, TAMIS_CPUID_7_EBX, 1u << 3 | 1u << 5 | 1u << 8},
    /* LAHF LZCNT */
    {TAMIS_CPU_AVX2, TAMIS_CPUID_80000001_ECX, 1u << 0 | 1u << 5},
    /* The system saves XMM and YMM. */
    {TAMIS_CPU_AVX2, TAMIS_CPUID_XCR0, 1u << 1 | 1u << 2},
    /* F DQ CD BW VL */
    {TAMIS_CPU_AVX512, TAMIS_CPUID_7_EBX, 1u << 16 | 1u << 17 | 1u << 28 | 1u << 30 | 1u << 31},
    /* VBMI VBMI2 VNNI */
    {TAMIS_CPU_AVX512, TAMIS_CPUID_7_ECX, 1u << 1 | 1u << 6 | 1u << 11},
    /* The system saves mask registers, the upper halves of ZMM0 .. 15, and ZMM16 .. 31. */
    {TAMIS_CPU_AVX512, TAMIS_CPUID_XCR0, 1u << 5 | 1u << 6 | 1u << 7},
};

unsigned tamis_priv_cpu_flags(const unsigned words[TAMIS_CPUID_COUNT])
{
    unsigned lacking = 0;
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
        if ((words[needs[i].word] & needs[i].bits) != needs[i].bits)
            lacking |= needs[i].set;
    if (lacking & TAMIS_CPU_AVX2)
        lacking |= TAMIS_CPU_AVX512;
    return TAMIS_CPU_ALL & ~lacking;
}

#if defined(__x86_64__)

/* May be called only where the system has switched XSAVE on. */
static __attribute__((target("xsave"))) unsigned read_xcr0(void)
{
    return (unsigned)_xgetbv(0);
}

unsigned tamis_priv_cpu_detect(void)
{
    unsigned words[TAMIS_CPUID_COUNT] = {0}, a, b, c, d;
    if (__get_cpuid(1, &a, &b, &c, &d)) {
        words[TAMIS_CPUID_1_ECX] = c;
        if (c & 1u << 27) /* OSXSAVE */
            words[TAMIS_CPUID_XCR0] = read_xcr0();
    }
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) {
        words[TAMIS_CPUID_7_EBX] = b;
        words[TAMIS_CPUID_7_ECX] = c;
    }
    if (__get_cpuid(0x80000001, &a, &b, &c, &d))
        words[TAMIS_CPUID_80000001_ECX] = c;
    return tamis_priv_cpu_flags(words);
}

#else

unsigned tamis_priv_cpu_detect(void)
{
    return TAMIS_CPU_BASE;
}

#endif

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
