/* Goal: the unit of a set index with wrong bytes is refused. Method: a table of the rejected forms
 * of its fields, and every cut. */
#include "skip/kind/value_set.h"

#include <stdlib.h>

#include "base/bytes.h"
#include "skip/bits/bit_reader.h"
#include "skip/condition/leaf.h"
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

/* Each value is in one of three granules: 1 or 2. */
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

/* ---- judging ---- */

static bool judge(const char *digits, enum bb_attribute_type type, uint32_t granule_count,
                  const struct bb_leaf *leaf, struct bb_granule_bits bits[2])
{
    const struct hostile_field fields[] = {{"unit", digits, false}, {NULL, NULL, false}};
    struct bb_bytes bytes = hostile_bytes(fields, NULL);
    uint8_t *unit = calloc(1, bytes.size + BB_BIT_READER_PAD);
    assert_non_null(unit);
    memcpy(unit, bytes.data, bytes.size);
    memset(bits, 0, 2 * sizeof(bits[0]));
    bool is_sound = bb_value_set_judge(bb_bytes_of(unit, bytes.size), type, granule_count, leaf,
                                       &bits[0], &bits[1]);
    free(unit);
    hostile_free(bytes);
    return is_sound;
}

#define TWO_BYTES "02 02 'ab' 01 'b'"

/* A text has all pieces of the leaf, or one of its pieces is empty. */
static void value_set__text_may_match_or_not(void **state)
{
    (void)state;
    static const struct bb_piece b = {.bytes = {.data = (const uint8_t *)"b", .size = 1}};
    static const struct bb_piece empty = {.bytes = {.data = (const uint8_t *)"", .size = 0}};
    static const struct bb_piece *const pieces[] = {&b, &empty};
    for (size_t i = 0; i < 2; i++) {
        struct bb_granule_bits bits[2];
        struct bb_piece_group group = {.pieces = pieces[i], .piece_count = 1};
        struct bb_leaf leaf = {.kind = BB_LEAF_TEXT, .groups = &group, .group_count = 1};
        leaf.type = BB_ATTRIBUTE_BYTES;
        assert_true(judge(TWO_BYTES "3b", BB_ATTRIBUTE_BYTES, 3, &leaf, bits));
        assert_int_equal(bits[0].words[0], 6);
        assert_int_equal(bits[1].words[0], 6);
    }
}

/* No number has a piece. */
static void value_set__text_of_numbers_matches_none(void **state)
{
    (void)state;
    static const struct bb_piece b = {.bytes = {.data = (const uint8_t *)"b", .size = 1}};
    struct bb_piece_group group = {.pieces = &b, .piece_count = 1};
    struct bb_leaf leaf = {.kind = BB_LEAF_TEXT, .groups = &group, .group_count = 1};
    struct bb_granule_bits bits[2];
    assert_true(judge("02 01 00*7 02 00*7 3b", BB_ATTRIBUTE_U64, 3, &leaf, bits));
    assert_int_equal(bits[0].words[0], 0);
}

static void hostile_set__is_not_judged(void **state)
{
    (void)state;
    static const struct bb_piece a = {.bytes = {.data = (const uint8_t *)"a", .size = 1}};
    static const struct {
        const char *wrong;
        const char *digits;
        uint32_t granule_count;
    } rows[] = {
        {"a number of values of more bytes than it needs", "82 00", 3},
        {"more values than a set may have", "81 80 04", 3},
        {"a value more than there is", "03 02 'ab' 01 'b'", 3},
        {"a value of no granules", TWO_BYTES "00", 3},
        {"a value of more granules than there are", TWO_BYTES "04 00", 3},
        {"postings that are cut off", TWO_BYTES "3b", 1000},
    };
    struct bb_piece_group group = {.pieces = &a, .piece_count = 1};
    struct bb_leaf leaf = {.kind = BB_LEAF_TEXT, .groups = &group, .group_count = 1};
    struct bb_granule_bits bits[2];
    assert_true(judge(TWO_BYTES "3b", BB_ATTRIBUTE_BYTES, 3, &leaf, bits));
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (judge(rows[i].digits, BB_ATTRIBUTE_BYTES, rows[i].granule_count, &leaf, bits))
            fail_msg("%s: judged", rows[i].wrong);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hostile_set__is_refused),
        cmocka_unit_test(value_set__text_may_match_or_not),
        cmocka_unit_test(value_set__text_of_numbers_matches_none),
        cmocka_unit_test(hostile_set__is_not_judged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
