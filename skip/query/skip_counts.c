/* Counts the matching records of a granule by indexes, without columns. See bb/skip.h.
 *
 * A node of the condition has a tally for a granule: the number of records for which it is true,
 * false and unknown. A leaf gets its tally from the counts of an index. The tally of AND or OR is
 * known if at most one child differs between the records of the granule. NOT exchanges true and
 * false.
 */
#include "base/alloc.h"
#include "base/status.h"
#include "skip/condition/tree.h"
#include "skip/member/member_scan.h"
#include "skip/query/text_question.h"
#include "skip/query/truth_bits.h"

#define NO_SEGMENT   SIZE_MAX
#define NO_ATTRIBUTE SIZE_MAX

struct tally {
    bool is_known;
    uint64_t is_true;
    uint64_t is_false;
    uint64_t is_null;
};

/* A leaf of the condition. */
struct counted_leaf {
    const struct bb_condition *node;
    const struct bb_leaf *leaf;
    size_t attribute; /* in the file, or NO_ATTRIBUTE */
    struct bb_skip_verdicts verdicts;
    /* A leaf that is one token: the index of text that counts its records. */
    bool has_counts;
    struct bb_bytes token;
    const struct bb_index_head *head;
    struct bb_text_question question;
    size_t segment;  /* the segment of `counts`, or NO_SEGMENT */
    bool is_counted; /* the segment could be read */
    uint32_t counts[BB_SEGMENT_GRANULES_MAX];
};

struct bb_skip_counts {
    struct bb_skip_file *file;
    const struct bb_condition *condition;
    const struct bb_schema *schema;
    struct bb_skip_account *accounts; /* or NULL */
    struct counted_leaf *leaves;      /* owned, in the order of the tree */
    size_t leaf_count;
};

/* --- Creating --- */

static size_t count_leaves(const struct bb_condition *node)
{
    size_t count = node->kind == BB_CONDITION_LEAF;
    for (size_t i = 0; i < node->child_count; i++)
        count += count_leaves(node->children[i]);
    return count;
}

/* Is the leaf true exactly for values with one token or word, which the index stores whole? It cuts
 * longer ones. */
static bool is_token(const struct bb_condition *node)
{
    return node->leaf.kind == BB_LEAF_TEXT &&
           (node->text->kind == BB_TEXT_ALL_TOKENS || node->text->kind == BB_TEXT_ALL_WORDS) &&
           node->text->operand_count == 1 && node->text->operands[0].size < BB_TOKEN_SIZE_MAX;
}

/* Does a dictionary of the spec have an entry for exactly the text's token? In a folded dictionary,
 * one entry counts all spellings of a token. */
static bool has_tokens_of(const struct bb_skip_spec *spec, const struct bb_text *text)
{
    bool is_word = text->kind == BB_TEXT_ALL_WORDS;
    return is_word == (spec->tokenizer == BB_TOKENIZER_UNICODE) &&
           spec->folds_case == text->folds_case;
}

/* The index of text that counts the text's token; index_count: there is no such index. */
static size_t find_text(const struct bb_skip_file *file, size_t attribute,
                        const struct bb_text *text)
{
    const struct bb_index_directory *directory = &file->directory;
    size_t i = 0;
    for (; i < directory->index_count; i++) {
        const struct bb_directory_entry *entry = &directory->indexes[i];
        if (entry->is_known && entry->spec.kind == BB_SKIP_TEXT && entry->spec.counts_records &&
            entry->spec.attribute == attribute && has_tokens_of(&entry->spec, text))
            break;
    }
    return i;
}

static enum bb_status find_counts(const struct bb_skip_counts *counts,
                                  const struct bb_condition *node, struct counted_leaf *leaf)
{
    struct bb_skip_file *file = counts->file;
    const struct bb_loaded_head *loaded = NULL;
    size_t index = leaf->attribute == NO_ATTRIBUTE || !is_token(node)
                       ? file->directory.index_count
                       : find_text(file, leaf->attribute, node->text);
    if (index == file->directory.index_count)
        return BB_OK;
    struct bb_skip_account *account = counts->accounts == NULL ? NULL : &counts->accounts[index];
    enum bb_status status = bb_skip_file_head(file, index, account, &loaded);
    if (status != BB_OK || loaded->is_damaged)
        return status;
    leaf->has_counts = true;
    leaf->token = node->text->operands[0];
    leaf->head = &loaded->head;
    bb_text_question_begin(&leaf->question, file, true, account);
    return BB_OK;
}

static size_t find_attribute(const struct bb_skip_counts *counts, const struct bb_leaf *leaf)
{
    const struct bb_index_directory *directory = &counts->file->directory;
    if (leaf->kind == BB_LEAF_CONSTANT)
        return NO_ATTRIBUTE;
    size_t attribute = bb_index_directory_find(directory, counts->schema, leaf->attribute);
    return attribute == directory->attribute_count ? NO_ATTRIBUTE : attribute;
}

static enum bb_status init_leaves(struct bb_skip_counts *counts, const struct bb_condition *node)
{
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < node->child_count && status == BB_OK; i++)
        status = init_leaves(counts, node->children[i]);
    if (status != BB_OK || node->kind != BB_CONDITION_LEAF)
        return status;
    struct counted_leaf *leaf = &counts->leaves[counts->leaf_count++];
    leaf->node = node;
    leaf->leaf = &node->leaf;
    leaf->segment = NO_SEGMENT;
    leaf->attribute = find_attribute(counts, &node->leaf);
    return find_counts(counts, node, leaf);
}

static bool has_any(const struct bb_skip_counts *counts)
{
    bool has = false;
    for (size_t i = 0; i < counts->leaf_count; i++)
        has |= counts->leaves[i].has_counts || (counts->leaves[i].leaf->kind == BB_LEAF_NULLS &&
                                                counts->leaves[i].attribute != NO_ATTRIBUTE);
    return has;
}

/* Adds only the reads for the leaves. WHY: the accounts already have the granules that each index
 * ruled out, from the evaluation of the whole condition. */
static void add_reads(struct bb_skip_counts *counts, const struct bb_skip_account *own)
{
    for (size_t i = 0; counts->accounts != NULL && i < counts->file->directory.index_count; i++) {
        counts->accounts[i].reads += own[i].reads;
        counts->accounts[i].read_bytes += own[i].read_bytes;
    }
}

/* Evaluates the leaves that no index counts. */
static enum bb_status evaluate_leaves(struct bb_skip_counts *counts)
{
    size_t index_count = counts->file->directory.index_count;
    struct bb_skip_account *own = bb_alloc_zeroed(index_count + 1, sizeof(own[0]));
    enum bb_status status =
        own != NULL ? BB_OK : bb_fail(BB_NO_MEMORY, "no memory for counting by indexes");
    for (size_t i = 0; i < counts->leaf_count && status == BB_OK; i++) {
        struct counted_leaf *leaf = &counts->leaves[i];
        if (!leaf->has_counts && leaf->attribute != NO_ATTRIBUTE &&
            leaf->leaf->kind != BB_LEAF_NULLS)
            status = bb_skip_file_evaluate(counts->file, leaf->node, counts->schema, own,
                                           &leaf->verdicts);
    }
    if (status == BB_OK)
        add_reads(counts, own);
    bb_free(own);
    return status;
}

enum bb_status bb_skip_counts_create(struct bb_skip_file *file,
                                     const struct bb_condition *condition,
                                     const struct bb_schema *schema,
                                     struct bb_skip_account *accounts,
                                     struct bb_skip_counts **ret_counts)
{
    struct bb_skip_counts *counts = bb_alloc_zeroed(1, sizeof(*counts));
    if (counts == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for counting by indexes");
    *counts = (struct bb_skip_counts){
        .file = file, .condition = condition, .schema = schema, .accounts = accounts};
    counts->leaves = bb_alloc_zeroed(count_leaves(condition) + 1, sizeof(counts->leaves[0]));
    enum bb_status status = counts->leaves != NULL
                                ? init_leaves(counts, condition)
                                : bb_fail(BB_NO_MEMORY, "no memory for counting by indexes");
    if (status == BB_OK)
        status = has_any(counts) ? evaluate_leaves(counts) : BB_NOT_FOUND;
    if (status == BB_OK)
        *ret_counts = counts;
    else
        bb_skip_counts_destroy(counts);
    return status;
}

void bb_skip_counts_destroy(struct bb_skip_counts *counts)
{
    if (counts == NULL)
        return;
    for (size_t i = 0; i < counts->leaf_count; i++) {
        bb_skip_verdicts_deinit(&counts->leaves[i].verdicts);
        bb_text_question_deinit(&counts->leaves[i].question);
    }
    bb_free(counts->leaves);
    bb_free(counts);
}

/* --- Leaves --- */

static enum bb_status read_segment(struct counted_leaf *leaf, size_t number)
{
    const struct bb_head_segment *segment = &leaf->head->segments[number];
    leaf->segment = number;
    leaf->is_counted = false;
    if (segment->form != BB_SKIP_FORM_DICTIONARY)
        return BB_OK;
    enum bb_status status =
        bb_text_question_count(&leaf->question, segment, leaf->token, leaf->counts);
    leaf->is_counted = status == BB_OK;
    if (status != BB_OK && status != BB_NO_MEMORY && leaf->question.account != NULL)
        leaf->question.account->damaged_segments++;
    return status == BB_NO_MEMORY ? status : BB_OK;
}

/* *ret_is_known: the index counts the granule. */
static enum bb_status count_token(struct counted_leaf *leaf, size_t granule, uint64_t *ret_count,
                                  bool *ret_is_known)
{
    size_t number = bb_index_head_find(leaf->head, granule);
    enum bb_status status = number == leaf->segment ? BB_OK : read_segment(leaf, number);
    const struct bb_head_segment *segment = &leaf->head->segments[number];
    uint32_t at = (uint32_t)(granule - segment->first_granule);
    *ret_is_known = status == BB_OK && leaf->is_counted && bb_head_segment_indexes(segment, at);
    *ret_count = *ret_is_known ? leaf->counts[at] : 0;
    return status;
}

static struct tally tally_constant(const struct bb_leaf *leaf, uint64_t records)
{
    int outcomes = (int)leaf->may_be_true + (int)leaf->may_be_false + (int)leaf->may_be_null;
    return (struct tally){.is_known = outcomes == 1,
                          .is_true = leaf->may_be_true ? records : 0,
                          .is_false = leaf->may_be_false ? records : 0,
                          .is_null = leaf->may_be_null ? records : 0};
}

/* For a record with the attribute a leaf is true or false; for any other it is unknown. */
static struct tally tally_present(uint64_t is_true, uint64_t present, uint64_t nulls)
{
    return (struct tally){.is_known = is_true <= present,
                          .is_true = is_true,
                          .is_false = present - is_true,
                          .is_null = nulls};
}

/* The tally of a leaf that has the same truth for all records with the attribute; otherwise it is
 * not known. */
static struct tally tally_verdicts(const struct bb_skip_verdicts *verdicts, size_t granule,
                                   uint64_t present, uint64_t nulls)
{
    bool may_be_true = bb_bit_get(verdicts->may_be_true, granule);
    bool may_be_false = bb_bit_get(verdicts->may_be_false, granule);
    return may_be_true && may_be_false ? (struct tally){0}
                                       : tally_present(may_be_true ? present : 0, present, nulls);
}

static enum bb_status tally_leaf(const struct bb_skip_counts *counts, struct counted_leaf *leaf,
                                 size_t granule, struct tally *ret_tally)
{
    const struct bb_granule_table *table = &counts->file->granules;
    uint64_t records = table->records[granule];
    if (leaf->leaf->kind == BB_LEAF_CONSTANT) {
        *ret_tally = tally_constant(leaf->leaf, records);
        return BB_OK;
    }
    if (leaf->attribute == NO_ATTRIBUTE)
        return BB_OK;
    uint64_t nulls = bb_granule_table_nulls(table, granule, leaf->attribute);
    uint64_t present = records - nulls;
    if (leaf->leaf->kind == BB_LEAF_NULLS) {
        *ret_tally = tally_present(nulls, records, 0);
        return BB_OK;
    }
    if (!leaf->has_counts) {
        *ret_tally = tally_verdicts(&leaf->verdicts, granule, present, nulls);
        return BB_OK;
    }
    uint64_t is_true = 0;
    bool is_known = false;
    enum bb_status status = count_token(leaf, granule, &is_true, &is_known);
    if (is_known)
        *ret_tally = tally_present(is_true, present, nulls);
    return status;
}

/* --- The tree --- */

struct walk {
    const struct bb_skip_counts *counts;
    size_t granule;
    uint64_t records;
    size_t next_leaf;
};

static void negate(struct tally *tally)
{
    uint64_t is_true = tally->is_true;
    tally->is_true = tally->is_false;
    tally->is_false = is_true;
}

/* The AND of two sides. If one side is true for all records, the result is the other side; if one
 * is false for all, the result is that side. */
static struct tally join(struct tally left, struct tally right, uint64_t records)
{
    if (left.is_known && left.is_true == records)
        return right;
    if (right.is_known && right.is_true == records)
        return left;
    if (left.is_known && left.is_false == records)
        return left;
    if (right.is_known && right.is_false == records)
        return right;
    return (struct tally){0};
}

static enum bb_status tally_node(struct walk *walk, const struct bb_condition *node,
                                 struct tally *ret_tally);

/* Computes AND, or OR by De Morgan's law: the negation of the AND of the negated children. */
static enum bb_status tally_children(struct walk *walk, const struct bb_condition *node,
                                     struct tally *ret_tally)
{
    struct tally tally = {.is_known = true, .is_true = walk->records};
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < node->child_count && status == BB_OK; i++) {
        struct tally child = {0};
        status = tally_node(walk, node->children[i], &child);
        if (node->kind != BB_CONDITION_AND)
            negate(&child);
        tally = join(tally, child, walk->records);
    }
    if (node->kind != BB_CONDITION_AND)
        negate(&tally);
    *ret_tally = tally;
    return status;
}

static enum bb_status tally_node(struct walk *walk, const struct bb_condition *node,
                                 struct tally *ret_tally)
{
    if (node->kind == BB_CONDITION_LEAF)
        return tally_leaf(walk->counts, &walk->counts->leaves[walk->next_leaf++], walk->granule,
                          ret_tally);
    if (node->kind != BB_CONDITION_NOT)
        return tally_children(walk, node, ret_tally);
    enum bb_status status = tally_node(walk, node->children[0], ret_tally);
    negate(ret_tally);
    return status;
}

enum bb_status bb_skip_counts_read(struct bb_skip_counts *counts, size_t granule,
                                   uint64_t *ret_true_count)
{
    struct walk walk = {
        .counts = counts, .granule = granule, .records = counts->file->granules.records[granule]};
    struct tally tally = {0};
    enum bb_status status = tally_node(&walk, counts->condition, &tally);
    if (status == BB_OK && !tally.is_known)
        return BB_NOT_FOUND;
    if (status == BB_OK)
        *ret_true_count = tally.is_true;
    return status;
}
