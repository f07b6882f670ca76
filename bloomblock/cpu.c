/* Detects the processor's features. */
#include "bloomblock/cpu.h"

#if BB_CPU_X86
/* gcc and clang detect the processor, and the registers that the operating system saves, before
 * main. */
#define HAS(part) __builtin_cpu_supports(part)
#else
#define HAS(part) false
#endif
#define AND_HAS(part) &&HAS(part)

enum bb_cpu bb_cpu_best(void)
{
    if (BB_CPU_AVX512_PARTS(HAS, AND_HAS))
        return BB_CPU_AVX512;
    return BB_CPU_AVX2_PARTS(HAS, AND_HAS) ? BB_CPU_AVX2 : BB_CPU_PORTABLE;
}

bool bb_cpu_has(enum bb_cpu cpu)
{
    return cpu <= bb_cpu_best();
}

const char *bb_cpu_name(enum bb_cpu cpu)
{
    static const char *const names[] = {"portable", "avx2", "avx512"};
    return names[cpu];
}
