/* The ways of asking a ribbon. */
#include "bloomblock/ribbon/ribbon_probe.h"

#include "bloomblock/ribbon/ribbon_probe_avx2.h"
#include "bloomblock/ribbon/ribbon_probe_avx512.h"
#include "bloomblock/ribbon/ribbon_portable.h"
#include "bloomblock/ribbon/ribbon_window_avx2.h"

_Static_assert(BB_RIBBON_FINGERPRINT_BITS_MAX <= 32,
               "the widest forms take up to 32 fingerprint bits");

#if BB_CPU_X86
static const struct bb_filter_probes *avx2_probes(uint32_t bits)
{
    static const struct bb_filter_probes up_to_3 = {
        {bb_ribbon_probe_avx2_4, bb_ribbon_probe_avx2_bits},
        bb_ribbon_probe_avx2_batch,
        bb_ribbon_portable_shards};
    static const struct bb_filter_probes up_to_5 = {
        {bb_ribbon_probe_avx2_8, bb_ribbon_probe_avx2_bits},
        bb_ribbon_probe_avx2_batch,
        bb_ribbon_probe_avx2_shards};
    static const struct bb_filter_probes up_to_7 = {
        {bb_ribbon_probe_avx2_8, bb_ribbon_probe_avx2_bits_7},
        bb_ribbon_probe_avx2_batch,
        bb_ribbon_probe_avx2_shards};
    static const struct bb_filter_probes up_to_15 = {
        {bb_ribbon_probe_avx2_16, bb_ribbon_probe_avx2_bits},
        bb_ribbon_probe_avx2_batch,
        bb_ribbon_probe_avx2_wide_shards};
    static const struct bb_filter_probes all = {
        {bb_ribbon_probe_avx2_32, bb_ribbon_probe_avx2_bits}, bb_ribbon_probe_avx2_batch, NULL};
    if (bits < BB_RIBBON_WINDOW_AVX2_FINGERPRINT_BITS_MIN)
        return &up_to_3;
    return bits <= 5 ? &up_to_5 : bits <= 7 ? &up_to_7 : bits <= 15 ? &up_to_15 : &all;
}

static const struct bb_filter_probes *avx512_probes(uint32_t bits)
{
    static const struct bb_filter_probes up_to_7 = {
        {bb_ribbon_probe_avx512_8, bb_ribbon_probe_avx512_bits_8},
        bb_ribbon_probe_avx512_batch,
        bb_ribbon_probe_avx512_shards};
    static const struct bb_filter_probes up_to_15 = {
        {bb_ribbon_probe_avx512_16, bb_ribbon_probe_avx512_bits},
        bb_ribbon_probe_avx512_batch_wide,
        bb_ribbon_probe_avx2_wide_shards};
    static const struct bb_filter_probes all = {
        {bb_ribbon_probe_avx512_32, bb_ribbon_probe_avx512_bits},
        bb_ribbon_probe_avx512_batch_wide,
        NULL};
    return bits <= 7 ? &up_to_7 : bits <= 15 ? &up_to_15 : &all;
}
#endif

static const struct bb_filter_probes *portable_probes(uint32_t bits)
{
    static const struct bb_filter_probes up_to_7 = {
        {bb_ribbon_portable_groups, bb_ribbon_portable_bits},
        bb_ribbon_portable_batch,
        bb_ribbon_portable_shards};
    static const struct bb_filter_probes all = {
        {bb_ribbon_portable_groups, bb_ribbon_portable_bits}, bb_ribbon_portable_batch, NULL};
    return bits <= 7 ? &up_to_7 : &all;
}

/* A filter may have one fingerprint bit more than the number for its table. */
const struct bb_filter_probes *bb_ribbon_probe_of(enum bb_cpu cpu, uint32_t fingerprint_bits)
{
    switch (cpu) {
#if BB_CPU_X86
    case BB_CPU_AVX512:
        return avx512_probes(fingerprint_bits);
    case BB_CPU_AVX2:
        return avx2_probes(fingerprint_bits);
#endif
    default:
        return portable_probes(fingerprint_bits);
    }
}

/* --- Shards --- */

/* Of any layout, fingerprint bits and size, and with shards that are not there. */
static bool ask_any(const struct bb_filter_shards *shards, uint64_t key_hash)
{
    bb_filter_place place = *bb_filter_probe_place(shards, key_hash);
    return (uint16_t)place == BB_DESCRIPTOR_NONE ||
           bb_filter_probe_one(shards->probes, shards->payloads + (place >> 16), (uint16_t)place,
                               (uint32_t)shards->fingerprint_bits, key_hash ^ shards->domain);
}

static bool have_windows(const struct bb_filter_shards *shards)
{
    for (uint64_t i = 0; i < shards->count; i++)
        if (!bb_ribbon_window_exists_at(shards->places[i]))
            return false;
    return true;
}

/* Prefetches nothing for a shard without a window. */
static void prefetch(const struct bb_filter_shards *shards, uint64_t key_hash)
{
    bb_filter_place place = *bb_filter_probe_place(shards, key_hash);
    if (bb_ribbon_window_exists_at(place))
        bb_ribbon_window_prefetch(bb_ribbon_window_at(
            shards->payloads, place, shards->fingerprint_bits, key_hash ^ shards->domain));
}

void bb_ribbon_probe_shards(struct bb_filter_shards *shards, const struct bb_filter_probes *probes)
{
    shards->probes = probes;
    shards->prefetch = prefetch;
    shards->probe = probes->shards != NULL && have_windows(shards) ? probes->shards : ask_any;
}
