/* Edits for tests: random ones that are valid in themselves, and comparison of two. */
#ifndef BB_TESTS_UNIT_KV_SAMPLE_EDIT_H
#define BB_TESTS_UNIT_KV_SAMPLE_EDIT_H

#include "tests/support/assert_status.h"

#include <string.h>

#include "base/bytes.h"
#include "bb/db.h"
#include "kv/manifest/edit.h"
#include "tests/support/rng.h"

static inline struct bb_store_identity sample_identity(uint64_t seed)
{
    struct bb_store_identity identity = {.format_version = BB_STORE_FORMAT_VERSION,
                                         .comparator = "bytewise"};
    struct bb_rng rng;
    bb_rng_init(&rng, seed);
    bb_rng_bytes(&rng, identity.store_id, sizeof(identity.store_id));
    bb_hash_secret_from_seed(seed, &identity.secret);
    return identity;
}

/* sequence_limit: sequence_max is at most that, at least 1. Owned. */
static inline struct bb_table_meta sample_meta(struct bb_rng *rng, uint64_t sequence_limit)
{
    struct bb_table_meta meta = {.entry_count = 1 + bb_rng_skewed(rng, 1000000)};
    uint8_t low[200];
    uint8_t high[200];
    struct bb_bytes smallest = bb_bytes_of(low, bb_rng_key(rng, low, sizeof(low)));
    struct bb_bytes largest = bb_bytes_of(high, bb_rng_key(rng, high, sizeof(high)));
    if (bb_bytes_compare(smallest, largest) > 0) {
        struct bb_bytes swap = smallest;
        smallest = largest;
        largest = swap;
    }
    bb_rng_bytes(rng, meta.table_id, sizeof(meta.table_id));
    meta.file_size = 1 + bb_rng_skewed(rng, UINT64_C(1) << 40);
    meta.key_count = bb_rng_between(rng, 1, meta.entry_count);
    meta.tombstone_count = bb_rng_below(rng, meta.entry_count + 1);
    meta.block_count = bb_rng_between(rng, 1, meta.entry_count);
    meta.raw_bytes = bb_rng_skewed(rng, UINT64_C(1) << 42);
    meta.filter_bytes = bb_rng_below(rng, meta.file_size + 1);
    meta.sequence_max = bb_rng_skewed(rng, sequence_limit);
    meta.sequence_min = bb_rng_below(rng, meta.sequence_max + 1);
    meta.filter_rate = (double)bb_rng_between(rng, 1, 1000) / 1000.0;
    meta.table_filter_rate = meta.key_count % 3 == 0 ? 1 : (1 + meta.filter_rate) / 2;
    if (meta.key_count % 4 != 0) {
        meta.predicted_block_rate = 1 - meta.filter_rate / 2;
        meta.predicted_table_filter_rate = meta.table_filter_rate;
    }
    meta.range_tombstone_count = meta.key_count % 5 == 0 ? meta.block_count : 0;
    meta.largest_is_exclusive = meta.range_tombstone_count % 2 == 1;
    if (meta.tombstone_count > 0 || meta.range_tombstone_count > 0)
        meta.tombstone_sequence_min =
            meta.sequence_max - (meta.sequence_max - meta.sequence_min) / 2;
    assert_ok(bb_buf_assign(&meta.smallest, smallest));
    assert_ok(bb_buf_assign(&meta.largest, largest));
    return meta;
}

static inline void sample_add_table(struct bb_rng *rng, struct bb_edit *edit, int level,
                                    uint64_t number, uint64_t sequence_limit)
{
    struct bb_table_meta meta = sample_meta(rng, sequence_limit);
    uint64_t run = level == 0 || number % 2 == 0 ? 0 : bb_rng_skewed(rng, BB_RUN_NUMBER_MAX);
    assert_ok(bb_edit_add_table(edit, level, run, number, &meta));
    bb_table_meta_deinit(&meta);
}

static inline void sample_add_log_end(struct bb_rng *rng, struct bb_edit *edit)
{
    uint64_t before =
        edit->log_end_count == 0 ? 0 : edit->log_ends[edit->log_end_count - 1].log_number;
    struct bb_wal_end end = {.log_number = before + 1 + bb_rng_skewed(rng, UINT64_C(1) << 40),
                             .offset = BB_WAL_HEADER_SIZE + bb_rng_skewed(rng, UINT64_C(1) << 40),
                             .check = bb_rng_next(rng)};
    assert_ok(bb_edit_add_log_end(edit, &end));
}

/* Any fields, any numbers. */
static inline struct bb_edit sample_edit(struct bb_rng *rng)
{
    struct bb_edit edit = {0};
    edit.has_identity = bb_rng_one_in(rng, 3);
    if (edit.has_identity)
        edit.identity = sample_identity(bb_rng_next(rng));
    edit.next_file_number = bb_rng_skewed(rng, UINT64_C(1) << 62);
    edit.last_sequence = bb_rng_skewed(rng, BB_SEQUENCE_MAX);
    edit.log_number = bb_rng_skewed(rng, (UINT64_C(1) << 62) - 1);
    edit.log_is_absent = edit.log_number != 0 && bb_rng_one_in(rng, 4);
    for (uint64_t n = bb_rng_below(rng, 5); n > 0; n--)
        assert_ok(bb_edit_remove_table(&edit, 1 + bb_rng_skewed(rng, (UINT64_C(1) << 62) - 2)));
    for (uint64_t n = bb_rng_below(rng, 4); n > 0; n--) {
        sample_add_table(rng, &edit, (int)bb_rng_below(rng, BB_LEVEL_COUNT),
                         1 + bb_rng_skewed(rng, (UINT64_C(1) << 62) - 2), BB_SEQUENCE_MAX);
        if (n % 2 == 0)
            bb_edit_set_index(&edit, 1 + bb_rng_skewed(rng, (UINT64_C(1) << 62) - 2));
    }
    if (bb_rng_one_in(rng, 4)) {
        uint8_t catalog[300];
        size_t size = bb_rng_below(rng, sizeof(catalog));
        bb_rng_bytes(rng, catalog, size);
        assert_ok(bb_edit_set_catalog(&edit, bb_bytes_of(catalog, size)));
    }
    for (size_t i = 3; i < BB_STORED_OPTION_END; i++)
        if (bb_rng_one_in(rng, 20))
            edit.options.values[i] = 1 + bb_rng_skewed(rng, UINT32_MAX - 1);
    edit.options.values[7] = 0; /* a number that is used no more */
    edit.is_close = bb_rng_one_in(rng, 4);
    for (uint64_t n = edit.is_close ? bb_rng_below(rng, 4) : 0; n > 0; n--)
        sample_add_log_end(rng, &edit);
    return edit;
}

static inline void assert_metas_equal(const struct bb_table_meta *a, const struct bb_table_meta *b)
{
    assert_memory_equal(a->table_id, b->table_id, sizeof(a->table_id));
    assert_int_equal(a->file_size, b->file_size);
    assert_int_equal(a->entry_count, b->entry_count);
    assert_int_equal(a->key_count, b->key_count);
    assert_int_equal(a->tombstone_count, b->tombstone_count);
    assert_int_equal(a->block_count, b->block_count);
    assert_int_equal(a->raw_bytes, b->raw_bytes);
    assert_int_equal(a->filter_bytes, b->filter_bytes);
    assert_int_equal(a->sequence_min, b->sequence_min);
    assert_int_equal(a->sequence_max, b->sequence_max);
    assert_int_equal(a->range_tombstone_count, b->range_tombstone_count);
    assert_int_equal(a->largest_is_exclusive, b->largest_is_exclusive);
    assert_int_equal(a->tombstone_sequence_min, b->tombstone_sequence_min);
    assert_true(a->filter_rate == b->filter_rate);
    assert_true(a->table_filter_rate == b->table_filter_rate);
    assert_true(a->predicted_block_rate == b->predicted_block_rate);
    assert_true(a->predicted_table_filter_rate == b->predicted_table_filter_rate);
    assert_true(bb_bytes_equal(bb_buf_bytes(&a->smallest), bb_buf_bytes(&b->smallest)));
    assert_true(bb_bytes_equal(bb_buf_bytes(&a->largest), bb_buf_bytes(&b->largest)));
}

static inline void assert_edits_equal(const struct bb_edit *a, const struct bb_edit *b)
{
    assert_int_equal(a->has_identity, b->has_identity);
    assert_memory_equal(&a->identity, &b->identity, sizeof(a->identity));
    assert_int_equal(a->next_file_number, b->next_file_number);
    assert_int_equal(a->last_sequence, b->last_sequence);
    assert_int_equal(a->log_number, b->log_number);
    assert_int_equal(a->log_is_absent, b->log_is_absent);
    assert_int_equal(a->has_catalog, b->has_catalog);
    assert_true(bb_bytes_equal(bb_buf_bytes(&a->catalog), bb_buf_bytes(&b->catalog)));
    assert_true(bb_stored_options_are_equal(&a->options, &b->options));
    assert_int_equal(a->removed_count, b->removed_count);
    for (size_t i = 0; i < a->removed_count; i++)
        assert_int_equal(a->removed[i], b->removed[i]);
    assert_int_equal(a->added_count, b->added_count);
    for (size_t i = 0; i < a->added_count; i++) {
        assert_int_equal(a->added[i].level, b->added[i].level);
        assert_int_equal(a->added[i].run, b->added[i].run);
        assert_int_equal(a->added[i].number, b->added[i].number);
        assert_int_equal(a->added[i].index_number, b->added[i].index_number);
        assert_metas_equal(&a->added[i].meta, &b->added[i].meta);
    }
    assert_int_equal(a->is_close, b->is_close);
    assert_int_equal(a->log_end_count, b->log_end_count);
    for (size_t i = 0; i < a->log_end_count; i++) {
        assert_int_equal(a->log_ends[i].log_number, b->log_ends[i].log_number);
        assert_int_equal(a->log_ends[i].offset, b->log_ends[i].offset);
        assert_int_equal(a->log_ends[i].check, b->log_ends[i].check);
    }
}

#endif
