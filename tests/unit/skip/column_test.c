/* Goal: a granule of a column with wrong bytes is refused. Method: for each type of values a table
 * of the rejected forms of its fields, and every cut. */
#include "skip/kind/column.h"

#include <stdlib.h>

#include "base/bytes.h"
#include "tests/support/assert_status.h"
#include "tests/support/hostile.h"

/* A unit with one granule. */
static enum bb_status decode(struct bb_bytes bytes, const void *context)
{
    const enum bb_attribute_type *type = context;
    struct bb_column_granule granule = {0};
    uint8_t *unit = malloc(sizeof(uint32_t) + bytes.size);
    assert_non_null(unit);
    bb_store32(unit, (uint32_t)bytes.size);
    if (bytes.size > 0)
        memcpy(unit + sizeof(uint32_t), bytes.data, bytes.size);
    enum bb_status status = bb_column_granule_read(
        &granule, *type, bb_bytes_of(unit, sizeof(uint32_t) + bytes.size), 1, 0);
    bb_column_granule_deinit(&granule);
    free(unit);
    return status;
}

static void hostile_numbers__are_refused(void **state)
{
    (void)state;
    static const enum bb_attribute_type type = BB_ATTRIBUTE_I64;
    static const struct hostile_field fields[] = {
        {"records", "03", true}, /* a granule without bytes has no stored values */
        {"parts", "02", false},
        {"records of a part", "01", false},
        {"records of the next", "02", false},
        {"has states", "01", false},
        {"states", "04", false},
        {"values", "02", false},
        {"first", "05", false},
        {"difference", "80 01", false},
        {"numbers", "02", false},
        {NULL, NULL, false},
    };
    static const struct hostile_case cases[] = {
        {"more records than a granule may have", "records", "82 80 80 01"},
        {"a number of records of more bytes than it needs", "records", "83 00"},
        {"more parts than there are bytes", "parts", "7f"},
        {"parts of fewer records than the granule", "records of a part", "00"},
        {"parts of more records than the granule", "records of the next", "03"},
        {"a number of records of more than 32 bits", "records of a part", "80 80 80 80 10"},
        {"a flag that does not exist", "has states", "02"},
        {"more values than records", "values", "04"},
        {"more values than there are bytes", "values", "7f"},
        {"a varint of more bytes than it needs", "first", "85 00"},
        {"a number less than there are records", "numbers", ""},
        {"a byte after the numbers", "numbers", "02 00"},
        {NULL, NULL, NULL},
    };
    hostile_check(fields, cases, decode, &type, NULL);
}

static void hostile_doubles__are_refused(void **state)
{
    (void)state;
    static const enum bb_attribute_type type = BB_ATTRIBUTE_F64;
    static const struct hostile_field fields[] = {
        {"records", "02", true}, {"parts", "00", false},   {"has states", "00", false},
        {"values", "01", false}, {"value", "00*8", false}, {NULL, NULL, false},
    };
    static const struct hostile_case cases[] = {
        {"numbers where one value needs none", "value", "00*9"},
        {NULL, NULL, NULL},
    };
    hostile_check(fields, cases, decode, &type, NULL);
}

static void hostile_bytes__are_refused(void **state)
{
    (void)state;
    static const enum bb_attribute_type type = BB_ATTRIBUTE_BYTES;
    static const struct hostile_field fields[] = {
        {"records", "02", true},
        {"parts", "00", false},
        {"has states", "00", false},
        {"values", "02", false},
        {"shared", "00", false},
        {"rest", "03 'abc'", false},
        {"shared of the next", "03", false},
        {"rest of the next", "01 'd'", false},
        {"numbers", "02", false},
        {NULL, NULL, false},
    };
    static const struct hostile_case cases[] = {
        {"a first value that shares bytes", "shared", "01"},
        {"more shared bytes than the value before has", "shared of the next", "04"},
        {"a number of shared bytes of more than 32 bits", "shared", "80 80 80 80 10"},
        {NULL, NULL, NULL},
    };
    hostile_check(fields, cases, decode, &type, NULL);
}

/* Values that share most of their bytes: few stored bytes for more than a granule may have. */
static void values_of_too_many_bytes__are_refused(void **state)
{
    (void)state;
    static const enum bb_attribute_type type = BB_ATTRIBUTE_BYTES;
    struct hostile_field fields[] = {
        {"records", "03", true},
        {"parts", "00", false},
        {"has states", "00", false},
        {"values", "03", false},
        {"shared", "00", false},
        {"rest", "80 80 80 07 61*14680064", false}, /* 14 MiB; a granule may have 32 MiB */
        {"next", "80 80 80 07 01 'b'", false},
        {"last", "80 80 80 07 01 'c'", false},
        {"numbers", "24", false},
        {NULL, NULL, false},
    };
    struct bb_bytes bytes = hostile_bytes(fields, NULL);
    assert_status(decode(bytes, &type), BB_CORRUPT);
    hostile_free(bytes);
}

static void hostile_ends__are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *wrong;
        size_t unit_size;
        uint32_t ends[2];
        uint32_t at;
        enum bb_status status;
    } rows[] = {
        {"values that are not stored", 12, {0, 0}, 0, BB_NOT_FOUND},
        {"a granule that the unit does not have", 12, {0, 0}, 2, BB_CORRUPT},
        {"a unit cut inside of the ends", 7, {0, 0}, 0, BB_CORRUPT},
        {"a granule that ends before it begins", 12, {3, 2}, 1, BB_CORRUPT},
        {"a granule that ends after the unit", 12, {0, 5}, 1, BB_CORRUPT},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        uint8_t unit[12] = {0};
        struct bb_column_granule granule = {0};
        bb_store32(unit, rows[i].ends[0]);
        bb_store32(unit + 4, rows[i].ends[1]);
        enum bb_status status = bb_column_granule_read(
            &granule, BB_ATTRIBUTE_U64, bb_bytes_of(unit, rows[i].unit_size), 2, rows[i].at);
        if (status != rows[i].status)
            fail_msg("%s: status %d", rows[i].wrong, (int)status);
        bb_column_granule_deinit(&granule);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hostile_numbers__are_refused),
        cmocka_unit_test(hostile_doubles__are_refused),
        cmocka_unit_test(hostile_bytes__are_refused),
        cmocka_unit_test(values_of_too_many_bytes__are_refused),
        cmocka_unit_test(hostile_ends__are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
