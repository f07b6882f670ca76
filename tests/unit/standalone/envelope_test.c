/* Goal: an envelope that is not exactly a builder's output is refused, and its view returns maybe
 * for every key. Method: every truncation, every bit flip, bytes after the end; and every field set
 * to values that contradict the others, with the checksum repaired, so that the field is refused.
 * Copies end at an unreadable page. */
#include "tests/unit/standalone/envelope_fixture.h"

#include "bloomblock/descriptor.h"
#include "bloomblock/table/shard_directory.h"

static struct bb_buf sketch_envelope(void)
{
    struct bb_count_sketch_options options = {.error = 0.4, .top_count = 2};
    struct bb_count_sketch *sketch = NULL;
    struct bb_buf envelope = {0};
    assert_ok(bb_count_sketch_create(&options, &sketch));
    assert_ok(bb_count_sketch_add(sketch, 7, bb_bytes_of_text("seven"), 7));
    assert_ok(bb_count_sketch_encode(sketch, &envelope));
    bb_count_sketch_destroy(sketch);
    return envelope;
}

/* One small envelope of every kind, and one of several shards. */
#define SAMPLE_COUNT 11

static struct bb_buf sample(int number)
{
    switch (number) {
    case 0:
        return envelope_of(BB_FILTER_RIBBON, 0.01, 1, 30);
    case 1:
        return envelope_of(BB_FILTER_RIBBON, 0.5, 1, 2600);
    case 2:
        return envelope_of(BB_FILTER_BLOCKED_BLOOM, 0.01, 1, 60);
    case 3:
        return envelope_of(BB_FILTER_BLOOM, 0.01, 1, 30);
    case 4:
        return envelope_of(BB_FILTER_NONE, 0, 1, 30);
    case 5:
        return envelope_of(BB_FILTER_RIBBON, 0.01, 1, 0);
    case 6:
        return envelope_of(BB_FILTER_SPLIT_BLOCK, 0.01, 1, 60);
    case 7:
        return envelope_of(BB_FILTER_PARTITIONED, 0.01, 1, 30);
    case 8:
        return envelope_of(BB_FILTER_COUNTING, 0.01, 1, 20);
    case 9:
        return envelope_of(BB_FILTER_SCALABLE, 0.01, 1, 20);
    default:
        return sketch_envelope();
    }
}

static void envelope__truncations_are_refused(void **state)
{
    (void)state;
    for (int i = 0; i < SAMPLE_COUNT; i++) {
        struct bb_buf envelope = sample(i);
        for (size_t size = 0; size < envelope.size; size++)
            assert_envelope_refused(envelope.data, size, BB_CORRUPT);
        bb_buf_deinit(&envelope);
    }
}

static void envelope__bytes_after_the_end_are_refused(void **state)
{
    (void)state;
    for (int i = 0; i < SAMPLE_COUNT; i++) {
        struct bb_buf envelope = sample(i);
        for (size_t more = 1; more < 20; more++) {
            assert_ok(bb_buf_append(&envelope, "", 1));
            assert_envelope_refused(envelope.data, envelope.size, BB_CORRUPT);
        }
        bb_buf_deinit(&envelope);
    }
}

static void envelope__bit_flips_are_refused(void **state)
{
    (void)state;
    for (int i = 0; i < SAMPLE_COUNT; i++) {
        struct bb_buf envelope = sample(i);
        for (size_t bit = 0; bit < envelope.size * 8; bit++) {
            bool version = bit / 8 >= VERSION && bit / 8 < VERSION + 4;
            envelope.data[bit / 8] ^= (uint8_t)(1 << (bit % 8));
            assert_envelope_refused(envelope.data, envelope.size,
                                    version ? BB_UNSUPPORTED : BB_CORRUPT);
            envelope.data[bit / 8] ^= (uint8_t)(1 << (bit % 8));
        }
        bb_buf_deinit(&envelope);
    }
}

/* --- Fields, with the checksum put right --- */

static void assert_field_refused(int number, size_t offset, size_t width, uint64_t value,
                                 enum bb_status expected, const char *message)
{
    struct bb_buf envelope = sample(number);
    struct change change = {offset, width, value, expected, message};
    assert_change_refused(&envelope, &change);
    bb_buf_deinit(&envelope);
}

static void envelope__corrupt_magic(void **state)
{
    (void)state;
    assert_field_refused(0, 0, 1, 'b', BB_CORRUPT, "does not begin with BBFILTER");
}

static void envelope__corrupt_version(void **state)
{
    (void)state;
    assert_field_refused(0, VERSION, 4, 0, BB_UNSUPPORTED,
                         "at offset 8: has version 0, this library reads 1");
    assert_field_refused(0, VERSION, 4, 2, BB_UNSUPPORTED,
                         "at offset 8: has version 2, this library reads 1");
}

static void envelope__corrupt_kind(void **state)
{
    (void)state;
    assert_field_refused(0, KIND, 2, BB_FILTER_DEFAULT, BB_CORRUPT, "kind 0");
    for (uint16_t kind = 20; kind < 40; kind++)
        assert_field_refused(0, KIND, 2, kind, BB_UNSUPPORTED, "at offset 12: has kind");
    assert_field_refused(0, KIND, 2, 0xffff, BB_UNSUPPORTED, "has kind");
    assert_field_refused(0, KIND, 2, BB_FILTER_NONE, BB_CORRUPT, "target rate");
    assert_field_refused(0, KIND, 2, BB_FILTER_BLOCKED_BLOOM, BB_CORRUPT, "number of lines");
    assert_field_refused(0, KIND, 2, BB_FILTER_BLOOM, BB_CORRUPT, "number of bits");
    assert_field_refused(2, KIND, 2, BB_FILTER_RIBBON, BB_CORRUPT, "number of shards");
}

static void envelope__corrupt_sizes(void **state)
{
    (void)state;
    assert_field_refused(0, HEADER_SIZE, 2, 63, BB_CORRUPT, "header has 63 bytes");
    assert_field_refused(0, SIZE, 8, 0, BB_CORRUPT, "has the size 0, but");
    assert_field_refused(0, SIZE, 8, UINT64_MAX, BB_CORRUPT, "has the size");
}

static void envelope__corrupt_key_count(void **state)
{
    (void)state;
    for (int number = 0; number < 4; number++) {
        assert_field_refused(number, KEY_COUNT, 8, 0, BB_CORRUPT, "parameter 0");
        assert_field_refused(number, KEY_COUNT, 8, BB_FILTER_KEY_COUNT_MAX + 1, BB_CORRUPT,
                             "the limit is");
    }
    /* The number of shards follows from the keys. */
    assert_field_refused(0, KEY_COUNT, 8, 2001, BB_CORRUPT, "number of shards");
    assert_field_refused(1, KEY_COUNT, 8, 2499, BB_CORRUPT, "number of shards");
    assert_field_refused(1, KEY_COUNT, 8, 3500, BB_CORRUPT, "number of shards");
    assert_field_refused(5, KEY_COUNT, 8, 1, BB_CORRUPT, "number of shards");
}

static void envelope__corrupt_target_rate(void **state)
{
    (void)state;
    const double rates[] = {0, -0.0, 1, 0.500001, 5e-8, -0.01, (double)NAN, (double)INFINITY};
    for (size_t i = 0; i < BB_ARRAY_LENGTH(rates); i++) {
        uint64_t bits = 0;
        memcpy(&bits, &rates[i], sizeof(bits));
        assert_field_refused(0, TARGET_RATE, 8, bits, BB_CORRUPT, "target rate");
        if (rates[i] != 1)
            assert_field_refused(4, TARGET_RATE, 8, bits, BB_CORRUPT, "target rate");
    }
}

static void envelope__corrupt_parameters(void **state)
{
    (void)state;
    static const char *const sizes[] = {"number of shards", "number of shards", "number of lines",
                                        "number of bits",   "parameter 0",      "parameter 0"};
    static const char *const probes[] = {"number of fingerprint bits", "number of fingerprint bits",
                                         "number of probes", "number of probes"};
    for (int number = 0; number < 6; number++) {
        if (number < 4)
            assert_field_refused(number, PARAMETER_0, 8, 0, BB_CORRUPT, sizes[number]);
        assert_field_refused(number, PARAMETER_0, 8, UINT64_MAX, BB_CORRUPT, sizes[number]);
        assert_field_refused(number, PARAMETER_0, 8, (UINT64_C(1) << 32) + 1, BB_CORRUPT,
                             sizes[number]);
        assert_field_refused(number, PARAMETER_1, 8, 31, BB_CORRUPT,
                             number < 4 ? probes[number] : "parameter 1");
        if (number < 4)
            assert_field_refused(number, PARAMETER_1, 8, 0, BB_CORRUPT, probes[number]);
    }
    assert_field_refused(0, PARAMETER_1, 8, 25, BB_CORRUPT, "number of fingerprint bits");
    assert_field_refused(0, PARAMETER_1, 8, 5, BB_CORRUPT, "the directory has");
}

static void envelope__corrupt_directory(void **state)
{
    (void)state;
    /* Sample 1: three shards of 1 fingerprint bit, byte-grouped. */
    assert_field_refused(1, PAYLOAD + 2, 2, 1, BB_CORRUPT, "shard 0 of 3 is at 1");
    assert_field_refused(1, PAYLOAD, 8, UINT64_MAX, BB_CORRUPT, "shard 0 of 3");
    for (size_t shard = 0; shard < 3; shard++) {
        size_t entry = PAYLOAD + shard * 8;
        assert_field_refused(1, entry, 2, 7, BB_CORRUPT, "the descriptor 0007, which");
        assert_field_refused(1, entry, 2, 0x8000, BB_CORRUPT, "the descriptor 8000, which");
        assert_field_refused(1, entry, 2, 0, BB_CORRUPT,
                             shard < 2 ? "of the payloads" : "the directory has");
        assert_field_refused(1, entry + 2, 2, 3, BB_CORRUPT, "of the payloads, expected");
    }
}

static void envelope__corrupt_bits_after_the_last(void **state)
{
    (void)state;
    struct bb_buf envelope = sample(3);
    uint64_t bits = bb_load64(envelope.data + PARAMETER_0);
    assert_true(bits % 8 != 0); /* 30 keys at 1 %: 283 or so */
    envelope.data[PAYLOAD + bits / 8] |= 0x80;
    envelope_repair(&envelope);
    assert_envelope_refused(envelope.data, envelope.size, BB_CORRUPT);
    assert_message("bits are set after the last one");
    bb_buf_deinit(&envelope);
}

/* Ribbons with 13 fingerprint bits whose columns end within a byte, for each number of remaining
 * bits. */
static void envelope__corrupt_bits_after_the_last_slot(void **state)
{
    (void)state;
    uint32_t seen = 0;
    for (uint64_t count = 1; count < 60; count++) {
        struct bb_buf envelope = envelope_of(BB_FILTER_RIBBON, 0.00015, 1, count);
        struct bb_descriptor parts = bb_descriptor_decode(bb_load16(envelope.data + PAYLOAD));
        uint64_t fingerprint_bits = bb_load64(envelope.data + PARAMETER_1) + parts.step;
        uint64_t last = parts.size * fingerprint_bits % 8;
        uint8_t *byte = envelope.data + envelope.size - 9;
        for (uint64_t bit = last; parts.bit_exact && last != 0 && bit < 8; bit++) {
            *byte ^= (uint8_t)(1u << bit);
            envelope_repair(&envelope);
            assert_envelope_refused(envelope.data, envelope.size, BB_CORRUPT);
            assert_message("shard 0 of 1 has bits after its last slot");
            *byte ^= (uint8_t)(1u << bit);
            seen |= 1u << last;
        }
        bb_buf_deinit(&envelope);
    }
    assert_true(seen == 0xfe);
}

/* A shard that could not be built has the descriptor 0 and no payload: its keys pass. */
static void envelope__shards_without_filter_say_maybe(void **state)
{
    (void)state;
    struct bb_buf envelope = sample(1);
    size_t entry = PAYLOAD + 2 * 8, last_shard = bb_load16(envelope.data + entry) & 255;
    struct bb_filter_view view;
    struct bb_filter_info info;
    envelope.size -= last_shard; /* of 1 fingerprint bit: a byte per group */
    bb_store64(envelope.data + SIZE, envelope.size);
    bb_store16(envelope.data + entry, 0);
    envelope_repair(&envelope);
    assert_ok(bb_filter_view_init(&view, bb_buf_bytes(&envelope)));
    assert_ok(bb_filter_info(bb_buf_bytes(&envelope), &info));
    assert_true(fabs(info.predicted_rate - 2.0 / 3) < 1e-12);
    for (uint64_t i = 0; i < 2600; i++)
        assert_true(bb_filter_may_contain(&view, member_hash(1, i)));
    uint64_t passed = 0;
    for (uint64_t i = 0; i < 10000; i++)
        passed += bb_filter_may_contain(&view, absent_hash(i));
    assert_rate(passed, 10000, 2.0 / 3, "non-member keys of two shards and a gap");
    bb_buf_deinit(&envelope);
}

/* --- Shard directory --- */

static void envelope__directory_keeps_every_entry(void **state)
{
    (void)state;
    static uint8_t directory[2000];
    for (uint32_t count = 1; count < 100; count++) {
        uint64_t offset = 0;
        memset(directory, 0xee, sizeof(directory));
        for (uint32_t i = 0; i < count; i++) {
            struct bb_shard_entry entry = {(uint16_t)(i * 257), offset};
            bb_shard_directory_store(directory, i, entry);
            offset += i % 3 == 0 ? 6375 : UINT64_C(0); /* the largest shard, and empty ones */
        }
        offset = 0;
        for (uint32_t i = 0; i < count; i++) {
            struct bb_shard_entry entry = bb_shard_directory_entry(directory, i);
            assert_int_equal(entry.descriptor, i * 257);
            assert_true(entry.offset == offset);
            offset += i % 3 == 0 ? 6375 : UINT64_C(0);
        }
        uint64_t size = bb_shard_directory_size(count);
        assert_int_equal(size, count * 8);
        assert_int_equal(directory[size], 0xee);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(envelope__truncations_are_refused),
        cmocka_unit_test(envelope__bytes_after_the_end_are_refused),
        cmocka_unit_test(envelope__bit_flips_are_refused),
        cmocka_unit_test(envelope__corrupt_magic),
        cmocka_unit_test(envelope__corrupt_version),
        cmocka_unit_test(envelope__corrupt_kind),
        cmocka_unit_test(envelope__corrupt_sizes),
        cmocka_unit_test(envelope__corrupt_key_count),
        cmocka_unit_test(envelope__corrupt_target_rate),
        cmocka_unit_test(envelope__corrupt_parameters),
        cmocka_unit_test(envelope__corrupt_directory),
        cmocka_unit_test(envelope__corrupt_bits_after_the_last),
        cmocka_unit_test(envelope__corrupt_bits_after_the_last_slot),
        cmocka_unit_test(envelope__shards_without_filter_say_maybe),
        cmocka_unit_test(envelope__directory_keeps_every_entry),
    };
    keys_init("envelope");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
