/* Goal: the bytes that a search for blocks hashes in vain are limited, so that a hostile file costs
 * no more than its size allows. Method: a file of false ends of blocks that all claim to begin at
 * its first byte, and a sound block that ends after them. */
#include "sstable/salvage/block_places.h"

#include "base/coding.h"
#include "tests/support/assert_status.h"

static const struct bb_table_id table = {.low = 7, .high = 8};

#define DATA_SIZE ((size_t)96 * 1024)

/* The last bytes of a raw block of all bytes up to here: one restart at 0, and the trailer. Returns
 * the size of the bytes that its checksum covers. */
static size_t append_end(struct bb_buf *file)
{
    assert_ok(bb_append_u16(file, 0));
    assert_ok(bb_append_u32(file, 1));
    size_t raw_size = file->size;
    assert_ok(bb_append_u8(file, BB_COMPRESSION_NONE));
    assert_ok(bb_append_u32(file, (uint32_t)raw_size));
    return file->size;
}

/* Appends false ends. Returns how many bytes their checksums cover together. */
static uint64_t append_false_ends(struct bb_buf *file, size_t count)
{
    uint64_t hashed = 0;
    for (size_t i = 0; i < count; i++) {
        hashed += append_end(file);
        assert_ok(bb_append_u64(file, 0));
    }
    return hashed;
}

/* Whether a block that fills the file is found, with this many false ends inside it. */
static bool finds_block(size_t false_ends, uint64_t *ret_hashed)
{
    struct bb_buf file = {0};
    struct bb_block_places places = {0};
    uint8_t *data = NULL;
    assert_ok(bb_buf_extend(&file, DATA_SIZE, &data));
    memset(data, 0, DATA_SIZE);
    *ret_hashed = append_false_ends(&file, false_ends);
    size_t covered = append_end(&file);
    assert_ok(bb_append_u64(&file, bb_checksum(table, BB_STORED_BLOCK, 0, file.data, covered)));
    assert_ok(bb_block_places_find(bb_buf_bytes(&file), table, &places));
    bool is_found = places.count == 1;
    if (is_found) {
        assert_int_equal(places.places[0].offset, 0);
        assert_int_equal(places.places[0].size, file.size);
        assert_int_equal(places.lost_count, 0);
    }
    assert_int_equal(places.count, is_found);
    assert_int_equal(places.page_count, 0);
    assert_int_equal(places.end, is_found ? file.size : 0);
    bb_block_places_deinit(&places);
    bb_buf_deinit(&file);
    return is_found;
}

/* 64 MiB may be hashed in vain, and 16 times the file. */
static void block_places__of_a_hostile_file_hash_a_limited_number_of_bytes(void **state)
{
    (void)state;
    uint64_t hashed = 0;
    assert_true(finds_block(600, &hashed));
    assert_true(hashed < UINT64_C(64) << 20);
    assert_false(finds_block(700, &hashed));
    assert_true(hashed > (UINT64_C(64) << 20) + 20 * DATA_SIZE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(block_places__of_a_hostile_file_hash_a_limited_number_of_bytes),
    };
    return cmocka_run_group_tests_name("block places", tests, NULL, NULL);
}
