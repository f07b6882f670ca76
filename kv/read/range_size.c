/* Estimates the sizes of key ranges: sums over the memtables and tables of a view.
 *
 * The size of each part is the difference of two positions, which never decrease when the key
 * increases. The sizes of adjacent ranges therefore add up to the size of both together, and errors
 * do not grow with the range.
 */
#include "base/alloc.h"
#include "base/bytes.h"
#include "base/status.h"
#include "kv/memtable/memtable.h"
#include "kv/store/current_view.h"
#include "kv/store/inherited.h"
#include "kv/store/store.h"
#include "sstable/entry.h"

/* State of measuring one range. */
struct measuring {
    const struct bb_comparator *comparator;
    const struct bb_key_range *range;
    struct bb_read_stats *stats;
    struct bb_range_size size;
};

static bool is_empty(const struct measuring *m)
{
    return m->range->low != NULL && m->range->high != NULL &&
           bb_key_compare(m->comparator, *m->range->low, *m->range->high) >= 0;
}

/* ---- memtables ---- */

static void add_memtable(struct measuring *m, const struct bb_memtable *memtable)
{
    double low = m->range->low == NULL ? 0 : bb_memtable_share(memtable, *m->range->low);
    double high = m->range->high == NULL ? 1 : bb_memtable_share(memtable, *m->range->high);
    /* The writer may have split nodes between the two calls. */
    if (high > low)
        m->size.memtable_bytes +=
            (uint64_t)((high - low) * (double)bb_memtable_raw_bytes(memtable) + 0.5);
}

/* ---- tables ---- */

/* True when all keys of the table are at or above the range's low key. */
static bool range_begins_before(const struct measuring *m, const struct bb_table_file *file)
{
    return m->range->low == NULL ||
           bb_key_compare(m->comparator, bb_table_file_smallest(file), *m->range->low) >= 0;
}

/* True when all keys of the table are below the range's high key. */
static bool range_ends_after(const struct measuring *m, const struct bb_table_file *file)
{
    return m->range->high == NULL ||
           bb_table_file_ends_before(file, m->comparator, *m->range->high);
}

/* The offset of a key in the file; opens the table if necessary. */
static enum bb_status position(struct measuring *m, struct bb_table_file *file, struct bb_bytes key,
                               uint64_t *ret_offset)
{
    struct bb_table *table = NULL;
    enum bb_status status = bb_table_file_open(file, &table);
    return status == BB_OK ? bb_table_offset(table, key, m->stats, ret_offset) : status;
}

static uint64_t raw_of(const struct bb_table_meta *meta, uint64_t offset)
{
    return (uint64_t)((double)meta->raw_bytes * ((double)offset / (double)meta->file_size));
}

static enum bb_status add_table(struct measuring *m, struct bb_table_file *file)
{
    uint64_t first = 0;
    uint64_t end = file->meta.file_size;
    enum bb_status status = BB_OK;
    if (!range_begins_before(m, file))
        status = position(m, file, *m->range->low, &first);
    if (status == BB_OK && !range_ends_after(m, file))
        status = position(m, file, *m->range->high, &end);
    if (status != BB_OK)
        return status;
    m->size.file_bytes += end - first;
    m->size.raw_bytes += raw_of(&file->meta, end) - raw_of(&file->meta, first);
    return BB_OK;
}

/* Adds the tables of a run that overlap the range. They are adjacent, because a run is sorted. */
static enum bb_status add_run(struct measuring *m, const struct bb_run *run)
{
    enum bb_status status = BB_OK;
    size_t first =
        m->range->low == NULL ? 0 : bb_run_find_index(run, m->comparator, *m->range->low);
    for (size_t i = first; i < run->count && status == BB_OK; i++) {
        struct bb_table_file *file = run->files[i];
        if (m->range->high != NULL &&
            bb_key_compare(m->comparator, bb_table_file_smallest(file), *m->range->high) >= 0)
            break;
        status = add_table(m, file);
    }
    return status;
}

static enum bb_status measure(struct measuring *m, const struct bb_view *view)
{
    enum bb_status status = bb_entry_check_bounds(m->range->low, m->range->high);
    if (status != BB_OK || is_empty(m))
        return status;
    for (size_t i = 0; i < view->buffer_count; i++)
        add_memtable(m, view->buffers[i]->memtable);
    for (size_t i = 0; i < view->levels->turn_count && status == BB_OK; i++)
        status = add_run(m, view->levels->turns[i].run);
    return status;
}

enum bb_status bb_db_approximate_sizes(struct bb_db *db, const struct bb_key_range *ranges,
                                       size_t count, struct bb_range_size *ret_sizes)
{
    struct bb_read_stats stats = {0};
    enum bb_status status = bb_inherited_check(db);
    if (status != BB_OK || count == 0)
        return status;
    struct bb_range_size *sizes = bb_alloc_zeroed(count, sizeof(*sizes));
    if (sizes == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for the sizes of %zu ranges", count);
    struct bb_view *view = bb_current_view_pin(db);
    for (size_t i = 0; i < count && status == BB_OK; i++) {
        struct measuring m = {
            .comparator = db->options.comparator, .range = &ranges[i], .stats = &stats};
        status = measure(&m, view);
        sizes[i] = m.size;
    }
    bb_current_view_unpin(db, view);
    bb_readers_add_scan(&db->readers, &stats);
    if (status == BB_OK)
        memcpy(ret_sizes, sizes, count * sizeof(*sizes));
    bb_free(sizes);
    return status;
}
