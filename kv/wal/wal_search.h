/* Where the next fragment may begin behind a damaged one.
 *
 * A length that stands in a damaged fragment is not to be trusted, so every offset behind its
 * beginning is tried. What is tried is hashed, if type and length let it pass for a fragment; bytes
 * that were made to pass would have a block hashed thousands of times, so that there is a limit to
 * what is hashed in vain. Beyond it the lengths are followed after all: most damage is to the body,
 * and then the next fragment begins where its length says.
 *
 * Threads: one. */
#ifndef BB_KV_WAL_WAL_SEARCH_H
#define BB_KV_WAL_WAL_SEARCH_H

#include "kv/wal/wal_format.h"

/* A zeroed one is about to begin. */
struct bb_wal_search {
    uint64_t block; /* that the rest is of */
    uint64_t
        stated_end; /* by the length of the first damaged fragment behind the last whole one; 0:
                            there is none */
    size_t hashed;  /* in vain */
};

/* A whole fragment was found. */
static inline void bb_wal_search_found(struct bb_wal_search *search)
{
    search->stated_end = 0;
}

/* The next offset to try, at most the end of the block. rest: the bytes from the offset to there, or
 * to the end of the file. REQUIRES: rest has a fragment's header at least, and is no fragment. */
uint64_t bb_wal_search_next(struct bb_wal_search *search, uint64_t offset, struct bb_bytes rest);

#endif
