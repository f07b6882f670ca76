/* Goal: entries order by key, then newest first, and the limits hold to the byte. Method: cases. */
#include "tests/support/assert_status.h"

#include "sstable/entry.h"

static int order(const char *a, uint64_t a_sequence, const char *b, uint64_t b_sequence)
{
    return bb_entry_compare(NULL, bb_bytes_of_text(a), a_sequence, bb_bytes_of_text(b), b_sequence);
}

static void entry__newest_first(void **state)
{
    (void)state;
    assert_true(order("a", 1, "b", 9) < 0);
    assert_true(order("b", 9, "a", 1) > 0);
    assert_true(order("a", 9, "a", 1) < 0);
    assert_true(order("a", 1, "a", 9) > 0);
    assert_int_equal(order("a", 5, "a", 5), 0);
    assert_true(order("a", 0, "a", BB_SEQUENCE_MAX) > 0);
    assert_true(order("", 0, "a", 0) < 0);
    assert_true(order("ab", 1, "b", 1) < 0);
}

static struct bb_entry allowed(void)
{
    return (struct bb_entry){.key = {.data = (const uint8_t *)"k", .size = 1},
                             .sequence = 1,
                             .kind = BB_ENTRY_PUT,
                             .value = {.data = (const uint8_t *)"v", .size = 1}};
}

static void entry__limits(void **state)
{
    (void)state;
    struct bb_entry entry = allowed();
    assert_ok(bb_entry_check(&entry));
    /* Only sizes are checked: the bytes need not exist. */
    entry.key.size = BB_KEY_SIZE_MAX;
    assert_ok(bb_entry_check(&entry));
    entry.key.size = BB_KEY_SIZE_MAX + 1;
    assert_status(bb_entry_check(&entry), BB_TOO_LARGE);
    assert_message("65536");
    entry = allowed();
    entry.value.size = BB_VALUE_SIZE_MAX;
    assert_ok(bb_entry_check(&entry));
    entry.value.size = (size_t)BB_VALUE_SIZE_MAX + 1;
    assert_status(bb_entry_check(&entry), BB_TOO_LARGE);
    entry = allowed();
    entry.sequence = BB_SEQUENCE_MAX;
    assert_ok(bb_entry_check(&entry));
    entry.sequence = BB_SEQUENCE_MAX + 1;
    assert_status(bb_entry_check(&entry), BB_INVALID);
}

static void entry__limits_of_ranges(void **state)
{
    (void)state;
    struct bb_bytes longest = {.size = BB_KEY_SIZE_MAX};
    struct bb_bytes beyond = {.size = BB_KEY_SIZE_MAX + 1};
    assert_ok(bb_entry_check_bounds(NULL, NULL));
    assert_ok(bb_entry_check_bounds(&longest, &longest));
    assert_status(bb_entry_check_bounds(&beyond, NULL), BB_TOO_LARGE);
    assert_message("65537 and 0 bytes");
    assert_status(bb_entry_check_bounds(NULL, &beyond), BB_TOO_LARGE);
    assert_ok(bb_entry_check_range(longest, longest, BB_SEQUENCE_MAX));
    assert_status(bb_entry_check_range(longest, longest, BB_SEQUENCE_MAX + 1), BB_INVALID);
    assert_status(bb_entry_check_range(beyond, longest, 1), BB_TOO_LARGE);
}

static void entry__kinds(void **state)
{
    (void)state;
    struct bb_entry entry = allowed();
    entry.kind = BB_ENTRY_DELETE;
    assert_status(bb_entry_check(&entry), BB_INVALID);
    assert_message("deletion");
    entry.value.size = 0;
    assert_ok(bb_entry_check(&entry));
    entry.kind = (enum bb_entry_kind)2;
    assert_status(bb_entry_check(&entry), BB_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entry__newest_first),
        cmocka_unit_test(entry__limits),
        cmocka_unit_test(entry__limits_of_ranges),
        cmocka_unit_test(entry__kinds),
    };
    return cmocka_run_group_tests_name("entry", tests, NULL, NULL);
}
