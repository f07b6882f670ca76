/* Goal: a batch survives a round trip operation by operation, its payload has fixed bytes, and a
 * payload that is damaged, cut or invented is never read past its end or accepted beyond its
 * contents. Method: random round trips; written-out bytes; every truncation and every bit flip, in
 * heap blocks of exactly their size for the sanitizer; one hostile payload per field. */
#include "tests/support/assert_status.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "kv/batch.h"
#include "tests/support/must_alloc.h"
#include "tests/support/rng.h"

static struct bb_bytes text(const char *string)
{
    return bb_bytes_of_text(string);
}

static void fill_small(struct bb_batch *batch)
{
    assert_ok(bb_batch_put(batch, text("key"), text("value")));
    assert_ok(bb_batch_delete(batch, text("gone")));
    assert_ok(bb_batch_put(batch, text(""), text("")));
}

/* sequence 0x0102030405, three operations */
static const uint8_t small_payload[] = {
    0x05, 0x04, 0x03, 0x02, 0x01, 0,   0,   0,   3,   0,   0,   0, /* sequence, count */
    1,    3,    'k',  'e',  'y',  5,   'v', 'a', 'l', 'u', 'e',    /* put */
    0,    4,    'g',  'o',  'n',  'e',                             /* delete: no value at all */
    1,    0,    0, /* put of the empty key, empty value */
};

static void batch__payload_has_fixed_bytes(void **state)
{
    (void)state;
    struct bb_batch batch = {0};
    fill_small(&batch);
    struct bb_bytes payload = bb_batch_stamp(&batch, UINT64_C(0x0102030405));
    assert_int_equal(payload.size, sizeof(small_payload));
    assert_memory_equal(payload.data, small_payload, sizeof(small_payload));
    assert_int_equal(bb_batch_count(&batch), 3);
    assert_int_equal(bb_batch_size_bytes(&batch), sizeof(small_payload));
    assert_int_equal(batch.raw_bytes, 3 + 5 + 4);
    bb_batch_deinit(&batch);
}

static void batch__cursor_numbers_operations(void **state)
{
    (void)state;
    struct bb_batch_cursor cursor;
    struct bb_entry entry;
    assert_ok(bb_batch_cursor_init(&cursor, bb_bytes_of(small_payload, sizeof(small_payload)),
                                   (struct bb_place){0}));
    assert_ok(bb_batch_cursor_next(&cursor, &entry));
    assert_true(entry.sequence == UINT64_C(0x0102030405) && entry.kind == BB_ENTRY_PUT);
    assert_true(bb_bytes_equal(entry.key, text("key")) &&
                bb_bytes_equal(entry.value, text("value")));
    assert_ok(bb_batch_cursor_next(&cursor, &entry));
    assert_true(entry.sequence == UINT64_C(0x0102030406) && entry.kind == BB_ENTRY_DELETE);
    assert_true(bb_bytes_equal(entry.key, text("gone")) && entry.value.size == 0);
    assert_ok(bb_batch_cursor_next(&cursor, &entry));
    assert_true(entry.sequence == UINT64_C(0x0102030407) && entry.key.size == 0 &&
                entry.value.size == 0);
    assert_status(bb_batch_cursor_next(&cursor, &entry), BB_NOT_FOUND);
    assert_status(bb_batch_cursor_next(&cursor, &entry), BB_NOT_FOUND);
}

struct seen {
    size_t count;
    size_t stop_at;
    uint64_t hash;
};

static uint64_t mix(uint64_t hash, enum bb_entry_kind kind, struct bb_bytes key,
                    struct bb_bytes value)
{
    hash = hash * 31 + (uint64_t)kind;
    for (size_t i = 0; i < key.size; i++)
        hash = hash * 31 + key.data[i];
    hash = hash * 31 + 1000;
    for (size_t i = 0; i < value.size; i++)
        hash = hash * 31 + value.data[i];
    return hash;
}

static enum bb_status see(void *context, enum bb_entry_kind kind, struct bb_bytes key,
                          struct bb_bytes value)
{
    struct seen *seen = context;
    seen->hash = mix(seen->hash, kind, key, value);
    return ++seen->count == seen->stop_at ? BB_NOT_FOUND : BB_OK;
}

static void batch__random_round_trips(void **state)
{
    (void)state;
    struct bb_rng rng;
    bb_rng_init(&rng, bb_rng_seed("batch__random_round_trips", 5));
    struct bb_batch *batch = NULL;
    assert_ok(bb_batch_create(&batch));
    for (unsigned round = 0; round < 200; round++) {
        struct seen expected = {0};
        struct seen found = {0};
        size_t count = bb_rng_skewed(&rng, 300);
        for (size_t i = 0; i < count; i++) {
            uint8_t key_bytes[200];
            uint8_t value_bytes[400];
            struct bb_bytes key =
                bb_bytes_of(key_bytes, bb_rng_key(&rng, key_bytes, sizeof(key_bytes)));
            struct bb_bytes value =
                bb_bytes_of(value_bytes, bb_rng_skewed(&rng, sizeof(value_bytes)));
            bb_rng_bytes(&rng, value_bytes, value.size);
            if (bb_rng_one_in(&rng, 3)) {
                assert_ok(bb_batch_delete(batch, key));
                expected.hash = mix(expected.hash, BB_ENTRY_DELETE, key, (struct bb_bytes){0});
            } else {
                assert_ok(bb_batch_put(batch, key, value));
                expected.hash = mix(expected.hash, BB_ENTRY_PUT, key, value);
            }
        }
        assert_ok(bb_batch_iterate(batch, see, &found));
        assert_true(found.count == count && found.hash == expected.hash);
        bb_batch_reset(batch);
        assert_int_equal(bb_batch_count(batch), 0);
        assert_int_equal(bb_batch_size_bytes(batch), 0);
        assert_int_equal(batch->raw_bytes, 0);
    }
    bb_batch_destroy(batch);
    bb_batch_destroy(NULL);
}

static void assert_last(const struct bb_batch *batch, enum bb_entry_kind kind, struct bb_bytes key,
                        struct bb_bytes value)
{
    struct bb_entry last = bb_batch_last(batch, 7);
    assert_int_equal(last.sequence, 7);
    assert_int_equal(last.kind, kind);
    assert_true(bb_bytes_equal(last.key, key));
    assert_true(bb_bytes_equal(last.value, value));
}

/* Of each kind, after others, with and without a value, and while the payload moves. */
static void batch__last_operation(void **state)
{
    (void)state;
    static uint8_t large[100000] = {7};
    struct bb_bytes value = bb_bytes_of(large, sizeof(large));
    struct bb_batch batch = {0};
    struct bb_batch borrowed = {0};
    assert_ok(bb_batch_put(&batch, text("a"), text("one")));
    assert_last(&batch, BB_ENTRY_PUT, text("a"), text("one"));
    assert_ok(bb_batch_delete(&batch, text("key")));
    assert_last(&batch, BB_ENTRY_DELETE, text("key"), text(""));
    assert_ok(bb_batch_put(&batch, text(""), value));
    assert_last(&batch, BB_ENTRY_PUT, text(""), value);
    assert_ok(bb_batch_delete_range(&batch, text("low"), text("up")));
    assert_last(&batch, BB_ENTRY_DELETE_RANGE, text("low"), text("up"));
    bb_batch_reset(&batch);
    assert_ok(bb_batch_put(&batch, text("b"), text("")));
    assert_last(&batch, BB_ENTRY_PUT, text("b"), text(""));
    assert_ok(bb_batch_put_borrowed(&borrowed, text("c"), value));
    assert_last(&borrowed, BB_ENTRY_PUT, text("c"), value);
    assert_ptr_equal(bb_batch_last(&borrowed, 7).value.data, large);
    bb_batch_deinit(&batch);
    bb_batch_deinit(&borrowed);
}

/* The payload and its tail together are the payload of a put that copies. */
static void batch__value_is_borrowed(void **state)
{
    (void)state;
    struct bb_batch copied = {0};
    struct bb_batch borrowed = {0};
    struct bb_buf joined = {0};
    struct bb_bytes value = text("a value");
    assert_ok(bb_batch_put(&copied, text("key"), value));
    assert_ok(bb_batch_put_borrowed(&borrowed, text("key"), value));
    assert_int_equal(bb_batch_size_bytes(&borrowed), bb_batch_size_bytes(&copied));
    assert_int_equal(borrowed.raw_bytes, copied.raw_bytes);
    struct bb_bytes head = bb_batch_stamp(&borrowed, 7);
    assert_ok(bb_buf_append(&joined, head.data, head.size));
    assert_ok(bb_buf_append(&joined, borrowed.tail.data, borrowed.tail.size));
    assert_true(bb_bytes_equal(bb_buf_bytes(&joined), bb_batch_stamp(&copied, 7)));
    assert_ptr_equal(bb_batch_last(&borrowed, 7).value.data, value.data);
    bb_buf_deinit(&joined);
    bb_batch_deinit(&copied);
    bb_batch_deinit(&borrowed);
}

static void batch__borrowed_value_of_a_long_key_is_refused(void **state)
{
    (void)state;
    static const uint8_t key[BB_KEY_SIZE_MAX + 1] = {1};
    struct bb_batch batch = {0};
    assert_status(bb_batch_put_borrowed(&batch, bb_bytes_of(key, sizeof(key)), text("value")),
                  BB_TOO_LARGE);
    assert_int_equal(bb_batch_count(&batch), 0);
    assert_ok(bb_batch_put_borrowed(&batch, bb_bytes_of(key, sizeof(key) - 1), text("value")));
    bb_batch_deinit(&batch);
}

static void batch__visitor_stops(void **state)
{
    (void)state;
    struct bb_batch batch = {0};
    struct seen seen = {.stop_at = 2};
    assert_ok(bb_batch_iterate(&batch, see, &seen)); /* empty */
    fill_small(&batch);
    assert_status(bb_batch_iterate(&batch, see, &seen), BB_NOT_FOUND);
    assert_int_equal(seen.count, 2);
    bb_batch_deinit(&batch);
}

static void batch__limits(void **state)
{
    (void)state;
    struct bb_batch batch = {0};
    uint8_t *key = bb_must_alloc_zeroed(BB_KEY_SIZE_MAX + 1);
    assert_status(bb_batch_put(&batch, bb_bytes_of(key, BB_KEY_SIZE_MAX + 1), text("v")),
                  BB_TOO_LARGE);
    assert_status(bb_batch_delete(&batch, bb_bytes_of(key, BB_KEY_SIZE_MAX + 1)), BB_TOO_LARGE);
    assert_status(bb_batch_put(&batch, text("k"), bb_bytes_of(key, (size_t)BB_VALUE_SIZE_MAX + 1)),
                  BB_TOO_LARGE);
    assert_int_equal(bb_batch_count(&batch), 0);
    assert_int_equal(bb_batch_size_bytes(&batch), 0);
    assert_ok(bb_batch_put(&batch, bb_bytes_of(key, BB_KEY_SIZE_MAX), text("v")));
    assert_int_equal(bb_batch_count(&batch), 1);
    free(key);
    bb_batch_deinit(&batch);
}

/* Reads a payload to its end; gives the status that ended it, and the number of operations read. */
static enum bb_status read_all(const uint8_t *data, size_t size, uint32_t *ret_count)
{
    uint8_t *block = bb_must_realloc(NULL, size);
    if (size > 0)
        memcpy(block, data, size);
    struct bb_batch_cursor cursor;
    struct bb_entry entry;
    uint64_t touched = 0;
    *ret_count = 0;
    enum bb_status status =
        bb_batch_cursor_init(&cursor, bb_bytes_of(block, size), (struct bb_place){.file = "log"});
    while (status == BB_OK) {
        status = bb_batch_cursor_next(&cursor, &entry);
        if (status == BB_OK) {
            touched = mix(touched, entry.kind, entry.key, entry.value);
            ++*ret_count;
        }
    }
    free(block);
    return status;
}

static void batch__corrupt_cut_anywhere(void **state)
{
    (void)state;
    uint32_t count = 0;
    for (size_t size = 0; size < sizeof(small_payload); size++)
        assert_status(read_all(small_payload, size, &count), BB_CORRUPT);
    assert_status(read_all(small_payload, sizeof(small_payload), &count), BB_NOT_FOUND);
    assert_int_equal(count, 3);
}

static void batch__corrupt_bit_flips_stay_inside(void **state)
{
    (void)state;
    for (size_t bit = 0; bit < sizeof(small_payload) * 8; bit++) {
        uint8_t bytes[sizeof(small_payload)];
        uint32_t count = 0;
        memcpy(bytes, small_payload, sizeof(bytes));
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        enum bb_status status = read_all(bytes, sizeof(bytes), &count);
        assert_true(status == BB_CORRUPT || status == BB_NOT_FOUND);
        if (bit / 8 >= 8 && bit / 8 < 12)
            assert_int_equal(status, BB_CORRUPT); /* the count */
    }
}

static void assert_corrupt(const void *bytes, size_t size, const char *message)
{
    uint32_t count = 0;
    assert_status(read_all(bytes, size, &count), BB_CORRUPT);
    assert_message(message);
}

#define HEADER(count) "\x01\0\0\0\0\0\0\0" count "\0\0\0"

static void batch__corrupt_kind(void **state)
{
    (void)state;
    static const char bytes[] = HEADER("\1") "\x03\x01k\x01v";
    assert_corrupt(bytes, sizeof(bytes) - 1, "unknown kind");
    assert_message("log: at offset 13");
}

static void batch__corrupt_key_size(void **state)
{
    (void)state;
    static const char past_end[] = HEADER("\1") "\x01\x05k\x01v";
    assert_corrupt(past_end, sizeof(past_end) - 1, "its key does not fit");
    static const char not_canonical[] = HEADER("\1") "\x00\x81\x00k";
    assert_corrupt(not_canonical, sizeof(not_canonical) - 1, "its key does not fit");
}

static void batch__corrupt_value_size(void **state)
{
    (void)state;
    static const char past_end[] = HEADER("\1") "\x01\x01k\x02v";
    assert_corrupt(past_end, sizeof(past_end) - 1, "its value does not fit");
    static const char missing[] = HEADER("\1") "\x01\x01k";
    assert_corrupt(missing, sizeof(missing) - 1, "its value does not fit");
}

static void batch__corrupt_key_limit(void **state)
{
    (void)state;
    size_t size = BB_BATCH_HEADER_SIZE + 1 + 3 + BB_KEY_SIZE_MAX + 1;
    uint8_t *bytes = bb_must_alloc_zeroed(size);
    memcpy(bytes, HEADER("\1") "\x00\x81\x80\x04", BB_BATCH_HEADER_SIZE + 4); /* 65537 */
    assert_corrupt(bytes, size, "its key does not fit");
    free(bytes);
}

/* The high bound of a range is a key. */
static void batch__corrupt_bound_limit(void **state)
{
    (void)state;
    uint32_t count = 0;
    size_t size = BB_BATCH_HEADER_SIZE + 6 + BB_KEY_SIZE_MAX + 1;
    uint8_t *bytes = bb_must_alloc_zeroed(size);
    memcpy(bytes, HEADER("\1") "\x02\x01k\x81\x80\x04", BB_BATCH_HEADER_SIZE + 6); /* 65537 */
    assert_corrupt(bytes, size, "its high key does not fit");
    bytes[BB_BATCH_HEADER_SIZE + 3] = 0x80; /* 65536 */
    assert_status(read_all(bytes, size - 1, &count), BB_NOT_FOUND);
    assert_int_equal(count, 1);
    free(bytes);
}

static void batch__corrupt_count(void **state)
{
    (void)state;
    static const char too_few[] = HEADER("\1") "\x00\x01k\x00\x01l";
    assert_corrupt(too_few, sizeof(too_few) - 1, "bytes after the last one");
    static const char too_many[] = HEADER("\2") "\x00\x02kl";
    assert_corrupt(too_many, sizeof(too_many) - 1, "missing");
    static const char absurd[] = "\x01\0\0\0\0\0\0\0\xff\xff\xff\xff\x00\x01k";
    assert_corrupt(absurd, sizeof(absurd) - 1, "4294967295 operations in");
}

static void batch__corrupt_sequence(void **state)
{
    (void)state;
    uint32_t count = 0;
    static const char last[] = "\xff\xff\xff\xff\xff\xff\xff\x00\x01\0\0\0\x00\x01k";
    assert_status(read_all((const uint8_t *)last, sizeof(last) - 1, &count), BB_NOT_FOUND);
    static const char past[] = "\xff\xff\xff\xff\xff\xff\xff\x00\x02\0\0\0\x00\x01k\x00\x01l";
    assert_corrupt(past, sizeof(past) - 1, "the highest is");
    static const char wraps[] = "\xff\xff\xff\xff\xff\xff\xff\xff\x01\0\0\0\x00\x01k";
    assert_corrupt(wraps, sizeof(wraps) - 1, "the highest is");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batch__payload_has_fixed_bytes),
        cmocka_unit_test(batch__cursor_numbers_operations),
        cmocka_unit_test(batch__random_round_trips),
        cmocka_unit_test(batch__last_operation),
        cmocka_unit_test(batch__value_is_borrowed),
        cmocka_unit_test(batch__borrowed_value_of_a_long_key_is_refused),
        cmocka_unit_test(batch__visitor_stops),
        cmocka_unit_test(batch__limits),
        cmocka_unit_test(batch__corrupt_cut_anywhere),
        cmocka_unit_test(batch__corrupt_bit_flips_stay_inside),
        cmocka_unit_test(batch__corrupt_kind),
        cmocka_unit_test(batch__corrupt_key_size),
        cmocka_unit_test(batch__corrupt_value_size),
        cmocka_unit_test(batch__corrupt_key_limit),
        cmocka_unit_test(batch__corrupt_bound_limit),
        cmocka_unit_test(batch__corrupt_count),
        cmocka_unit_test(batch__corrupt_sequence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
