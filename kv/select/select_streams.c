/* See select_streams.h. */
#include "kv/select/select_streams.h"

#include "base/alloc.h"
#include "base/status.h"
#include "compaction/merge/run_iter.h"
#include "kv/memtable/memtable.h"
#include "sstable/entry.h"

static enum bb_status add_memtable(struct bb_select_streams *streams,
                                   struct bb_select_stream *stream)
{
    struct bb_iter *iter = NULL;
    enum bb_status status =
        bb_memtable_iter_create(bb_view_memtable(streams->view, stream->run), &iter);
    if (status == BB_OK)
        status = bb_filtered_candidates_create(streams->source, iter, &stream->iter);
    streams->count += status == BB_OK;
    return status;
}

/* ---- runs ---- */

static enum bb_status open_candidates(void *context, struct bb_table_file *file,
                                      struct bb_iter **ret_iter)
{
    const struct bb_select_stream *stream = context;
    struct bb_candidate_source *source = stream->all->source;
    struct bb_table_reading reading = {.view = stream->all->view,
                                       .comparator = source->comparator,
                                       .range = source->range,
                                       .sequence = source->sequence,
                                       .run = stream->run,
                                       .file = file};
    return bb_table_candidates_create(source, &reading, ret_iter);
}

/* True when no key has two versions, and there are no range tombstones. */
static bool has_only_versions(struct bb_table_file *const *files, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct bb_table_meta *meta = &files[i]->meta;
        if (meta->entry_count != meta->key_count || meta->range_tombstone_count > 0)
            return false;
    }
    return true;
}

static enum bb_status add_run(struct bb_select_streams *streams, struct bb_select_stream *stream)
{
    const struct bb_candidate_source *source = streams->source;
    const struct bb_run *run = bb_view_turn(streams->view, stream->run)->run;
    struct bb_run_opener opener = {.open = open_candidates, .context = stream};
    size_t first = 0;
    size_t end = 0;
    bb_run_find_range(run, source->comparator, source->range, &first, &end);
    if (first == end)
        return BB_OK;
    stream->is_only_version = has_only_versions(&run->files[first], end - first);
    enum bb_status status = bb_run_iter_create_opened(&run->files[first], end - first,
                                                      source->comparator, &opener, &stream->iter);
    streams->count += status == BB_OK;
    return status;
}

static enum bb_status add_all(struct bb_select_streams *streams)
{
    enum bb_status status = BB_OK;
    for (size_t run = 0; run < bb_view_run_count(streams->view) && status == BB_OK; run++) {
        struct bb_select_stream *stream = &streams->streams[streams->count];
        *stream = (struct bb_select_stream){.all = streams, .run = run};
        status = run < streams->view->buffer_count ? add_memtable(streams, stream)
                                                   : add_run(streams, stream);
    }
    return status;
}

enum bb_status bb_select_streams_init(struct bb_select_streams *streams,
                                      struct bb_candidate_source *source,
                                      const struct bb_view *view, bool is_backward)
{
    size_t count_max = bb_view_run_count(view);
    *streams =
        (struct bb_select_streams){.source = source, .view = view, .is_backward = is_backward};
    streams->streams = bb_alloc_zeroed(count_max, sizeof(*streams->streams));
    if (streams->streams == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for %zu streams", count_max);
    enum bb_status status = add_all(streams);
    if (status != BB_OK)
        bb_select_streams_deinit(streams);
    return status;
}

void bb_select_streams_deinit(struct bb_select_streams *streams)
{
    for (size_t i = 0; i < streams->count; i++)
        bb_iter_destroy(streams->streams[i].iter);
    bb_free(streams->streams);
    *streams = (struct bb_select_streams){0};
}

/* True when a's candidate is before b's in the direction. */
static bool precedes(const struct bb_select_streams *streams, const struct bb_select_stream *a,
                     const struct bb_select_stream *b)
{
    const struct bb_entry *x = &a->iter->entry;
    const struct bb_entry *y = &b->iter->entry;
    int order =
        bb_entry_compare(streams->source->comparator, x->key, x->sequence, y->key, y->sequence);
    return streams->is_backward ? order > 0 : order < 0;
}

/* WHY every stream is checked: there are as many as runs, about ten, and candidates are few. */
static enum bb_status choose(struct bb_select_streams *streams)
{
    streams->current = NULL;
    for (size_t i = 0; i < streams->count; i++) {
        struct bb_select_stream *stream = &streams->streams[i];
        if (!stream->iter->is_valid) {
            if (stream->iter->status != BB_OK)
                return stream->iter->status;
        } else if (streams->current == NULL || precedes(streams, stream, streams->current)) {
            streams->current = stream;
        }
    }
    return BB_OK;
}

enum bb_status bb_select_streams_first(struct bb_select_streams *streams)
{
    for (size_t i = 0; i < streams->count; i++) {
        if (streams->is_backward)
            bb_iter_seek_last(streams->streams[i].iter);
        else
            bb_iter_seek_first(streams->streams[i].iter);
        if (streams->streams[i].iter->status != BB_OK)
            return streams->streams[i].iter->status;
    }
    return choose(streams);
}

enum bb_status bb_select_streams_next(struct bb_select_streams *streams)
{
    struct bb_iter *iter = streams->current->iter;
    if (streams->is_backward)
        bb_iter_prev(iter);
    else
        bb_iter_next(iter);
    return choose(streams);
}
