/* The ways of asking a ribbon. */
#include "bloomblock/ribbon_probe.h"

#include "bloomblock/descriptor.h"
#include "bloomblock/ribbon.h"
#include "bloomblock/ribbon_avx2.h"
#include "bloomblock/ribbon_avx512.h"
#include "bloomblock/ribbon_bits.h"

#define CACHE_LINE_SIZE 64

_Static_assert(BB_RIBBON_RANK_MAX <= 32, "the widest forms take ranks up to 32");

#if BB_CPU_X86
static const struct bb_ribbon_probes *avx2_probes(uint32_t rank)
{
    static const struct bb_ribbon_probes up_to_5 = {{bb_ribbon_avx2_8, bb_ribbon_avx2_bits}};
    static const struct bb_ribbon_probes up_to_7 = {{bb_ribbon_avx2_8, bb_ribbon_avx2_bits_7}};
    static const struct bb_ribbon_probes up_to_15 = {{bb_ribbon_avx2_16, bb_ribbon_avx2_bits}};
    static const struct bb_ribbon_probes all = {{bb_ribbon_avx2_32, bb_ribbon_avx2_bits}};
    return rank <= 5 ? &up_to_5 : rank <= 7 ? &up_to_7 : rank <= 15 ? &up_to_15 : &all;
}

static const struct bb_ribbon_probes *avx512_probes(uint32_t rank)
{
    static const struct bb_ribbon_probes up_to_7 = {{bb_ribbon_avx512_8, bb_ribbon_avx512_bits_8}};
    static const struct bb_ribbon_probes up_to_15 = {{bb_ribbon_avx512_16, bb_ribbon_avx512_bits}};
    static const struct bb_ribbon_probes all = {{bb_ribbon_avx512_32, bb_ribbon_avx512_bits}};
    return rank <= 7 ? &up_to_7 : rank <= 15 ? &up_to_15 : &all;
}
#endif

/* A filter's rank may be one more than the table's. */
const struct bb_ribbon_probes *bb_ribbon_probes_of(enum bb_cpu cpu, uint32_t rank)
{
    static const struct bb_ribbon_probes portable = {
        {bb_ribbon_may_contain, bb_ribbon_bits_may_contain}};
    switch (cpu) {
#if BB_CPU_X86
    case BB_CPU_AVX512:
        return avx512_probes(rank);
    case BB_CPU_AVX2:
        return avx2_probes(rank);
#endif
    default:
        (void)rank;
        return &portable;
    }
}

static void prefetch(const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i += CACHE_LINE_SIZE)
        __builtin_prefetch(bytes + i);
    __builtin_prefetch(bytes + size - 1);
}

void bb_ribbon_prefetch(const uint8_t *payload, uint16_t descriptor, uint32_t rank, uint64_t hash)
{
    struct bb_ribbon_descriptor parts = bb_ribbon_descriptor_decode(descriptor);
    rank += parts.step;
    if (parts.bit_exact && parts.size > 0) {
        prefetch(payload, bb_ribbon_bits_size(parts.size, rank));
    } else if (parts.size >= BB_RIBBON_GROUPS_MIN) {
        uint32_t group = bb_ribbon_group(hash, parts.seed, parts.size);
        prefetch(payload + (size_t)group * rank, (size_t)BB_RIBBON_WINDOW_GROUPS * rank);
    }
}
