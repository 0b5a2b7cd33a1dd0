/* SPDX-License-Identifier: Apache-2.0 */
/* Which instruction sets this CPU has. */
#ifndef TAMIS_CORE_CPU_H
#define TAMIS_CORE_CPU_H

/* Instruction sets a kernel row may need. Each contains the ones before it on its machine. */
enum {
    TAMIS_CPU_C = 0,           /* the reference: plain C, compiled without contraction */
    TAMIS_CPU_BASE = 1 << 0,   /* what every CPU of the target has: SSE2, NEON */
    TAMIS_CPU_AVX2 = 1 << 1,   /* x86-64-v3: AVX2, FMA, BMI2 and kin */
    TAMIS_CPU_AVX512 = 1 << 2, /* AVX-512 F BW DQ VL VBMI VBMI2 VNNI (Ice Lake, Zen 4) */
    TAMIS_CPU_ALL = TAMIS_CPU_BASE | TAMIS_CPU_AVX2 | TAMIS_CPU_AVX512
};

/* TAMIS_CPU_* flags of this machine. */
unsigned tamis_priv_cpu_detect(void);

/* What an x86 CPU says of itself: registers of the instruction CPUID by leaf, and XCR0, which tells
 * what state the system saves. */
enum {
    TAMIS_CPUID_1_ECX,
    TAMIS_CPUID_7_EBX,
    TAMIS_CPUID_7_ECX,
    TAMIS_CPUID_80000001_ECX,
    TAMIS_CPUID_XCR0,
    TAMIS_CPUID_COUNT
};
/* TAMIS_CPU_* flags of an x86 CPU that says so: only sets of which nothing lacks. */
unsigned tamis_priv_cpu_flags(const unsigned words[TAMIS_CPUID_COUNT]);

/* "c", "base", "avx2", "avx512": the name of the highest set in flags, which may be a machine's
 * sets or the one that a kernel row needs. */
const char *tamis_priv_cpu_name(unsigned flags);
/* Flags of the set of that name and all below it. Returns 0 and leaves *out for unknown names. */
int tamis_priv_cpu_parse(const char *name, unsigned *out);

/* Names that carry the instruction set of the current compilation: TAMIS_ISA is avx2, base ... */
#define TAMIS_CAT2(a, b) a##_##b
#define TAMIS_CAT(a, b)  TAMIS_CAT2(a, b)
#define TAMIS_FN(stem)   TAMIS_CAT(stem, TAMIS_ISA)

#endif
