/* Goal: units of bounds with wrong bytes are refused; long bytes have bounds that are correct.
 * Method: a table of the rejected forms of each field, and every cut, for both ways to read; the
 * bounds that a builder writes of long bytes. */
#include "skip/kind/min_max.h"

#include "base/bytes.h"
#include "tests/support/assert_status.h"
#include "tests/support/hostile.h"

/* A leaf of one interval from 3 on, or of two, which is read in another way. */
struct question {
    size_t interval_count;
};

static enum bb_status decode(struct bb_bytes bytes, const void *context)
{
    const struct question *question = context;
    struct bb_attribute three = {.type = BB_ATTRIBUTE_U64, .as.u64 = 3};
    struct bb_attribute four = {.type = BB_ATTRIBUTE_U64, .as.u64 = 4};
    struct bb_interval intervals[2] = {
        {.low = {.value = three}, .high = {.value = three}},
        {.low = {.value = four}, .high = {.is_open = true}},
    };
    struct bb_leaf leaf = {.kind = BB_LEAF_INTERVALS,
                           .type = BB_ATTRIBUTE_U64,
                           .intervals = intervals,
                           .interval_count = question->interval_count};
    struct bb_granule_bits may_be_true = {{0}};
    struct bb_granule_bits may_be_false = {{0}};
    if (!bb_min_max_judge(bytes, BB_ATTRIBUTE_U64, 3, &leaf, &may_be_true, &may_be_false))
        return BB_CORRUPT;
    /* Values 2 ... 3, no value, and 3. */
    assert_int_equal(may_be_true.words[0], 5);
    assert_int_equal(may_be_false.words[0], 1);
    return BB_OK;
}

static void hostile_bounds__are_refused(void **state)
{
    (void)state;
    static const struct question questions[] = {{1}, {2}};
    static const struct hostile_field fields[] = {
        {"flags", "01", false},          {"low", "02 00*7", false},
        {"high", "03 00*7", false},      {"next flags", "00", false},
        {"last flags", "01", false},     {"last low", "03 00*7", false},
        {"last high", "03 00*7", false}, {NULL, NULL, false},
    };
    static const struct hostile_case cases[] = {
        {"a flag that does not exist", "flags", "05"},
        {NULL, NULL, NULL},
    };
    for (size_t i = 0; i < 2; i++)
        hostile_check(fields, cases, decode, &questions[i], NULL);
}

/* The bytes that a builder writes for the bounds of one value. */
static void check_bounds(const char *value, const char *expected, size_t expected_size)
{
    struct bb_min_max_builder builder = {0};
    struct bb_attribute attribute = {.state = BB_ATTRIBUTE_PRESENT,
                                     .type = BB_ATTRIBUTE_BYTES,
                                     .as.bytes = bb_bytes_of_text(value)};
    bb_min_max_builder_add(&builder, &attribute);
    assert_ok(bb_min_max_builder_end_granule(&builder));
    assert_int_equal(builder.unit.size, expected_size);
    assert_memory_equal(builder.unit.data, expected, expected_size);
    bb_min_max_builder_deinit(&builder);
}

#define FF16 "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"

static void long_bytes__have_a_high_bound_above_them(void **state)
{
    (void)state;
    check_bounds("", "\1\0\0", 3);
    check_bounds("0123456789abcdef",
                 "\1\x10"
                 "0123456789abcdef\x10"
                 "0123456789abcdef",
                 35);
    check_bounds("0123456789abcdefg",
                 "\1\x10"
                 "0123456789abcdef\x10"
                 "0123456789abcdeg",
                 35);
    check_bounds("0123456789abcd\xff\xff-",
                 "\1\x10"
                 "0123456789abcd\xff\xff\x0e"
                 "0123456789abce",
                 33);
    check_bounds(FF16, "\1\x10" FF16 "\x10" FF16, 35);
    check_bounds(FF16 "-", "\1\x10" FF16 "\xff", 19);
}

/* Texts that begin with a prefix, against the bounds "b" ... "d". */
static void prefixes__are_compared_with_the_bounds(void **state)
{
    (void)state;
    static const struct {
        const char *prefix;
        bool high_is_open;
        bool may_be_true;
    } rows[] = {{"a", false, false}, {"b", false, true},   {"bx", false, true},
                {"d", false, true},  {"da", false, false}, {"", false, true},
                {"e", false, false}, {"e", true, true},    {"a", true, false}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct bb_piece piece = {.bytes = bb_bytes_of_text(rows[i].prefix), .is_at_start = true};
        struct bb_piece_group group = {.pieces = &piece, .piece_count = 1};
        struct bb_leaf leaf = {
            .kind = BB_LEAF_TEXT, .type = BB_ATTRIBUTE_BYTES, .groups = &group, .group_count = 1};
        struct bb_read_bounds bounds = {.has_values = true};
        bool may_be_true = false;
        bool may_be_false = false;
        bounds.values.low.type = bounds.values.high.type = BB_ATTRIBUTE_BYTES;
        bounds.values.low.as.bytes = bb_bytes_of_text("b");
        bounds.values.high.as.bytes = bb_bytes_of_text("d");
        bounds.values.high_is_open = rows[i].high_is_open;
        assert_true(bb_min_max_knows(&leaf));
        bb_min_max_bounds_judge(&bounds, &leaf, &may_be_true, &may_be_false);
        if (may_be_true != rows[i].may_be_true)
            fail_msg("prefix \"%s\"", rows[i].prefix);
        assert_true(may_be_false);
    }
    assert_false(bb_min_max_knows(&(struct bb_leaf){.kind = BB_LEAF_NULLS}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hostile_bounds__are_refused),
        cmocka_unit_test(long_bytes__have_a_high_bound_above_them),
        cmocka_unit_test(prefixes__are_compared_with_the_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
