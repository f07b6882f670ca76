/* See stamp_iter.h. */
#include "kv/stamp_iter.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/status.h"

struct stamp_iter {
    struct bb_iter iter; /* first: a bb_iter is a stamp_iter */
    struct bb_iter *stream;
    uint64_t sequence;
};

static struct stamp_iter *stamp_of(struct bb_iter *iter)
{
    return (struct stamp_iter *)iter;
}

static void show(struct stamp_iter *stamp)
{
    stamp->iter.is_valid = stamp->stream->is_valid;
    stamp->iter.status = stamp->stream->status;
    stamp->iter.entry = stamp->stream->entry;
    stamp->iter.entry.sequence = stamp->sequence;
}

static void destroy(struct bb_iter *iter)
{
    bb_iter_destroy(stamp_of(iter)->stream);
    bb_free(iter);
}

static void seek_first(struct bb_iter *iter)
{
    bb_iter_seek_first(stamp_of(iter)->stream);
    show(stamp_of(iter));
}

static void next(struct bb_iter *iter)
{
    bb_iter_next(stamp_of(iter)->stream);
    show(stamp_of(iter));
}

static const struct bb_iter_ops ops = {.destroy = destroy, .seek_first = seek_first, .next = next};

enum bb_status bb_stamp_iter_create(struct bb_iter *stream, uint64_t sequence,
                                    struct bb_iter **ret_iter)
{
    BB_ASSERT(sequence <= BB_SEQUENCE_MAX);
    struct stamp_iter *stamp = bb_alloc_zeroed(1, sizeof(*stamp));
    if (stamp == NULL) {
        bb_iter_destroy(stream);
        return bb_fail(BB_NO_MEMORY, "no memory for a stream of one sequence");
    }
    stamp->iter.ops = &ops;
    stamp->stream = stream;
    stamp->sequence = sequence;
    *ret_iter = &stamp->iter;
    return BB_OK;
}
