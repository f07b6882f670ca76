/* See table_counting.h. */
#include "kv/select/table_counting.h"

#include "base/bytes.h"
#include "kv/memtable/memtable.h"
#include "kv/memtable/memtable_ranges.h"
#include "sstable/entry.h"

static bool memtable_overlaps(const struct bb_table_reading *reading,
                              const struct bb_write_buffer *buffer)
{
    struct bb_iter *iter = NULL;
    if (bb_memtable_is_empty(buffer->memtable))
        return false;
    /* WHY any range tombstone counts: it may begin below the table. */
    if (bb_memtable_ranges_count(buffer->memtable) > 0 ||
        bb_memtable_iter_create(buffer->memtable, &iter) != BB_OK)
        return true;
    bb_iter_seek(iter, bb_table_file_smallest(reading->file), BB_SEQUENCE_MAX);
    bool overlaps = iter->is_valid && bb_key_compare(reading->comparator, iter->entry.key,
                                                     bb_table_file_largest(reading->file)) <= 0;
    overlaps |= iter->status != BB_OK;
    bb_iter_destroy(iter);
    return overlaps;
}

static bool memtables_overlap(const struct bb_table_reading *reading)
{
    const struct bb_view *view = reading->view;
    bool overlap = false;
    for (size_t i = 0; i < view->buffer_count && !overlap; i++)
        overlap = memtable_overlaps(reading, view->buffers[i]);
    return overlap;
}

static bool is_inside_range(const struct bb_table_reading *reading)
{
    const struct bb_key_range *range = reading->range;
    return (range->low == NULL ||
            bb_key_compare(reading->comparator, bb_table_file_smallest(reading->file),
                           *range->low) >= 0) &&
           (range->high == NULL ||
            bb_key_compare(reading->comparator, bb_table_file_largest(reading->file),
                           *range->high) < 0);
}

/* True when each put of the table is visible to the reader and inside the range, unless newer data
 * hides it. */
static bool has_visible_puts(const struct bb_table_reading *reading)
{
    const struct bb_table_meta *meta = &reading->file->meta;
    return meta->entry_count == meta->key_count && meta->range_tombstone_count == 0 &&
           meta->sequence_max <= reading->sequence && is_inside_range(reading);
}

/* Adds the numbers of the run's tables that overlap the table. *ret_are_visible becomes false if
 * one of them has entries newer than the reader. */
static enum bb_status add_overlap(const struct bb_table_reading *reading, const struct bb_run *run,
                                  struct bb_buf *newer, bool *ret_are_visible)
{
    size_t first = 0;
    size_t end = 0;
    enum bb_status status = BB_OK;
    bb_run_find_overlap(run, reading->comparator, bb_table_file_smallest(reading->file),
                        bb_table_file_largest(reading->file), &first, &end);
    for (size_t i = first; i < end && status == BB_OK; i++) {
        const struct bb_table_file *file = run->files[i];
        if (file->meta.sequence_max > reading->sequence)
            *ret_are_visible = false;
        status = bb_buf_append(newer, &file->number, sizeof(file->number));
    }
    return status;
}

enum bb_status bb_table_counting_find(const struct bb_table_reading *reading, struct bb_buf *newer,
                                      enum bb_counting *ret_counting)
{
    const struct bb_view *view = reading->view;
    bool are_visible = true;
    enum bb_status status = BB_OK;
    bb_buf_reset(newer);
    *ret_counting = BB_COUNTING_NONE;
    if (!has_visible_puts(reading) || memtables_overlap(reading))
        return BB_OK;
    for (size_t run = view->buffer_count; run < reading->run && status == BB_OK; run++)
        status = add_overlap(reading, bb_view_turn(view, run)->run, newer, &are_visible);
    if (status == BB_OK && newer->size == 0)
        *ret_counting = BB_COUNTING_ALL;
    else if (status == BB_OK && are_visible)
        *ret_counting = BB_COUNTING_VISIBLE;
    return status;
}
