/* Finds the next possible fragment after a damaged one.
 *
 * The length in a damaged fragment cannot be trusted, so every offset after its start is tried. A
 * candidate whose type and length are plausible is hashed. Hostile bytes could cause a block to be
 * hashed thousands of times, so the number of bytes hashed in vain is limited. Beyond the limit,
 * the search follows the lengths after all: most damage is in the body, and then the length still
 * leads to the next fragment.
 *
 * Threads: one.
 */
#ifndef BB_KV_WAL_WAL_SEARCH_H
#define BB_KV_WAL_WAL_SEARCH_H

#include "kv/wal/wal_format.h"

/* A zeroed struct is ready to begin. */
struct bb_wal_search {
    uint64_t block; /* the block being searched */
    /* End by the length of the first damaged fragment after the last whole one; 0 if none. */
    uint64_t stated_end;
    size_t hashed; /* bytes hashed in vain */
};

/* Notes that a whole fragment was found. */
static inline void bb_wal_search_found(struct bb_wal_search *search)
{
    search->stated_end = 0;
}

/* The next offset to try, at most the end of the block. rest: the bytes from the offset to there,
 * or to the end of the file. REQUIRES: rest has at least a fragment's header, and is no
 * fragment. */
uint64_t bb_wal_search_next(struct bb_wal_search *search, uint64_t offset, struct bb_bytes rest);

#endif
