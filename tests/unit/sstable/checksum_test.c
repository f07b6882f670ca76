/* Goal: a checksum depends on its bytes and their place, and only on these. Method: one change at a
 * time; fixed values, because they are on disk (computed by tests/golden/xxh3.py). */
#include "tests/support/assert_status.h"

#include "base/bytes.h"
#include "base/status.h"
#include "sstable/checksum.h"

static const struct bb_table_id table = {.low = 0x0123456789abcdef, .high = 0xfedcba9876543210};

static void checksum__is_bound_to_its_place(void **state)
{
    (void)state;
    uint64_t here = bb_checksum(table, BB_STORED_BLOCK, 4096, "bytes", 5);
    struct bb_table_id low = {.low = table.low + 1, .high = table.high};
    struct bb_table_id high = {.low = table.low, .high = table.high + 1};
    struct bb_table_id swapped = {.low = table.high, .high = table.low};
    assert_true(here == bb_checksum(table, BB_STORED_BLOCK, 4096, "bytes", 5));
    assert_true(here != bb_checksum(table, BB_STORED_BLOCK, 4097, "bytes", 5));
    assert_true(here != bb_checksum(table, BB_STORED_FENCES, 4096, "bytes", 5));
    assert_true(here != bb_checksum(table, BB_STORED_BLOCK, 4096, "bytez", 5));
    assert_true(here != bb_checksum(table, BB_STORED_BLOCK, 4096, "bytes", 4));
    assert_true(here != bb_checksum(low, BB_STORED_BLOCK, 4096, "bytes", 5));
    assert_true(here != bb_checksum(high, BB_STORED_BLOCK, 4096, "bytes", 5));
    assert_true(here != bb_checksum(swapped, BB_STORED_BLOCK, 4096, "bytes", 5));
}

static void checksum__values_are_pinned(void **state)
{
    (void)state;
    static const struct bb_table_id zero = {0};
    assert_true(bb_checksum(zero, BB_STORED_FOOTER, 0, "", 0) == UINT64_C(0x071043884f82636e));
    assert_true(bb_checksum(table, BB_STORED_BLOCK, 4096, "bytes", 5) ==
                UINT64_C(0xc93638e954813bec));
}

static void checksum__check_names_what_it_found(void **state)
{
    (void)state;
    uint8_t bytes[12] = "data";
    bb_store64(bytes + 4, bb_checksum(table, BB_STORED_SECTION, 77, bytes, 4));
    assert_true(bb_checksum_matches(table, BB_STORED_SECTION, 77, bytes, 4));
    assert_ok(bb_checksum_check(table, BB_STORED_SECTION, "/file", 77, bytes, 4, "thing"));
    for (int bit = 0; bit < 96; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_false(bb_checksum_matches(table, BB_STORED_SECTION, 77, bytes, 4));
        assert_status(bb_checksum_check(table, BB_STORED_SECTION, "/file", 77, bytes, 4, "thing"),
                      BB_CORRUPT);
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    assert_message("/file");
    assert_message("77");
    assert_message("thing of 12 bytes");
}

/* The message had them in the wrong order. */
static void checksum__the_message_has_the_stored_value_and_the_expected_one(void **state)
{
    (void)state;
    uint8_t bytes[13] = "bytes";
    bb_store64(bytes + 5, 1);
    assert_status(bb_checksum_check(table, BB_STORED_BLOCK, "/file", 4096, bytes, 5, "a block"),
                  BB_CORRUPT);
    assert_message("a block of 13 bytes has checksum 0000000000000001, expected c93638e954813bec");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checksum__is_bound_to_its_place),
        cmocka_unit_test(checksum__values_are_pinned),
        cmocka_unit_test(checksum__check_names_what_it_found),
        cmocka_unit_test(checksum__the_message_has_the_stored_value_and_the_expected_one),
    };
    return cmocka_run_group_tests_name("checksum", tests, NULL, NULL);
}
