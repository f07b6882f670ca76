/* See needle.h. Recursion is as deep as the tree: BB_CONDITION_DEPTH_MAX. */
#include "skip/condition/needle.h"

#include "base/bytes.h"
#include "skip/condition/digit_run.h"
#include "skip/condition/tree.h"
#include "skip/record/schema.h"

static void forget(struct bb_needles *needles)
{
    needles->count = 0;
    needles->shortest = 0;
}

/* ---- adding ---- */

static bool are_equal(const struct bb_needle *a, const struct bb_needle *b)
{
    return a->run_size == b->run_size && a->ignores_case == b->ignores_case &&
           a->before == b->before &&
           (a->run_size > 0 || bb_bytes_equal(bb_needle_bytes(a), bb_needle_bytes(b)));
}

static bool has(const struct bb_needles *needles, const struct bb_needle *needle)
{
    for (size_t i = 0; i < needles->count; i++)
        if (are_equal(&needles->items[i], needle))
            return true;
    return false;
}

/* False: there is no space. */
static bool add(struct bb_needles *needles, const struct bb_needle *needle)
{
    if (has(needles, needle))
        return true;
    if (needles->count == BB_NEEDLES_MAX)
        return false;
    needles->items[needles->count++] = *needle;
    return true;
}

/* A needle that a match contains. */
static bool add_piece(struct bb_needles *needles, const struct bb_needle *needle)
{
    size_t size = needle->run_size > 0 ? needle->run_size / 2 : bb_needle_bytes(needle).size;
    if (size == 0 || !add(needles, needle))
        return false;
    if (needles->shortest == 0 || size < needles->shortest)
        needles->shortest = size;
    return true;
}

static struct bb_needle needle_of_number(uint64_t number)
{
    struct bb_needle needle = {.digit_count = 0};
    uint8_t reversed[BB_NEEDLE_DIGITS_MAX];
    uint8_t count = 0;
    do
        reversed[count++] = (uint8_t)('0' + number % 10);
    while ((number /= 10) > 0);
    for (uint8_t i = 0; i < count; i++)
        needle.digits[i] = reversed[count - 1 - i];
    needle.digit_count = count;
    return needle;
}

/* A number's text has its digits, after a sign and zeros. */
static struct bb_needle needle_of_value(const struct bb_attribute *value)
{
    if (value->type == BB_ATTRIBUTE_U64)
        return needle_of_number(value->as.u64);
    if (value->type == BB_ATTRIBUTE_I64)
        return needle_of_number(value->as.i64 < 0 ? 0 - (uint64_t)value->as.i64
                                                  : (uint64_t)value->as.i64);
    return (struct bb_needle){.bytes = value->as.bytes};
}

/* ---- leaves ---- */

static void find_points(const struct bb_leaf *leaf, const struct bb_schema *schema,
                        struct bb_needles *needles)
{
    for (size_t i = 0; i < leaf->interval_count; i++) {
        struct bb_needle needle = needle_of_value(&leaf->intervals[i].low.value);
        if (needle.digit_count > 0)
            needle.before = bb_schema_byte_before(schema, leaf->attribute);
        if (!add_piece(needles, &needle)) {
            forget(needles);
            return;
        }
    }
}

static uint8_t digits_of(const struct bb_attribute *value)
{
    return needle_of_value(value).digit_count;
}

/* The fewest digits of an integer of the interval; 0: it has integers of any size. */
static uint8_t fewest_digits(const struct bb_interval *interval, enum bb_attribute_type type)
{
    const struct bb_attribute *low = &interval->low.value;
    const struct bb_attribute *high = &interval->high.value;
    bool is_signed = type == BB_ATTRIBUTE_I64;
    if (!interval->low.is_open && (!is_signed || low->as.i64 > 0))
        return digits_of(low);
    return is_signed && !interval->high.is_open && high->as.i64 < 0 ? digits_of(high) : 0;
}

/* A number of the ranges has a run of digits, if all numbers of them are large. */
static void find_run(const struct bb_leaf *leaf, struct bb_needles *needles)
{
    struct bb_needle run = {.run_size = UINT8_MAX};
    if (leaf->type != BB_ATTRIBUTE_U64 && leaf->type != BB_ATTRIBUTE_I64)
        return;
    for (size_t i = 0; i < leaf->interval_count; i++) {
        uint8_t fewest = fewest_digits(&leaf->intervals[i], leaf->type);
        if (fewest < run.run_size)
            run.run_size = fewest;
    }
    if (leaf->interval_count > 0 && run.run_size >= BB_DIGIT_RUN_MIN)
        (void)add_piece(needles, &run);
}

static void find_pieces(const struct bb_piece_group *group, struct bb_needles *needles)
{
    for (size_t i = 0; i < group->piece_count; i++) {
        const struct bb_piece *piece = &group->pieces[i];
        struct bb_needle needle = {.bytes = piece->bytes, .ignores_case = piece->ignores_case};
        if (piece->is_other_form ? !add(needles, &needle) : !add_piece(needles, &needle)) {
            forget(needles);
            return;
        }
    }
}

/* Both are held: the better ones. */
static void keep_better(struct bb_needles *needles, const struct bb_needles *other)
{
    bool is_better = other->shortest > needles->shortest ||
                     (other->shortest == needles->shortest && other->count < needles->count);
    if (needles->count == 0 || (other->count > 0 && is_better))
        *needles = *other;
}

static enum bb_verbatim verbatim_of(const struct bb_leaf *leaf, const struct bb_schema *schema,
                                    uint8_t *ret_escape)
{
    if (leaf->kind == BB_LEAF_CONSTANT)
        return BB_VERBATIM_NEVER;
    if (leaf->type == BB_ATTRIBUTE_U64 || leaf->type == BB_ATTRIBUTE_I64)
        return bb_schema_number_verbatim(schema, leaf->attribute, ret_escape);
    return bb_schema_verbatim(schema, leaf->attribute, ret_escape);
}

/* Of a leaf that is true. */
static void find_in_leaf(const struct bb_leaf *leaf, const struct bb_schema *schema,
                         struct bb_needles *needles)
{
    struct bb_needle escape = {.digit_count = 1};
    enum bb_verbatim verbatim = verbatim_of(leaf, schema, &escape.digits[0]);
    if (verbatim == BB_VERBATIM_NEVER)
        return;
    if (leaf->kind == BB_LEAF_INTERVALS && leaf->is_points)
        find_points(leaf, schema, needles);
    if (leaf->kind == BB_LEAF_INTERVALS && needles->count == 0)
        find_run(leaf, needles);
    for (size_t i = 0; i < leaf->group_count; i++) {
        struct bb_needles of_group = {.count = 0};
        find_pieces(&leaf->groups[i], &of_group);
        keep_better(needles, &of_group);
    }
    if (needles->count > 0 && verbatim == BB_VERBATIM_UNESCAPED && !add(needles, &escape))
        forget(needles);
}

/* ---- trees ---- */

/* One or the other is held. */
static void unite(struct bb_needles *needles, const struct bb_needles *other)
{
    bool fits = needles->count > 0 && other->count > 0;
    for (size_t i = 0; i < other->count && fits; i++)
        fits = add(needles, &other->items[i]);
    if (other->shortest < needles->shortest)
        needles->shortest = other->shortest;
    if (!fits)
        forget(needles);
}

/* The needles of a condition that is true, or of a condition that is false: then AND and OR change
 * places. */
static void find(const struct bb_condition *node, const struct bb_schema *schema, bool is_false,
                 struct bb_needles *needles)
{
    *needles = (struct bb_needles){.count = 0};
    if (node->kind == BB_CONDITION_LEAF) {
        if (!is_false)
            find_in_leaf(&node->leaf, schema, needles);
        return;
    }
    if (node->kind == BB_CONDITION_NOT) {
        find(node->children[0], schema, !is_false, needles);
        return;
    }
    bool is_and = node->kind == (is_false ? BB_CONDITION_OR : BB_CONDITION_AND);
    for (size_t i = 0; i < node->child_count; i++) {
        struct bb_needles child;
        find(node->children[i], schema, is_false, &child);
        if (i == 0)
            *needles = child;
        else if (is_and)
            keep_better(needles, &child);
        else
            unite(needles, &child);
    }
}

void bb_needles_of_condition(const struct bb_condition *condition, const struct bb_schema *schema,
                             struct bb_needles *ret_needles)
{
    find(condition, schema, false, ret_needles);
}
