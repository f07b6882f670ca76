/* Goal: every field of every kind of filter is checked against the others when it comes from
 * anywhere. Method: one small envelope per kind; one field after the other set to values that
 * cannot be, with the checksum put right, so that it is the field that is refused, by name; the
 * view then lets every key through. (What all kinds share is in envelope_test.c.) */
#include "tests/unit/bloomblock/envelope_fixture.h"

#define C BB_CORRUPT

static void assert_changes_refused(const struct bb_buf *envelope, const struct change *changes,
                                   size_t count)
{
    for (size_t i = 0; i < count; i++)
        assert_change_refused(envelope, &changes[i]);
}

/* With the fields that are the same for all kinds. */
static void assert_kind(struct bb_buf envelope, const struct change *changes, size_t count)
{
    static const struct change shared[] = {
        {VERSION, 4, 1, BB_UNSUPPORTED, "version 1"},
        {KIND, 2, 0, C, "kind 0"},
        {KIND, 2, 99, BB_UNSUPPORTED, "has kind 99"},
        {HEADER_SIZE, 2, 72, C, "header has 72 bytes"},
        {SIZE, 8, 71, C, "says that it has 71 bytes"},
        {KEY_COUNT, 8, BB_FILTER_KEY_COUNT_MAX + 1, C, "the limit is"},
        {TARGET_RATE, 8, 0, C, "target rate"},
        {TARGET_RATE, 8, UINT64_C(0x3fe8000000000000), C, "target rate is 0.75"},
        {TARGET_RATE, 8, UINT64_C(0x7ff8000000000000), C, "target rate is"},
        {PARAMETER_0, 8, 0, C, "number of"},
        {PARAMETER_0, 8, UINT64_MAX, C, "number of"},
        {PARAMETER_0, 8, UINT64_MAX / 2, C, "number of"},
        {PARAMETER_1, 8, 0, C, "number of probes"},
        {PARAMETER_1, 8, 31, C, "number of probes"},
        {PARAMETER_1, 8, UINT64_MAX, C, "number of probes"},
    };
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
    assert_kind(envelope_of(BB_FILTER_SPLIT_BLOCK, 0.01, 1, 60), changes, BB_ARRAY_LENGTH(changes));
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
        {PARAMETER_0, 8, bits - probes, C, "bits"}, /* behind the last, or bytes too many */
        {PARAMETER_1, 8, 11, C, "number of bits"},
        {PAYLOAD + bits / 8, 1, 0x80, C, "bits are set behind the last one"},
    };
    assert_kind(envelope, changes, BB_ARRAY_LENGTH(changes));
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
        {PAYLOAD + counters / 2, 1, 0x10, C, "bits are set behind the last one"},
    };
    assert_kind(envelope, changes, BB_ARRAY_LENGTH(changes));
}

static void kind__no_bits_for_some_keys_are_refused(void **state)
{
    (void)state;
    static const enum bb_filter_kind kinds[] = {BB_FILTER_SPLIT_BLOCK, BB_FILTER_COUNTING,
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
        cmocka_unit_test(kind__partitioned),
        cmocka_unit_test(kind__no_bits_for_some_keys_are_refused),
    };
    keys_init("kind");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
