/* See wal_search.h. */
#include "kv/wal/wal_search.h"

#include "base/assert.h"
#include "kv/wal/wal_fragment.h"

/* The limit for bytes hashed in vain in one block. A block of random bytes needs less than
 * 2 MiB. */
#define HASHED_IN_VAIN_MAX ((size_t)8 << 20)

static uint64_t stated_end(uint64_t offset, struct bb_bytes rest)
{
    size_t body_size = bb_load16(rest.data + 8);
    bool is_possible = body_size > 0 && body_size <= rest.size - BB_WAL_FRAGMENT_HEADER;
    return offset + (is_possible ? BB_WAL_FRAGMENT_HEADER + body_size : rest.size);
}

uint64_t bb_wal_search_next(struct bb_wal_search *search, uint64_t offset, struct bb_bytes rest)
{
    BB_DEBUG_ASSERT(rest.size >= BB_WAL_FRAGMENT_HEADER);
    if (search->block != offset / BB_WAL_BLOCK_SIZE)
        *search = (struct bb_wal_search){.block = offset / BB_WAL_BLOCK_SIZE};
    if (search->stated_end <= offset)
        search->stated_end = stated_end(offset, rest);
    if (bb_wal_fragment_header_defect(rest) == NULL)
        search->hashed += bb_load16(rest.data + 8);
    return search->hashed < HASHED_IN_VAIN_MAX ? offset + 1 : search->stated_end;
}
