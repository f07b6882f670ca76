/* Parquet's bitsets into envelopes and out of them; folding. Public: bb/filter_sets.h. */
#include "base/assert.h"
#include "base/buf.h"
#include "base/status.h"
#include "standalone/bloom/cells.h"
#include "standalone/bloom/split_block.h"
#include "standalone/sizing/rate_split_block.h"

enum bb_status bb_split_block_count(uint64_t key_count, double target_rate,
                                    uint64_t *ret_block_count)
{
    enum bb_status status = bb_envelope_check_plan(key_count, target_rate);
    if (status != BB_OK)
        return status;
    uint64_t blocks = bb_rate_split_block_count(key_count, target_rate);
    BB_ASSERT(blocks <= BB_SPLIT_BLOCK_COUNT_MAX); /* the most keys at the least rate: 1.97e9 */
    *ret_block_count = blocks;
    return BB_OK;
}

static enum bb_status check_bitset(struct bb_bytes bitset)
{
    if (bitset.size == 0 || bitset.size % BB_SPLIT_BLOCK_SIZE != 0)
        return bb_fail(BB_INVALID,
                       "a split-block bitset has %zu bytes: whole blocks of %d, and at least one, "
                       "are allowed",
                       bitset.size, BB_SPLIT_BLOCK_SIZE);
    if (bitset.size / BB_SPLIT_BLOCK_SIZE > BB_SPLIT_BLOCK_COUNT_MAX)
        return bb_fail(BB_TOO_LARGE, "a split-block bitset has %zu bytes, the limit is %d blocks",
                       bitset.size, BB_SPLIT_BLOCK_COUNT_MAX);
    return BB_OK;
}

/* fields: without parameters. */
static enum bb_status append_bitset(struct bb_envelope *fields, struct bb_bytes bitset,
                                    struct bb_buf *envelope)
{
    fields->kind = BB_FILTER_SPLIT_BLOCK;
    if (fields->key_count > 0) {
        fields->payload = bitset;
        fields->parameters[0] = bitset.size / BB_SPLIT_BLOCK_SIZE;
        fields->parameters[1] = BB_SPLIT_BLOCK_WORDS;
    }
    return bb_envelope_append(fields, envelope);
}

enum bb_status bb_split_block_encode(struct bb_bytes bitset, uint64_t key_count,
                                     struct bb_buf *envelope)
{
    struct bb_envelope fields = {.target_rate = 1, .key_count = key_count};
    enum bb_status status = check_bitset(bitset);
    if (status != BB_OK)
        return status;
    if (key_count > BB_FILTER_KEY_COUNT_MAX)
        return bb_fail(BB_TOO_LARGE, "a filter of %llu keys, the limit is %llu",
                       (unsigned long long)key_count, (unsigned long long)BB_FILTER_KEY_COUNT_MAX);
    uint64_t estimate =
        bb_split_block_key_count(bitset.data, (uint32_t)(bitset.size / BB_SPLIT_BLOCK_SIZE));
    if (estimate == 0 && key_count > 0)
        return bb_fail(BB_INVALID, "a split-block bitset of %llu keys has no bit set",
                       (unsigned long long)key_count);
    if (key_count == 0)
        fields.key_count = estimate;
    return append_bitset(&fields, bitset, envelope);
}

enum bb_status bb_split_block_decode(struct bb_bytes envelope, struct bb_bytes *ret_bitset)
{
    static const uint8_t no_keys[BB_SPLIT_BLOCK_SIZE];
    struct bb_envelope fields;
    enum bb_status status = bb_envelope_decode_kind(envelope, BB_FILTER_SPLIT_BLOCK, &fields);
    if (status != BB_OK)
        return status;
    bool empty = fields.key_count == 0;
    *ret_bitset = empty ? (struct bb_bytes){no_keys, sizeof(no_keys)} : fields.payload;
    return BB_OK;
}

/* --- Folding --- */

static enum bb_status append_folded(const struct bb_envelope *fields, uint64_t factor,
                                    double target_rate, struct bb_buf *envelope)
{
    struct bb_envelope folded = {.key_count = fields->key_count, .target_rate = target_rate};
    struct bb_cells cells = {0};
    struct bb_buf bitset = {0};
    uint8_t *space = NULL;
    if (fields->key_count == 0)
        return append_bitset(&folded, bb_buf_bytes(&bitset), envelope);
    enum bb_status status = bb_cells_of(fields, &cells);
    cells.unit_count /= factor;
    if (status == BB_OK)
        status = bb_buf_extend(&bitset, (size_t)cells.unit_count * BB_SPLIT_BLOCK_SIZE, &space);
    if (status == BB_OK) {
        bb_cells_fold(&cells, factor, fields, space);
        status = append_bitset(&folded, bb_buf_bytes(&bitset), envelope);
    }
    bb_buf_deinit(&bitset);
    return status;
}

enum bb_status bb_split_block_fold(struct bb_bytes envelope, uint64_t block_count,
                                   struct bb_buf *folded)
{
    struct bb_envelope fields;
    enum bb_status status = bb_envelope_decode_kind(envelope, BB_FILTER_SPLIT_BLOCK, &fields);
    if (status != BB_OK)
        return status;
    uint64_t blocks = fields.parameters[0];
    if (block_count == 0 || (blocks > 0 && blocks % block_count != 0))
        return bb_fail(BB_INVALID,
                       "a split-block filter of %llu blocks cannot be folded to %llu: only to a "
                       "number that divides its own",
                       (unsigned long long)blocks, (unsigned long long)block_count);
    return append_folded(&fields, blocks / block_count, 1, folded);
}

/* The largest factor, which gives the smallest filter, that keeps the rate. */
static uint32_t largest_factor(struct bb_bytes bitset, uint32_t block_count, double target_rate)
{
    for (uint32_t count = 1; count < block_count; count++)
        if (block_count % count == 0 &&
            bb_split_block_rate(bitset.data, block_count, block_count / count, target_rate) <=
                target_rate)
            return block_count / count;
    return 1;
}

enum bb_status bb_split_block_fold_to_rate(struct bb_bytes envelope, double target_rate,
                                           struct bb_buf *folded)
{
    struct bb_envelope fields;
    enum bb_status status = bb_envelope_check_plan(0, target_rate);
    if (status == BB_OK)
        status = bb_envelope_decode_kind(envelope, BB_FILTER_SPLIT_BLOCK, &fields);
    if (status != BB_OK)
        return status;
    if (fields.key_count == 0)
        return append_folded(&fields, 1, target_rate, folded);
    uint32_t blocks = (uint32_t)fields.parameters[0];
    double rate = bb_split_block_rate(fields.payload.data, blocks, 1, 1);
    if (rate > target_rate)
        return bb_fail(BB_INVALID,
                       "a split-block filter passes %g of non-member keys as it is: it cannot be "
                       "folded to a rate of %g",
                       rate, target_rate);
    return append_folded(&fields, largest_factor(fields.payload, blocks, target_rate), target_rate,
                         folded);
}
