/* Goal: every field of every kind of filter is checked against the others in arbitrary input.
 * Method: one small envelope per kind; one field after the other set to impossible values, with the
 * checksum repaired, so that the field is refused, by name; the view then returns maybe for every
 * key. (envelope_test.c has the common checks of all kinds.) */
#include "tests/unit/standalone/envelope_fixture.h"

#define C BB_CORRUPT

static void assert_changes_refused(const struct bb_buf *envelope, const struct change *changes,
                                   size_t count)
{
    for (size_t i = 0; i < count; i++)
        assert_change_refused(envelope, &changes[i]);
}

/* With the fields that are the same for all kinds. */
static void assert_kind(struct bb_buf envelope, const char *second, const struct change *changes,
                        size_t count)
{
    static const struct change shared[] = {
        {VERSION, 4, 2, BB_UNSUPPORTED, "version 2"},
        {KIND, 2, 0, C, "kind 0"},
        {KIND, 2, 99, BB_UNSUPPORTED, "has kind 99"},
        {HEADER_SIZE, 2, 72, C, "header has 72 bytes"},
        {SIZE, 8, 71, C, "has the size 71, but"},
        {KEY_COUNT, 8, BB_FILTER_KEY_COUNT_MAX + 1, C, "the limit is"},
        {TARGET_RATE, 8, 0, C, "target rate"},
        {TARGET_RATE, 8, UINT64_C(0x3fe8000000000000), C, "target rate is 0.75"},
        {TARGET_RATE, 8, UINT64_C(0x7ff8000000000000), C, "target rate is"},
        {PARAMETER_0, 8, 0, C, "number of"},
        {PARAMETER_0, 8, UINT64_MAX, C, "number of"},
        {PARAMETER_0, 8, UINT64_MAX / 2, C, "number of"},
    };
    const struct change parameter_1[] = {
        {PARAMETER_1, 8, 0, C, second},
        {PARAMETER_1, 8, 31, C, second},
        {PARAMETER_1, 8, UINT64_MAX, C, second},
    };
    assert_changes_refused(&envelope, parameter_1, BB_ARRAY_LENGTH(parameter_1));
    assert_changes_refused(&envelope, shared, BB_ARRAY_LENGTH(shared));
    assert_changes_refused(&envelope, changes, count);
    bb_buf_deinit(&envelope);
}

static void kind__split_block(void **state)
{
    (void)state;
    static const struct change changes[] = {
        {16 + 8, 8, 1, C, "salt of a split-block filter is 0000000000000001"},
        {KEY_COUNT, 8, 0, C, "parameter 0"},
        {PARAMETER_0, 8, 2, C, "number of blocks"},
        {PARAMETER_0, 8, UINT64_C(1) << 31, C, "number of blocks"},
        {PARAMETER_1, 8, 7, C, "number of probes"},
    };
    assert_kind(envelope_of(BB_FILTER_SPLIT_BLOCK, 0.01, 1, 60), "number of probes", changes,
                BB_ARRAY_LENGTH(changes));
}

static void kind__partitioned(void **state)
{
    (void)state;
    struct bb_buf envelope = envelope_of(BB_FILTER_PARTITIONED, 0.01, 1, 30);
    uint64_t bits = bb_load64(envelope.data + PARAMETER_0);
    uint64_t probes = bb_load64(envelope.data + PARAMETER_1);
    assert_true(bits % probes == 0 && bits % 8 != 0);
    const struct change changes[] = {
        {KEY_COUNT, 8, 0, C, "parameter 0"},
        {PARAMETER_0, 8, bits + 1, C, "number of bits"},
        {PARAMETER_0, 8, bits - probes, C, "bits"}, /* after the last one, or too many bytes */
        {PARAMETER_1, 8, 11, C, "number of bits"},
        {PAYLOAD + bits / 8, 1, 0x80, C, "bits are set after the last one"},
    };
    assert_kind(envelope, "number of probes", changes, BB_ARRAY_LENGTH(changes));
}

static void kind__counting(void **state)
{
    (void)state;
    struct bb_buf envelope = envelope_of(BB_FILTER_COUNTING, 0.01, 1, 24);
    uint64_t counters = bb_load64(envelope.data + PARAMETER_0);
    uint64_t probes = bb_load64(envelope.data + PARAMETER_1);
    assert_int_equal(counters % 2, 1);
    const struct change changes[] = {
        {KEY_COUNT, 8, 0, C, "0 keys of"},
        {KEY_COUNT, 8, 25, C, "the counters add up to"},
        {PARAMETER_0, 8, counters - 1, C, "number of counters"},
        {PARAMETER_0, 8, counters + 2, C, "number of counters"},
        {PARAMETER_1, 8, probes + 1, C, "the counters add up to"},
        {PAYLOAD + counters / 2, 1, 0x10, C, "bits are set after the last one"},
    };
    assert_kind(envelope, "number of probes", changes, BB_ARRAY_LENGTH(changes));
}

/* Of three stages. */
static struct bb_buf scalable_envelope(void)
{
    struct bb_scalable_filter_options options = {.first_key_count = 16};
    struct bb_scalable_filter *filter = NULL;
    struct bb_buf envelope = {0};
    assert_ok(bb_scalable_filter_create(&options, &filter));
    for (uint64_t i = 0; i < 70; i++) {
        bool added = false;
        assert_ok(bb_scalable_filter_add(filter, member_hash(1, i), &added));
    }
    assert_ok(bb_scalable_filter_encode(filter, &envelope));
    bb_scalable_filter_destroy(filter);
    return envelope;
}

static uint64_t bits_of(double value)
{
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

#define STAGE(i) (PAYLOAD + 16 + (i)*24)

static void kind__scalable(void **state)
{
    (void)state;
    struct bb_buf envelope = scalable_envelope();
    const uint8_t *data = envelope.data;
    assert_int_equal(bb_load64(data + PAYLOAD), 3);
    uint64_t bits = bb_load64(data + STAGE(0) + 8), last_keys = bb_load64(data + STAGE(2));
    size_t first_end = STAGE(3) + (bits + 7) / 8 - 1;
    uint8_t first_last_byte = data[first_end];
    assert_true(bits % 8 != 0);
    const struct change changes[] = {
        {KEY_COUNT, 8, 0, C, "of 0 keys"},
        {KEY_COUNT, 8, bb_load64(data + KEY_COUNT) + 1, C, "keys, the stages have"},
        {PARAMETER_0, 8, 15, C, "number of keys of the first stage"},
        {PARAMETER_0, 8, BB_FILTER_KEY_COUNT_MAX + 1, C, "number of keys of the first stage"},
        {PARAMETER_1, 8, 3, C, "growth factor"},
        {PAYLOAD, 8, 0, C, "0 stages in"},
        {PAYLOAD, 8, 2, C, ""}, /* for any following bytes */
        {PAYLOAD, 8, 4, C, ""},
        {PAYLOAD, 8, 33, C, "33 stages in"},
        {PAYLOAD, 8, UINT64_MAX, C, "stages in"},
        {PAYLOAD + 8, 8, bits_of(0.09), C, "tightening ratio is 0.09"},
        {PAYLOAD + 8, 8, bits_of(0.96), C, "tightening ratio is 0.96"},
        {PAYLOAD + 8, 8, bits_of((double)NAN), C, "tightening ratio is"},
        {STAGE(0), 8, 1000, C, "stage 0 has 1000 of"},
        {STAGE(0), 8, UINT64_MAX, C, "stage 0 has"},
        {STAGE(1), 8, 0, C, "stage 1 has 0 of"},
        {STAGE(2), 8, last_keys - 1, C, "keys, the stages have"},
        {PARAMETER_0, 8, 1000, C, "stage 0 has"},
        {STAGE(0) + 8, 8, 0, C, "stage 0 has 0 bits"},
        {STAGE(0) + 8, 8, UINT64_MAX, C, "stage 0 has"},
        {STAGE(2) + 8, 8, 63, C, "stage 2 has 63 bits for 64 keys"},
        {STAGE(2) + 8, 8, 64, C, ""},
        {STAGE(2) + 8, 8, 100000, C, "stage 2 has 100000 bits"},
        {STAGE(1) + 16, 8, 0, C, "stage 1 has 0 probes"},
        {STAGE(1) + 16, 8, 31, C, "stage 1 has 31 probes"},
        {STAGE(1) + 16, 8, (UINT64_C(1) << 32) + 1, C, "stage 1 has 4294967297 probes"},
        {first_end, 1, first_last_byte | 0x80U, C, "bits are set after the last one"},
    };
    assert_kind(envelope, "growth factor", changes, BB_ARRAY_LENGTH(changes));
}

/* Two keys, and a list with space for a third. */
static struct bb_buf count_min_envelope(bool is_conservative)
{
    struct bb_count_sketch_options options = {
        .error = 0.3, .error_probability = 0.1, .top_count = 3, .is_conservative = is_conservative};
    struct bb_count_sketch *sketch = NULL;
    struct bb_buf envelope = {0};
    assert_ok(bb_count_sketch_create(&options, &sketch));
    assert_ok(bb_count_sketch_add(sketch, member_hash(1, 0), bb_bytes_of_text("first"), 70));
    assert_ok(bb_count_sketch_add(sketch, member_hash(1, 1), bb_bytes_of_text("2nd"), 500));
    assert_ok(bb_count_sketch_encode(sketch, &envelope));
    bb_count_sketch_destroy(sketch);
    return envelope;
}

/* 10 columns and 3 rows; "2nd" is the first. */
#define CELLS        (PAYLOAD + 32)
#define TOP_ENTRIES  (CELLS + 10 * 3 * 4)
#define SECOND_ENTRY (TOP_ENTRIES + 20 + 3)

static void kind__count_min(void **state)
{
    (void)state;
    struct bb_buf envelope = count_min_envelope(false);
    const uint8_t *data = envelope.data;
    assert_true(bb_load64(data + PARAMETER_0) == 10 && bb_load64(data + PARAMETER_1) == 3);
    assert_int_equal(envelope.size, SECOND_ENTRY + 20 + 5 + 8);
    uint64_t first_hash = bb_load64(data + TOP_ENTRIES);
    uint32_t cell = bb_load32(data + CELLS);
    const struct change changes[] = {
        {KEY_COUNT, 8, 0, C, "the total is 570"},
        {KEY_COUNT, 8, 571, C, "the total is 570"},
        {TARGET_RATE, 8, bits_of(0.01), C, "error is 0.3 with probability 0.01"},
        {PARAMETER_0, 8, 9, C, "error is 0.3 with probability 0.1, of 9 columns"},
        {PARAMETER_0, 8, 24, C, "number of columns"},
        {PARAMETER_1, 8, 2, C, "of 10 columns and 2 rows"},
        {PAYLOAD, 8, 0, C, "the cells of a row add up to"},
        {PAYLOAD, 8, 571, C, "the cells of a row add up to 570, expected 571"},
        {PAYLOAD + 8, 8, bits_of(0.6), C, "error is 0.6"},
        {PAYLOAD + 8, 8, bits_of(0.2), C, "error is 0.2"},
        {PAYLOAD + 8, 8, bits_of((double)NAN), C, "error is"},
        {PAYLOAD + 16, 4, 2, C, "flags are 2"},
        {PAYLOAD + 20, 4, 1, C, "has entries: 2, expected 1"},
        {PAYLOAD + 20, 4, 1025, C, "has entries: 2, expected 1025"},
        {PAYLOAD + 24, 4, 0, C, "bytes after the list of the top keys"},
        {PAYLOAD + 24, 4, 1, C, "bytes after the list of the top keys"},
        {PAYLOAD + 24, 4, 3, C, "ends at entry 2, expected 3"},
        {PAYLOAD + 28, 4, 1, C, "reserved bytes are 1"},
        {CELLS, 4, cell + 1, C, "the cells of a row add up to"},
        {TOP_ENTRIES + 8, 8, 0, C, "a top key's count is 0"},
        {TOP_ENTRIES + 8, 8, 571, C, "a top key's count is 571"},
        {TOP_ENTRIES + 16, 4, 4, C, ""}, /* for any following bytes */
        {TOP_ENTRIES + 16, 4, 65536, C, "ends at entry 0, expected 2"},
        {TOP_ENTRIES + 16, 4, UINT32_MAX, C, "ends at entry 0, expected 2"},
        {SECOND_ENTRY, 8, first_hash, C, "a top key is there twice: entry 1"},
        {SECOND_ENTRY + 8, 8, 501, C, "a top key's count is 501"},
        {SECOND_ENTRY + 16, 4, 6, C, "ends at entry 1, expected 2"},
    };
    assert_kind(envelope, "number of rows", changes, BB_ARRAY_LENGTH(changes));
    struct bb_buf conservative = count_min_envelope(true);
    const struct change more = {PAYLOAD, 8, 499, C, "the cells of a row add up to"};
    assert_change_refused(&conservative, &more);
    bb_buf_deinit(&conservative);
}

/* The list of keys ends within an entry. */
static void kind__count_min_list_cut_off(void **state)
{
    (void)state;
    struct bb_buf envelope = count_min_envelope(false);
    for (size_t cut = 1; cut < 20 + 5; cut++) {
        struct bb_buf damaged = {0};
        assert_ok(bb_buf_append(&damaged, envelope.data, envelope.size - cut));
        bb_store64(damaged.data + SIZE, damaged.size);
        envelope_repair(&damaged);
        assert_envelope_refused(damaged.data, damaged.size, BB_CORRUPT);
        assert_message("ends at entry 1, expected 2");
        bb_buf_deinit(&damaged);
    }
    bb_buf_deinit(&envelope);
}

/* Cells of a conservative sketch may add up to less than the total, but not to nothing. */
static void kind__count_min_without_cells(void **state)
{
    (void)state;
    struct bb_buf envelope = count_min_envelope(true);
    memset(envelope.data + CELLS, 0, TOP_ENTRIES - CELLS);
    envelope_repair(&envelope);
    assert_envelope_refused(envelope.data, envelope.size, BB_CORRUPT);
    assert_message("the total is 570");
    bb_buf_deinit(&envelope);
}

static void kind__no_bits_for_some_keys_are_refused(void **state)
{
    (void)state;
    static const enum bb_filter_kind kinds[] = {BB_FILTER_BLOCKED_BLOOM, BB_FILTER_BLOOM,
                                                BB_FILTER_SPLIT_BLOCK, BB_FILTER_COUNTING,
                                                BB_FILTER_PARTITIONED};
    for (size_t k = 0; k < BB_ARRAY_LENGTH(kinds); k++) {
        struct bb_buf envelope = envelope_of(kinds[k], 0.01, 1, 60);
        memset(envelope.data + PAYLOAD, 0, envelope.size - PAYLOAD - 8);
        envelope_repair(&envelope);
        assert_envelope_refused(envelope.data, envelope.size, BB_CORRUPT);
        assert_message("no bit is set for 60 keys");
        bb_buf_deinit(&envelope);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kind__split_block),
        cmocka_unit_test(kind__counting),
        cmocka_unit_test(kind__scalable),
        cmocka_unit_test(kind__count_min),
        cmocka_unit_test(kind__partitioned),
        cmocka_unit_test(kind__no_bits_for_some_keys_are_refused),
        cmocka_unit_test(kind__count_min_list_cut_off),
        cmocka_unit_test(kind__count_min_without_cells),
    };
    keys_init("kind");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
