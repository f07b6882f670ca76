/* Goal: the properties that leaves claim to indexes hold: for every value of which a leaf is true,
 * its intervals or its cover contain the value, and of every group some piece is in it, as its
 * flags require. Method: random conditions over random records, each leaf of the tree separately;
 * independent, slow checks.
 *
 * BB_TEST_SEED sets the seed.
 */
#include "tests/support/assert_status.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "skip/condition/digit_run.h"
#include "skip/condition/needle.h"
#include "skip/condition/tree.h"
#include "tests/support/condition_draw.h"
#include "tests/support/step.h"
#include "tests/unit/skip/leaf_claims.h"

#define CONDITIONS 30000
#define RECORDS    40

struct check {
    struct bb_schema *schema;
    struct bb_drawn_record records[RECORDS];
    const struct bb_drawn_condition *drawn;
    size_t pieces; /* that were in a match */
    size_t covers;
    size_t intervals;
    size_t needles;
};

#define must_hold(check, what)                                                                     \
    do {                                                                                           \
        if (!(what))                                                                               \
            fail_msg("%s: %.*s", #what, (int)(check)->drawn->text.size,                            \
                     (const char *)(check)->drawn->text.data);                                     \
    } while (0)

static void check_text(struct check *check, const struct bb_leaf *leaf,
                       const struct bb_attribute *value, bool is_true)
{
    must_hold(check, leaf_holds_text(leaf, value, is_true));
    check->covers += is_true && leaf->cover != NULL;
    check->pieces += is_true ? leaf->group_count : 0;
}

static void check_ranges(struct check *check, const struct bb_leaf *leaf,
                         const struct bb_attribute *value, bool is_true)
{
    must_hold(check, leaf_holds_ranges(leaf, value, is_true));
    check->intervals += is_true;
}

static bool is_integer(enum bb_attribute_type type)
{
    return type != BB_ATTRIBUTE_BYTES && type != BB_ATTRIBUTE_F64;
}

static void check_form(struct check *check, const struct bb_leaf *leaf)
{
    for (size_t i = 0; i < leaf->interval_count; i++) {
        const struct bb_interval *interval = &leaf->intervals[i];
        bool is_point = !interval->low.is_open && !interval->high.is_open &&
                        bb_attribute_compare(&interval->low.value, &interval->high.value) == 0;
        must_hold(check, is_point || !leaf->is_points);
        must_hold(check, !is_integer(leaf->type) ||
                             (!interval->low.is_exclusive && !interval->high.is_exclusive));
        must_hold(check, i == 0 || bb_attribute_compare(&leaf->intervals[i - 1].high.value,
                                                        &interval->low.value) < 0);
    }
    for (size_t i = 0; i < leaf->group_count; i++) {
        must_hold(check, leaf->groups[i].piece_count > 0);
        for (size_t j = 0; j < leaf->groups[i].piece_count; j++)
            must_hold(check, leaf->groups[i].pieces[j].bytes.size > 0);
    }
}

static enum bb_truth truth_of(const struct bb_condition *condition,
                              const struct bb_drawn_record *record)
{
    struct bb_condition_run *run = NULL;
    enum bb_truth truth = BB_TRUTH_UNKNOWN;
    assert_status(bb_condition_run_create(condition, &run), BB_OK);
    enum bb_status status = bb_condition_test(run, record->attributes, &truth);
    bb_condition_run_destroy(run);
    assert_true(status == BB_OK || status == BB_TOO_LARGE); /* of a regular expression */
    return status == BB_OK ? truth : BB_TRUTH_UNKNOWN;
}

static void check_leaf(struct check *check, const struct bb_condition *node)
{
    const struct bb_leaf *leaf = &node->leaf;
    check_form(check, leaf);
    for (size_t i = 0; i < RECORDS; i++) {
        const struct bb_attribute *value = &check->records[i].attributes[leaf->attribute];
        enum bb_truth truth = truth_of(node, &check->records[i]);
        if (leaf->kind == BB_LEAF_CONSTANT || leaf->kind == BB_LEAF_NULLS) {
            must_hold(check, (truth == BB_TRUTH_UNKNOWN) == leaf->may_be_null);
            continue;
        }
        if (value->state != BB_ATTRIBUTE_PRESENT)
            must_hold(check, truth == BB_TRUTH_UNKNOWN);
        else if (leaf->kind == BB_LEAF_TEXT && truth != BB_TRUTH_UNKNOWN)
            check_text(check, leaf, value, truth == BB_TRUTH_TRUE);
        else if (leaf->kind == BB_LEAF_INTERVALS)
            check_ranges(check, leaf, value, truth == BB_TRUTH_TRUE);
    }
}

static void check_leaves(struct check *check, const struct bb_condition *node)
{
    if (node->kind == BB_CONDITION_LEAF)
        check_leaf(check, node);
    for (size_t i = 0; i < node->child_count; i++)
        check_leaves(check, node->children[i]);
}

/* Is one of them in a field that is the whole record? */
static bool holds_needle(const struct bb_needles *needles, const struct bb_attribute *value)
{
    bool is_found = false;
    for (size_t i = 0; i < needles->count && value->state == BB_ATTRIBUTE_PRESENT; i++) {
        const struct bb_needle *needle = &needles->items[i];
        size_t at = 0;
        if (needle->run_size > 0) {
            is_found |= bb_digit_run_find_portable(value->as.bytes, needle->run_size, 0, &at);
            continue;
        }
        struct bb_piece piece = {.bytes = bb_needle_bytes(needle),
                                 .ignores_case = needle->ignores_case};
        struct bb_piece_group group = {.pieces = &piece, .piece_count = 1};
        is_found |= leaf_has_piece_of(&group, value->as.bytes);
    }
    return is_found;
}

/* The text of a number, which is the whole record too. */
static struct bb_attribute text_of_number(const struct bb_attribute *value, char text[24])
{
    struct bb_attribute attribute = {.type = BB_ATTRIBUTE_BYTES, .state = value->state};
    int size = value->type == BB_ATTRIBUTE_I64 ? snprintf(text, 24, "%+05" PRId64, value->as.i64)
                                               : snprintf(text, 24, "%" PRIu64, value->as.u64);
    attribute.as.bytes = bb_bytes_of(text, (size_t)size);
    return attribute;
}

static bool record_holds_needle(const struct bb_needles *needles,
                                const struct bb_attribute *attributes)
{
    char texts[2][24];
    struct bb_attribute i64 = text_of_number(&attributes[BB_DRAW_I64], texts[0]);
    struct bb_attribute u64 = text_of_number(&attributes[BB_DRAW_U64], texts[1]);
    return holds_needle(needles, &attributes[BB_DRAW_TEXT]) ||
           holds_needle(needles, &attributes[BB_DRAW_RAW]) || holds_needle(needles, &i64) ||
           holds_needle(needles, &u64);
}

/* Each of these fields is the whole record: a string to search in the record must be in one of
 * them. */
static void check_needle(struct check *check, const struct bb_condition *condition)
{
    struct bb_needles needles;
    bb_needles_of_condition(condition, check->schema, &needles);
    must_hold(check, needles.count == 0 || needles.shortest > 0);
    for (size_t i = 0; i < RECORDS && needles.count > 0; i++) {
        const struct bb_attribute *attributes = check->records[i].attributes;
        if (truth_of(condition, &check->records[i]) != BB_TRUTH_TRUE)
            continue;
        must_hold(check, record_holds_needle(&needles, attributes));
        check->needles++;
    }
}

static void leaf__what_it_says_of_matches_is_so(void **state)
{
    (void)state;
    static struct check check;
    struct bb_rng rng;
    struct bb_drawn_condition drawn = {0};
    bb_rng_init(&rng, bb_rng_seed("condition_leaf", 34));
    assert_status(bb_schema_create(&check.schema), BB_OK);
    for (size_t i = 0; i < BB_DRAW_FIELDS; i++)
        assert_status(bb_schema_add(check.schema, bb_draw_definitions[i]), BB_OK);
    size_t step = bb_test_step();
    for (size_t i = 0; i < CONDITIONS; i += step) {
        struct bb_condition *condition = NULL;
        for (size_t j = 0; j < RECORDS && i % 100 < step; j++)
            bb_draw_record(&rng, &check.records[j]);
        bb_draw_condition(&rng, bb_rng_below(&rng, 3), false, &drawn);
        check.drawn = &drawn;
        assert_status(bb_condition_parse(check.schema, bb_buf_bytes(&drawn.text), &condition),
                      BB_OK);
        check_leaves(&check, condition);
        check_needle(&check, condition);
        bb_condition_destroy(condition);
    }
    printf("%zu pieces, %zu covers, %zu intervals, %zu needles held matches\n", check.pieces,
           check.covers, check.intervals, check.needles);
    assert_true(check.pieces > CONDITIONS / step / 10 && check.covers > CONDITIONS / step / 10);
    assert_true(check.intervals > CONDITIONS / step && check.needles > CONDITIONS / step / 100);
    bb_drawn_condition_deinit(&drawn);
    bb_schema_destroy(check.schema);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(leaf__what_it_says_of_matches_is_so),
    };
    return cmocka_run_group_tests_name("condition_leaf", tests, NULL, NULL);
}
