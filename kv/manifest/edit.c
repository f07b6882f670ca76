/* See edit.h; the bytes are in edit_coding.c. */
#include "kv/manifest/edit.h"

#include <inttypes.h>

#include "base/alloc.h"
#include "base/array.h"
#include "base/assert.h"
#include "kv/manifest/filename.h"
#include "sstable/meta/table_meta.h"

void bb_edit_deinit(struct bb_edit *edit)
{
    for (size_t i = 0; i < edit->added_count; i++)
        bb_table_meta_deinit(&edit->added[i].meta);
    bb_free(edit->added);
    bb_free(edit->removed);
    bb_buf_deinit(&edit->catalog);
    bb_free(edit->log_ends);
    *edit = (struct bb_edit){0};
}

enum bb_status bb_edit_remove_table(struct bb_edit *edit, uint64_t number)
{
    enum bb_status status =
        bb_array_reserve(&edit->removed, edit->removed_count, &edit->removed_capacity,
                         sizeof(*edit->removed), "removed tables of an edit");
    if (status == BB_OK)
        edit->removed[edit->removed_count++] = number;
    return status;
}

enum bb_status bb_edit_add_log_end(struct bb_edit *edit, const struct bb_wal_end *end)
{
    enum bb_status status =
        bb_array_reserve(&edit->log_ends, edit->log_end_count, &edit->log_end_capacity,
                         sizeof(*edit->log_ends), "ends of logs");
    if (status == BB_OK)
        edit->log_ends[edit->log_end_count++] = *end;
    return status;
}

enum bb_status bb_edit_add_table(struct bb_edit *edit, int level, uint64_t run, uint64_t number,
                                 const struct bb_table_meta *meta)
{
    const struct bb_edit_table table = {
        .level = level, .run = run, .number = number, .meta = *meta}; /* borrowed */
    return bb_edit_copy_table(edit, &table);
}

bool bb_edit_table_is_same(const struct bb_edit_table *table, const struct bb_table_meta *meta)
{
    return table->meta.file_size == meta->file_size &&
           memcmp(table->meta.table_id, meta->table_id, sizeof(meta->table_id)) == 0;
}

enum bb_status bb_edit_copy_table(struct bb_edit *edit, const struct bb_edit_table *table)
{
    struct bb_edit_table copy = *table;
    enum bb_status status = bb_array_reserve(&edit->added, edit->added_count, &edit->added_capacity,
                                             sizeof(*edit->added), "added tables of an edit");
    if (status == BB_OK)
        status = bb_table_meta_copy(&table->meta, &copy.meta);
    if (status == BB_OK)
        edit->added[edit->added_count++] = copy;
    return status;
}

void bb_edit_set_index(struct bb_edit *edit, uint64_t index_number)
{
    BB_ASSERT(edit->added_count > 0);
    edit->added[edit->added_count - 1].index_number = index_number;
}

enum bb_status bb_edit_set_catalog(struct bb_edit *edit, struct bb_bytes catalog)
{
    if (catalog.size > BB_CATALOG_SIZE_MAX)
        return bb_fail(BB_TOO_LARGE,
                       "the definitions of attributes and indexes take %zu bytes, the limit is "
                       "%" PRIu32,
                       catalog.size, BB_CATALOG_SIZE_MAX);
    enum bb_status status = bb_buf_assign(&edit->catalog, catalog);
    edit->has_catalog = status == BB_OK;
    return status;
}

static bool is_tombstone_age_possible(const struct bb_table_meta *meta)
{
    uint64_t sequence = meta->tombstone_sequence_min;
    bool has_any = meta->tombstone_count > 0 || meta->range_tombstone_count > 0;
    return sequence == 0 ||
           (has_any && sequence >= meta->sequence_min && sequence <= meta->sequence_max);
}

static const char *meta_defect(const struct bb_table_meta *meta)
{
    if (meta->file_size == 0)
        return "a table of no bytes";
    bool has_entries = meta->entry_count > 0 && meta->key_count > 0 && meta->block_count > 0;
    bool is_empty = meta->entry_count == 0 && meta->key_count == 0 && meta->block_count == 0;
    if (!has_entries && !(is_empty && meta->range_tombstone_count > 0))
        return "a table without entries, keys or blocks";
    if (meta->largest_is_exclusive && meta->range_tombstone_count == 0)
        return "an exclusive largest key without range tombstones";
    if (meta->key_count > meta->entry_count || meta->tombstone_count > meta->entry_count)
        return "more keys or tombstones than entries";
    if (meta->filter_bytes > meta->file_size)
        return "filters larger than their file";
    if (meta->table_filter_bytes > meta->filter_bytes)
        return "a table filter larger than all filters";
    if (meta->sequence_min > meta->sequence_max || meta->sequence_max > BB_SEQUENCE_MAX)
        return "impossible sequences";
    if (!is_tombstone_age_possible(meta))
        return "an oldest tombstone that cannot be";
    if (!(meta->filter_rate > 0 && meta->filter_rate <= 1))
        return "a filter rate outside 0 ... 1";
    if (!(meta->table_filter_rate >= meta->filter_rate && meta->table_filter_rate <= 1))
        return "a table filter's rate outside that of all filters ... 1";
    if (!bb_properties_can_predict(meta->predicted_block_rate, meta->predicted_table_filter_rate))
        return "predicted rates of filters outside 0 ... 1, or one without the other";
    if (meta->smallest.size > BB_KEY_SIZE_MAX || meta->largest.size > BB_KEY_SIZE_MAX)
        return "a bound beyond the limit of keys";
    return NULL;
}

const char *bb_edit_table_defect(const struct bb_edit_table *table)
{
    if (table->level < 0 || table->level >= BB_LEVEL_COUNT)
        return "a level that does not exist";
    if (table->number == 0 || table->number > BB_FILE_NUMBER_MAX)
        return "a file number out of range";
    if (table->index_number > BB_FILE_NUMBER_MAX)
        return "the number of an index file out of range";
    if (table->run > BB_RUN_NUMBER_MAX || (table->level == 0 && table->run != 0))
        return "a run out of range";
    return meta_defect(&table->meta);
}
