/* The stream over a view: see view.h. */
#include "base/alloc.h"
#include "base/status.h"
#include "compaction/levels.h"
#include "compaction/merge.h"
#include "compaction/run_iter.h"
#include "kv/memtable.h"
#include "kv/view.h"

/* Streams that are being gathered; on failure they are destroyed. */
struct streams {
    struct bb_iter **iters;
    size_t count;
    const struct bb_comparator *comparator;
    const struct bb_read_options *options;
    struct bb_read_stats *stats;
};

static enum bb_status add_memtable(struct streams *streams, const struct bb_write_buffer *buffer)
{
    enum bb_status status =
        bb_memtable_iter_create(buffer->memtable, &streams->iters[streams->count]);
    streams->count += status == BB_OK;
    return status;
}

static enum bb_status add_run(struct streams *streams, struct bb_table_file *const *files,
                              size_t count)
{
    enum bb_status status = bb_run_iter_create(files, count, streams->comparator, streams->options,
                                               streams->stats, &streams->iters[streams->count]);
    streams->count += status == BB_OK;
    return status;
}

static enum bb_status add_levels(struct streams *streams, const struct bb_levels *levels)
{
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < levels->levels[0].count && status == BB_OK; i++)
        status = add_run(streams, &levels->levels[0].files[i], 1);
    for (int level = 1; level < BB_LEVEL_COUNT && status == BB_OK; level++) {
        if (levels->levels[level].count > 0)
            status = add_run(streams, levels->levels[level].files, levels->levels[level].count);
    }
    return status;
}

static enum bb_status gather(struct streams *streams, const struct bb_view *view)
{
    enum bb_status status = add_memtable(streams, view->active);
    for (size_t i = 0; i < view->frozen_count && status == BB_OK; i++)
        status = add_memtable(streams, view->frozen[i]);
    return status == BB_OK ? add_levels(streams, view->levels) : status;
}

enum bb_status bb_view_iter_create(struct bb_view *view, const struct bb_comparator *comparator,
                                   const struct bb_read_options *options,
                                   struct bb_read_stats *stats, struct bb_iter **ret_iter)
{
    size_t count_max = 1 + BB_FROZEN_MAX + view->levels->levels[0].count + BB_LEVEL_COUNT;
    struct streams streams = {.comparator = comparator, .options = options, .stats = stats};
    streams.iters = bb_alloc_zeroed(count_max, sizeof(struct bb_iter *));
    if (streams.iters == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for an iterator over %zu streams", count_max);
    enum bb_status status = gather(&streams, view);
    if (status == BB_OK) {
        status = bb_merge_create(streams.iters, streams.count, comparator, ret_iter);
    } else {
        for (size_t i = 0; i < streams.count; i++)
            bb_iter_destroy(streams.iters[i]);
    }
    bb_free(streams.iters);
    return status;
}
