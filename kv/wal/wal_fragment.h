/* One decoded fragment of a log. wal_format.h draws the bytes. */
#ifndef BB_KV_WAL_WAL_FRAGMENT_H
#define BB_KV_WAL_WAL_FRAGMENT_H

#include "base/assert.h"
#include "kv/wal/wal_format.h"

struct bb_wal_fragment {
    enum bb_wal_fragment_type type;
    uint64_t check;
    /* Borrowed. FULL, FIRST and MARK begin with the durable offset. */
    struct bb_bytes body;
};

/* True when all bytes are zeros: the rest of a block that has no fragment. */
bool bb_wal_fragment_is_zero(struct bb_bytes rest);

/* Checks type and length before hashing. Returns NULL, or the reason why this is no fragment. rest:
 * the bytes from its offset to the end of the block or of the file. */
const char *bb_wal_fragment_header_defect(struct bb_bytes rest);

/* Decodes a fragment that may have been written for any place of its log; the check reveals that
 * place. False: there is no fragment, or its place is impossible in a file of this size. rest: as
 * below. */
bool bb_wal_fragment_find(uint64_t seed, uint64_t file_size, struct bb_bytes rest,
                          struct bb_wal_fragment *ret_fragment, uint64_t *ret_place);

/* Decodes the fragment at a file offset. rest: the bytes from there to the end of the block or of
 * the file. Returns NULL, or a short description of the defect. */
const char *bb_wal_fragment_decode(uint64_t seed, uint64_t offset, struct bb_bytes rest,
                                   struct bb_wal_fragment *ret_fragment);

/* True when the fragment begins with a durable offset. */
static inline bool bb_wal_fragment_has_durable(const struct bb_wal_fragment *fragment)
{
    return fragment->type == BB_WAL_FULL || fragment->type == BB_WAL_FIRST ||
           fragment->type == BB_WAL_MARK;
}

/* REQUIRES: bb_wal_fragment_has_durable. */
static inline uint64_t bb_wal_fragment_durable(const struct bb_wal_fragment *fragment)
{
    BB_DEBUG_ASSERT(bb_wal_fragment_has_durable(fragment));
    return bb_load64(fragment->body.data);
}

#endif
