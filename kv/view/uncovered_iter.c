/* See uncovered_iter.h. */
#include "kv/view/uncovered_iter.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/status.h"

/* The number of hidden entries that are skipped one by one before a seek, which costs as much as a
 * few dozen steps. */
#define STEPS_MAX 16

struct uncovered_iter {
    struct bb_iter base; /* must be first */
    struct bb_iter *stream;
    bb_approach *approach; /* of the stream; NULL: it has no steps */
    struct bb_range_tombstone_cover cover;
};

static struct uncovered_iter *iter_of(struct bb_iter *base)
{
    return (struct uncovered_iter *)base;
}

/* Publishes the stream's entry, or its status. */
static void show(struct uncovered_iter *iter, enum bb_status status)
{
    iter->base.is_valid = status == BB_OK && iter->stream->is_valid;
    iter->base.status = status == BB_OK ? iter->stream->status : status;
    iter->base.entry = iter->stream->entry;
}

/* True when the whole run is hidden at the stream's position, not only this entry. */
static bool is_region_hidden(const struct uncovered_iter *iter)
{
    return iter->cover.region.covering > 0;
}

static bool is_entry_hidden(const struct uncovered_iter *iter)
{
    return is_region_hidden(iter) || iter->cover.own > iter->stream->entry.sequence;
}

/* Moves past the hidden region. */
static void leave_forward(struct uncovered_iter *iter)
{
    struct bb_iter *stream = iter->stream;
    const struct bb_range_tombstone_region *region = &iter->cover.region;
    for (int i = 0; i < STEPS_MAX && stream->is_valid; i++) {
        bb_iter_next(stream);
        if (!stream->is_valid ||
            bb_key_compare(iter->cover.comparator, stream->entry.key, region->high) >= 0)
            return;
    }
    if (stream->is_valid)
        bb_iter_seek(stream, region->high, BB_SEQUENCE_MAX);
}

static void leave_backward(struct uncovered_iter *iter)
{
    struct bb_iter *stream = iter->stream;
    const struct bb_range_tombstone_region *region = &iter->cover.region;
    for (int i = 0; i < STEPS_MAX && stream->is_valid; i++) {
        bb_iter_prev(stream);
        if (!stream->is_valid ||
            bb_key_compare(iter->cover.comparator, stream->entry.key, region->low) < 0)
            return;
    }
    if (!stream->is_valid)
        return;
    /* A stream over a range ends there, and low may be later. */
    bb_iter_seek(stream, region->low, BB_SEQUENCE_MAX);
    if (stream->is_valid)
        bb_iter_prev(stream);
    else if (stream->status == BB_OK)
        bb_iter_seek_last(stream);
}

/* Skips hidden entries, in steps or by leaving a hidden region. */
static void skip(struct uncovered_iter *iter, void (*step)(struct bb_iter *),
                 void (*leave)(struct uncovered_iter *))
{
    enum bb_status status = BB_OK;
    while (iter->stream->is_valid) {
        status = bb_range_tombstone_cover_find(&iter->cover, iter->stream->entry.key);
        if (status != BB_OK || !is_entry_hidden(iter))
            break;
        if (is_region_hidden(iter))
            leave(iter);
        else
            step(iter->stream);
    }
    show(iter, status);
}

static void skip_forward(struct uncovered_iter *iter)
{
    skip(iter, bb_iter_next, leave_forward);
}

static void skip_backward(struct uncovered_iter *iter)
{
    skip(iter, bb_iter_prev, leave_backward);
}

static void seek_first(struct bb_iter *base)
{
    bb_iter_seek_first(iter_of(base)->stream);
    skip_forward(iter_of(base));
}

static void seek_last(struct bb_iter *base)
{
    bb_iter_seek_last(iter_of(base)->stream);
    skip_backward(iter_of(base));
}

static void seek(struct bb_iter *base, struct bb_bytes key, uint64_t sequence)
{
    bb_iter_seek(iter_of(base)->stream, key, sequence);
    skip_forward(iter_of(base));
}

bool bb_uncovered_iter_approach(struct bb_iter *base, struct bb_bytes key, uint64_t sequence,
                                unsigned step)
{
    BB_DEBUG_ASSERT(base->ops->seek == seek);
    struct uncovered_iter *iter = iter_of(base);
    base->is_valid = false;
    return iter->approach != NULL && iter->approach(iter->stream, key, sequence, step);
}

static void next(struct bb_iter *base)
{
    bb_iter_next(iter_of(base)->stream);
    skip_forward(iter_of(base));
}

static void prev(struct bb_iter *base)
{
    bb_iter_prev(iter_of(base)->stream);
    skip_backward(iter_of(base));
}

static void destroy(struct bb_iter *base)
{
    bb_iter_destroy(iter_of(base)->stream);
    bb_free(base);
}

static const struct bb_iter_ops ops = {
    .destroy = destroy,
    .seek_first = seek_first,
    .seek_last = seek_last,
    .seek = seek,
    .next = next,
    .prev = prev,
};

enum bb_status bb_uncovered_iter_create(struct bb_iter *stream, bb_approach *approach,
                                        const struct bb_range_tombstone_cover *cover,
                                        struct bb_iter **ret_iter)
{
    struct uncovered_iter *iter = bb_alloc_zeroed(1, sizeof(*iter));
    if (iter == NULL) {
        bb_iter_destroy(stream);
        return bb_fail(BB_NO_MEMORY, "no memory for a stream with range tombstones");
    }
    iter->base.ops = &ops;
    iter->stream = stream;
    iter->approach = approach;
    iter->cover = *cover;
    *ret_iter = &iter->base;
    return BB_OK;
}
