/* See run_iter.h. */
#include "compaction/merge/run_iter.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/status.h"
#include "sstable/block/stored_entry.h"
#include "sstable/entry.h"
#include "sstable/table/table_iter.h"

/* Charges of a table, in bytes that a compaction may read. A seek reads a block of about this size.
 * A tombstone and the entry that it hides take a sixteenth of the time of a seek. */
#define SEEK_CHARGE_BYTES      4096
#define TOMBSTONE_CHARGE_BYTES 256

struct run_iter {
    struct bb_iter base;
    const struct bb_comparator *comparator;
    struct bb_run_opener opener;      /* open is NULL: open_table_iter is used */
    const struct bb_key_range *range; /* for open_table_iter */
    struct bb_read_options options;
    struct bb_read_stats *stats;
    struct bb_table_file *const *files; /* borrowed */
    size_t count;
    const struct bb_run *run; /* files are part of its files; NULL: not known */
    size_t run_first;         /* files[0] is this file of the run */
    size_t current;           /* of the open table's iterator */
    struct bb_iter *iter;     /* NULL: no table is open */
    bool keeps_stored;
    bool skips_values;
    bool charges_tables;
    uint64_t seek_count; /* of the open table, for its charge */
    uint64_t tombstone_count;
    /* WHY it is part of the stream: most streams open one table, and are destroyed soon. */
    struct bb_table_iter table_iter;
};

static struct run_iter *run_of(struct bb_iter *iter)
{
    return (struct run_iter *)iter;
}

/* Called once per visit of a table, not per seek: all threads share the charge. */
static void charge_table(struct run_iter *run)
{
    uint64_t bytes = run->seek_count * SEEK_CHARGE_BYTES;
    bytes += run->tombstone_count * TOMBSTONE_CHARGE_BYTES;
    run->seek_count = 0;
    run->tombstone_count = 0;
    if (run->charges_tables && bytes > 0)
        bb_table_file_charge(run->files[run->current], bytes);
}

static void leave_table(struct run_iter *run)
{
    if (run->iter != NULL)
        charge_table(run);
    if (run->iter == &run->table_iter.base)
        bb_table_iter_deinit(&run->table_iter);
    else
        bb_iter_destroy(run->iter);
    run->iter = NULL;
}

/* Opens a stream over the entries of the table, within the range if there is one. */
static enum bb_status open_table_iter(struct run_iter *run, struct bb_table_file *file)
{
    struct bb_table *table = NULL;
    enum bb_status status = bb_table_file_open(file, &table);
    if (status != BB_OK)
        return status;
    bb_table_iter_init(&run->table_iter, table, &run->options, run->range, run->stats);
    if (run->keeps_stored)
        bb_table_iter_keep_stored(&run->table_iter.base);
    if (run->skips_values)
        bb_table_iter_skip_values(&run->table_iter.base);
    run->iter = &run->table_iter.base;
    return BB_OK;
}

/* Enters table `index`, or the end if there is no such table. */
static bool enter_table(struct run_iter *run, size_t index)
{
    if (run->iter != NULL && run->current == index)
        return true;
    leave_table(run);
    if (index >= run->count)
        return false;
    if (run->opener.open == NULL)
        run->base.status = open_table_iter(run, run->files[index]);
    else
        run->base.status = run->opener.open(run->opener.context, run->files[index], &run->iter);
    run->current = index;
    return run->base.status == BB_OK;
}

static inline void show_entry(struct run_iter *run)
{
    run->tombstone_count += run->iter->entry.kind == BB_ENTRY_DELETE;
    bb_entry_copy(&run->base.entry, &run->iter->entry);
}

static void show(struct run_iter *run)
{
    run->base.is_valid = run->iter != NULL && run->iter->is_valid;
    if (run->base.is_valid) {
        show_entry(run);
    } else if (run->iter != NULL && run->base.status == BB_OK) {
        run->base.status = run->iter->status;
    }
}

/* The end of a table is not the end of the run. */
static void skip_forward(struct run_iter *run)
{
    while (run->iter != NULL && !run->iter->is_valid && run->iter->status == BB_OK &&
           enter_table(run, run->current + 1))
        bb_iter_seek_first(run->iter);
    show(run);
}

static void skip_backward(struct run_iter *run)
{
    while (run->iter != NULL && !run->iter->is_valid && run->iter->status == BB_OK) {
        if (run->current == 0) {
            leave_table(run);
            break;
        }
        if (!enter_table(run, run->current - 1))
            break;
        bb_iter_seek_last(run->iter);
    }
    show(run);
}

static void seek_first(struct bb_iter *iter)
{
    struct run_iter *run = run_of(iter);
    run->base.status = BB_OK;
    if (enter_table(run, 0))
        bb_iter_seek_first(run->iter);
    skip_forward(run);
}

static void seek_last(struct bb_iter *iter)
{
    struct run_iter *run = run_of(iter);
    run->base.status = BB_OK;
    if (run->count > 0 && enter_table(run, run->count - 1))
        bb_iter_seek_last(run->iter);
    skip_backward(run);
}

/* The first table that does not end before key. WHY the run's search is preferred: it reads numbers
 * in one array, while the bounds themselves are scattered in memory. */
static size_t find(const struct run_iter *run, struct bb_bytes key)
{
    if (run->run == NULL)
        return bb_run_search(run->files, run->comparator, 0, run->count, key);
    size_t index = bb_run_find_index(run->run, run->comparator, key);
    size_t end = run->run_first + run->count;
    index = index < end ? index : end;
    return index < run->run_first ? 0 : index - run->run_first;
}

static void seek(struct bb_iter *iter, struct bb_bytes key, uint64_t sequence)
{
    struct run_iter *run = run_of(iter);
    run->base.status = BB_OK;
    if (enter_table(run, find(run, key))) {
        bb_iter_seek(run->iter, key, sequence);
        run->seek_count++;
    }
    skip_forward(run);
}

/* Returns false for a table that is not open: the seek opens it. */
bool bb_run_iter_approach(struct bb_iter *iter, struct bb_bytes key, uint64_t sequence,
                          unsigned step)
{
    BB_DEBUG_ASSERT(iter->ops->seek == seek);
    struct run_iter *run = run_of(iter);
    run->base.is_valid = false;
    if (step == 0) {
        size_t index = find(run, key);
        if (index >= run->count || !bb_table_file_is_open(run->files[index]) ||
            !enter_table(run, index))
            return false;
    }
    return run->iter == &run->table_iter.base &&
           bb_table_iter_approach(run->iter, key, sequence, step);
}

static void next(struct bb_iter *iter)
{
    struct run_iter *run = run_of(iter);
    bb_iter_next(run->iter);
    if (run->iter->is_valid)
        show_entry(run);
    else
        skip_forward(run);
}

static void prev(struct bb_iter *iter)
{
    struct run_iter *run = run_of(iter);
    bb_iter_prev(run->iter);
    skip_backward(run);
}

static void destroy(struct bb_iter *iter)
{
    struct run_iter *run = run_of(iter);
    leave_table(run);
    bb_free(run);
}

static bool stored(struct bb_iter *iter, struct bb_stored_entry *ret_stored)
{
    return bb_iter_stored(run_of(iter)->iter, ret_stored);
}

static const struct bb_iter_ops ops = {
    .destroy = destroy,
    .seek_first = seek_first,
    .seek_last = seek_last,
    .seek = seek,
    .next = next,
    .prev = prev,
    .stored = stored,
};

void bb_run_iter_keep_stored(struct bb_iter *iter)
{
    BB_ASSERT(iter->ops == &ops);
    run_of(iter)->keeps_stored = true;
}

void bb_run_iter_skip_values(struct bb_iter *iter)
{
    BB_ASSERT(iter->ops == &ops);
    run_of(iter)->skips_values = true;
}

void bb_run_iter_charge_tables(struct bb_iter *iter)
{
    BB_ASSERT(iter->ops == &ops);
    run_of(iter)->charges_tables = true;
}

/* The other fields are the caller's. table_iter is not set before a table is opened. */
static enum bb_status create(struct bb_table_file *const *files, size_t count,
                             const struct bb_comparator *comparator, struct run_iter **ret_run)
{
    struct run_iter *run = bb_alloc(sizeof(*run));
    if (run == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for a stream over %zu tables", count);
    memset(run, 0, offsetof(struct run_iter, table_iter));
    run->base.ops = &ops;
    run->comparator = comparator;
    run->files = files;
    run->count = count;
    *ret_run = run;
    return BB_OK;
}

enum bb_status bb_run_iter_create(struct bb_table_file *const *files, size_t count,
                                  const struct bb_comparator *comparator,
                                  const struct bb_key_range *range,
                                  const struct bb_read_options *options,
                                  struct bb_read_stats *stats, struct bb_iter **ret_iter)
{
    struct run_iter *run = NULL;
    enum bb_status status = create(files, count, comparator, &run);
    if (status != BB_OK)
        return status;
    run->range = range;
    run->options = *options;
    run->stats = stats;
    *ret_iter = &run->base;
    return BB_OK;
}

void bb_run_iter_search_by(struct bb_iter *iter, const struct bb_run *source, size_t first)
{
    BB_ASSERT(iter->ops == &ops);
    struct run_iter *run = run_of(iter);
    BB_DEBUG_ASSERT(first + run->count <= source->count && &source->files[first] == run->files);
    run->run = source;
    run->run_first = first;
}

enum bb_status bb_run_iter_create_opened(struct bb_table_file *const *files, size_t count,
                                         const struct bb_comparator *comparator,
                                         const struct bb_run_opener *opener,
                                         struct bb_iter **ret_iter)
{
    struct run_iter *run = NULL;
    enum bb_status status = create(files, count, comparator, &run);
    if (status != BB_OK)
        return status;
    run->opener = *opener;
    *ret_iter = &run->base;
    return BB_OK;
}
