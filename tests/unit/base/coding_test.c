/* Goal: numbers and lengths survive a round trip, in bytes that are fixed for all machines, and no
 * decoder accepts a second encoding, reads past its end or moves when it fails. Method: written-out
 * bytes; round trips at every power of two and its neighbours; every truncation of every encoding;
 * inputs in heap blocks of exactly their size, for the sanitizer. */
#include "tests/support/assert_status.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/coding.h"
#include "tests/support/rng.h"

static void coding__fixed_is_little_endian(void **state)
{
    (void)state;
    struct bb_buf buf = {0};
    assert_ok(bb_append_u8(&buf, 0x01));
    assert_ok(bb_append_u16(&buf, 0x0203));
    assert_ok(bb_append_u32(&buf, 0x04050607));
    assert_ok(bb_append_u64(&buf, UINT64_C(0x08090a0b0c0d0e0f)));
    assert_int_equal(buf.size, 15);
    assert_memory_equal(buf.data, "\x01\x03\x02\x07\x06\x05\x04\x0f\x0e\x0d\x0c\x0b\x0a\x09\x08",
                        15);

    struct bb_cursor cursor = bb_cursor_of(bb_buf_bytes(&buf));
    uint8_t u8 = 0;
    uint16_t u16 = 0;
    uint32_t u32 = 0;
    uint64_t u64 = 0;
    assert_true(bb_decode_u8(&cursor, &u8));
    assert_true(bb_decode_u16(&cursor, &u16));
    assert_true(bb_decode_u32(&cursor, &u32));
    assert_true(bb_decode_u64(&cursor, &u64));
    assert_int_equal(u8, 0x01);
    assert_int_equal(u16, 0x0203);
    assert_int_equal(u32, 0x04050607);
    assert_true(u64 == UINT64_C(0x08090a0b0c0d0e0f));
    assert_int_equal(bb_cursor_left(&cursor), 0);
    bb_buf_deinit(&buf);
}

static void coding__doubles_are_their_bits(void **state)
{
    (void)state;
    struct bb_buf buf = {0};
    assert_ok(bb_append_double(&buf, -0.0));
    assert_ok(bb_append_double(&buf, (double)NAN));
    assert_ok(bb_append_double(&buf, 1.5));
    assert_int_equal(buf.size, 24);
    assert_memory_equal(buf.data, "\0\0\0\0\0\0\0\x80", 8);
    assert_memory_equal(buf.data + 16, "\0\0\0\0\0\0\xf8\x3f", 8);

    struct bb_cursor cursor = bb_cursor_of(bb_buf_bytes(&buf));
    double value = 9;
    assert_true(bb_decode_double(&cursor, &value));
    assert_true(value == 0 && signbit(value));
    assert_true(bb_decode_double(&cursor, &value));
    assert_true(isnan(value));
    assert_true(bb_decode_double(&cursor, &value));
    assert_true(value == 1.5);
    assert_int_equal(bb_cursor_left(&cursor), 0);
    bb_buf_deinit(&buf);
}

static void coding__fixed_needs_all_its_bytes(void **state)
{
    (void)state;
    for (size_t size = 0; size < 8; size++) {
        uint8_t *block = calloc(1, size == 0 ? 1 : size);
        assert_non_null(block);
        struct bb_cursor cursor = bb_cursor_of(bb_bytes_of(block, size));
        const uint8_t *position = cursor.position;
        uint8_t u8 = 9;
        uint16_t u16 = 9;
        uint32_t u32 = 9;
        uint64_t u64 = 9;
        double real = 9;
        assert_true(size >= 1 || !bb_decode_u8(&cursor, &u8));
        assert_true(size >= 2 || !bb_decode_u16(&cursor, &u16));
        assert_true(size >= 4 || !bb_decode_u32(&cursor, &u32));
        assert_false(bb_decode_u64(&cursor, &u64));
        assert_false(bb_decode_double(&cursor, &real));
        assert_ptr_equal(cursor.position, position);
        assert_true(u8 == 9 && u16 == 9 && u32 == 9 && u64 == 9 && real == 9);
        free(block);
    }
}

static void coding__varint_bytes_are_fixed(void **state)
{
    (void)state;
    static const struct {
        uint64_t value;
        size_t size;
        const char *bytes;
    } cases[] = {
        {0, 1, "\x00"},
        {1, 1, "\x01"},
        {127, 1, "\x7f"},
        {128, 2, "\x80\x01"},
        {300, 2, "\xac\x02"},
        {16383, 2, "\xff\x7f"},
        {16384, 3, "\x80\x80\x01"},
        {UINT32_MAX, 5, "\xff\xff\xff\xff\x0f"},
        {UINT64_C(1) << 63, 10, "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"},
        {UINT64_MAX, 10, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct bb_buf buf = {0};
        assert_ok(bb_append_varint(&buf, cases[i].value));
        assert_int_equal(buf.size, cases[i].size);
        assert_memory_equal(buf.data, cases[i].bytes, cases[i].size);
        bb_buf_deinit(&buf);
    }
}

/* Writes value, reads it back, and tries every truncation. */
static void check_varint(uint64_t value)
{
    uint8_t bytes[BB_VARINT64_SIZE_MAX];
    size_t size = (size_t)(bb_store_varint(bytes, value) - bytes);
    assert_int_equal(size, bb_varint_size(value));
    for (size_t cut = 0; cut <= size; cut++) {
        uint8_t *block = malloc(cut == 0 ? 1 : cut);
        assert_non_null(block);
        memcpy(block, bytes, cut);
        struct bb_cursor cursor = bb_cursor_of(bb_bytes_of(block, cut));
        uint64_t found = ~value;
        assert_int_equal(bb_decode_varint64(&cursor, &found), cut == size);
        assert_true(found == (cut == size ? value : ~value));
        assert_int_equal(bb_cursor_left(&cursor), cut == size ? 0 : cut);

        cursor = bb_cursor_of(bb_bytes_of(block, cut));
        uint32_t found32 = 7;
        bool fits = cut == size && value <= UINT32_MAX;
        assert_int_equal(bb_decode_varint32(&cursor, &found32), fits);
        assert_true(found32 == (fits ? (uint32_t)value : 7));
        assert_int_equal(bb_cursor_left(&cursor), fits ? 0 : cut);
        free(block);
    }
}

static void coding__varint_round_trip(void **state)
{
    struct bb_rng *rng = *state;
    for (unsigned bit = 0; bit < 64; bit++) {
        check_varint((UINT64_C(1) << bit) - 1);
        check_varint(UINT64_C(1) << bit);
        check_varint((UINT64_C(1) << bit) + 1);
    }
    check_varint(UINT64_MAX);
    for (int round = 0; round < 2000; round++)
        check_varint(bb_rng_skewed(rng, UINT64_MAX));
}

static void check_refused(const char *bytes, size_t size)
{
    struct bb_cursor cursor = bb_cursor_of(bb_bytes_of(bytes, size));
    uint64_t value = 77;
    uint32_t value32 = 77;
    assert_false(bb_decode_varint64(&cursor, &value));
    assert_false(bb_decode_varint32(&cursor, &value32));
    assert_int_equal(bb_cursor_left(&cursor), size);
    assert_true(value == 77 && value32 == 77);
}

static void coding__corrupt_varint_not_shortest(void **state)
{
    (void)state;
    check_refused("\x80\x00", 2);
    check_refused("\xff\x00", 2);
    check_refused("\x80\x80\x00", 3);
    check_refused("\xff\xff\xff\xff\x80\x00", 6);
    check_refused("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00", 10);
}

static void coding__corrupt_varint_past_64_bits(void **state)
{
    (void)state;
    check_refused("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10);
    check_refused("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x7f", 10);
    check_refused("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 11);
    check_refused("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 16);
}

static void coding__corrupt_varint32_past_32_bits(void **state)
{
    (void)state;
    struct bb_cursor cursor = bb_cursor_of(bb_bytes_of("\x80\x80\x80\x80\x10", 5));
    uint32_t value = 77;
    assert_false(bb_decode_varint32(&cursor, &value));
    assert_int_equal(bb_cursor_left(&cursor), 5);
    assert_int_equal(value, 77);
    uint64_t wide = 0;
    assert_true(bb_decode_varint64(&cursor, &wide));
    assert_true(wide == UINT64_C(1) << 32);
}

static void coding__bytes_round_trip(void **state)
{
    (void)state;
    struct bb_buf buf = {0};
    assert_ok(bb_append_bytes(&buf, (struct bb_bytes){0}));
    assert_ok(bb_append_bytes(&buf, bb_bytes_of("a\0b", 3)));
    assert_int_equal(buf.size, 5);
    assert_memory_equal(buf.data,
                        "\x00\x03"
                        "a\0b",
                        5);

    struct bb_cursor cursor = bb_cursor_of(bb_buf_bytes(&buf));
    struct bb_bytes bytes = bb_bytes_of_text("before");
    assert_true(bb_decode_bytes(&cursor, &bytes));
    assert_int_equal(bytes.size, 0);
    assert_true(bb_decode_bytes(&cursor, &bytes));
    assert_true(bb_bytes_equal(bytes, bb_bytes_of("a\0b", 3)));
    assert_ptr_equal(bytes.data, buf.data + 2); /* borrowed, not copied */
    assert_false(bb_decode_bytes(&cursor, &bytes));
    bb_buf_deinit(&buf);
}

static void coding__corrupt_length_of_bytes(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t size;
    } cases[] = {
        {"\x04"
         "abc",
         4}, /* one more than there is */
        {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
         "abc",
         13},        /* position + length would wrap */
        {"\x80", 1}, /* cut inside the length */
        {"\x83\x00"
         "abc",
         5}, /* second spelling of 3 */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct bb_cursor cursor = bb_cursor_of(bb_bytes_of(cases[i].bytes, cases[i].size));
        struct bb_bytes bytes = bb_bytes_of_text("before");
        assert_false(bb_decode_bytes(&cursor, &bytes));
        assert_int_equal(bb_cursor_left(&cursor), cases[i].size);
        assert_int_equal(bytes.size, 6);
    }
}

static void coding__raw_is_bounded(void **state)
{
    (void)state;
    struct bb_cursor cursor = bb_cursor_of(bb_bytes_of_text("abcdef"));
    struct bb_bytes bytes = {0};
    assert_false(bb_decode_raw(&cursor, 7, &bytes));
    assert_false(bb_decode_raw(&cursor, SIZE_MAX, &bytes));
    assert_true(bb_decode_raw(&cursor, 4, &bytes));
    assert_true(bb_bytes_equal(bytes, bb_bytes_of_text("abcd")));
    assert_false(bb_decode_raw(&cursor, 3, &bytes));
    assert_true(bb_decode_raw(&cursor, 2, &bytes));
    assert_true(bb_decode_raw(&cursor, 0, &bytes));
    assert_int_equal(bytes.size, 0);
}

static void coding__empty_cursor_may_have_no_address(void **state)
{
    (void)state;
    struct bb_cursor cursor = bb_cursor_of((struct bb_bytes){0});
    uint8_t u8 = 0;
    uint64_t u64 = 0;
    struct bb_bytes bytes = {0};
    assert_false(bb_decode_u8(&cursor, &u8));
    assert_false(bb_decode_varint64(&cursor, &u64));
    assert_false(bb_decode_bytes(&cursor, &bytes));
    assert_false(bb_decode_raw(&cursor, 1, &bytes));
    assert_true(bb_decode_raw(&cursor, 0, &bytes));
}

int main(void)
{
    struct bb_rng rng;
    bb_rng_init(&rng, bb_rng_seed("coding_test", 3));
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(coding__fixed_is_little_endian),
        cmocka_unit_test(coding__doubles_are_their_bits),
        cmocka_unit_test(coding__fixed_needs_all_its_bytes),
        cmocka_unit_test(coding__varint_bytes_are_fixed),
        cmocka_unit_test_prestate(coding__varint_round_trip, &rng),
        cmocka_unit_test(coding__corrupt_varint_not_shortest),
        cmocka_unit_test(coding__corrupt_varint_past_64_bits),
        cmocka_unit_test(coding__corrupt_varint32_past_32_bits),
        cmocka_unit_test(coding__bytes_round_trip),
        cmocka_unit_test(coding__corrupt_length_of_bytes),
        cmocka_unit_test(coding__raw_is_bounded),
        cmocka_unit_test(coding__empty_cursor_may_have_no_address),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
