/* Searches for fragments after damage.
 *
 * A block begins with a fragment, so a damaged block does not affect the next one. Inside a block
 * wal_search.h finds the next possible place.
 */
#include "kv/wal/wal_tail.h"

#include "base/bytes.h"
#include "kv/wal/wal_fragment.h"
#include "kv/wal/wal_search.h"

static uint64_t content_end(uint64_t offset, struct bb_bytes bytes, uint64_t otherwise)
{
    size_t size = bytes.size;
    while (size > 0 && bytes.data[size - 1] == 0)
        size--;
    return size == 0 ? otherwise : offset + size;
}

static void take(struct bb_wal_tail *tail, const struct bb_wal_fragment *fragment)
{
    if (bb_wal_fragment_has_durable(fragment) && bb_wal_fragment_durable(fragment) > tail->durable)
        tail->durable = bb_wal_fragment_durable(fragment);
}

/* A copy of a fragment that is also at its place proves nothing. */
static enum bb_status note_displaced(const struct bb_wal_source *source, uint64_t offset,
                                     uint64_t place, uint64_t check, struct bb_wal_tail *tail)
{
    uint8_t found[sizeof(check)] = {0};
    if (tail->displaced_offset != 0)
        return BB_OK;
    bool is_whole = source->size - place >= sizeof(found);
    enum bb_status status =
        is_whole ? bb_wal_source_copy(source, place, found, sizeof(found)) : BB_OK;
    if (status == BB_OK && (!is_whole || bb_load64(found) != check))
        tail->displaced_offset = offset;
    return status;
}

static enum bb_status search_block(const struct bb_wal_source *source, uint64_t offset,
                                   struct bb_bytes rest, struct bb_wal_tail *tail)
{
    struct bb_wal_search search = {0};
    enum bb_status status = BB_OK;
    while (rest.size >= BB_WAL_FRAGMENT_HEADER && status == BB_OK) {
        struct bb_wal_fragment fragment;
        uint64_t place = 0;
        size_t step;
        if (bb_wal_fragment_find(source->seed, source->size, rest, &fragment, &place)) {
            step = BB_WAL_FRAGMENT_HEADER + fragment.body.size;
            if (place == offset)
                take(tail, &fragment);
            else
                status = note_displaced(source, offset, place, fragment.check, tail);
            bb_wal_search_found(&search);
        } else {
            step = (size_t)(bb_wal_search_next(&search, offset, rest) - offset);
        }
        rest = bb_bytes_of(rest.data + step, rest.size - step);
        offset += step;
    }
    return status;
}

enum bb_status bb_wal_tail_read(struct bb_wal_source *source, uint64_t offset,
                                struct bb_wal_tail *ret_tail)
{
    struct bb_wal_tail tail = {.content_offset = offset};
    while (offset < source->size) {
        struct bb_bytes rest;
        enum bb_status status = bb_wal_source_at(source, offset, &rest);
        if (status != BB_OK)
            return status;
        status = search_block(source, offset, rest, &tail);
        if (status != BB_OK)
            return status;
        tail.content_offset = content_end(offset, rest, tail.content_offset);
        offset += rest.size;
    }
    *ret_tail = tail;
    return BB_OK;
}
