/* Merges tables whose levels are unknown into one run. See repair.h.
 *
 *     by smallest key   |--a--|    |---c---|
 *                          |--b--|            |-d-|
 *     groups            \--merged--/ \kept/   kept
 *
 * Whole tables cannot be ordered by age: each of two tables may have the newer version of some key.
 * Overlapping tables are therefore merged entry by entry, and every version is kept; the sequences
 * determine which is newest. A table without overlap is kept unchanged.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/file_pool.h"
#include "base/status.h"
#include "compaction/merge/merge.h"
#include "kv/options.h"
#include "kv/repair/repair.h"

struct merging {
    struct bb_repair *repair;
    struct bb_edit inputs; /* the original tables */
    size_t *order;         /* of the inputs, by smallest key; owned */
    int level;
    struct bb_file_pool *pool;
    struct bb_repair_table output;
    struct bb_buf last_key;
    uint64_t last_sequence;
    bool has_last_key;
    /* The group has range tombstones, which are not cut: nor is its output. */
    bool is_whole;
};

static const struct bb_edit_table *input_at(const struct merging *merging, size_t position)
{
    return &merging->inputs.added[merging->order[position]];
}

/* glibc's qsort_r; the context is the merging. */
static int compare_inputs(const void *a, const void *b, void *context)
{
    const struct merging *merging = context;
    const struct bb_edit_table *first = &merging->inputs.added[*(const size_t *)a];
    const struct bb_edit_table *second = &merging->inputs.added[*(const size_t *)b];
    int order =
        bb_key_compare(merging->repair->options.comparator, bb_buf_bytes(&first->meta.smallest),
                       bb_buf_bytes(&second->meta.smallest));
    if (order != 0)
        return order;
    return (first->number > second->number) - (first->number < second->number);
}

static enum bb_status sort_inputs(struct merging *merging)
{
    size_t count = merging->inputs.added_count;
    merging->order = bb_alloc_zeroed(count + 1, sizeof(*merging->order));
    if (merging->order == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for the order of %zu tables", count);
    for (size_t i = 0; i < count; i++)
        merging->order[i] = i;
    qsort_r(merging->order, count, sizeof(*merging->order), compare_inputs, merging);
    return BB_OK;
}

/* The first level with enough space for all tables. */
static int choose_level(const struct merging *merging)
{
    const struct bb_db_options *options = &merging->repair->options;
    double bytes = 0;
    double capacity = (double)options->level1_size_bytes;
    int level = 1;
    for (size_t i = 0; i < merging->inputs.added_count; i++)
        bytes += (double)merging->inputs.added[i].meta.file_size;
    while (level < BB_LEVEL_COUNT - 1 && bytes >= capacity) {
        capacity *= options->level_size_ratio;
        level++;
    }
    return level;
}

/* The end of the group of overlapping tables that begins at `first`. A range tombstone may end at
 * the key where the next table begins. */
static size_t group_end(const struct merging *merging, size_t first)
{
    const struct bb_comparator *comparator = merging->repair->options.comparator;
    const struct bb_table_meta *last = &input_at(merging, first)->meta;
    size_t end = first + 1;
    for (; end < merging->inputs.added_count; end++) {
        const struct bb_table_meta *next = &input_at(merging, end)->meta;
        if (bb_manifest_state_ends_before(comparator, last, next))
            break;
        int order =
            bb_key_compare(comparator, bb_buf_bytes(&next->largest), bb_buf_bytes(&last->largest));
        if (order > 0 || (order == 0 && last->largest_is_exclusive))
            last = next;
    }
    return end;
}

/* ---- a group ---- */

struct group {
    struct bb_table **tables;
    struct bb_iter **streams;
    size_t count;
};

/* True when the entry has another key than the last one; also detects a duplicate of the last
 * entry. */
static bool is_new_key(const struct merging *merging, const struct bb_entry *entry)
{
    return !merging->has_last_key ||
           bb_key_compare(merging->repair->options.comparator, bb_buf_bytes(&merging->last_key),
                          entry->key) != 0;
}

static enum bb_status write_entry(struct merging *merging, const struct bb_entry *entry)
{
    struct bb_repair_table *output = &merging->output;
    bool is_new = is_new_key(merging, entry);
    if (!is_new && entry->sequence == merging->last_sequence)
        return BB_OK; /* from a log and its flushed table, or from a copy */
    enum bb_status status = BB_OK;
    if (is_new && output->builder != NULL && !merging->is_whole &&
        bb_table_builder_size_estimate(output->builder) >=
            merging->repair->options.table_size_bytes)
        status = bb_repair_table_finish(output);
    if (status == BB_OK && is_new)
        status = bb_buf_assign(&merging->last_key, entry->key);
    merging->has_last_key = true;
    merging->last_sequence = entry->sequence;
    return status == BB_OK ? bb_repair_table_add(output, entry) : status;
}

static enum bb_status write_ranges(struct merging *merging, const struct group *group)
{
    struct bb_range_tombstone_array array = {0};
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < group->count && status == BB_OK; i++) {
        const struct bb_range_tombstones *list = bb_table_range_tombstones(group->tables[i]);
        if (list != NULL)
            status = bb_range_tombstone_array_add_list(&array, list);
    }
    merging->is_whole = array.count > 0;
    if (status == BB_OK)
        status = bb_repair_table_add_ranges(&merging->output, array.tombstones, array.count);
    bb_range_tombstone_array_deinit(&array);
    return status;
}

static enum bb_status write_stream(struct merging *merging, struct bb_iter *stream)
{
    enum bb_status status = BB_OK;
    merging->has_last_key = false;
    for (bb_iter_seek_first(stream); stream->is_valid && status == BB_OK;) {
        status = write_entry(merging, &stream->entry);
        if (status == BB_OK)
            bb_iter_next(stream);
    }
    if (status == BB_OK)
        status = stream->status;
    return status == BB_OK ? bb_repair_table_finish(&merging->output) : status;
}

static enum bb_status open_input(struct merging *merging, const struct bb_edit_table *input,
                                 struct bb_table **ret_table, struct bb_iter **ret_stream)
{
    static const struct bb_read_options reading = {.ignore_filters = true};
    struct bb_repair *repair = merging->repair;
    struct bb_table_options options;
    char path[BB_PATH_SIZE_MAX];
    bb_repair_table_options(repair, 0, &options);
    options.file_system = bb_file_pool_system(merging->pool);
    bb_filename_path(repair->path, BB_FILE_TABLE, input->number, path);
    enum bb_status status = bb_table_open(path, &options, ret_table);
    if (status == BB_OK)
        status = bb_table_iter_create(*ret_table, &reading, NULL, ret_stream);
    return status;
}

static enum bb_status open_group(struct merging *merging, size_t first, struct group *group)
{
    enum bb_status status = BB_OK;
    group->tables = bb_alloc_zeroed(group->count, sizeof(struct bb_table *));
    group->streams = bb_alloc_zeroed(group->count, sizeof(struct bb_iter *));
    if (group->tables == NULL || group->streams == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory to merge %zu tables", group->count);
    for (size_t i = 0; i < group->count && status == BB_OK; i++)
        status = open_input(merging, input_at(merging, first + i), &group->tables[i],
                            &group->streams[i]);
    return status;
}

static void close_group(struct group *group)
{
    for (size_t i = 0; group->streams != NULL && i < group->count; i++)
        bb_iter_destroy(group->streams[i]);
    for (size_t i = 0; group->tables != NULL && i < group->count; i++)
        bb_table_close(group->tables[i]);
    bb_free(group->streams);
    bb_free(group->tables);
}

static enum bb_status merge_group(struct merging *merging, size_t first, size_t end)
{
    struct group group = {.count = end - first};
    struct bb_iter *merge = NULL;
    enum bb_status status = open_group(merging, first, &group);
    if (status == BB_OK) {
        status = bb_merge_create(group.streams, group.count, merging->repair->options.comparator,
                                 &merge);
        /* the merge owns them in any case */
        memset(group.streams, 0, group.count * sizeof(struct bb_iter *));
    }
    if (status == BB_OK)
        status = write_ranges(merging, &group);
    if (status == BB_OK)
        status = write_stream(merging, merge);
    bb_iter_destroy(merge);
    close_group(&group);
    return status;
}

static void replace_inputs(struct merging *merging, size_t first, size_t end)
{
    struct bb_repair *repair = merging->repair;
    for (size_t i = first; i < end; i++) {
        const struct bb_directory_file *file =
            bb_repair_find(repair, BB_FILE_TABLE, input_at(merging, i)->number);
        if (file != NULL)
            bb_repair_set_aside(repair, file);
    }
    repair->report.tables_merged += end - first;
}

static enum bb_status keep_alone(struct merging *merging, const struct bb_edit_table *table)
{
    struct bb_edit_table kept = *table;
    kept.level = merging->level;
    kept.run = 0;
    return bb_edit_copy_table(&merging->repair->edit, &kept);
}

static enum bb_status take_group(struct merging *merging, size_t first, size_t end)
{
    const struct bb_edit_table *alone = input_at(merging, first);
    if (end - first == 1)
        return keep_alone(merging, alone);
    replace_inputs(merging, first, end);
    return merge_group(merging, first, end);
}

/* ---- merging ---- */

/* Moves the edit's tables to the inputs; the rest of the edit stays. */
static void take_inputs(struct merging *merging)
{
    struct bb_edit *edit = &merging->repair->edit;
    merging->inputs.added = edit->added;
    merging->inputs.added_count = edit->added_count;
    merging->inputs.added_capacity = edit->added_capacity;
    edit->added = NULL;
    edit->added_count = 0;
    edit->added_capacity = 0;
}

static enum bb_status merge_all(struct merging *merging)
{
    size_t count = merging->inputs.added_count;
    enum bb_status status = sort_inputs(merging);
    for (size_t first = 0; first < count && status == BB_OK;) {
        size_t end = group_end(merging, first);
        status = take_group(merging, first, end);
        first = end;
    }
    return status;
}

enum bb_status bb_repair_merge(struct bb_repair *repair)
{
    struct merging merging = {.repair = repair};
    if (!repair->are_levels_unknown || repair->how.dry_run)
        return BB_OK;
    enum bb_status status = bb_file_pool_create(
        repair->fs, bb_options_open_tables(&repair->options, repair->fs), &merging.pool);
    if (status != BB_OK)
        return status;
    take_inputs(&merging);
    merging.level = choose_level(&merging);
    merging.output = (struct bb_repair_table){.repair = repair, .level = merging.level};
    status = merge_all(&merging);
    bb_repair_table_abandon(&merging.output);
    bb_edit_deinit(&merging.inputs);
    bb_free(merging.order);
    bb_buf_deinit(&merging.last_key);
    bb_file_pool_destroy(merging.pool);
    return status;
}
