/* The ways of asking a ribbon. */
#include "bloomblock/ribbon/ribbon_probe.h"

#include "bloomblock/ribbon/ribbon_avx2.h"
#include "bloomblock/ribbon/ribbon_avx512.h"
#include "bloomblock/ribbon/ribbon_pairs_avx2.h"

_Static_assert(BB_RIBBON_RANK_MAX <= 32, "the widest forms take ranks up to 32");

static uint64_t portable_many(const struct bb_ribbon_batch *batch, size_t count)
{
    struct bb_ribbon_question questions[BB_RIBBON_BATCH];
    uint64_t bits = 0;
    for (size_t i = 0; i < count; i++) {
        bb_ribbon_question_init(&questions[i], batch, i);
        bb_ribbon_question_prefetch(&questions[i]);
    }
    for (size_t i = 0; i < count; i++) {
        bool answer = questions[i].slots > 0 ? bb_ribbon_bits_answer(&questions[i])
                                             : bb_ribbon_answer(&questions[i]);
        bits |= (uint64_t)answer << i;
    }
    return bits;
}

#if BB_CPU_X86
static const struct bb_ribbon_probes *avx2_probes(uint32_t rank)
{
    static const struct bb_ribbon_probes up_to_3 = {
        {bb_ribbon_avx2_4, bb_ribbon_avx2_bits}, bb_ribbon_avx2_many, bb_ribbon_shards_portable};
    static const struct bb_ribbon_probes up_to_5 = {
        {bb_ribbon_avx2_8, bb_ribbon_avx2_bits}, bb_ribbon_avx2_many, bb_ribbon_avx2_shards};
    static const struct bb_ribbon_probes up_to_7 = {
        {bb_ribbon_avx2_8, bb_ribbon_avx2_bits_7}, bb_ribbon_avx2_many, bb_ribbon_avx2_shards};
    static const struct bb_ribbon_probes up_to_15 = {
        {bb_ribbon_avx2_16, bb_ribbon_avx2_bits}, bb_ribbon_avx2_many, NULL};
    static const struct bb_ribbon_probes all = {
        {bb_ribbon_avx2_32, bb_ribbon_avx2_bits}, bb_ribbon_avx2_many, NULL};
    if (rank < BB_RIBBON_PAIRS_RANK_MIN)
        return &up_to_3;
    return rank <= 5 ? &up_to_5 : rank <= 7 ? &up_to_7 : rank <= 15 ? &up_to_15 : &all;
}

static const struct bb_ribbon_probes *avx512_padded_probes(void)
{
    static const struct bb_ribbon_probes up_to_7 = {
        {bb_ribbon_avx512_8_padded, bb_ribbon_avx512_bits_8},
        bb_ribbon_avx512_many,
        bb_ribbon_avx512_shards};
    return &up_to_7;
}

static const struct bb_ribbon_probes *avx512_probes(uint32_t rank)
{
    static const struct bb_ribbon_probes up_to_7 = {{bb_ribbon_avx512_8, bb_ribbon_avx512_bits_8},
                                                    bb_ribbon_avx512_many,
                                                    bb_ribbon_avx512_shards};
    static const struct bb_ribbon_probes up_to_15 = {
        {bb_ribbon_avx512_16, bb_ribbon_avx512_bits}, bb_ribbon_avx512_many, NULL};
    static const struct bb_ribbon_probes all = {
        {bb_ribbon_avx512_32, bb_ribbon_avx512_bits}, bb_ribbon_avx512_many, NULL};
    return rank <= 7 ? &up_to_7 : rank <= 15 ? &up_to_15 : &all;
}
#endif

static const struct bb_ribbon_probes *portable_probes(uint32_t rank)
{
    static const struct bb_ribbon_probes up_to_7 = {
        {bb_ribbon_may_contain, bb_ribbon_bits_may_contain},
        portable_many,
        bb_ribbon_shards_portable};
    static const struct bb_ribbon_probes all = {
        {bb_ribbon_may_contain, bb_ribbon_bits_may_contain}, portable_many, NULL};
    return rank <= 7 ? &up_to_7 : &all;
}

/* A filter's rank may be one more than the table's. */
const struct bb_ribbon_probes *bb_ribbon_probes_of(enum bb_cpu cpu, uint32_t rank)
{
    switch (cpu) {
#if BB_CPU_X86
    case BB_CPU_AVX512:
        return avx512_probes(rank);
    case BB_CPU_AVX2:
        return avx2_probes(rank);
#endif
    default:
        return portable_probes(rank);
    }
}

const struct bb_ribbon_probes *bb_ribbon_padded_probes_of(enum bb_cpu cpu, uint32_t rank)
{
#if BB_CPU_X86
    if (cpu == BB_CPU_AVX512 && rank <= 7)
        return avx512_padded_probes();
#endif
    return bb_ribbon_probes_of(cpu, rank);
}

/* --- Shards --- */

/* Of any layout, rank and size, and with shards that are not there. */
static bool ask_any(const struct bb_ribbon_shards *shards, uint64_t key_hash)
{
    uint64_t hash = key_hash ^ shards->domain;
    uint64_t place = bb_ribbon_shards_place(shards, hash);
    return (uint16_t)place == BB_DESCRIPTOR_NONE ||
           bb_ribbon_ask(shards->probes, shards->payloads + (place >> 16), (uint16_t)place,
                         (uint32_t)shards->rank, hash);
}

static bool have_windows(const struct bb_ribbon_shards *shards)
{
    for (uint64_t i = 0; i < shards->count; i++) {
        uint16_t descriptor = (uint16_t)shards->places[i];
        if (bb_ribbon_descriptor_is_bit_exact(descriptor) || !bb_ribbon_has_window(descriptor))
            return false;
    }
    return true;
}

void bb_ribbon_probe_shards(struct bb_ribbon_shards *shards, const struct bb_ribbon_probes *probes)
{
    shards->probes = probes;
    shards->probe = probes->shards != NULL && have_windows(shards) ? probes->shards : ask_any;
}
