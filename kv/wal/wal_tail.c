/* The search behind damage.
 *
 * A block begins with a fragment, so a damaged block hides nothing of the next one. Inside a block
 * wal_search.h says where the next one may begin.
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

static void search_block(uint64_t seed, uint64_t offset, struct bb_bytes rest,
                         struct bb_wal_tail *tail)
{
    struct bb_wal_search search = {0};
    while (rest.size >= BB_WAL_FRAGMENT_HEADER) {
        struct bb_wal_fragment fragment;
        size_t step;
        if (bb_wal_fragment_decode(seed, offset, rest, &fragment) == NULL) {
            step = BB_WAL_FRAGMENT_HEADER + fragment.body.size;
            take(tail, &fragment);
            bb_wal_search_found(&search);
        } else {
            step = (size_t)(bb_wal_search_next(&search, offset, rest) - offset);
        }
        rest = bb_bytes_of(rest.data + step, rest.size - step);
        offset += step;
    }
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
        search_block(source->seed, offset, rest, &tail);
        tail.content_offset = content_end(offset, rest, tail.content_offset);
        offset += rest.size;
    }
    *ret_tail = tail;
    return BB_OK;
}
