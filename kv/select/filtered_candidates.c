/* Candidates of a stream over entries in memory: checks each entry. See candidates.h. */
#include "kv/select/candidates.h"

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/status.h"
#include "kv/read/visible.h"

struct filtered {
    struct bb_iter base; /* must be first */
    struct bb_candidate_source *source;
    struct bb_iter *stream; /* owned */
};

static struct filtered *filtered_of(struct bb_iter *iter)
{
    return (struct filtered *)iter;
}

static bool is_candidate(struct filtered *filtered)
{
    const struct bb_entry *entry = &filtered->stream->entry;
    bool matches = false;
    if (entry->kind != BB_ENTRY_PUT || entry->sequence > filtered->source->sequence)
        return false;
    filtered->base.status =
        bb_matcher_test(&filtered->source->matcher, entry->key, entry->value, &matches);
    return matches;
}

static bool is_in_range(const struct filtered *filtered)
{
    const struct bb_candidate_source *source = filtered->source;
    struct bb_bytes key = filtered->stream->entry.key;
    const struct bb_bytes *low = source->range->low;
    const struct bb_bytes *high = source->range->high;
    return (low == NULL || bb_key_compare(source->comparator, key, *low) >= 0) &&
           (high == NULL || bb_key_compare(source->comparator, key, *high) < 0);
}

static void settle(struct filtered *filtered, void (*move)(struct bb_iter *stream))
{
    struct bb_iter *stream = filtered->stream;
    bool is_candidate_found = false;
    filtered->base.status = BB_OK;
    while (stream->is_valid && is_in_range(filtered) && filtered->base.status == BB_OK) {
        is_candidate_found = is_candidate(filtered);
        if (is_candidate_found)
            break;
        move(stream);
    }
    if (filtered->base.status == BB_OK)
        filtered->base.status = stream->status;
    filtered->base.is_valid = is_candidate_found && filtered->base.status == BB_OK;
    filtered->base.entry = stream->entry;
}

static void seek_first(struct bb_iter *iter)
{
    struct filtered *filtered = filtered_of(iter);
    const struct bb_bytes *low = filtered->source->range->low;
    if (low != NULL)
        bb_iter_seek(filtered->stream, *low, BB_SEQUENCE_MAX);
    else
        bb_iter_seek_first(filtered->stream);
    settle(filtered, bb_iter_next);
}

static void seek_last(struct bb_iter *iter)
{
    struct filtered *filtered = filtered_of(iter);
    const struct bb_bytes *high = filtered->source->range->high;
    if (high != NULL)
        bb_visible_seek_before(filtered->stream, *high);
    else
        bb_iter_seek_last(filtered->stream);
    settle(filtered, bb_iter_prev);
}

static void seek(struct bb_iter *iter, struct bb_bytes key, uint64_t sequence)
{
    bb_iter_seek(filtered_of(iter)->stream, key, sequence);
    settle(filtered_of(iter), bb_iter_next);
}

static void next(struct bb_iter *iter)
{
    bb_iter_next(filtered_of(iter)->stream);
    settle(filtered_of(iter), bb_iter_next);
}

static void prev(struct bb_iter *iter)
{
    bb_iter_prev(filtered_of(iter)->stream);
    settle(filtered_of(iter), bb_iter_prev);
}

static void destroy(struct bb_iter *iter)
{
    bb_iter_destroy(filtered_of(iter)->stream);
    bb_free(iter);
}

enum bb_status bb_filtered_candidates_create(struct bb_candidate_source *source,
                                             struct bb_iter *stream, struct bb_iter **ret_iter)
{
    static const struct bb_iter_ops ops = {.destroy = destroy,
                                           .seek_first = seek_first,
                                           .seek_last = seek_last,
                                           .seek = seek,
                                           .next = next,
                                           .prev = prev};
    struct filtered *filtered = bb_alloc_zeroed(1, sizeof(*filtered));
    if (filtered == NULL) {
        bb_iter_destroy(stream);
        return bb_fail(BB_NO_MEMORY, "no memory for the candidates of a memtable");
    }
    filtered->base.ops = &ops;
    filtered->source = source;
    filtered->stream = stream;
    *ret_iter = &filtered->base;
    return BB_OK;
}
