/* Arbitrary conditions, on arbitrary records: the text up to the first newline is the condition,
 * the values follow.
 *
 * Parsed text must print as text that parses to the same condition, with the same truth of every
 * record; and the properties that its leaves and its needles claim for matches must hold.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "skip/condition/digit_run.h"
#include "skip/condition/needle.h"
#include "skip/condition/search.h"
#include "skip/condition/tree.h"
#include "skip/condition/words.h"
#include "tests/unit/skip/leaf_claims.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FIELDS = 6, RECORDS = 6, SIZE_MAX_TESTED = 4096 };

static const char *const definitions[FIELDS] = {
    "text bytes = value", "raw bytes = value", "i i64 = value",
    "u u64 = value",      "f f64 = value",     "t time(rfc3339) = value",
};

static struct bb_schema *create_schema(void)
{
    struct bb_schema *schema = NULL;
    BB_ASSERT(bb_schema_create(&schema) == BB_OK);
    for (size_t i = 0; i < FIELDS; i++)
        BB_ASSERT(bb_schema_add(schema, definitions[i]) == BB_OK);
    return schema;
}

/* Different parts of the bytes, and numbers made of the first ones. */
static void make_record(struct bb_bytes bytes, size_t number, struct bb_attribute record[FIELDS])
{
    size_t begin = bytes.size * number / (RECORDS * 2);
    uint64_t word = 0;
    memcpy(&word, bytes.data, bytes.size < sizeof(word) ? bytes.size : sizeof(word));
    word = number % 2 == 0 ? word >> (8 * number) : ~word;
    record[0] = (struct bb_attribute){.type = BB_ATTRIBUTE_BYTES, .as.bytes = bytes};
    record[1] =
        (struct bb_attribute){.type = BB_ATTRIBUTE_BYTES,
                              .as.bytes = bb_bytes_of(bytes.data + begin, bytes.size - 2 * begin)};
    record[2] = (struct bb_attribute){.type = BB_ATTRIBUTE_I64, .as.i64 = (int64_t)word};
    record[3] = (struct bb_attribute){.type = BB_ATTRIBUTE_U64, .as.u64 = word};
    record[4] = (struct bb_attribute){.type = BB_ATTRIBUTE_F64};
    memcpy(&record[4].as.f64, &word, sizeof(word));
    record[5] = (struct bb_attribute){.type = BB_ATTRIBUTE_TIME, .as.i64 = (int64_t)word};
    for (size_t i = 0; i < FIELDS; i++)
        if (number > 0 && (word >> i) % 8 == 0)
            record[i].state = BB_ATTRIBUTE_MISSING;
}

/* False where a regular expression gave up. */
static bool test(const struct bb_condition *condition, const struct bb_attribute *record,
                 enum bb_truth *ret_truth)
{
    struct bb_condition_run *run = NULL;
    BB_ASSERT(bb_condition_run_create(condition, &run) == BB_OK);
    enum bb_status status = bb_condition_test(run, record, ret_truth);
    BB_ASSERT(status == BB_OK || status == BB_TOO_LARGE);
    bb_condition_run_destroy(run);
    return status == BB_OK;
}

static void check_leaves(const struct bb_condition *node, const struct bb_attribute *record)
{
    const struct bb_leaf *leaf = &node->leaf;
    enum bb_truth truth = BB_TRUTH_UNKNOWN;
    for (size_t i = 0; i < node->child_count; i++)
        check_leaves(node->children[i], record);
    if (node->kind != BB_CONDITION_LEAF || !test(node, record, &truth) || truth == BB_TRUTH_UNKNOWN)
        return;
    if (leaf->kind == BB_LEAF_TEXT)
        BB_ASSERT(leaf_holds_text(leaf, &record[leaf->attribute], truth == BB_TRUTH_TRUE));
    if (leaf->kind == BB_LEAF_INTERVALS)
        BB_ASSERT(leaf_holds_ranges(leaf, &record[leaf->attribute], truth == BB_TRUTH_TRUE));
}

static struct bb_condition *print_and_parse(const struct bb_schema *schema,
                                            const struct bb_condition *condition)
{
    struct bb_buf first = {0};
    struct bb_buf second = {0};
    struct bb_condition *again = NULL;
    BB_ASSERT(bb_condition_print(condition, &first) == BB_OK);
    BB_ASSERT(bb_condition_parse(schema, bb_buf_bytes(&first), &again) == BB_OK);
    BB_ASSERT(bb_condition_print(again, &second) == BB_OK);
    BB_ASSERT(bb_bytes_equal(bb_buf_bytes(&first), bb_buf_bytes(&second)));
    bb_buf_deinit(&first);
    bb_buf_deinit(&second);
    return again;
}

static bool is_in(struct bb_bytes bytes, const struct bb_needle *needle)
{
    size_t at = 0;
    if (needle->run_size > 0)
        return bb_digit_run_find_portable(bytes, needle->run_size, 0, &at);
    struct bb_bytes wanted = bb_needle_bytes(needle);
    BB_ASSERT(wanted.size > 0);
    if (needle->ignores_case)
        return bb_search_folded(bytes, 0, wanted, &at);
    return memmem(bytes.data, bytes.size, wanted.data, wanted.size) != NULL;
}

/* raw is a part of text here, so that text is the record, or that of a number is. */
static void check_needles(const struct bb_schema *schema, const struct bb_condition *condition,
                          const struct bb_attribute record[FIELDS])
{
    struct bb_needles needles;
    char i64[24];
    char u64[24];
    bool is_found = false;
    snprintf(i64, sizeof(i64), "%" PRId64, record[2].as.i64);
    snprintf(u64, sizeof(u64), "%" PRIu64, record[3].as.u64);
    bb_needles_of_condition(condition, schema, &needles);
    for (size_t i = 0; i < needles.count; i++) {
        const struct bb_needle *needle = &needles.items[i];
        is_found |= is_in(record[0].as.bytes, needle) || is_in(bb_bytes_of_text(i64), needle) ||
                    is_in(bb_bytes_of_text(u64), needle);
    }
    BB_ASSERT(needles.count == 0 || is_found);
}

static void try_records(const struct bb_schema *schema, const struct bb_condition *condition,
                        struct bb_bytes bytes)
{
    struct bb_condition *again = print_and_parse(schema, condition);
    for (size_t i = 0; i < RECORDS; i++) {
        struct bb_attribute record[FIELDS];
        enum bb_truth truth = BB_TRUTH_UNKNOWN;
        enum bb_truth same = BB_TRUTH_UNKNOWN;
        make_record(bytes, i, record);
        check_leaves(condition, record);
        bool is_tested = test(condition, record, &truth);
        BB_ASSERT(is_tested == test(again, record, &same));
        BB_ASSERT(truth == same);
        if (is_tested && truth == BB_TRUTH_TRUE)
            check_needles(schema, condition, record);
    }
    bb_condition_destroy(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *newline = size == 0 ? NULL : memchr(data, '\n', size);
    size_t text_size = newline == NULL ? size : (size_t)(newline - data);
    struct bb_bytes bytes = bb_bytes_of(data + text_size, size - text_size);
    if (size == 0 || size > SIZE_MAX_TESTED)
        return 0;
    if (newline != NULL)
        bytes = bb_bytes_of(newline + 1, bytes.size - 1);
    struct bb_schema *schema = create_schema();
    struct bb_condition *condition = NULL;
    enum bb_status status = bb_condition_parse(schema, bb_bytes_of(data, text_size), &condition);
    /* UNSUPPORTED: words, in a build without them. */
    BB_ASSERT(status == BB_OK || status == BB_INVALID || status == BB_TOO_LARGE ||
              (status == BB_UNSUPPORTED && !bb_words_are_built()));
    if (status == BB_OK)
        try_records(schema, condition, bytes);
    bb_condition_destroy(condition);
    bb_schema_destroy(schema);
    return 0;
}
