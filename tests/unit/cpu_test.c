/* SPDX-License-Identifier: Apache-2.0 */
/* Instruction sets: a CPU or virtual machine that lacks one thing does not get rows that need it.
 */
#include "core/cpu.h"

#include "unit.h"

static const struct {
    const char *name;
    unsigned word, bit, set;
} features[] = {
    {"SSE3", TAMIS_CPUID_1_ECX, 0, TAMIS_CPU_AVX2},
    {"SSSE3", TAMIS_CPUID_1_ECX, 9, TAMIS_CPU_AVX2},
    {"FMA", TAMIS_CPUID_1_ECX, 12, TAMIS_CPU_AVX2},
    {"CX16", TAMIS_CPUID_1_ECX, 13, TAMIS_CPU_AVX2},
    {"SSE4.1", TAMIS_CPUID_1_ECX, 19, TAMIS_CPU_AVX2},
    {"SSE4.2", TAMIS_CPUID_1_ECX, 20, TAMIS_CPU_AVX2},
    {"MOVBE", TAMIS_CPUID_1_ECX, 22, TAMIS_CPU_AVX2},
    {"POPCNT", TAMIS_CPUID_1_ECX, 23, TAMIS_CPU_AVX2},
    {"XSAVE", TAMIS_CPUID_1_ECX, 26, TAMIS_CPU_AVX2},
    {"OSXSAVE", TAMIS_CPUID_1_ECX, 27, TAMIS_CPU_AVX2},
    {"AVX", TAMIS_CPUID_1_ECX, 28, TAMIS_CPU_AVX2},
    {"F16C", TAMIS_CPUID_1_ECX, 29, TAMIS_CPU_AVX2},
    {"BMI1", TAMIS_CPUID_7_EBX, 3, TAMIS_CPU_AVX2},
    {"AVX2", TAMIS_CPUID_7_EBX, 5, TAMIS_CPU_AVX2},
    {"BMI2", TAMIS_CPUID_7_EBX, 8, TAMIS_CPU_AVX2},
    {"LAHF", TAMIS_CPUID_80000001_ECX, 0, TAMIS_CPU_AVX2},
    {"LZCNT", TAMIS_CPUID_80000001_ECX, 5, TAMIS_CPU_AVX2},
    {"XMM state", TAMIS_CPUID_XCR0, 1, TAMIS_CPU_AVX2},
    {"YMM state", TAMIS_CPUID_XCR0, 2, TAMIS_CPU_AVX2},
    {"AVX512F", TAMIS_CPUID_7_EBX, 16, TAMIS_CPU_AVX512},
    {"AVX512DQ", TAMIS_CPUID_7_EBX, 17, TAMIS_CPU_AVX512},
    {"AVX512CD", TAMIS_CPUID_7_EBX, 28, TAMIS_CPU_AVX512},
    {"AVX512BW", TAMIS_CPUID_7_EBX, 30, TAMIS_CPU_AVX512},
    {"AVX512VL", TAMIS_CPUID_7_EBX, 31, TAMIS_CPU_AVX512},
    {"AVX512VBMI", TAMIS_CPUID_7_ECX, 1, TAMIS_CPU_AVX512},
    {"AVX512VBMI2", TAMIS_CPUID_7_ECX, 6, TAMIS_CPU_AVX512},
    {"AVX512VNNI", TAMIS_CPUID_7_ECX, 11, TAMIS_CPU_AVX512},
    {"mask state", TAMIS_CPUID_XCR0, 5, TAMIS_CPU_AVX512},
    {"ZMM state", TAMIS_CPUID_XCR0, 6, TAMIS_CPU_AVX512},
    {"ZMM16 state", TAMIS_CPUID_XCR0, 7, TAMIS_CPU_AVX512},
};
enum { FEATURES = sizeof features / sizeof *features };

static void all_but(int left_out, unsigned words[TAMIS_CPUID_COUNT])
{
    memset(words, 0, TAMIS_CPUID_COUNT * sizeof *words);
    for (int i = 0; i < FEATURES; i++)
        if (i != left_out)
            words[features[i].word] |= 1u << features[i].bit;
}

static void every_feature_counts(void **state)
{
    unsigned words[TAMIS_CPUID_COUNT];

    (void)state;
    all_but(-1, words); /* no other bit is needed */
    assert_int_equal(tamis_priv_cpu_flags(words), TAMIS_CPU_ALL);
    for (int i = 0; i < FEATURES; i++) {
        unsigned want = TAMIS_CPU_BASE;
        if (features[i].set == TAMIS_CPU_AVX512)
            want |= TAMIS_CPU_AVX2;
        all_but(i, words);
        if (tamis_priv_cpu_flags(words) != want)
            fail_msg("without %s there is still %s", features[i].name,
                     tamis_priv_cpu_name(tamis_priv_cpu_flags(words)));
    }
}

/* The compiler's own check of the sets it can name. */
static void agrees_with_the_compiler(void **state)
{
    (void)state;
#if defined(__x86_64__)
    unsigned flags = tamis_priv_cpu_detect();
    __builtin_cpu_init();
    if (flags & TAMIS_CPU_AVX2)
        assert_true(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("bmi2"));
    if (flags & TAMIS_CPU_AVX512)
        assert_true(__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vnni"));
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_feature_counts),
        cmocka_unit_test(agrees_with_the_compiler),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
