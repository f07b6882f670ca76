/* Evaluates a condition for the granules of an index file, in three-valued logic. See bb/skip.h. */
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "skip/condition/tree.h"
#include "skip/query/index_question.h"

struct bb_skip_evaluator {
    const struct bb_condition *condition; /* borrowed, as is its schema */
    const struct bb_schema *schema;
    struct bb_question_memory memory;
    uint64_t *words; /* owned: three bitsets for each level of the tree */
    size_t word_capacity;
    struct bb_skip_file *file;        /* current */
    struct bb_skip_account *accounts; /* one for each of its indexes, or NULL */
};

/* The verdicts for an attribute that every record has; each granule has records. */
static void set_complete(bool is_nulls, struct bb_skip_verdicts *verdicts)
{
    size_t bytes = verdicts->word_count * sizeof(uint64_t);
    bb_truth_bits_fill(verdicts);
    memset(is_nulls ? verdicts->may_be_true : verdicts->may_be_null, 0, bytes);
    if (is_nulls)
        memset(verdicts->may_be_null, 0, bytes);
}

/* The verdicts that follow from the number of records with a value. */
static void set_from_counts(const struct bb_granule_table *table, size_t attribute, bool is_nulls,
                            struct bb_skip_verdicts *verdicts)
{
    uint64_t *absent = is_nulls ? verdicts->may_be_true : verdicts->may_be_null;
    for (size_t granule = 0; granule < table->granule_count; granule++) {
        uint64_t nulls = bb_granule_table_nulls(table, granule, attribute);
        if (nulls > 0)
            bb_bit_set(absent, granule);
        if (nulls == table->records[granule])
            continue;
        bb_bit_set(verdicts->may_be_false, granule);
        if (!is_nulls)
            bb_bit_set(verdicts->may_be_true, granule);
    }
}

static void set_constant(const struct bb_leaf *leaf, struct bb_skip_verdicts *verdicts)
{
    bb_truth_bits_fill(verdicts);
    size_t bytes = verdicts->word_count * sizeof(uint64_t);
    if (!leaf->may_be_true)
        memset(verdicts->may_be_true, 0, bytes);
    if (!leaf->may_be_false)
        memset(verdicts->may_be_false, 0, bytes);
    if (!leaf->may_be_null)
        memset(verdicts->may_be_null, 0, bytes);
}

/* Is the leaf a condition on whole tokens only? Then an index of tokens or text answers it
 * entirely. */
static bool asks_for_tokens(const struct bb_leaf *leaf)
{
    bool asks = leaf->kind == BB_LEAF_TEXT && leaf->group_count > 0;
    for (size_t group = 0; group < leaf->group_count; group++)
        for (size_t i = 0; i < leaf->groups[group].piece_count; i++)
            asks &= leaf->groups[group].pieces[i].is_token;
    return asks;
}

static bool can_answer(const struct bb_directory_entry *index, const struct bb_leaf *leaf,
                       size_t attribute)
{
    return index->is_known && index->spec.attribute == attribute &&
           bb_index_question_fits(index, leaf);
}

/* A bit for each kind of index that can answer. */
static uint32_t find_kinds(const struct bb_index_directory *directory, const struct bb_leaf *leaf,
                           size_t attribute)
{
    uint32_t kinds = 0;
    for (size_t i = 0; i < directory->index_count; i++)
        if (can_answer(&directory->indexes[i], leaf, attribute))
            kinds |= UINT32_C(1) << directory->indexes[i].spec.kind;
    return kinds;
}

/* Queries the indexes of a kind. */
static enum bb_status ask_kind(struct bb_skip_evaluator *evaluator, enum bb_skip_kind kind,
                               const struct bb_leaf *leaf, size_t attribute, const uint64_t *needed,
                               struct bb_skip_verdicts *verdicts)
{
    const struct bb_index_directory *directory = &evaluator->file->directory;
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < directory->index_count && status == BB_OK; i++) {
        const struct bb_directory_entry *index = &directory->indexes[i];
        struct bb_skip_account *account =
            evaluator->accounts == NULL ? NULL : &evaluator->accounts[i];
        if (index->spec.kind == kind && can_answer(index, leaf, attribute))
            status = bb_index_question_ask(evaluator->file, i, leaf, needed, &evaluator->memory,
                                           account, verdicts);
    }
    return status;
}

/* Queries the cheapest kinds first, and text before tokens, because text is exact. WHY a leaf of
 * whole tokens stops after text or tokens: the later kinds know less, and n-grams would be probed
 * for every part of a token. */
static enum bb_status ask_indexes(struct bb_skip_evaluator *evaluator, const struct bb_leaf *leaf,
                                  size_t attribute, const uint64_t *needed,
                                  struct bb_skip_verdicts *verdicts)
{
    static const enum bb_skip_kind kinds[] = {BB_SKIP_MIN_MAX, BB_SKIP_SET,    BB_SKIP_VALUES,
                                              BB_SKIP_TEXT,    BB_SKIP_TOKENS, BB_SKIP_NGRAMS};
    enum bb_status status = BB_OK;
    uint32_t present = find_kinds(&evaluator->file->directory, leaf, attribute);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]) && status == BB_OK; i++) {
        if ((present >> kinds[i] & 1) == 0)
            continue;
        status = ask_kind(evaluator, kinds[i], leaf, attribute, needed, verdicts);
        if ((kinds[i] == BB_SKIP_TEXT || kinds[i] == BB_SKIP_TOKENS) && asks_for_tokens(leaf))
            break;
    }
    return status;
}

static enum bb_status evaluate_leaf(struct bb_skip_evaluator *evaluator, const struct bb_leaf *leaf,
                                    const uint64_t *needed, struct bb_skip_verdicts *verdicts)
{
    if (leaf->kind == BB_LEAF_CONSTANT) {
        set_constant(leaf, verdicts);
        return BB_OK;
    }
    const struct bb_index_directory *directory = &evaluator->file->directory;
    size_t attribute = bb_index_directory_find(directory, evaluator->schema, leaf->attribute);
    if (attribute == directory->attribute_count) {
        bb_truth_bits_fill(verdicts);
        return BB_OK;
    }
    const struct bb_granule_table *granules = &evaluator->file->granules;
    bool is_nulls = leaf->kind == BB_LEAF_NULLS;
    if (bb_granule_table_is_complete(granules, attribute))
        set_complete(is_nulls, verdicts);
    else
        set_from_counts(granules, attribute, is_nulls, verdicts);
    return is_nulls ? BB_OK : ask_indexes(evaluator, leaf, attribute, needed, verdicts);
}

/* level: the bitsets of this level and of deeper levels are free. */
static enum bb_status evaluate(struct bb_skip_evaluator *evaluator,
                               const struct bb_condition *condition, size_t level, bool is_negated,
                               const uint64_t *needed, struct bb_skip_verdicts *ret_verdicts);

/* WHY needed shrinks: if a child of AND is not true for a granule, AND is not true, so the other
 * children need not be evaluated there. Under NOT this does not hold: false children matter too. */
static enum bb_status join_children(struct bb_skip_evaluator *evaluator,
                                    const struct bb_condition *condition, size_t level,
                                    bool is_negated, const uint64_t *needed,
                                    struct bb_skip_verdicts *verdicts)
{
    bool is_and = condition->kind == BB_CONDITION_AND;
    enum bb_status status =
        evaluate(evaluator, condition->children[0], level, is_negated, needed, verdicts);
    for (size_t i = 1; i < condition->child_count && status == BB_OK; i++) {
        struct bb_skip_verdicts child = {0};
        const uint64_t *left = is_and && !is_negated ? verdicts->may_be_true : needed;
        status = evaluate(evaluator, condition->children[i], level + 1, is_negated, left, &child);
        if (status == BB_OK && is_and)
            bb_truth_bits_and(verdicts, &child);
        else if (status == BB_OK)
            bb_truth_bits_or(verdicts, &child);
    }
    return status;
}

static enum bb_status evaluate(struct bb_skip_evaluator *evaluator,
                               const struct bb_condition *condition, size_t level, bool is_negated,
                               const uint64_t *needed, struct bb_skip_verdicts *ret_verdicts)
{
    if (condition->kind == BB_CONDITION_AND || condition->kind == BB_CONDITION_OR)
        return join_children(evaluator, condition, level, is_negated, needed, ret_verdicts);
    if (condition->kind == BB_CONDITION_NOT) {
        enum bb_status status =
            evaluate(evaluator, condition->children[0], level, true, needed, ret_verdicts);
        if (status == BB_OK)
            bb_truth_bits_not(ret_verdicts);
        return status;
    }
    size_t granules = evaluator->file->granules.granule_count;
    bb_truth_bits_place(ret_verdicts, evaluator->words + level * 3 * bb_truth_words(granules),
                        granules);
    return evaluate_leaf(evaluator, &condition->leaf, needed, ret_verdicts);
}

/* --- Evaluators --- */

enum bb_status bb_skip_evaluator_create(const struct bb_condition *condition,
                                        const struct bb_schema *schema,
                                        struct bb_skip_evaluator **ret_evaluator)
{
    struct bb_skip_evaluator *evaluator = bb_alloc_zeroed(1, sizeof(*evaluator));
    if (evaluator == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for probing indexes");
    evaluator->condition = condition;
    evaluator->schema = schema;
    *ret_evaluator = evaluator;
    return BB_OK;
}

void bb_skip_evaluator_destroy(struct bb_skip_evaluator *evaluator)
{
    if (evaluator == NULL)
        return;
    bb_index_question_memory_deinit(&evaluator->memory);
    bb_free(evaluator->words);
    bb_free(evaluator);
}

static enum bb_status reserve_words(struct bb_skip_evaluator *evaluator, size_t granule_count)
{
    size_t count = evaluator->condition->depth * 3 * bb_truth_words(granule_count) + 1;
    if (count <= evaluator->word_capacity)
        return BB_OK;
    uint64_t *words = bb_realloc(evaluator->words, count * sizeof(words[0]));
    if (words == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for the verdicts of %zu granules", granule_count);
    evaluator->words = words;
    evaluator->word_capacity = count;
    return BB_OK;
}

enum bb_status bb_skip_evaluator_ask(struct bb_skip_evaluator *evaluator, struct bb_skip_file *file,
                                     struct bb_skip_account *accounts,
                                     struct bb_skip_verdicts *ret_verdicts)
{
    struct bb_skip_verdicts verdicts = {0};
    enum bb_status status = reserve_words(evaluator, file->granules.granule_count);
    evaluator->file = file;
    evaluator->accounts = accounts;
    if (status == BB_OK)
        status = evaluate(evaluator, evaluator->condition, 0, false, NULL, &verdicts);
    if (status == BB_OK)
        *ret_verdicts = verdicts;
    return status;
}

enum bb_status bb_skip_file_evaluate(struct bb_skip_file *file,
                                     const struct bb_condition *condition,
                                     const struct bb_schema *schema,
                                     struct bb_skip_account *accounts,
                                     struct bb_skip_verdicts *ret_verdicts)
{
    struct bb_skip_evaluator *evaluator = NULL;
    enum bb_status status = bb_skip_evaluator_create(condition, schema, &evaluator);
    if (status == BB_OK)
        status = bb_skip_evaluator_ask(evaluator, file, accounts, ret_verdicts);
    /* The caller now owns the words: the root's bitsets are at their beginning. */
    if (status == BB_OK)
        evaluator->words = NULL;
    bb_skip_evaluator_destroy(evaluator);
    return status;
}

void bb_skip_verdicts_deinit(struct bb_skip_verdicts *verdicts)
{
    if (verdicts == NULL)
        return;
    bb_free(verdicts->may_be_true);
    *verdicts = (struct bb_skip_verdicts){0};
}
