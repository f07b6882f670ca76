/* The keys that are present as of a sequence, over a sorted stream of all versions (a merge of
 * memtables and tables), optionally limited to a range. The stream stops at the first entry outside
 * the range.
 *
 * Going forward, the stream is at the current entry. Going backward, the stream is before all
 * versions of the current key, and buffers hold its key and value. WHY: versions are read from the
 * oldest on, and only after the newest is it known which one is visible.
 *
 *     stream        a@7 a@3 | b@9(delete) b@2 | c@8 c@5        sequence 6
 *     result        a@3                         c@5
 *
 * Threads: one.
 */
#ifndef BB_KV_READ_VISIBLE_H
#define BB_KV_READ_VISIBLE_H

#include "base/assert.h"
#include "base/buf.h"
#include "bb/table.h"

struct bb_visible {
    struct bb_iter *stream; /* owned */
    const struct bb_comparator *comparator;
    struct bb_key_range range; /* keys borrowed; everything when zeroed */
    uint64_t sequence;
    bool is_valid;
    bool is_backward;
    bool skips_values;     /* the stream may lack them; the result has no values */
    enum bb_status status; /* of this struct; the stream has a separate one */
    /* The current key. Going forward, its older versions are skipped. */
    struct bb_buf key;
    struct bb_buf value; /* backward only */
};

/* Takes the stream. */
void bb_visible_init(struct bb_visible *visible, struct bb_iter *stream,
                     const struct bb_comparator *comparator, uint64_t sequence);
/* Destroys the stream too. */
void bb_visible_deinit(struct bb_visible *visible);

void bb_visible_seek_first(struct bb_visible *visible);
void bb_visible_seek_last(struct bb_visible *visible);
void bb_visible_seek(struct bb_visible *visible, struct bb_bytes key);
/* Moves a stream of versions to the last entry before all versions of the key. */
void bb_visible_seek_before(struct bb_iter *stream, struct bb_bytes key);
/* Makes the iterator invalid, with this status, until the next seek. */
void bb_visible_refuse(struct bb_visible *visible, enum bb_status status);
/* REQUIRES: is_valid. */
void bb_visible_next(struct bb_visible *visible);
void bb_visible_prev(struct bb_visible *visible);

/* REQUIRES: is_valid. Borrowed until the next move. */
static inline struct bb_bytes bb_visible_key(const struct bb_visible *visible)
{
    BB_DEBUG_ASSERT(visible->is_valid);
    return bb_buf_bytes(&visible->key);
}

static inline struct bb_bytes bb_visible_value(const struct bb_visible *visible)
{
    if (visible->skips_values)
        return (struct bb_bytes){0};
    return visible->is_backward ? bb_buf_bytes(&visible->value) : visible->stream->entry.value;
}

/* BB_OK unless reading failed. */
BB_MUST_CHECK enum bb_status bb_visible_status(const struct bb_visible *visible);

#endif
