/* Conditions decided record by record from columns, and from the verdicts of other indexes on
 * granules. See bb/skip.h.
 *
 * A leaf is evaluated for each distinct value of a granule, and its records look their value up.
 * The tree is evaluated on words of 64 records.
 */
#include <string.h>

#include "base/alloc.h"
#include "skip/condition/tree.h"
#include "skip/kind/column.h"
#include "skip/kind/interval_set.h"
#include "skip/file/skip_file.h"
#include "skip/query/truth_bits.h"
#include "skip/query/truth_lookup.h"

/* A leaf of the condition with an attribute. */
struct row_leaf {
    const struct bb_condition *node;
    size_t index;                     /* of the column in the file; how many the file has: none */
    bool is_decided;                  /* by the column, in the current granule */
    struct bb_skip_verdicts verdicts; /* owned; where no column decides: verdicts of indexes */
    enum bb_attribute_type type;
    struct bb_condition_run *run; /* owned; of TEXT */
    struct bb_buf scratch;        /* owned: the current unit */
    struct bb_skip_section section;
    struct bb_bytes unit;
    struct bb_column_granule granule;
    uint8_t *truths; /* owned: of each value of the granule, enum bb_truth */
    size_t truth_capacity;
};

struct bb_skip_rows {
    struct bb_skip_file *file;
    const struct bb_condition *condition;
    const struct bb_schema *schema;
    enum bb_cpu cpu;
    struct row_leaf *leaves; /* owned, in the order of the tree */
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

/* The column of the leaf's attribute; index_count: it has no column. */
static size_t find_column(const struct bb_skip_rows *rows, const struct bb_leaf *leaf)
{
    const struct bb_index_directory *directory = &rows->file->directory;
    size_t attribute = bb_index_directory_find(directory, rows->schema, leaf->attribute);
    size_t i = 0;
    while (i < directory->index_count &&
           (!directory->indexes[i].is_known || directory->indexes[i].spec.kind != BB_SKIP_COLUMN ||
            directory->indexes[i].spec.attribute != attribute))
        i++;
    return i;
}

static enum bb_status init_leaves(struct bb_skip_rows *rows, const struct bb_condition *node,
                                  size_t *next)
{
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < node->child_count && status == BB_OK; i++)
        status = init_leaves(rows, node->children[i], next);
    if (status != BB_OK || !has_attribute(node))
        return status;
    struct row_leaf *leaf = &rows->leaves[(*next)++];
    *leaf = (struct row_leaf){
        .node = node, .index = find_column(rows, &node->leaf), .type = node->leaf.type};
    if (leaf->index == rows->file->directory.index_count)
        return BB_OK;
    rows->has_columns = true;
    return node->leaf.kind == BB_LEAF_TEXT ? bb_condition_run_create(node, &leaf->run) : BB_OK;
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
    for (size_t i = 0; rows->leaves != NULL && i < rows->leaf_count; i++) {
        bb_skip_verdicts_deinit(&rows->leaves[i].verdicts);
        bb_condition_run_destroy(rows->leaves[i].run);
        bb_buf_deinit(&rows->leaves[i].scratch);
        bb_column_granule_deinit(&rows->leaves[i].granule);
        bb_free(rows->leaves[i].truths);
    }
    bb_free(rows->leaves);
    bb_free(rows->attributes);
    bb_free(rows->words);
    bb_free(rows);
}

/* --- A granule of a column --- */

static const struct bb_head_chunk *find_chunk(const struct bb_head_segment *segment,
                                              uint32_t granule)
{
    uint32_t begin = 0;
    uint32_t end = segment->chunk_count;
    while (end - begin > 1) {
        uint32_t middle = begin + (end - begin) / 2;
        if (segment->chunks[middle].first_granule <= granule)
            begin = middle;
        else
            end = middle;
    }
    return &segment->chunks[begin];
}

static enum bb_status read_chunk(struct bb_skip_rows *rows, struct row_leaf *leaf,
                                 const struct bb_head_chunk *chunk, struct bb_skip_account *account)
{
    if (leaf->section.offset == chunk->data.offset && leaf->section.size == chunk->data.size)
        return BB_OK;
    leaf->section = (struct bb_skip_section){0};
    enum bb_status status = bb_skip_file_read(rows->file, BB_SKIP_UNIT_DATA, chunk->data,
                                              &leaf->scratch, account, &leaf->unit);
    if (status == BB_OK)
        leaf->section = chunk->data;
    return status;
}

static enum bb_status read_granule(struct bb_skip_rows *rows, struct row_leaf *leaf, size_t granule,
                                   struct bb_skip_account *account)
{
    const struct bb_loaded_head *loaded = NULL;
    struct bb_place place = {.file = rows->file->file->path};
    enum bb_status status = bb_skip_file_head(rows->file, leaf->index, account, &loaded);
    if (status != BB_OK)
        return status;
    if (loaded->is_damaged)
        return bb_corrupt(place, rows->file->directory.indexes[leaf->index].head.offset,
                          "the head of a column is damaged");
    const struct bb_head_segment *segment =
        &loaded->head.segments[bb_index_head_find(&loaded->head, granule)];
    if (segment->form != BB_SKIP_FORM_COLUMN)
        return BB_NOT_FOUND;
    uint32_t in_segment = (uint32_t)(granule - segment->first_granule);
    const struct bb_head_chunk *chunk = find_chunk(segment, in_segment);
    status = read_chunk(rows, leaf, chunk, account);
    if (status == BB_OK)
        status = bb_column_granule_read(&leaf->granule, leaf->type, leaf->unit,
                                        chunk->granule_count, in_segment - chunk->first_granule);
    if (status == BB_CORRUPT ||
        (status == BB_OK && leaf->granule.record_count != rows->file->granules.records[granule]))
        return bb_corrupt(place, chunk->data.offset, "a granule of a column is malformed");
    return status;
}

/* --- Leaves --- */

static enum bb_status test_value(struct bb_skip_rows *rows, struct row_leaf *leaf,
                                 const struct bb_attribute *value, enum bb_truth *ret_truth)
{
    const struct bb_leaf *condition = &leaf->node->leaf;
    if (condition->kind == BB_LEAF_RANGES)
        *ret_truth = bb_interval_set_has(condition, value) ? BB_TRUTH_TRUE : BB_TRUTH_FALSE;
    if (condition->kind == BB_LEAF_NULLS)
        *ret_truth = BB_TRUTH_FALSE;
    if (condition->kind != BB_LEAF_TEXT)
        return BB_OK;
    rows->attributes[condition->attribute] = *value;
    return bb_condition_test(leaf->run, rows->attributes, ret_truth);
}

static enum bb_status test_values(struct bb_skip_rows *rows, struct row_leaf *leaf)
{
    const struct bb_column_granule *granule = &leaf->granule;
    enum bb_status status = BB_OK;
    if (granule->value_count >= leaf->truth_capacity) {
        uint8_t *truths = bb_realloc(leaf->truths, granule->value_count + 1);
        if (truths == NULL)
            return bb_fail(BB_NO_MEMORY, "no memory for %zu values of a column",
                           granule->value_count);
        leaf->truths = truths;
        leaf->truth_capacity = granule->value_count + 1;
    }
    leaf->truths[0] = BB_TRUTH_FALSE; /* no record has a value */
    for (size_t i = 0; i < granule->value_count && status == BB_OK; i++) {
        enum bb_truth truth = BB_TRUTH_FALSE;
        status = test_value(rows, leaf, &granule->values[i], &truth);
        leaf->truths[i] = (uint8_t)truth;
    }
    return status;
}

/* The truth of a record without a value. */
static enum bb_truth absent_truth(const struct row_leaf *leaf)
{
    return leaf->node->leaf.kind == BB_LEAF_NULLS ? BB_TRUTH_TRUE : BB_TRUTH_UNKNOWN;
}

/* Records without a value. */
static void set_absent(const struct row_leaf *leaf, uint64_t *is_true, uint64_t *is_null)
{
    const struct bb_column_granule *granule = &leaf->granule;
    uint64_t truth = (uint64_t)absent_truth(leaf);
    for (uint32_t record = 0; record < granule->record_count; record++) {
        if (bb_column_state(granule, record) == BB_ATTRIBUTE_PRESENT)
            continue;
        uint64_t bit = UINT64_C(1) << record % 64;
        is_true[record / 64] = (is_true[record / 64] & ~bit) | (truth & 1) << record % 64;
        is_null[record / 64] = (is_null[record / 64] & ~bit) | (truth >> 1) << record % 64;
    }
}

/* False: a number of a record is no value's. */
static bool look_up_records(const struct bb_skip_rows *rows, const struct row_leaf *leaf,
                            uint64_t *is_true, uint64_t *is_null)
{
    const struct bb_column_granule *granule = &leaf->granule;
    struct bb_packed_numbers numbers = {
        .bytes = granule->numbers, .width = granule->number_bits, .count = granule->record_count};
    struct bb_truth_table table = {.truths = leaf->truths,
                                   .count = granule->value_count == 0 ? 1 : granule->value_count};
    if (!bb_truth_lookup(&numbers, &table, rows->cpu, is_true, is_null))
        return false;
    if (granule->states != NULL)
        set_absent(leaf, is_true, is_null);
    return true;
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

/* The possible truths of a condition for each record: where all is known, one of the three. */
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

/* Each record may have any verdict of the indexes on the granule. */
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

static enum bb_status decide_records(struct walk *walk, struct row_leaf *leaf,
                                     struct bb_skip_account *account, struct bits bits)
{
    enum bb_status status = read_granule(walk->rows, leaf, walk->granule, account);
    if (status == BB_OK)
        status = test_values(walk->rows, leaf);
    if (status == BB_OK && !look_up_records(walk->rows, leaf, bits.may_be_true, bits.may_be_null))
        status = bb_corrupt((struct bb_place){.file = walk->rows->file->file->path},
                            leaf->section.offset, "a granule of a column is malformed");
    return status;
}

/* Of a leaf that is decided: the records of which it is neither true nor unknown. */
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

/* A column that is damaged or lacks the granule, or a regular expression that gives up, decides
 * nothing: the leaf is not decided. Other leaves are. */
static enum bb_status read_column(struct walk *walk, struct row_leaf *leaf, struct bits bits)
{
    struct bb_skip_account unseen = {0};
    struct bb_skip_account *account =
        walk->accounts == NULL ? &unseen : &walk->accounts[leaf->index];
    enum bb_status status = decide_records(walk, leaf, account, bits);
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

/* Queries the indexes of a leaf that no column decides, once for all granules: here, so that the
 * reads are accounted. */
static enum bb_status ask_indexes(struct walk *walk, struct row_leaf *leaf)
{
    const struct bb_skip_rows *rows = walk->rows;
    if (leaf->verdicts.word_count > 0)
        return BB_OK;
    return bb_skip_file_evaluate(rows->file, leaf->node, rows->schema, walk->accounts,
                                 &leaf->verdicts);
}

static enum bb_status decide_leaf(struct walk *walk, struct bits bits)
{
    struct row_leaf *leaf = &walk->rows->leaves[walk->next_leaf++];
    enum bb_status status = BB_OK;
    leaf->is_decided = false;
    if (leaf->index < walk->rows->file->directory.index_count)
        status = read_column(walk, leaf, bits);
    walk->decided_leaves += leaf->is_decided;
    if (status != BB_OK || leaf->is_decided)
        return status;
    status = ask_indexes(walk, leaf);
    if (status == BB_OK)
        take_verdicts(walk, &leaf->verdicts, bits);
    return status;
}

/* AND is true where both are, false where one is, and null where one is and the other is not false.
 * OR is its dual: both sets change their roles. */
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

static enum bb_status make_room(struct bb_skip_rows *rows, size_t words)
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

/* may_be_false and may_be_null become certain truths, in place: they are not needed any more. */
static struct bb_skip_row_bits certain_of(const struct walk *walk, struct bits bits)
{
    uint64_t *is_true = bits.may_be_false;
    uint64_t *is_null = bits.may_be_null;
    struct bb_skip_row_bits certain = {.is_true = is_true,
                                       .is_null = is_null,
                                       .may_be_true = bits.may_be_true,
                                       .record_count =
                                           walk->rows->file->granules.records[walk->granule]};
    for (size_t i = 0; i < walk->words; i++) {
        uint64_t may_fail = bits.may_be_false[i];
        uint64_t may_be_null = bits.may_be_null[i];
        is_true[i] = bits.may_be_true[i] & ~may_fail & ~may_be_null;
        is_null[i] = may_be_null & ~bits.may_be_true[i] & ~may_fail;
        certain.certain_count += (uint64_t)__builtin_popcountll(is_true[i]);
        certain.possible_count += (uint64_t)__builtin_popcountll(bits.may_be_true[i]);
    }
    return certain;
}

static bool have_same_parts(const struct bb_skip_row_bits *bits,
                            const struct bb_column_granule *granule)
{
    size_t size = granule->part_count * sizeof(granule->part_records[0]);
    return bits->part_count == granule->part_count &&
           (size == 0 || memcmp(bits->part_records, granule->part_records, size) == 0);
}

/* Takes the parts of the columns. Columns that disagree are damaged, and lead to no part. */
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
    enum bb_status status = make_room(rows, walk.words);
    if (status == BB_OK)
        status = decide(&walk, rows->condition, &bits);
    if (status == BB_OK && walk.decided_leaves == 0 && rows->leaf_count > 0)
        status = BB_NOT_FOUND;
    if (status != BB_OK)
        return status;
    *ret_bits = certain_of(&walk, bits);
    take_parts(rows, ret_bits);
    return BB_OK;
}
