/* The stream over a view: see view.h. */
#include "base/alloc.h"
#include "base/buf.h"
#include "base/bytes.h"
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
    const struct bb_key_range *range; /* never NULL */
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
    enum bb_status status =
        bb_run_iter_create_range(files, count, streams->comparator, streams->range,
                                 streams->options, streams->stats, &streams->iters[streams->count]);
    streams->count += status == BB_OK;
    return status;
}

static bool begins_below_high(const struct streams *streams, const struct bb_table_file *file)
{
    const struct bb_bytes *high = streams->range->high;
    return high == NULL ||
           bb_key_compare(streams->comparator, bb_buf_bytes(&file->meta.smallest), *high) < 0;
}

static bool meets_range(const struct streams *streams, const struct bb_table_file *file)
{
    const struct bb_bytes *low = streams->range->low;
    return begins_below_high(streams, file) &&
           (low == NULL ||
            bb_key_compare(streams->comparator, bb_buf_bytes(&file->meta.largest), *low) >= 0);
}

/* Of a deeper level the tables that meet the range stand side by side. */
static enum bb_status add_level(struct streams *streams, const struct bb_levels *levels, int level)
{
    struct bb_table_file *const *files = levels->levels[level].files;
    size_t end = levels->levels[level].count;
    size_t first = 0;
    if (streams->range->low != NULL)
        first = bb_levels_find_index(levels, level, *streams->range->low);
    if (streams->range->high != NULL && first < end) {
        end = bb_levels_find_index(levels, level, *streams->range->high);
        end += end < levels->levels[level].count && begins_below_high(streams, files[end]);
    }
    return first < end ? add_run(streams, &files[first], end - first) : BB_OK;
}

static enum bb_status add_levels(struct streams *streams, const struct bb_levels *levels)
{
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < levels->levels[0].count && status == BB_OK; i++) {
        if (meets_range(streams, levels->levels[0].files[i]))
            status = add_run(streams, &levels->levels[0].files[i], 1);
    }
    for (int level = 1; level < BB_LEVEL_COUNT && status == BB_OK; level++)
        status = add_level(streams, levels, level);
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
                                   const struct bb_key_range *range,
                                   const struct bb_read_options *options,
                                   struct bb_read_stats *stats, struct bb_iter **ret_iter)
{
    static const struct bb_key_range everything = {0};
    size_t count_max = 1 + BB_FROZEN_MAX + view->levels->levels[0].count + BB_LEVEL_COUNT;
    struct streams streams = {.comparator = comparator,
                              .range = range != NULL ? range : &everything,
                              .options = options,
                              .stats = stats};
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
