/* See denials.h. */
#include "kv/read/denials.h"

_Static_assert(BB_DENIALS_KEYS <= BB_FILTER_BATCH, "a run's questions are one batch");

/* The probes of a run. */
struct batch {
    struct bb_filter_batch filters;
    const struct bb_table_filter *any; /* table filter of the batch */
    const bb_filter_place *places[BB_DENIALS_KEYS];
    uint8_t keys[BB_DENIALS_KEYS];
    size_t count;
};

static uint64_t bit_of(size_t key)
{
    return UINT64_C(1) << key;
}

static uint64_t all_of(size_t count)
{
    return count == 64 ? UINT64_MAX : bit_of(count) - 1;
}

/* Finds the shards for the keys, and returns the keys outside all tables' bounds. */
static uint64_t find_shards(const struct bb_run *run, const struct bb_bytes *keys,
                            const uint64_t *hashes, size_t count, struct batch *batch)
{
    uint64_t outside = 0;
    batch->count = 0;
    for (size_t key = 0; key < count; key++) {
        size_t index = 0;
        const struct bb_table_filter *table_filter =
            bb_denials_table_filter(run, keys[key], &index);
        if (table_filter == NULL) {
            outside |= index == run->count ? bit_of(key) : 0;
            continue;
        }
        size_t i = batch->count++;
        batch->keys[i] = (uint8_t)key;
        batch->any = table_filter;
        batch->places[i] =
            bb_table_filter_batch_begin(table_filter, hashes[key], &batch->filters, i);
    }
    return outside;
}

/* Probes the batch's shards, and converts the results into one bit per key. */
static void ask_shards(struct batch *batch, uint64_t *ret_denied, uint64_t *ret_let_through)
{
    uint64_t sound = 0;
    uint64_t denied = 0;
    uint64_t let_through = 0;
    for (size_t i = 0; i < batch->count; i++) {
        bool is_sound = bb_table_filter_batch_find(*batch->places[i], &batch->filters, i);
        sound |= (uint64_t)is_sound << i;
    }
    uint64_t maybe = bb_table_filter_batch_probe(batch->any, &batch->filters, batch->count);
    for (size_t i = 0; i < batch->count; i++) {
        uint64_t bit = bit_of(batch->keys[i]);
        denied |= (maybe >> i & 1) != 0 ? 0 : bit;
        let_through |= ((maybe & sound) >> i & 1) != 0 ? bit : 0;
    }
    *ret_denied = denied;
    *ret_let_through = let_through;
}

void bb_denials_find(const struct bb_levels *levels, const struct bb_bytes *keys,
                     const uint64_t *hashes, size_t count, struct bb_denials *ret_denials)
{
    struct batch batch;
    size_t runs = levels->turn_count < BB_DENIALS_RUNS ? levels->turn_count : BB_DENIALS_RUNS;
    uint64_t all = all_of(count);
    ret_denials->open = runs < levels->turn_count ? all : 0;
    for (size_t run = 0; run < runs; run++) {
        ret_denials->outside[run] =
            find_shards(levels->turns[run].run, keys, hashes, count, &batch);
        ret_denials->denied[run] = 0;
        ret_denials->let_through[run] = 0;
        if (batch.count > 0)
            ask_shards(&batch, &ret_denials->denied[run], &ret_denials->let_through[run]);
        ret_denials->open |= all & ~(ret_denials->outside[run] | ret_denials->denied[run]);
    }
}
