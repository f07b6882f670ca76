/* See blocked_bloom_probe.h. */
#include "bloomblock/bloom/blocked_bloom_probe.h"

const struct bb_blocked_bloom_probe *bb_blocked_bloom_probe_of(enum bb_cpu cpu)
{
    static const struct bb_blocked_bloom_probe forms[] = {
        [BB_CPU_PORTABLE] = {bb_blocked_bloom_may_contain},
#if BB_CPU_X86
        [BB_CPU_AVX2] = {bb_blocked_bloom_avx2},
        [BB_CPU_AVX512] = {bb_blocked_bloom_avx512},
#endif
    };
    return &forms[cpu];
}
