/* Goal: the decoder of tags reads the same bytes as bb_decode_varint64, and refuses the same.
 * Method: encoded numbers of every size, with bytes after them or without; random bytes. */
#include "tests/support/assert_status.h"

#include "sstable/block/block_record.h"
#include "tests/support/rng.h"

#define ROUNDS 20000

static void check(const uint8_t *bytes, size_t size)
{
    struct bb_cursor cursor = bb_cursor_of(bb_bytes_of(bytes, size));
    struct bb_cursor expected = cursor;
    uint64_t tag = 0;
    uint64_t expected_tag = 0;
    bool is_read = bb_decode_varint64(&expected, &expected_tag);
    assert_int_equal(bb_block_record_decode_tag(&cursor, &tag), is_read);
    assert_int_equal(tag, expected_tag);
    assert_ptr_equal(cursor.position, expected.position);
}

static void block_record__tags_of_every_size(void **state)
{
    (void)state;
    struct bb_rng rng;
    bb_rng_init(&rng, bb_rng_seed("block_record", 1));
    for (int i = 0; i < ROUNDS; i++) {
        uint8_t bytes[BB_VARINT64_SIZE_MAX + 8];
        uint64_t tag = bb_rng_next(&rng) >> bb_rng_below(&rng, 64);
        for (size_t j = 0; j < sizeof(bytes); j++)
            bytes[j] = (uint8_t)bb_rng_next(&rng);
        size_t size = (size_t)(bb_store_varint(bytes, tag) - bytes);
        check(bytes, size + bb_rng_below(&rng, 9));
        check(bytes, bb_rng_below(&rng, size + 1));
    }
}

/* Also numbers that are longer than needed: zeros are frequent. */
static void block_record__any_bytes(void **state)
{
    (void)state;
    struct bb_rng rng;
    bb_rng_init(&rng, bb_rng_seed("block_record", 2));
    for (int i = 0; i < ROUNDS; i++) {
        uint8_t bytes[12];
        size_t size = bb_rng_below(&rng, sizeof(bytes) + 1);
        for (size_t j = 0; j < size; j++)
            bytes[j] = bb_rng_one_in(&rng, 4) ? 0 : (uint8_t)(bb_rng_next(&rng) | 0x80);
        check(bytes, size);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(block_record__tags_of_every_size),
        cmocka_unit_test(block_record__any_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
