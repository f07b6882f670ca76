/* The stream over a view: see view.h. */
#include "base/alloc.h"
#include "base/status.h"
#include "compaction/levels/levels.h"
#include "compaction/merge/merge.h"
#include "compaction/merge/run_iter.h"
#include "kv/memtable/memtable.h"
#include "kv/view/uncovered_iter.h"
#include "kv/view/view.h"

#define FEW_MAX 32

/* Streams collected so far; destroyed on failure. */
struct streams {
    struct bb_merge_stream *streams;
    size_t count;
    const struct bb_comparator *comparator;
    const struct bb_key_range *range; /* never NULL */
    const struct bb_read_options *options;
    bool skips_values;
    struct bb_read_stats *stats;
    const struct bb_view *view;
    uint64_t sequence;
    size_t run; /* number of the run in the view */
    /* Of most iterators: no allocation for them. */
    struct bb_merge_stream few[FEW_MAX];
};

/* Adds the stream over the next run. If this run or a newer one has range tombstones, the stream is
 * wrapped to skip hidden entries. */
static enum bb_status add(struct streams *streams, struct bb_iter *iter, bb_approach *approach)
{
    const struct bb_range_tombstone_cover cover = {.view = streams->view,
                                                   .comparator = streams->comparator,
                                                   .sequence = streams->sequence,
                                                   .run = streams->run};
    enum bb_status status = BB_OK;
    if (bb_range_tombstone_cover_is_needed(&cover)) {
        status = bb_uncovered_iter_create(iter, approach, &cover, &iter);
        approach = bb_uncovered_iter_approach;
    }
    if (status == BB_OK)
        streams->streams[streams->count++] = (struct bb_merge_stream){iter, approach};
    return status;
}

/* A memtable that is empty now has only later entries than the reader's sequence. WHY it has no
 * stream: without it, an iterator over one run needs no merge. */
static enum bb_status add_memtable(struct streams *streams, const struct bb_write_buffer *buffer)
{
    struct bb_iter *iter = NULL;
    if (bb_memtable_is_empty(buffer->memtable))
        return BB_OK;
    enum bb_status status = bb_memtable_iter_create(buffer->memtable, &iter);
    return status == BB_OK ? add(streams, iter, bb_memtable_iter_approach) : status;
}

/* is_last: no older run exists, so that no compaction saves this stream. */
static enum bb_status add_run(struct streams *streams, const struct bb_run *run, bool is_last)
{
    size_t first = 0;
    size_t end = 0;
    struct bb_iter *iter = NULL;
    bb_run_find_range(run, streams->comparator, streams->range, &first, &end);
    if (first == end)
        return BB_OK;
    enum bb_status status =
        bb_run_iter_create(&run->files[first], end - first, streams->comparator, streams->range,
                           streams->options, streams->stats, &iter);
    if (status != BB_OK)
        return status;
    bb_run_iter_search_by(iter, run, first);
    if (!is_last)
        bb_run_iter_charge_tables(iter);
    if (streams->skips_values)
        bb_run_iter_skip_values(iter);
    return add(streams, iter, bb_run_iter_approach);
}

static enum bb_status gather(struct streams *streams, const struct bb_view *view)
{
    int deepest = bb_levels_deepest(view->levels);
    enum bb_status status = BB_OK;
    for (size_t run = 0; run < bb_view_run_count(view) && status == BB_OK; run++) {
        streams->run = run;
        if (run < view->buffer_count) {
            status = add_memtable(streams, view->buffers[run]);
            continue;
        }
        const struct bb_run_turn *turn = bb_view_turn(view, run);
        status = add_run(streams, turn->run, turn->level == deepest && deepest > 0);
    }
    return status;
}

enum bb_status bb_view_iter_create(struct bb_view *view, const struct bb_comparator *comparator,
                                   uint64_t sequence, const struct bb_key_range *range,
                                   const struct bb_read_options *options, bool skips_values,
                                   struct bb_read_stats *stats, struct bb_iter **ret_iter)
{
    static const struct bb_key_range everything = {0};
    size_t count_max = bb_view_run_count(view);
    struct streams streams = {.comparator = comparator,
                              .range = range != NULL ? range : &everything,
                              .options = options,
                              .skips_values = skips_values,
                              .stats = stats,
                              .view = view,
                              .sequence = sequence};
    streams.streams =
        count_max <= FEW_MAX ? streams.few : bb_alloc_zeroed(count_max, sizeof(*streams.streams));
    if (streams.streams == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for an iterator over %zu streams", count_max);
    enum bb_status status = gather(&streams, view);
    if (status == BB_OK) {
        status = bb_merge_create_approached(streams.streams, streams.count, comparator, ret_iter);
    } else {
        for (size_t i = 0; i < streams.count; i++)
            bb_iter_destroy(streams.streams[i].iter);
    }
    if (streams.streams != streams.few)
        bb_free(streams.streams);
    return status;
}
