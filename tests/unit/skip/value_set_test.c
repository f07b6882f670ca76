/* Goal: the unit of a set index with wrong bytes is refused. Method: a table of the rejected forms
 * of its fields, and every cut. */
#include "skip/kind/value_set.h"

#include <stdlib.h>

#include "base/bytes.h"
#include "skip/bits/bit_reader.h"
#include "tests/support/assert_status.h"
#include "tests/support/hostile.h"

static void count_value(void *context, const struct bb_attribute *value,
                        const struct bb_granule_bits *granules)
{
    (void)value;
    (void)granules;
    ++*(size_t *)context;
}

/* Of three granules. Bits are read beyond the unit: into the checksum of a file, here zeros. */
static enum bb_status decode(struct bb_bytes bytes, const void *context)
{
    const enum bb_attribute_type *type = context;
    size_t count = 0;
    uint8_t *unit = calloc(1, bytes.size + BB_BIT_READER_PAD);
    assert_non_null(unit);
    if (bytes.size > 0)
        memcpy(unit, bytes.data, bytes.size);
    bool is_sound =
        bb_value_set_visit(bb_bytes_of(unit, bytes.size), *type, 3, count_value, &count);
    free(unit);
    assert_true(!is_sound || count == 2);
    return is_sound ? BB_OK : BB_CORRUPT;
}

/* Postings: gamma(2), two of three granules; gamma(3). */
static void hostile_set__is_refused(void **state)
{
    (void)state;
    static const enum bb_attribute_type types[] = {BB_ATTRIBUTE_U64, BB_ATTRIBUTE_BYTES};
    static const struct hostile_field numbers[] = {
        {"values", "02", false},   {"value", "01 00*7", false}, {"next value", "02 00*7", false},
        {"postings", "3b", false}, {NULL, NULL, false},
    };
    static const struct hostile_field bytes[] = {
        {"values", "02", false},   {"value", "02 'ab'", false}, {"next value", "01 'b'", false},
        {"postings", "3b", false}, {NULL, NULL, false},
    };
    static const struct hostile_case cases[] = {
        {"more values than a set may have", "values", "81 80 04"},
        {"a value more than there is", "values", "03"},
        {"a number of values of more bytes than it needs", "values", "82 00"},
        {"a value of no granules", "postings", "00"},
        {"a value of more granules than there are", "postings", "04 00"},
        {"a number of granules of more than 41 bits", "postings", "00*6 ff*8"},
        {NULL, NULL, NULL},
    };
    hostile_check(numbers, cases, decode, &types[0], NULL);
    hostile_check(bytes, cases, decode, &types[1], NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(hostile_set__is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
