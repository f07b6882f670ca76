/* See filter_list.h. */
#include "tools/filter/filter_list.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/bytes.h"

#define DESCRIPTOR_BITS 16

void filter_list_deinit(struct filter_list *list)
{
    bb_free(list->rows);
    bb_free(list->page_rows);
    *list = (struct filter_list){0};
}

/* Collects rows; grows by doubling. */
struct reading {
    struct bb_table_walk walk;
    struct filter_list list;
    size_t capacity;
    size_t group_row; /* first row of the current group */
    bool is_group_new;
    struct bb_buf last_key; /* of the current group */
};

/* Records damage, and returns any other status. */
static enum bb_status judge(struct filter_list *list, enum bb_status status)
{
    if (status != BB_CORRUPT)
        return status;
    if (list->damaged_parts++ == 0)
        snprintf(list->first_damage, sizeof(list->first_damage), "%s", bb_error_last()->message);
    return BB_OK;
}

static enum bb_status add_row(struct reading *reading, const struct filter_row *row)
{
    struct filter_list *list = &reading->list;
    if (list->count == reading->capacity) {
        size_t capacity = reading->capacity == 0 ? 64 : 2 * reading->capacity;
        struct filter_row *rows = bb_realloc(list->rows, capacity * sizeof(*rows));
        if (rows == NULL)
            return bb_fail(BB_NO_MEMORY, "no memory for %zu filters", capacity);
        list->rows = rows;
        reading->capacity = capacity;
    }
    list->rows[list->count++] = *row;
    return BB_OK;
}

/* The facts of a filter before its keys are counted. */
static void describe_filter(const struct bb_table_walk *walk, struct filter_row *row)
{
    struct bb_walk_filter filter = {0};
    bool is_damaged = walk->page->has_damaged_filters || walk->table->has_unusable_filters;
    row->state = is_damaged ? FILTER_DAMAGED : FILTER_NONE;
    row->info = (struct bb_block_filter_info){.layout = "none", .predicted_rate = 1};
    if (is_damaged || walk->shard_count == 0)
        return;
    if (!bb_table_walk_filter(walk, row->shard, &filter)) {
        row->state = FILTER_DAMAGED;
        return;
    }
    row->descriptor = filter.descriptor;
    row->state = filter.descriptor == 0 ? FILTER_NONE : FILTER_GOOD;
    if (row->state == FILTER_GOOD)
        row->info = filter.info;
}

/* A row for each shard of the group that begins with the current block. */
static enum bb_status begin_group(struct reading *reading)
{
    const struct bb_table_walk *walk = &reading->walk;
    struct filter_row row = {.page = walk->page_index,
                             .group = walk->group,
                             .shard_count = walk->shard_count == 0 ? 1 : walk->shard_count,
                             .first_block = walk->block_number,
                             .block_count = walk->group_blocks};
    enum bb_status status = BB_OK;
    reading->group_row = reading->list.count;
    reading->is_group_new = true;
    for (row.shard = 0; row.shard < row.shard_count && status == BB_OK; row.shard++) {
        describe_filter(walk, &row);
        status = add_row(reading, &row);
    }
    return status;
}

/* Which of a group's rows a key belongs to. */
static uint32_t shard_of(const struct bb_table *table, const struct filter_row *group_row,
                         struct bb_bytes key)
{
    if (group_row->shard_count == 1)
        return 0;
    uint64_t hash = bb_hash_key(&table->secret, key);
    return bb_block_filter_shard(bb_block_filter_key(&table->filter_format, hash),
                                 group_row->shard_count);
}

/* Counts the block's keys in the rows of its group; a key counts once for a group. */
static enum bb_status count_keys(struct reading *reading)
{
    struct bb_block_iter *entries = &reading->walk.entries;
    struct filter_row *rows = &reading->list.rows[reading->group_row];
    enum bb_status status = BB_OK;
    for (; entries->is_valid && status == BB_OK; bb_block_iter_next(entries)) {
        struct bb_bytes key = entries->entry.key;
        if (!reading->is_group_new && bb_bytes_equal(key, bb_buf_bytes(&reading->last_key)))
            continue;
        reading->is_group_new = false;
        rows[shard_of(reading->walk.table, rows, key)].keys++;
        status = bb_buf_assign(&reading->last_key, key);
    }
    return status == BB_OK ? entries->status : status;
}

static void mark_incomplete(struct filter_row *group_rows)
{
    for (uint32_t i = 0; i < group_rows->shard_count; i++)
        group_rows[i].is_incomplete = true;
}

static void note_damaged_filters(struct reading *reading)
{
    const struct bb_table *table = reading->walk.table;
    uint32_t index = reading->walk.page_index;
    if (reading->list.damaged_parts++ == 0)
        snprintf(reading->list.first_damage, sizeof(reading->list.first_damage),
                 "%s: at offset %" PRIu64 ": the filters of index page %" PRIu32 " are damaged",
                 table->file->path, table->root.pages[index].page_offset, index);
}

static enum bb_status read_block(struct reading *reading)
{
    struct bb_table_walk *walk = &reading->walk;
    enum bb_status status = BB_OK;
    if (walk->ordinal == 0) {
        reading->list.page_rows[walk->page_index] = reading->list.count;
        if (walk->page->has_damaged_filters)
            note_damaged_filters(reading);
    }
    if (walk->ordinal % walk->page->granularity == 0)
        status = begin_group(reading);
    if (status != BB_OK)
        return status;
    status = bb_table_walk_load(walk);
    if (status == BB_OK)
        status = count_keys(reading);
    if (status == BB_CORRUPT)
        mark_incomplete(&reading->list.rows[reading->group_row]);
    return judge(&reading->list, status);
}

static enum bb_status read_blocks(struct reading *reading)
{
    enum bb_status status = BB_OK;
    bool has_block = true;
    while (status == BB_OK && has_block) {
        status = bb_table_walk_next(&reading->walk, &has_block);
        if (status == BB_CORRUPT)
            reading->list.page_rows[reading->walk.page_index] = reading->list.count;
        if (status == BB_OK && has_block)
            status = read_block(reading);
        else
            status = judge(&reading->list, status);
    }
    return status;
}

static enum bb_status read_table_filter(struct filter_list *list, struct bb_table *table)
{
    enum bb_status status = table_filter_report_read(table, &list->table_filter);
    const struct table_filter_report *table_filter = &list->table_filter;
    if (status != BB_OK || !(table_filter->is_damaged || table_filter->damaged_chunks > 0))
        return status;
    if (list->damaged_parts++ == 0)
        snprintf(list->first_damage, sizeof(list->first_damage), "%s: the table filter is damaged",
                 table->file->path);
    return BB_OK;
}

enum bb_status filter_list_read(struct bb_table *table, struct filter_list *ret_list)
{
    struct reading reading = {0};
    uint32_t page_count = table->root.page_count;
    reading.list.page_rows =
        bb_alloc_zeroed((size_t)page_count + 1, sizeof(*reading.list.page_rows));
    if (reading.list.page_rows == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for the filters of %" PRIu32 " index pages",
                       page_count);
    bb_table_walk_init(&reading.walk, table);
    enum bb_status status = read_table_filter(&reading.list, table);
    if (status == BB_OK)
        status = read_blocks(&reading);
    bb_table_walk_deinit(&reading.walk);
    bb_buf_deinit(&reading.last_key);
    if (status != BB_OK) {
        filter_list_deinit(&reading.list);
        return status;
    }
    reading.list.page_rows[page_count] = reading.list.count;
    *ret_list = reading.list;
    return BB_OK;
}

/* The row of the first shard of a group. Groups of a page have one row per shard. */
static struct filter_row *find_group(struct filter_list *list, uint32_t page_index, uint32_t group)
{
    for (size_t i = list->page_rows[page_index]; i < list->page_rows[page_index + 1];
         i += list->rows[i].shard_count) {
        if (list->rows[i].group == group)
            return &list->rows[i];
    }
    return NULL;
}

/* Probes the filters for a key within the table's bounds of which the table has no entry. */
static enum bb_status ask_absent(struct filter_list *list, struct bb_table *table,
                                 struct bb_bytes key, struct bb_read_stats *reads)
{
    uint32_t page_index = bb_root_find(&table->root, table->comparator, key, BB_SEQUENCE_MAX);
    struct bb_index_page *page = NULL;
    enum bb_status status = bb_table_page_acquire(table, page_index, reads, &page);
    if (status != BB_OK)
        return status;
    uint32_t ordinal = bb_index_page_find(page, table->comparator, key, BB_SEQUENCE_MAX);
    struct filter_row *row = find_group(list, page_index, bb_index_page_group(page, ordinal));
    if (row != NULL) {
        row += shard_of(table, row, key);
        uint64_t hash = bb_hash_key(&table->secret, key);
        struct bb_block_filter_key probe = bb_block_filter_key(&table->filter_format, hash);
        bool passes_table_filter =
            !table->has_table_filter || bb_table_may_contain(table, key, hash, reads);
        bool passes = row->state != FILTER_GOOD ||
                      bb_index_page_may_contain(page, &table->filter_format, ordinal, probe);
        row->probed++;
        row->passed += passes;
        list->table_filter_probed++;
        list->table_filter_passed += passes_table_filter;
        list->both_passed += passes_table_filter && passes;
    }
    bb_table_page_release(table, page);
    return BB_OK;
}

static enum bb_status ask_one(struct filter_list *list, struct bb_table *table, struct bb_bytes key,
                              struct bb_read_stats *reads, struct bb_buf *value)
{
    static const struct bb_read_options without_filters = {.ignore_filters = true};
    uint64_t sequence = 0;
    enum bb_visit visit = BB_VISIT_OUT_OF_BOUNDS;
    enum bb_status status = bb_table_get(table, &without_filters, key, 0, BB_SEQUENCE_MAX, reads,
                                         value, &sequence, &visit);
    if (status == BB_OK && visit == BB_VISIT_FALSE_POSITIVE)
        return ask_absent(list, table, key, reads);
    if (status == BB_CORRUPT)
        list->unread++;
    if (status != BB_OK)
        return status == BB_CORRUPT ? BB_OK : status;
    list->outside += visit == BB_VISIT_OUT_OF_BOUNDS;
    list->inside += visit != BB_VISIT_OUT_OF_BOUNDS;
    return BB_OK;
}

enum bb_status filter_list_ask(struct filter_list *list, struct bb_table *table,
                               const struct key_list *keys)
{
    struct bb_read_stats reads = {0};
    struct bb_buf value = {0};
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < keys->count && status == BB_OK; i++)
        status = ask_one(list, table, key_list_get(keys, i), &reads, &value);
    list->lookups = keys->count;
    bb_buf_deinit(&value);
    return status;
}

uint64_t filter_row_bits(const struct filter_row *row)
{
    return row->state == FILTER_GOOD ? 8 * (uint64_t)row->info.size_bytes + DESCRIPTOR_BITS : 0;
}

struct filter_total filter_list_total(const struct filter_list *list)
{
    struct filter_total total = {0};
    uint64_t good_keys = 0;
    for (size_t i = 0; i < list->count; i++) {
        const struct filter_row *row = &list->rows[i];
        total.keys += row->keys;
        total.bits += filter_row_bits(row);
        total.predicted_rate += (double)row->keys * row->info.predicted_rate;
        total.fill += (double)row->keys * row->info.fill;
        if (row->state == FILTER_GOOD)
            good_keys += row->keys;
        total.probed += row->probed;
        total.passed += row->passed;
    }
    if (total.keys > 0)
        total.predicted_rate /= (double)total.keys;
    if (good_keys > 0)
        total.fill /= (double)good_keys;
    return total;
}

double filter_list_rate(const struct filter_list *list)
{
    return filter_list_total(list).predicted_rate * list->table_filter.predicted_rate;
}
