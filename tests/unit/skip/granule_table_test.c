/* Goal: a granule table with wrong bytes is refused. Method: a table of the rejected forms of its
 * fields, and every cut. */
#include "skip/layout/granule_table.h"

#include "tests/support/assert_status.h"
#include "tests/support/hostile.h"

/* Two granules, one attribute. */
static const struct hostile_field fields[] = {
    {"place", "07", false},        {"next place", "80 01", false},  {"records", "03", false},
    {"next records", "04", false}, {"has null", "01", false},       {"null", "01", false},
    {"next null", "04", false},    {"has missing", "00", false},    {"has malformed", "01", false},
    {"malformed", "02", false},    {"next malformed", "00", false}, {NULL, NULL, false},
};

static const struct hostile_case cases[] = {
    {"a place of more than 64 bits", "next place", "ff ff ff ff ff ff ff ff ff 01"},
    {"a place of more bytes than it needs", "place", "87 00"},
    {"a number of records of more than 32 bits", "records", "80 80 80 80 10"},
    {"a flag that does not exist", "has null", "02"},
    {"a count of more than 32 bits", "malformed", "80 80 80 80 10"},
    {"more values of a state than records", "null", "04"},
    {"more values of all states than records", "next malformed", "01"},
    {"bytes after the last column", "next malformed", "00 00"},
    {NULL, NULL, NULL},
};

static enum bb_status decode(struct bb_bytes bytes, const void *context)
{
    struct bb_granule_table table;
    (void)context;
    enum bb_status status =
        bb_granule_table_decode(bytes, (struct bb_place){.file = "x.bbi"}, 2, 1, &table);
    if (status == BB_OK)
        bb_granule_table_deinit(&table);
    return status;
}

static void hostile_table__is_refused(void **state)
{
    (void)state;
    hostile_check(fields, cases, decode, NULL, "x.bbi: at offset 0: the granule table of the ");
}

/* The decoder allocates no memory for granules that the section cannot have. */
static void more_granules_than_bytes__are_refused(void **state)
{
    (void)state;
    static const uint8_t bytes[5] = {0};
    struct bb_granule_table table;
    assert_status(bb_granule_table_decode((struct bb_bytes){bytes, sizeof(bytes)},
                                          (struct bb_place){0}, SIZE_MAX, 0, &table),
                  BB_CORRUPT);
    assert_message("has 5 bytes for 18446744073709551615 granules");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hostile_table__is_refused),
        cmocka_unit_test(more_granules_than_bytes__are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
