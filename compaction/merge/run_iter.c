/* See run_iter.h. */
#include "compaction/merge/run_iter.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/status.h"
#include "sstable/block/stored_entry.h"
#include "sstable/table/table_iter.h"

struct run_iter {
    struct bb_iter base;
    const struct bb_comparator *comparator;
    struct bb_run_opener opener;
    const struct bb_key_range *range; /* for open_table_iter */
    struct bb_read_options options;
    struct bb_read_stats *stats;
    struct bb_table_file **files; /* with references */
    size_t count;
    size_t current;       /* of the open table's iterator */
    struct bb_iter *iter; /* NULL: no table is open */
    bool keeps_stored;
};

static struct run_iter *run_of(struct bb_iter *iter)
{
    return (struct run_iter *)iter;
}

static void leave_table(struct run_iter *run)
{
    bb_iter_destroy(run->iter);
    run->iter = NULL;
}

/* The default opener: the entries of the table, within the range if there is one. */
static enum bb_status open_table_iter(void *context, struct bb_table_file *file,
                                      struct bb_iter **ret_iter)
{
    struct run_iter *run = context;
    struct bb_table *table = NULL;
    enum bb_status status = bb_table_file_open(file, &table);
    if (status == BB_OK)
        status = bb_table_iter_create_range(table, &run->options, run->range, run->stats, ret_iter);
    if (status == BB_OK && run->keeps_stored)
        bb_table_iter_keep_stored(*ret_iter);
    return status;
}

/* Enters table `index`, or the end if there is no such table. */
static bool enter_table(struct run_iter *run, size_t index)
{
    if (run->iter != NULL && run->current == index)
        return true;
    leave_table(run);
    if (index >= run->count)
        return false;
    run->base.status = run->opener.open(run->opener.context, run->files[index], &run->iter);
    run->current = index;
    return run->base.status == BB_OK;
}

static void show(struct run_iter *run)
{
    run->base.is_valid = run->iter != NULL && run->iter->is_valid;
    if (run->base.is_valid)
        run->base.entry = run->iter->entry;
    else if (run->iter != NULL && run->base.status == BB_OK)
        run->base.status = run->iter->status;
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

/* The first table that does not end before key. */
static size_t find(const struct run_iter *run, struct bb_bytes key)
{
    size_t low = 0;
    size_t high = run->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (bb_table_file_ends_before(run->files[middle], run->comparator, key))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void seek(struct bb_iter *iter, struct bb_bytes key, uint64_t sequence)
{
    struct run_iter *run = run_of(iter);
    run->base.status = BB_OK;
    if (enter_table(run, find(run, key)))
        bb_iter_seek(run->iter, key, sequence);
    skip_forward(run);
}

static void next(struct bb_iter *iter)
{
    struct run_iter *run = run_of(iter);
    bb_iter_next(run->iter);
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
    for (size_t i = 0; i < run->count; i++)
        bb_table_file_unref(run->files[i]);
    bb_free(run->files);
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

static enum bb_status create(struct bb_table_file *const *files, size_t count,
                             const struct bb_comparator *comparator, struct run_iter **ret_run)
{
    struct run_iter *run = bb_alloc_zeroed(1, sizeof(*run));
    if (run != NULL)
        run->files = bb_alloc_zeroed(count + 1, sizeof(struct bb_table_file *));
    if (run == NULL || run->files == NULL) {
        bb_free(run);
        return bb_fail(BB_NO_MEMORY, "no memory for a stream over %zu tables", count);
    }
    run->base.ops = &ops;
    run->comparator = comparator;
    run->count = count;
    for (size_t i = 0; i < count; i++)
        run->files[i] = bb_table_file_ref(files[i]);
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
    run->opener = (struct bb_run_opener){.open = open_table_iter, .context = run};
    run->range = range;
    run->options = *options;
    run->stats = stats;
    *ret_iter = &run->base;
    return BB_OK;
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
