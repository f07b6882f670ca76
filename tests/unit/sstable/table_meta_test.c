/* Goal: a table that differs from the manifest's description in any field is refused, with a
 * message that tells the field; unknown ages of tombstones and predicted rates agree with all.
 * Method: one field changed at a time. */
#include "sstable/meta/table_meta.h"

#include <stddef.h>
#include <string.h>

#include "base/bytes.h"
#include "tests/support/assert_status.h"

#define PATH "/7.bbt"

static struct bb_table_meta sample(void)
{
    struct bb_table_meta meta = {
        .table_id = {1, 2, 3},
        .file_size = 5000,
        .entry_count = 90,
        .key_count = 80,
        .tombstone_count = 9,
        .range_tombstone_count = 4,
        .block_count = 7,
        .raw_bytes = 9000,
        .filter_bytes = 100,
        .table_filter_bytes = 40,
        .sequence_min = 50,
        .sequence_max = 200,
        .tombstone_sequence_min = 60,
        .filter_rate = 0.01,
        .table_filter_rate = 0.1,
        .predicted_block_rate = 0.09,
        .predicted_table_filter_rate = 0.125,
    };
    assert_ok(bb_buf_assign(&meta.smallest, bb_bytes_of_text("a")));
    assert_ok(bb_buf_assign(&meta.largest, bb_bytes_of_text("m")));
    return meta;
}

static void table_meta__each_other_number_is_refused(void **state)
{
    (void)state;
    static const struct {
        size_t offset;
        const char *part;
    } fields[] = {
        {offsetof(struct bb_table_meta, table_id), "another table"},
        {offsetof(struct bb_table_meta, file_size), " bytes"},
        {offsetof(struct bb_table_meta, entry_count), "entries"},
        {offsetof(struct bb_table_meta, key_count), "keys"},
        {offsetof(struct bb_table_meta, tombstone_count), "tombstones"},
        {offsetof(struct bb_table_meta, range_tombstone_count), "range tombstones"},
        {offsetof(struct bb_table_meta, block_count), "blocks"},
        {offsetof(struct bb_table_meta, raw_bytes), "raw bytes"},
        {offsetof(struct bb_table_meta, filter_bytes), "filter bytes"},
        {offsetof(struct bb_table_meta, table_filter_bytes), "table filter bytes"},
        {offsetof(struct bb_table_meta, sequence_min), "sequences"},
        {offsetof(struct bb_table_meta, sequence_max), "sequences"},
        {offsetof(struct bb_table_meta, tombstone_sequence_min), "sequences"},
        {offsetof(struct bb_table_meta, filter_rate), "filters of rate"},
        {offsetof(struct bb_table_meta, table_filter_rate), "filters of rate"},
        {offsetof(struct bb_table_meta, predicted_block_rate), "filters of predicted rate"},
        {offsetof(struct bb_table_meta, predicted_table_filter_rate), "filters of predicted rate"},
    };
    struct bb_table_meta wanted = sample();
    struct bb_table_meta found = sample();
    assert_ok(bb_table_meta_check(PATH, &wanted, &found));
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        uint8_t *byte = (uint8_t *)&found + fields[i].offset;
        byte[0] ^= 1;
        assert_status(bb_table_meta_check(PATH, &wanted, &found), BB_CORRUPT);
        assert_message(fields[i].part);
        assert_message(PATH);
        byte[0] ^= 1;
    }
    bb_table_meta_deinit(&wanted);
    bb_table_meta_deinit(&found);
    bb_table_meta_deinit(NULL);
}

static void table_meta__each_other_bound_is_refused(void **state)
{
    (void)state;
    struct bb_table_meta wanted = sample();
    struct bb_table_meta found = sample();
    found.largest_is_exclusive = true;
    assert_status(bb_table_meta_check(PATH, &wanted, &found), BB_CORRUPT);
    found.largest_is_exclusive = false;
    found.smallest.data[0]++;
    assert_status(bb_table_meta_check(PATH, &wanted, &found), BB_CORRUPT);
    found.smallest.data[0]--;
    found.largest.data[0]++;
    assert_status(bb_table_meta_check(PATH, &wanted, &found), BB_CORRUPT);
    assert_message("range of keys");
    bb_table_meta_deinit(&wanted);
    bb_table_meta_deinit(&found);
}

/* Of a table, or of a manifest, that an older version wrote. */
static void table_meta__unknown_age_and_prediction_agree_with_all(void **state)
{
    (void)state;
    struct bb_table_meta wanted = sample();
    struct bb_table_meta found = sample();
    found.tombstone_sequence_min = 0;
    found.predicted_block_rate = found.predicted_table_filter_rate = 0;
    assert_ok(bb_table_meta_check(PATH, &wanted, &found));
    assert_ok(bb_table_meta_check(PATH, &found, &wanted));
    bb_table_meta_deinit(&wanted);
    bb_table_meta_deinit(&found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_meta__each_other_number_is_refused),
        cmocka_unit_test(table_meta__each_other_bound_is_refused),
        cmocka_unit_test(table_meta__unknown_age_and_prediction_agree_with_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
