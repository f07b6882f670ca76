/* See row_leaf.h. */
#include "skip/query/row_leaf.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/status.h"
#include "skip/kind/interval_set.h"
#include "skip/query/truth_lookup.h"

/* --- Creating --- */

/* The index that is the column of the leaf's attribute; index_count: there is no column. */
static size_t find_column(const struct bb_row_leaf *leaf, const struct bb_schema *schema)
{
    const struct bb_index_directory *directory = &leaf->file->directory;
    size_t attribute = bb_index_directory_find(directory, schema, leaf->node->leaf.attribute);
    size_t i = 0;
    while (i < directory->index_count &&
           (!directory->indexes[i].is_known || directory->indexes[i].spec.kind != BB_SKIP_COLUMN ||
            directory->indexes[i].spec.attribute != attribute))
        i++;
    return i;
}

static bool has_number_intervals(const struct bb_leaf *leaf)
{
    return leaf->kind == BB_LEAF_INTERVALS && leaf->type != BB_ATTRIBUTE_BYTES;
}

enum bb_status bb_row_leaf_init(struct bb_row_leaf *leaf, struct bb_skip_file *file,
                                const struct bb_condition *node, const struct bb_schema *schema,
                                struct bb_attribute *attributes)
{
    *leaf = (struct bb_row_leaf){.node = node, .file = file, .attributes = attributes};
    leaf->index = find_column(leaf, schema);
    if (!bb_row_leaf_has_column(leaf))
        return BB_OK;
    if (has_number_intervals(&node->leaf))
        return bb_column_intervals_init(&leaf->intervals, &node->leaf);
    return node->leaf.kind == BB_LEAF_TEXT ? bb_condition_run_create(node, &leaf->run) : BB_OK;
}

void bb_row_leaf_deinit(struct bb_row_leaf *leaf)
{
    bb_skip_verdicts_deinit(&leaf->verdicts);
    bb_condition_run_destroy(leaf->run);
    bb_column_intervals_deinit(&leaf->intervals);
    bb_buf_deinit(&leaf->scratch);
    bb_column_granule_deinit(&leaf->granule);
    bb_free(leaf->truths);
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

/* Reads the chunk of a granule. */
static enum bb_status enter_chunk(struct bb_row_leaf *leaf, size_t granule,
                                  struct bb_skip_account *account)
{
    const struct bb_loaded_head *loaded = NULL;
    leaf->chunk = NULL;
    enum bb_status status = bb_skip_file_head(leaf->file, leaf->index, account, &loaded);
    if (status != BB_OK)
        return status;
    if (loaded->is_damaged)
        return bb_corrupt((struct bb_place){.file = leaf->file->file->path},
                          leaf->file->directory.indexes[leaf->index].head.offset,
                          "the head of a column is damaged");
    const struct bb_head_segment *segment =
        &loaded->head.segments[bb_index_head_find(&loaded->head, granule)];
    if (segment->form != BB_SKIP_FORM_COLUMN)
        return BB_NOT_FOUND;
    const struct bb_head_chunk *chunk =
        find_chunk(segment, (uint32_t)(granule - segment->first_granule));
    status = bb_skip_file_read(leaf->file, BB_SKIP_UNIT_DATA, chunk->data, &leaf->scratch, account,
                               &leaf->unit);
    if (status != BB_OK)
        return status;
    leaf->chunk = chunk;
    leaf->chunk_granule = (size_t)segment->first_granule + chunk->first_granule;
    return BB_OK;
}

static enum bb_status malformed(const struct bb_row_leaf *leaf)
{
    return bb_corrupt((struct bb_place){.file = leaf->file->file->path}, leaf->chunk->data.offset,
                      "a granule of a column is malformed");
}

/* Opens a granule. Reads a chunk only if the current one does not have the granule: neighbouring
 * granules share a chunk. */
static enum bb_status open_granule(struct bb_row_leaf *leaf, size_t granule,
                                   struct bb_skip_account *account)
{
    enum bb_status status = BB_OK;
    if (leaf->chunk == NULL || granule - leaf->chunk_granule >= leaf->chunk->granule_count)
        status = enter_chunk(leaf, granule, account);
    if (status != BB_OK)
        return status;
    status = bb_column_granule_open(&leaf->granule, leaf->unit, leaf->chunk->granule_count,
                                    (uint32_t)(granule - leaf->chunk_granule));
    bool is_other = leaf->granule.record_count != leaf->file->granules.records[granule];
    return status == BB_CORRUPT || (status == BB_OK && is_other) ? malformed(leaf) : status;
}

/* --- Values --- */

static enum bb_status make_space(struct bb_row_leaf *leaf)
{
    size_t count = leaf->granule.value_count;
    size_t capacity = count < BB_TRUTH_TABLE_SPACE ? BB_TRUTH_TABLE_SPACE : count;
    if (capacity <= leaf->truth_capacity)
        return BB_OK;
    uint8_t *truths = bb_realloc(leaf->truths, capacity);
    if (truths == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for %zu values of a column", count);
    leaf->truths = truths;
    leaf->truth_capacity = capacity;
    return BB_OK;
}

static enum bb_status test_value(struct bb_row_leaf *leaf, const struct bb_attribute *value,
                                 enum bb_truth *ret_truth)
{
    const struct bb_leaf *condition = &leaf->node->leaf;
    if (condition->kind == BB_LEAF_INTERVALS)
        *ret_truth = bb_interval_set_has(condition, value) ? BB_TRUTH_TRUE : BB_TRUTH_FALSE;
    if (condition->kind == BB_LEAF_NULLS)
        *ret_truth = BB_TRUTH_FALSE;
    if (condition->kind != BB_LEAF_TEXT)
        return BB_OK;
    leaf->attributes[condition->attribute] = *value;
    return bb_condition_test(leaf->run, leaf->attributes, ret_truth);
}

static enum bb_status test_each(struct bb_row_leaf *leaf)
{
    struct bb_column_granule *granule = &leaf->granule;
    enum bb_status status = bb_column_granule_decode(granule, leaf->node->leaf.type);
    if (status == BB_CORRUPT)
        return malformed(leaf);
    for (size_t i = 0; i < granule->value_count && status == BB_OK; i++) {
        enum bb_truth truth = BB_TRUTH_FALSE;
        status = test_value(leaf, &granule->values[i], &truth);
        leaf->truths[i] = (uint8_t)truth;
    }
    return status;
}

static enum bb_status test_values(struct bb_row_leaf *leaf)
{
    enum bb_status status = make_space(leaf);
    if (status != BB_OK)
        return status;
    /* If no record has a value, the number of every record is 0. */
    leaf->truths[0] = BB_TRUTH_FALSE;
    if (!has_number_intervals(&leaf->node->leaf))
        return test_each(leaf);
    return bb_column_intervals_test(&leaf->intervals, &leaf->granule, leaf->truths)
               ? BB_OK
               : malformed(leaf);
}

/* --- Records --- */

/* The truth of a record without a value. */
static enum bb_truth absent_truth(const struct bb_row_leaf *leaf)
{
    return leaf->node->leaf.kind == BB_LEAF_NULLS ? BB_TRUTH_TRUE : BB_TRUTH_UNKNOWN;
}

/* Sets the truth of the records without a value. */
static void set_absent(const struct bb_row_leaf *leaf, uint64_t *is_true, uint64_t *is_null)
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

/* False: the number of a record is not the number of a value. */
static bool look_up_records(const struct bb_row_leaf *leaf, enum bb_cpu cpu, uint64_t *is_true,
                            uint64_t *is_null)
{
    const struct bb_column_granule *granule = &leaf->granule;
    struct bb_packed_numbers numbers = {
        .bytes = granule->numbers, .width = granule->number_bits, .count = granule->record_count};
    struct bb_truth_table table = {.truths = leaf->truths,
                                   .count = granule->value_count == 0 ? 1 : granule->value_count};
    if (!bb_truth_lookup(&numbers, &table, cpu, is_true, is_null))
        return false;
    if (granule->states != NULL)
        set_absent(leaf, is_true, is_null);
    return true;
}

enum bb_status bb_row_leaf_decide(struct bb_row_leaf *leaf, size_t granule, enum bb_cpu cpu,
                                  struct bb_skip_account *account, uint64_t *is_true,
                                  uint64_t *is_null)
{
    BB_DEBUG_ASSERT(bb_row_leaf_has_column(leaf));
    enum bb_status status = open_granule(leaf, granule, account);
    if (status == BB_OK)
        status = test_values(leaf);
    if (status == BB_OK && !look_up_records(leaf, cpu, is_true, is_null))
        status = malformed(leaf);
    return status;
}
