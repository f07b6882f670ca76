/* See visible.h. */
#include "kv/read/visible.h"

#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"

void bb_visible_init(struct bb_visible *visible, struct bb_iter *stream,
                     const struct bb_comparator *comparator, uint64_t sequence)
{
    *visible =
        (struct bb_visible){.stream = stream, .comparator = comparator, .sequence = sequence};
}

void bb_visible_deinit(struct bb_visible *visible)
{
    bb_iter_destroy(visible->stream);
    bb_buf_deinit(&visible->key);
    bb_buf_deinit(&visible->value);
}

enum bb_status bb_visible_status(const struct bb_visible *visible)
{
    return visible->status != BB_OK ? visible->status : visible->stream->status;
}

static bool is_current_key(const struct bb_visible *visible, struct bb_bytes key)
{
    const struct bb_buf *current = &visible->key;
    if (visible->comparator != NULL)
        return bb_key_compare(visible->comparator, key, bb_buf_bytes(current)) == 0;
    /* The last byte usually decides for neighbours, without a call. */
    return key.size == current->size &&
           (key.size == 0 || (key.data[key.size - 1] == current->data[key.size - 1] &&
                              memcmp(key.data, current->data, key.size) == 0));
}

/* Copies keys of common sizes without a call. */
static inline void copy_bytes(uint8_t *to, struct bb_bytes bytes)
{
    if (bytes.size < 8 || bytes.size > 32) {
        memcpy(to, bytes.data, bytes.size);
    } else if (bytes.size < 16) {
        memcpy(to, bytes.data, 8);
        memcpy(to + bytes.size - 8, bytes.data + bytes.size - 8, 8);
    } else {
        memcpy(to, bytes.data, 16);
        memcpy(to + bytes.size - 16, bytes.data + bytes.size - 16, 16);
    }
}

/* Copies bytes, which are outside the buffer, into it. A failure ends the iteration with its
 * status. */
static inline bool keep(struct bb_visible *visible, struct bb_buf *buf, struct bb_bytes bytes)
{
    if (bytes.size > 0 && bytes.size <= buf->capacity) {
        copy_bytes(buf->data, bytes);
        buf->size = bytes.size;
        return true;
    }
    visible->status = bb_buf_assign(buf, bytes);
    return visible->status == BB_OK;
}

static bool is_below(const struct bb_visible *visible, struct bb_bytes key)
{
    return visible->range.low != NULL &&
           bb_key_compare(visible->comparator, key, *visible->range.low) < 0;
}

static bool is_above(const struct bb_visible *visible, struct bb_bytes key)
{
    return visible->range.high != NULL &&
           bb_key_compare(visible->comparator, key, *visible->range.high) >= 0;
}

/* Moves forward from the stream's entry to the first visible put. is_skipping: skips versions of
 * the kept key, because they are older than the current one, or a tombstone hides them. */
static void find_forward(struct bb_visible *visible, bool is_skipping)
{
    struct bb_iter *stream = visible->stream;
    visible->is_backward = false;
    visible->is_valid = false;
    for (; stream->is_valid && !is_above(visible, stream->entry.key); bb_iter_next(stream)) {
        const struct bb_entry *entry = &stream->entry;
        if (entry->sequence > visible->sequence)
            continue;
        if (is_skipping && is_current_key(visible, entry->key))
            continue;
        if (!keep(visible, &visible->key, entry->key))
            return;
        if (entry->kind == BB_ENTRY_PUT) {
            visible->is_valid = true;
            return;
        }
        is_skipping = true;
    }
}

/* Keeps a version, which becomes the result unless a newer one follows. Where a comparator treats
 * different bytes as equal, the key has the version's spelling. */
static bool keep_backward(struct bb_visible *visible, const struct bb_entry *entry)
{
    bool is_spelled_alike =
        visible->comparator == NULL || !visible->comparator->equates_different_bytes;
    return (is_spelled_alike || keep(visible, &visible->key, entry->key)) &&
           (visible->skips_values || keep(visible, &visible->value, entry->value));
}

/* The stream is at the oldest version of a key. Reads all versions of the key backward, up to the
 * newest. True when the newest visible version is a put; keeps it. */
static bool take_key_backward(struct bb_visible *visible)
{
    struct bb_iter *stream = visible->stream;
    bool is_put = false;
    if (!keep(visible, &visible->key, stream->entry.key))
        return false;
    for (; stream->is_valid && is_current_key(visible, stream->entry.key); bb_iter_prev(stream)) {
        const struct bb_entry *entry = &stream->entry;
        if (entry->sequence > visible->sequence)
            continue;
        is_put = entry->kind == BB_ENTRY_PUT;
        if (is_put && !keep_backward(visible, entry))
            return false;
    }
    return is_put && stream->status == BB_OK;
}

static void find_backward(struct bb_visible *visible)
{
    struct bb_iter *stream = visible->stream;
    visible->is_backward = true;
    visible->is_valid = false;
    while (!visible->is_valid && stream->is_valid && visible->status == BB_OK &&
           !is_below(visible, stream->entry.key))
        visible->is_valid = take_key_backward(visible);
}

void bb_visible_seek_first(struct bb_visible *visible)
{
    visible->status = BB_OK;
    if (visible->range.low != NULL)
        bb_iter_seek(visible->stream, *visible->range.low, visible->sequence);
    else
        bb_iter_seek_first(visible->stream);
    find_forward(visible, false);
}

void bb_visible_seek_before(struct bb_iter *stream, struct bb_bytes key)
{
    bb_iter_seek(stream, key, BB_SEQUENCE_MAX);
    if (stream->is_valid)
        bb_iter_prev(stream);
    else if (stream->status == BB_OK)
        bb_iter_seek_last(stream);
}

void bb_visible_seek_last(struct bb_visible *visible)
{
    visible->status = BB_OK;
    if (visible->range.high != NULL)
        bb_visible_seek_before(visible->stream, *visible->range.high);
    else
        bb_iter_seek_last(visible->stream);
    find_backward(visible);
}

void bb_visible_seek(struct bb_visible *visible, struct bb_bytes key)
{
    visible->status = BB_OK;
    if (is_below(visible, key))
        key = *visible->range.low;
    bb_iter_seek(visible->stream, key, visible->sequence);
    find_forward(visible, false);
}

void bb_visible_refuse(struct bb_visible *visible, enum bb_status status)
{
    visible->is_valid = false;
    visible->status = status;
}

void bb_visible_next(struct bb_visible *visible)
{
    BB_DEBUG_ASSERT(visible->is_valid);
    /* Going backward, the stream is before the current key's versions. It moves to the oldest
     * possible version, and find_forward skips the rest. */
    if (visible->is_backward)
        bb_iter_seek(visible->stream, bb_buf_bytes(&visible->key), 0);
    else
        bb_iter_next(visible->stream);
    find_forward(visible, true);
}

/* Going forward, the stream is at a version of the current key. Moves it before all of them. */
static void leave_key_backward(struct bb_visible *visible)
{
    struct bb_iter *stream = visible->stream;
    while (stream->is_valid && is_current_key(visible, stream->entry.key))
        bb_iter_prev(stream);
}

void bb_visible_prev(struct bb_visible *visible)
{
    if (!visible->is_backward)
        leave_key_backward(visible);
    find_backward(visible);
}
