/* Parquet's split-block Bloom filter in an envelope: the payload is only the bitset. Parameters:
 * blocks, probes (always 8). */
#include "standalone/kind/kind.h"

#include "base/status.h"
#include "standalone/bloom/split_block.h"

static enum bb_status choose(struct bb_envelope *envelope)
{
    envelope->parameters[1] = BB_SPLIT_BLOCK_WORDS;
    return bb_split_block_count(envelope->key_count, envelope->target_rate,
                                &envelope->parameters[0]);
}

static void add(const uint64_t *parameters, uint8_t *payload, uint64_t hash)
{
    bb_split_block_add(payload, (uint32_t)parameters[0], hash);
}

static enum bb_status check(const struct bb_envelope *envelope)
{
    uint64_t blocks = envelope->parameters[0];
    if (envelope->salt != 0)
        return bb_corrupt(bb_envelope_place, BB_ENVELOPE_AT_SALT,
                          "salt of a split-block filter is %016llx, expected 0",
                          (unsigned long long)envelope->salt);
    if (blocks < 1 || blocks > BB_SPLIT_BLOCK_COUNT_MAX ||
        blocks * BB_SPLIT_BLOCK_SIZE != envelope->payload.size)
        return bb_envelope_bad_parameter(envelope, 0, "number of blocks");
    if (envelope->parameters[1] != BB_SPLIT_BLOCK_WORDS)
        return bb_envelope_bad_parameter(envelope, 1, "number of probes");
    return bb_envelope_check_bits(envelope, 0, (uint64_t)envelope->payload.size * 8,
                                  envelope->key_count);
}

static bool may_contain(const struct bb_filter_view *view, uint64_t hash)
{
    return bb_split_block_may_contain(view->payload.data, (uint32_t)view->parameters[BB_VIEW_SIZE],
                                      hash);
}

static void prefetch(const struct bb_filter_view *view, uint64_t hash)
{
    bb_split_block_prefetch(view->payload.data, (uint32_t)view->parameters[BB_VIEW_SIZE], hash);
}

#if BB_CPU_X86
static bool may_contain_avx2(const struct bb_filter_view *view, uint64_t hash)
{
    return bb_split_block_avx2(view->payload.data, (uint32_t)view->parameters[BB_VIEW_SIZE], hash);
}
#endif

static void use(struct bb_filter_view *view, enum bb_cpu cpu)
{
    view->kind = &bb_kind_split_block.probe;
#if BB_CPU_X86
    static const struct bb_kind_probe avx2 = {
        .may_contain = may_contain_avx2, .use = use, .prefetch = prefetch};
    if (cpu >= BB_CPU_AVX2)
        view->kind = &avx2;
#else
    (void)cpu;
#endif
}

static void describe(const struct bb_envelope *envelope, struct bb_filter_info *info)
{
    struct bb_bytes bitset = envelope->payload;
    bb_kind_describe_bits(envelope, info);
    info->predicted_rate =
        bb_split_block_rate(bitset.data, (uint32_t)envelope->parameters[0], 1, 1);
}

const struct bb_kind_ops bb_kind_split_block = {
    .takes_key_hashes = true,
    .may_have_no_target = true,
    .choose = choose,
    .add = add,
    .check = check,
    .probe = {.may_contain = may_contain, .use = use, .prefetch = prefetch},
    .describe = describe,
};
