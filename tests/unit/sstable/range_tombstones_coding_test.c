/* Goal: a section of range tombstones with a wrong field is refused. Method: a table of the
 * rejected forms of each field, and every cut. */
#include "sstable/ranges/range_tombstones.h"

#include "tests/support/assert_status.h"
#include "tests/support/hostile.h"

static enum bb_status decode(struct bb_bytes bytes, const void *context)
{
    struct bb_range_tombstones *list = NULL;
    (void)context;
    enum bb_status status =
        bb_range_tombstones_decode(bytes, NULL, (struct bb_place){.file = "/table"}, &list);
    if (status == BB_OK)
        bb_range_tombstones_destroy(list);
    return status;
}

static void hostile_fragments__are_refused(void **state)
{
    (void)state;
    /* [a, f) of sequences 1289 and 1280, then [f, m) of 1288. */
    static const struct hostile_field fields[] = {
        {"fragments", "02", false},   {"low", "02 'a'", false},
        {"high", "01 'f'", false},    {"more", "01", false},
        {"sequence", "89 0a", false}, {"difference", "09", false},
        {"next low", "00", false},    {"next high", "01 'm'", false},
        {"next more", "00", false},   {"next sequence", "88 0a", false},
        {NULL, NULL, false},
    };
    static const struct hostile_case cases[] = {
        {"no fragments", "fragments", "00"},
        {"more fragments than there are bytes", "fragments", "7f"},
        {"a fragment less than there are", "fragments", "01"},
        {"a first fragment that begins where one before it ends", "low", "00"},
        {"a low end longer than a key", "low", "82 80 04 61*65537"},
        {"a low end that is no varint", "low", "80 00 'a'"},
        {"a high end longer than a key", "high", "81 80 04 66*65537"},
        {"a high end below the low end", "high", "01 'A'"},
        {"a high end at the low end", "high", "01 'a'"},
        {"a fragment inside of the one before", "next low", "02 'c'"},
        {"more sequences than there are bytes", "more", "7f"},
        {"a sequence above the highest one", "sequence", "80 80 80 80 80 80 80 80 01"},
        {"sequences that do not descend", "difference", "00"},
        {"a difference of more bytes than it needs", "difference", "89 00"},
        {"a sequence below zero", "difference", "8a 0a"},
        {"bytes after the last fragment", "next sequence", "88 0a 00"},
        {NULL, NULL, NULL},
    };
    hostile_check(fields, cases, decode, NULL, "/table: at offset ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(hostile_fragments__are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
