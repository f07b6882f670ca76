/* The search behind damage.
 *
 * A block begins with a fragment, so a damaged block hides nothing of the next one. Inside a block
 * the next fragment may begin anywhere once a length is not to be trusted, so every offset is
 * tried. That is cheap on bytes that are no fragments, since type and length rule out nearly all of
 * them; for bytes that were made to pass those tests there is a limit to what is hashed in vain.
 */
#include "kv/wal/wal_tail.h"

#include "base/bytes.h"
#include "kv/wal/wal_fragment.h"

/* Of bodies whose check was wrong, per block. Random bytes come to about 1 MiB. */
#define HASHED_IN_VAIN_MAX ((size_t)8 << 20)

static uint64_t content_end(uint64_t offset, struct bb_bytes bytes, uint64_t otherwise)
{
    size_t size = bytes.size;
    while (size > 0 && bytes.data[size - 1] == 0)
        size--;
    return size == 0 ? otherwise : offset + size;
}

static void search_block(uint64_t seed, uint64_t offset, struct bb_bytes rest,
                         struct bb_wal_tail *tail)
{
    size_t hashed = 0;
    while (rest.size >= BB_WAL_FRAGMENT_HEADER && hashed < HASHED_IN_VAIN_MAX) {
        struct bb_wal_fragment fragment;
        size_t step = 1;
        if (bb_wal_fragment_decode(seed, offset, rest, &fragment) == NULL) {
            step = BB_WAL_FRAGMENT_HEADER + fragment.body.size;
            if (bb_wal_fragment_has_durable(&fragment) &&
                bb_wal_fragment_durable(&fragment) > tail->durable)
                tail->durable = bb_wal_fragment_durable(&fragment);
        } else if (rest.data[10] != BB_WAL_NONE && rest.data[10] <= BB_WAL_MARK) {
            hashed += bb_load16(rest.data + 8); /* at most: the length may have been refused */
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
