/* The instruction sets used for probes. Every probe has a portable form in C, and some have
 * additional forms for wider vectors; all forms of a probe give the same results. A filter view or
 * the format of a table's filters selects a form by a pointer to a function: there is no global
 * state, and tests run each form.
 *
 * Threads: any. */
#ifndef BB_BLOOMBLOCK_CPU_H
#define BB_BLOOMBLOCK_CPU_H

#include <stdbool.h>

/* In ascending order: a processor with one also has the earlier ones. */
enum bb_cpu {
    BB_CPU_PORTABLE,
    BB_CPU_AVX2, /* and BMI2, POPCNT: Intel from Haswell, AMD from Zen on */
    /* F, BW, DQ, VL, VBMI, VBMI2, VPOPCNTDQ, BITALG, IFMA, GFNI: Intel from Ice Lake, AMD from Zen
     * 4 on */
    BB_CPU_AVX512,
    BB_CPU_COUNT,
};

/* Whether processor, operating system and this build have it. */
bool bb_cpu_has(enum bb_cpu cpu);
/* The highest level that the processor supports. */
enum bb_cpu bb_cpu_best(void);
/* "portable", "avx2", "avx512"; static. */
const char *bb_cpu_name(enum bb_cpu cpu);

/* Whether the forms for x86 are part of this build; -DBB_CPU_X86=0 leaves them out. */
#ifndef BB_CPU_X86
#if defined(__x86_64__)
#define BB_CPU_X86 1
#else
#define BB_CPU_X86 0
#endif
#endif

/* The features of each, defined once for both uses: as targets of functions, and for detection.
 * first is a macro for the first name, more a macro for each of the others. */
#define BB_CPU_AVX2_PARTS(first, more) first("avx2") more("bmi") more("bmi2") more("popcnt")
#define BB_CPU_AVX512_PARTS(first, more)                                                           \
    BB_CPU_AVX2_PARTS(first, more)                                                                 \
    more("avx512f") more("avx512bw") more("avx512dq") more("avx512vl") more("avx512vbmi")          \
        more("avx512vbmi2") more("avx512vpopcntdq") more("avx512bitalg") more("avx512ifma")        \
            more("gfni")

/* Attributes of the functions that are compiled for one of them. The rest of the library runs on
 * any processor of the architecture. */
#define BB_CPU_NAME(part)      part
#define BB_CPU_NEXT_NAME(part) "," part
#define BB_CPU_TARGET_AVX2     __attribute__((target(BB_CPU_AVX2_PARTS(BB_CPU_NAME, BB_CPU_NEXT_NAME))))
#define BB_CPU_TARGET_AVX512                                                                       \
    __attribute__((target(BB_CPU_AVX512_PARTS(BB_CPU_NAME, BB_CPU_NEXT_NAME))))

#endif
