/* A condition over the granules of an index file: its tree as it stands, in three-valued logic. See
 * bb/skip.h. */
#include <string.h>

#include "skip/condition/tree.h"
#include "skip/index/index_question.h"

struct evaluation {
    struct bb_skip_file *file;
    const struct bb_schema *schema;   /* of the condition */
    struct bb_skip_account *accounts; /* one for each index, or NULL */
};

#define NO_ATTRIBUTE SIZE_MAX

/* Type and extractor: what an attribute is, whatever its name. */
static const char *after_name(const char *definition, const char *name)
{
    size_t size = strlen(name);
    return strncmp(definition, name, size) == 0 ? definition + size : definition;
}

static bool is_same(const struct bb_stored_attribute *stored, const struct bb_schema *schema,
                    size_t attribute)
{
    const char *definition = bb_schema_definition(schema, attribute);
    return strcmp(after_name(stored->definition, stored->name),
                  after_name(definition, bb_schema_name(schema, attribute))) == 0;
}

/* The file's number of a leaf's attribute. */
static size_t find_attribute(const struct evaluation *evaluation, const struct bb_leaf *leaf)
{
    const struct bb_index_directory *directory = &evaluation->file->directory;
    if (leaf->attribute >= bb_schema_count(evaluation->schema))
        return NO_ATTRIBUTE;
    for (size_t i = 0; i < directory->attribute_count; i++)
        if (directory->attributes[i].type == leaf->type &&
            is_same(&directory->attributes[i], evaluation->schema, leaf->attribute))
            return i;
    return NO_ATTRIBUTE;
}

/* No granule is empty: each has records with a value, and none without. */
static void set_complete(bool is_nulls, struct bb_skip_verdicts *verdicts)
{
    size_t bytes = verdicts->word_count * sizeof(uint64_t);
    bb_truth_bits_fill(verdicts);
    memset(is_nulls ? verdicts->may_be_true : verdicts->may_be_null, 0, bytes);
    if (is_nulls)
        memset(verdicts->may_be_null, 0, bytes);
}

/* What follows from how many records have a value. */
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

/* Does a leaf ask for whole tokens alone? Then an index of tokens has the answer. */
static bool asks_for_tokens(const struct bb_leaf *leaf)
{
    bool asks = leaf->kind == BB_LEAF_TEXT && leaf->group_count > 0;
    for (size_t group = 0; group < leaf->group_count; group++)
        for (size_t i = 0; i < leaf->groups[group].piece_count; i++)
            asks &= leaf->groups[group].pieces[i].is_token;
    return asks;
}

/* Asks those of a kind; *ret_is_asked is true where there is one, and stays as it is elsewhere. */
static enum bb_status ask_kind(const struct evaluation *evaluation, enum bb_skip_kind kind,
                               const struct bb_leaf *leaf, size_t attribute, const uint64_t *needed,
                               struct bb_skip_verdicts *verdicts, bool *ret_is_asked)
{
    const struct bb_index_directory *directory = &evaluation->file->directory;
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < directory->index_count && status == BB_OK; i++) {
        const struct bb_directory_entry *index = &directory->indexes[i];
        struct bb_skip_account *account =
            evaluation->accounts == NULL ? NULL : &evaluation->accounts[i];
        if (!index->is_known || index->spec.kind != kind || index->spec.attribute != attribute ||
            !bb_index_question_fits(index, leaf))
            continue;
        status = bb_index_question_ask(evaluation->file, i, leaf, needed, account, verdicts);
        *ret_is_asked = true;
    }
    return status;
}

/* Kinds in the order of their numbers: the cheapest first. WHY n-grams are not asked after tokens that
 * are the whole question: they know less, and are asked for every part of a token. */
static enum bb_status ask_indexes(const struct evaluation *evaluation, const struct bb_leaf *leaf,
                                  size_t attribute, const uint64_t *needed,
                                  struct bb_skip_verdicts *verdicts)
{
    bool is_answered = false;
    enum bb_status status = BB_OK;
    for (uint32_t kind = BB_SKIP_MIN_MAX;
         bb_skip_kind_name((enum bb_skip_kind)kind) != NULL && status == BB_OK; kind++) {
        bool is_asked = false;
        if (kind == BB_SKIP_NGRAMS && is_answered)
            continue;
        status = ask_kind(evaluation, (enum bb_skip_kind)kind, leaf, attribute, needed, verdicts,
                          &is_asked);
        is_answered |= kind == BB_SKIP_TOKENS && is_asked && asks_for_tokens(leaf);
    }
    return status;
}

static enum bb_status evaluate_leaf(const struct evaluation *evaluation, const struct bb_leaf *leaf,
                                    const uint64_t *needed, struct bb_skip_verdicts *verdicts)
{
    if (leaf->kind == BB_LEAF_CONSTANT) {
        set_constant(leaf, verdicts);
        return BB_OK;
    }
    size_t attribute = find_attribute(evaluation, leaf);
    if (attribute == NO_ATTRIBUTE) {
        bb_truth_bits_fill(verdicts);
        return BB_OK;
    }
    const struct bb_granule_table *granules = &evaluation->file->granules;
    bool is_nulls = leaf->kind == BB_LEAF_NULLS;
    if (bb_granule_table_is_complete(granules, attribute))
        set_complete(is_nulls, verdicts);
    else
        set_from_counts(granules, attribute, is_nulls, verdicts);
    return is_nulls ? BB_OK : ask_indexes(evaluation, leaf, attribute, needed, verdicts);
}

static enum bb_status evaluate(const struct evaluation *evaluation,
                               const struct bb_condition *condition, bool is_negated,
                               const uint64_t *needed, struct bb_skip_verdicts *ret_verdicts);

/* Where AND is surely not true, and no NOT is above it, the other children are not asked. */
static enum bb_status join_children(const struct evaluation *evaluation,
                                    const struct bb_condition *condition, bool is_negated,
                                    const uint64_t *needed, struct bb_skip_verdicts *verdicts)
{
    bool is_and = condition->kind == BB_CONDITION_AND;
    enum bb_status status =
        evaluate(evaluation, condition->children[0], is_negated, needed, verdicts);
    for (size_t i = 1; i < condition->child_count && status == BB_OK; i++) {
        struct bb_skip_verdicts child = {0};
        const uint64_t *left = is_and && !is_negated ? verdicts->may_be_true : needed;
        status = evaluate(evaluation, condition->children[i], is_negated, left, &child);
        if (status == BB_OK && is_and)
            bb_truth_bits_and(verdicts, &child);
        else if (status == BB_OK)
            bb_truth_bits_or(verdicts, &child);
        bb_skip_verdicts_deinit(&child);
    }
    if (status != BB_OK)
        bb_skip_verdicts_deinit(verdicts);
    return status;
}

static enum bb_status evaluate(const struct evaluation *evaluation,
                               const struct bb_condition *condition, bool is_negated,
                               const uint64_t *needed, struct bb_skip_verdicts *ret_verdicts)
{
    if (condition->kind == BB_CONDITION_AND || condition->kind == BB_CONDITION_OR)
        return join_children(evaluation, condition, is_negated, needed, ret_verdicts);
    enum bb_status status = BB_OK;
    if (condition->kind == BB_CONDITION_NOT) {
        status = evaluate(evaluation, condition->children[0], true, needed, ret_verdicts);
        if (status == BB_OK)
            bb_truth_bits_not(ret_verdicts);
        return status;
    }
    status = bb_truth_bits_init(ret_verdicts, evaluation->file->granules.granule_count);
    if (status == BB_OK)
        status = evaluate_leaf(evaluation, &condition->leaf, needed, ret_verdicts);
    if (status != BB_OK)
        bb_skip_verdicts_deinit(ret_verdicts);
    return status;
}

enum bb_status bb_skip_file_evaluate(struct bb_skip_file *file,
                                     const struct bb_condition *condition,
                                     const struct bb_schema *schema,
                                     struct bb_skip_account *accounts,
                                     struct bb_skip_verdicts *ret_verdicts)
{
    struct evaluation evaluation = {.file = file, .schema = schema, .accounts = accounts};
    struct bb_skip_verdicts verdicts = {0};
    enum bb_status status = evaluate(&evaluation, condition, false, NULL, &verdicts);
    if (status == BB_OK)
        *ret_verdicts = verdicts;
    return status;
}
