/* Conditions decided record by record from columns, and from the verdicts of other indexes on
 * granules. See bb/skip.h.
 *
 * Leaves are decided by row_leaf.h, and the tree is evaluated on words of 64 records.
 */
#include <string.h>

#include "base/alloc.h"
#include "skip/query/row_leaf.h"
#include "skip/query/truth_bits.h"

struct bb_skip_rows {
    struct bb_skip_file *file;
    const struct bb_condition *condition;
    const struct bb_schema *schema;
    enum bb_cpu cpu;
    struct bb_row_leaf *leaves; /* owned, in the order of the tree */
    size_t leaf_count;
    bool has_columns;
    size_t node_count;
    struct bb_attribute *attributes; /* owned: the input of runs */
    uint64_t *words;                 /* owned: for each node true, then null */
    size_t word_capacity;
};

/* --- Creating --- */

static bool has_attribute(const struct bb_condition *node)
{
    return node->kind == BB_CONDITION_LEAF && node->leaf.kind != BB_LEAF_CONSTANT;
}

static void count_nodes(const struct bb_condition *node, struct bb_skip_rows *rows)
{
    rows->node_count++;
    rows->leaf_count += has_attribute(node);
    for (size_t i = 0; i < node->child_count; i++)
        count_nodes(node->children[i], rows);
}

static enum bb_status init_leaves(struct bb_skip_rows *rows, const struct bb_condition *node,
                                  size_t *next)
{
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < node->child_count && status == BB_OK; i++)
        status = init_leaves(rows, node->children[i], next);
    if (status != BB_OK || !has_attribute(node))
        return status;
    struct bb_row_leaf *leaf = &rows->leaves[(*next)++];
    status = bb_row_leaf_init(leaf, rows->file, node, rows->schema, rows->attributes);
    rows->has_columns |= bb_row_leaf_has_column(leaf);
    return status;
}

enum bb_status bb_skip_rows_create(struct bb_skip_file *file, const struct bb_condition *condition,
                                   const struct bb_schema *schema, struct bb_skip_rows **ret_rows)
{
    struct bb_skip_rows *rows = bb_alloc_zeroed(1, sizeof(*rows));
    if (rows == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for probing columns");
    *rows = (struct bb_skip_rows){
        .file = file, .condition = condition, .schema = schema, .cpu = bb_cpu_best()};
    count_nodes(condition, rows);
    rows->leaves = bb_alloc_zeroed(rows->leaf_count + 1, sizeof(rows->leaves[0]));
    rows->attributes = bb_alloc_zeroed(bb_schema_count(schema) + 1, sizeof(rows->attributes[0]));
    enum bb_status status = BB_OK;
    size_t next = 0;
    if (rows->leaves == NULL || rows->attributes == NULL)
        status = bb_fail(BB_NO_MEMORY, "no memory for probing columns");
    if (status == BB_OK)
        status = init_leaves(rows, condition, &next);
    if (status == BB_OK && rows->leaf_count > 0 && !rows->has_columns)
        status = BB_NOT_FOUND;
    if (status == BB_OK)
        *ret_rows = rows;
    else
        bb_skip_rows_destroy(rows);
    return status;
}

void bb_skip_rows_destroy(struct bb_skip_rows *rows)
{
    if (rows == NULL)
        return;
    for (size_t i = 0; rows->leaves != NULL && i < rows->leaf_count; i++)
        bb_row_leaf_deinit(&rows->leaves[i]);
    bb_free(rows->leaves);
    bb_free(rows->attributes);
    bb_free(rows->words);
    bb_free(rows);
}

/* --- The tree --- */

struct walk {
    struct bb_skip_rows *rows;
    struct bb_skip_account *accounts;
    size_t granule;
    size_t words;     /* of a bitset */
    size_t next_leaf; /* in the order of the tree */
    size_t next_node;
    size_t decided_leaves; /* by columns */
};

/* The possible truths of a condition for each record. A record whose truth is known has a bit in
 * exactly one of the sets. */
struct bits {
    uint64_t *may_be_true;
    uint64_t *may_be_false;
    uint64_t *may_be_null;
};

/* The records of the granule in word i. */
static uint64_t records_of(const struct walk *walk, size_t i)
{
    uint64_t left = walk->rows->file->granules.records[walk->granule] - i * 64;
    return left >= 64 ? UINT64_MAX : (UINT64_C(1) << left) - 1;
}

static void set_possible(const struct walk *walk, uint64_t *words, bool is_possible)
{
    for (size_t i = 0; i < walk->words && is_possible; i++)
        words[i] = records_of(walk, i);
}

/* Gives each record all verdicts that the indexes leave possible for the granule. */
static void take_verdicts(const struct walk *walk, const struct bb_skip_verdicts *verdicts,
                          struct bits bits)
{
    set_possible(walk, bits.may_be_true, bb_bit_get(verdicts->may_be_true, walk->granule));
    set_possible(walk, bits.may_be_false, bb_bit_get(verdicts->may_be_false, walk->granule));
    set_possible(walk, bits.may_be_null, bb_bit_get(verdicts->may_be_null, walk->granule));
}

static void set_constant(const struct walk *walk, const struct bb_leaf *leaf, struct bits bits)
{
    set_possible(walk, bits.may_be_true, leaf->may_be_true);
    set_possible(walk, bits.may_be_false, leaf->may_be_false);
    set_possible(walk, bits.may_be_null, leaf->may_be_null);
}

/* Completes the bits of a decided leaf: it is false for the records for which it is neither true
 * nor unknown. */
static void set_false(const struct walk *walk, struct bits bits)
{
    for (size_t i = 0; i < walk->words; i++)
        bits.may_be_false[i] = records_of(walk, i) & ~(bits.may_be_true[i] | bits.may_be_null[i]);
}

static void reset_bits(const struct walk *walk, struct bits bits)
{
    memset(bits.may_be_true, 0, walk->words * sizeof(bits.may_be_true[0]));
    memset(bits.may_be_null, 0, walk->words * sizeof(bits.may_be_null[0]));
}

/* Decides the leaf by its column. If the column is damaged or lacks the granule, or if a regular
 * expression gives up, the leaf is not decided, and the walk continues with the other leaves. */
static enum bb_status read_column(struct walk *walk, struct bb_row_leaf *leaf, struct bits bits)
{
    struct bb_skip_account unseen = {0};
    struct bb_skip_account *account =
        walk->accounts == NULL ? &unseen : &walk->accounts[leaf->index];
    enum bb_status status = bb_row_leaf_decide(leaf, walk->granule, walk->rows->cpu, account,
                                               bits.may_be_true, bits.may_be_null);
    account->granules_searched++;
    account->damaged_segments += status == BB_CORRUPT;
    leaf->is_decided = status == BB_OK;
    if (leaf->is_decided)
        set_false(walk, bits);
    else
        reset_bits(walk, bits);
    bool gives_up = status == BB_CORRUPT || status == BB_NOT_FOUND || status == BB_TOO_LARGE;
    return gives_up ? BB_OK : status;
}

/* Queries the indexes of a leaf that no column decides, for all granules, at the first use. WHY not
 * at creation: only a read has the accounts. */
static enum bb_status ask_indexes(struct walk *walk, struct bb_row_leaf *leaf)
{
    const struct bb_skip_rows *rows = walk->rows;
    if (leaf->verdicts.word_count > 0)
        return BB_OK;
    return bb_skip_file_evaluate(rows->file, leaf->node, rows->schema, walk->accounts,
                                 &leaf->verdicts);
}

static enum bb_status decide_leaf(struct walk *walk, struct bits bits)
{
    struct bb_row_leaf *leaf = &walk->rows->leaves[walk->next_leaf++];
    enum bb_status status = BB_OK;
    leaf->is_decided = false;
    if (bb_row_leaf_has_column(leaf))
        status = read_column(walk, leaf, bits);
    walk->decided_leaves += leaf->is_decided;
    if (status != BB_OK || leaf->is_decided)
        return status;
    status = ask_indexes(walk, leaf);
    if (status == BB_OK)
        take_verdicts(walk, &leaf->verdicts, bits);
    return status;
}

/* AND may be true where both sides may be true, and false where one may be false. It may be null
 * where one may be null and the other may be null or true. For OR, the sets of true and false
 * exchange their roles. */
static void join(uint64_t *both, uint64_t *any, uint64_t *null, const uint64_t *other_both,
                 const uint64_t *other_any, const uint64_t *other_null, size_t words)
{
    for (size_t i = 0; i < words; i++) {
        null[i] = (null[i] & (other_null[i] | other_both[i])) | (both[i] & other_null[i]);
        both[i] &= other_both[i];
        any[i] |= other_any[i];
    }
}

static void join_bits(struct bits to, struct bits more, size_t words, bool is_and)
{
    if (is_and)
        join(to.may_be_true, to.may_be_false, to.may_be_null, more.may_be_true, more.may_be_false,
             more.may_be_null, words);
    else
        join(to.may_be_false, to.may_be_true, to.may_be_null, more.may_be_false, more.may_be_true,
             more.may_be_null, words);
}

static enum bb_status decide(struct walk *walk, const struct bb_condition *node,
                             struct bits *ret_bits)
{
    uint64_t *words = walk->rows->words + 3 * walk->words * walk->next_node++;
    struct bits bits = {.may_be_true = words,
                        .may_be_false = words + walk->words,
                        .may_be_null = words + 2 * walk->words};
    enum bb_status status = BB_OK;
    if (node->kind == BB_CONDITION_LEAF && node->leaf.kind == BB_LEAF_CONSTANT)
        set_constant(walk, &node->leaf, bits);
    else if (node->kind == BB_CONDITION_LEAF)
        status = decide_leaf(walk, bits);
    for (size_t i = 0; i < node->child_count && status == BB_OK; i++) {
        struct bits child;
        status = decide(walk, node->children[i], &child);
        if (status == BB_OK && i == 0)
            bits = child;
        else if (status == BB_OK)
            join_bits(bits, child, walk->words, node->kind == BB_CONDITION_AND);
    }
    *ret_bits = bits;
    if (node->kind == BB_CONDITION_NOT) {
        ret_bits->may_be_true = bits.may_be_false;
        ret_bits->may_be_false = bits.may_be_true;
    }
    return status;
}

static enum bb_status make_space(struct bb_skip_rows *rows, size_t words)
{
    size_t count = 3 * words * rows->node_count;
    if (count > rows->word_capacity) {
        uint64_t *grown = bb_realloc(rows->words, count * sizeof(grown[0]));
        if (grown == NULL)
            return bb_fail(BB_NO_MEMORY, "no memory for the records of a granule");
        rows->words = grown;
        rows->word_capacity = count;
    }
    memset(rows->words, 0, count * sizeof(rows->words[0]));
    return BB_OK;
}

/* Computes the certain truths from the possible ones. It reuses the memory of may_be_false and
 * may_be_null, which are no longer needed. */
static void take_certain(const struct walk *walk, const struct bits *bits,
                         struct bb_skip_row_bits *ret_bits)
{
    uint64_t *is_true = bits->may_be_false;
    uint64_t *is_null = bits->may_be_null;
    *ret_bits = (struct bb_skip_row_bits){.is_true = is_true,
                                          .is_null = is_null,
                                          .may_be_true = bits->may_be_true,
                                          .record_count =
                                              walk->rows->file->granules.records[walk->granule]};
    for (size_t i = 0; i < walk->words; i++) {
        uint64_t may_be_true = bits->may_be_true[i];
        uint64_t may_fail = bits->may_be_false[i];
        uint64_t may_be_null = bits->may_be_null[i];
        is_true[i] = may_be_true & ~may_fail & ~may_be_null;
        is_null[i] = may_be_null & ~may_be_true & ~may_fail;
        uint64_t open = may_be_true ^ is_true[i];
        ret_bits->certain_count += (uint64_t)__builtin_popcountll(is_true[i]);
        ret_bits->possible_count += open == 0 ? 0 : (uint64_t)__builtin_popcountll(open);
    }
    ret_bits->possible_count += ret_bits->certain_count;
}

static bool have_same_parts(const struct bb_skip_row_bits *bits,
                            const struct bb_column_granule *granule)
{
    size_t size = granule->part_count * sizeof(granule->part_records[0]);
    return bits->part_count == granule->part_count &&
           (size == 0 || memcmp(bits->part_records, granule->part_records, size) == 0);
}

/* Takes the parts of the granule from the columns that decided. If columns disagree, one of them is
 * damaged, and the result has no parts. */
static void take_parts(const struct bb_skip_rows *rows, struct bb_skip_row_bits *bits)
{
    bool is_first = true;
    for (size_t i = 0; i < rows->leaf_count; i++) {
        const struct bb_column_granule *granule = &rows->leaves[i].granule;
        if (!rows->leaves[i].is_decided)
            continue;
        if (is_first) {
            bits->part_records = granule->part_records;
            bits->part_count = granule->part_count;
        } else if (!have_same_parts(bits, granule)) {
            bits->part_count = 0;
        }
        is_first = false;
    }
}

enum bb_status bb_skip_rows_read(struct bb_skip_rows *rows, size_t granule,
                                 struct bb_skip_account *accounts,
                                 struct bb_skip_row_bits *ret_bits)
{
    uint64_t records = rows->file->granules.records[granule];
    struct walk walk = {.rows = rows,
                        .accounts = accounts,
                        .granule = granule,
                        .words = (size_t)(records + 63) / 64};
    struct bits bits;
    if (records == 0 || records > BB_COLUMN_RECORDS_MAX)
        return BB_NOT_FOUND;
    enum bb_status status = make_space(rows, walk.words);
    if (status == BB_OK)
        status = decide(&walk, rows->condition, &bits);
    if (status == BB_OK && walk.decided_leaves == 0 && rows->leaf_count > 0)
        status = BB_NOT_FOUND;
    if (status != BB_OK)
        return status;
    take_certain(&walk, &bits, ret_bits);
    take_parts(rows, ret_bits);
    return BB_OK;
}
