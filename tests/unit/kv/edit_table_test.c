/* Goal: a table in an edit is refused if one of its numbers cannot be, and its optional fields are
 * read or skipped. Method: one defect at a time; hand-made fields. */
#include "tests/unit/kv/edit_fields.h"

#include <math.h>

#include "kv/manifest/filename.h"

/* ---- fields after a table ---- */

static void extended_table(uint64_t tag, int times, struct bb_buf *bytes)
{
    struct bb_buf value = plain_table(1);
    while (times-- > 0)
        add_field(&value, tag, "later", 5);
    assign_table(&value, bytes);
}

static void table_of_run(int level, uint64_t run, bool is_twice, struct bb_buf *bytes)
{
    struct bb_buf value = plain_table(level);
    for (int i = 0; i < 1 + is_twice; i++)
        add_number(&value, 2, run);
    assign_table(&value, bytes);
}

static void edit_table__run(void **state)
{
    (void)state;
    struct bb_buf bytes = {0};
    table_of_run(1, BB_RUN_NUMBER_MAX, false, &bytes);
    expect(&bytes, BB_OK, NULL);
    table_of_run(1, BB_RUN_NUMBER_MAX + 1, false, &bytes);
    expect(&bytes, BB_CORRUPT, "a number out of range");
    table_of_run(1, 0, false, &bytes);
    expect(&bytes, BB_CORRUPT, "a number out of range");
    table_of_run(0, 1, false, &bytes);
    expect(&bytes, BB_CORRUPT, "a run out of range");
    table_of_run(1, 7, true, &bytes);
    expect(&bytes, BB_CORRUPT, "a field of a table out of order or twice");
    bb_buf_deinit(&bytes);
}

/* A table with this many fields of predicted rates, each of `size` bytes of two rates and zeros. */
static void predicted_table(double block_rate, double table_filter_rate, size_t size, int times,
                            struct bb_buf *bytes)
{
    struct bb_buf value = plain_table(1);
    uint8_t rates[24] = {0};
    uint64_t bits[2];
    memcpy(&bits[0], &block_rate, sizeof(bits[0]));
    memcpy(&bits[1], &table_filter_rate, sizeof(bits[1]));
    bb_store64(rates, bits[0]);
    bb_store64(rates + 8, bits[1]);
    while (times-- > 0)
        add_field(&value, 9, rates, size);
    assign_table(&value, bytes);
}

static void edit_table__predicted_rates(void **state)
{
    (void)state;
    struct bb_buf bytes = {0};
    predicted_table(0.25, 1, 16, 1, &bytes);
    expect(&bytes, BB_OK, NULL);
    static const size_t sizes[] = {0, 7, 8, 15, 17, 24};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        predicted_table(0.25, 1, sizes[i], 1, &bytes);
        expect(&bytes, BB_CORRUPT, "predicted rates that are not two numbers");
    }
    predicted_table(0, 1, 16, 1, &bytes);
    expect(&bytes, BB_CORRUPT, "a predicted rate of 0");
    predicted_table(0, 0, 16, 1, &bytes);
    expect(&bytes, BB_CORRUPT, "a predicted rate of 0");
    predicted_table(-0.0, 0, 16, 1, &bytes);
    expect(&bytes, BB_CORRUPT, "a predicted rate of 0");
    predicted_table(1, 0, 16, 1, &bytes);
    expect(&bytes, BB_CORRUPT, "one without the other");
    predicted_table(0.25, 1, 16, 2, &bytes);
    expect(&bytes, BB_CORRUPT, "a field of a table out of order or twice");
    bb_buf_deinit(&bytes);
}

static void edit_table__unknown_fields(void **state)
{
    (void)state;
    struct bb_buf bytes = {0};
    extended_table(11, 2, &bytes);
    expect(&bytes, BB_OK, NULL);
    extended_table(10, 1, &bytes);
    expect(&bytes, BB_UNSUPPORTED, "a field with tag 10, which must not be skipped");
    bb_buf_deinit(&bytes);
}

/* ---- defects ---- */

static void expect_defect(const struct bb_table_meta *meta, int level, uint64_t number,
                          const char *message)
{
    struct bb_edit edit = {0};
    struct bb_buf bytes = {0};
    assert_ok(bb_edit_add_table(&edit, level, 0, number, meta));
    if (level >= 0) {
        assert_ok(bb_edit_encode(&edit, &bytes));
        struct bb_edit found;
        assert_status(bb_edit_decode(bb_buf_bytes(&bytes), here, &found), BB_CORRUPT);
        assert_message(message);
        assert_message("at offset 1001: ");
    }
    assert_string_equal(bb_edit_table_defect(&edit.added[0]), message);
    bb_edit_deinit(&edit);
    bb_buf_deinit(&bytes);
}

static void edit_table__corrupt(void **state)
{
    (void)state;
    struct bb_rng rng;
    bb_rng_init(&rng, 3);
    struct bb_table_meta good = sample_meta(&rng, 1000);
    good.entry_count = good.key_count = good.tombstone_count = 10;
    struct bb_table_meta bad = good;
    expect_defect(&good, BB_LEVEL_COUNT, 1, "a level that does not exist");
    expect_defect(&good, -1, 1, "a level that does not exist");
    expect_defect(&good, 0, 0, "a file number out of range");
    expect_defect(&good, 0, BB_FILE_NUMBER_MAX + 1, "a file number out of range");
    bad.file_size = 0;
    expect_defect(&bad, 0, 1, "a table of no bytes");
    bad = good;
    bad.entry_count = 0;
    expect_defect(&bad, 0, 1, "a table without entries, keys or blocks");
    bad = good;
    bad.key_count = 11;
    expect_defect(&bad, 0, 1, "more keys or tombstones than entries");
    bad = good;
    bad.tombstone_count = 11;
    expect_defect(&bad, 0, 1, "more keys or tombstones than entries");
    bad = good;
    bad.block_count = 0;
    expect_defect(&bad, 0, 1, "a table without entries, keys or blocks");
    bad = good;
    bad.filter_bytes = bad.file_size + 1;
    expect_defect(&bad, 0, 1, "filters larger than their file");
    bad = good;
    bad.table_filter_bytes = bad.filter_bytes + 1;
    expect_defect(&bad, 0, 1, "a table filter larger than all filters");
    bad = good;
    bad.sequence_min = bad.sequence_max + 1;
    expect_defect(&bad, 0, 1, "impossible sequences");
    bad = good;
    bad.sequence_max = BB_SEQUENCE_MAX + 1;
    expect_defect(&bad, 0, 1, "impossible sequences");
    bad = good;
    bad.tombstone_sequence_min = bad.sequence_max + 1;
    expect_defect(&bad, 0, 1, "an oldest tombstone that cannot be");
    bad = good;
    bad.tombstone_sequence_min = bad.sequence_max;
    bad.tombstone_count = bad.range_tombstone_count = 0;
    bad.largest_is_exclusive = false;
    expect_defect(&bad, 0, 1, "an oldest tombstone that cannot be");
    bad = good;
    bad.largest = (struct bb_buf){0};
    uint8_t *key = NULL;
    assert_ok(bb_buf_extend(&bad.largest, BB_KEY_SIZE_MAX + 1, &key));
    expect_defect(&bad, 0, 1, "a bound beyond the limit of keys");
    bad.largest.size--;
    struct bb_edit_table table = {.number = 1, .meta = bad};
    assert_null(bb_edit_table_defect(&table));
    bb_buf_deinit(&bad.largest);
    bb_table_meta_deinit(&good);
}

static void edit_table__corrupt_rates(void **state)
{
    (void)state;
    struct bb_rng rng;
    bb_rng_init(&rng, 3);
    struct bb_table_meta good = sample_meta(&rng, 1000);
    struct bb_table_meta bad = good;
    static const double rates[] = {0, -0.0, -0.5, 1.0000001, HUGE_VAL, -HUGE_VAL, (double)NAN};
    for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
        bad = good;
        bad.filter_rate = rates[i];
        expect_defect(&bad, 0, 1, "a filter rate outside 0 ... 1");
    }
    const double table_filter_rates[] = {0,         -0.5,     good.filter_rate / 2,
                                         1.0000001, HUGE_VAL, (double)NAN};
    for (size_t i = 0; i < sizeof(table_filter_rates) / sizeof(table_filter_rates[0]); i++) {
        bad = good;
        bad.table_filter_rate = table_filter_rates[i];
        expect_defect(&bad, 0, 1, "a table filter's rate outside that of all filters ... 1");
    }
    bb_table_meta_deinit(&good);
}

#define PREDICTIONS "predicted rates of filters outside 0 ... 1, or one without the other"

static void edit_table__corrupt_predicted_rates(void **state)
{
    (void)state;
    struct bb_rng rng;
    bb_rng_init(&rng, 3);
    struct bb_table_meta good = sample_meta(&rng, 1000);
    struct bb_table_meta bad = good;
    static const double predictions[] = {-0.5,        1.0000001,    HUGE_VAL, -HUGE_VAL,
                                         (double)NAN, -(double)NAN, 5e300};
    for (size_t i = 0; i < sizeof(predictions) / sizeof(predictions[0]); i++) {
        bad = good;
        bad.predicted_block_rate = predictions[i];
        expect_defect(&bad, 0, 1, PREDICTIONS);
        bad.predicted_block_rate = 0.5;
        bad.predicted_table_filter_rate = predictions[i];
        expect_defect(&bad, 0, 1, PREDICTIONS);
    }
    bad = good;
    bad.predicted_block_rate = 0.5;
    bad.predicted_table_filter_rate = 0;
    expect_defect(&bad, 0, 1, PREDICTIONS);
    bb_table_meta_deinit(&good);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edit_table__run),
        cmocka_unit_test(edit_table__predicted_rates),
        cmocka_unit_test(edit_table__unknown_fields),
        cmocka_unit_test(edit_table__corrupt),
        cmocka_unit_test(edit_table__corrupt_rates),
        cmocka_unit_test(edit_table__corrupt_predicted_rates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
