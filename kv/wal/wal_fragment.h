/* One fragment of a log, as a reader meets it. The bytes are drawn in wal_format.h. */
#ifndef BB_KV_WAL_WAL_FRAGMENT_H
#define BB_KV_WAL_WAL_FRAGMENT_H

#include "kv/wal/wal_format.h"

struct bb_wal_fragment {
    enum bb_wal_fragment_type type;
    uint64_t check;
    struct bb_bytes body; /* borrowed; FULL, FIRST and MARK: begins with the durable offset */
};

/* NULL, or why type and length alone tell that no fragment stands here: what passes is hashed. rest:
 * the bytes from its offset to the end of the block or of the file. */
const char *bb_wal_fragment_header_defect(struct bb_bytes rest);

/* Decodes a fragment wherever it was to stand in its log: where that is, by its check. False: none is
 * there, or its place cannot be one of a file of so many bytes. rest: as below. */
bool bb_wal_fragment_find(uint64_t seed, uint64_t file_size, struct bb_bytes rest,
                          struct bb_wal_fragment *ret_fragment, uint64_t *ret_place);

/* Decodes the fragment at a file offset. rest: the bytes from there to the end of the block or of
 * the file. Gives NULL, or what is wrong with it in a few words. */
const char *bb_wal_fragment_decode(uint64_t seed, uint64_t offset, struct bb_bytes rest,
                                   struct bb_wal_fragment *ret_fragment);

/* Does the fragment begin with a durable offset? */
static inline bool bb_wal_fragment_has_durable(const struct bb_wal_fragment *fragment)
{
    return fragment->type == BB_WAL_FULL || fragment->type == BB_WAL_FIRST ||
           fragment->type == BB_WAL_MARK;
}

/* REQUIRES: it has one. */
static inline uint64_t bb_wal_fragment_durable(const struct bb_wal_fragment *fragment)
{
    return bb_load64(fragment->body.data);
}

#endif
