/* The bytes after the last whole record of a log. wal_format.h draws the bytes.
 *
 * Threads: one.
 */
#ifndef BB_KV_WAL_WAL_TAIL_H
#define BB_KV_WAL_WAL_TAIL_H

#include "kv/wal/wal_source.h"

struct bb_wal_tail {
    /* The highest durable offset in a fragment of the tail; 0 if none exists. */
    uint64_t durable;
    /* Offset of the first whole fragment that was written for another place of this log; 0 if none
     * exists. */
    uint64_t displaced_offset;
    /* End of the last byte of the file that is not zero; at least the tail's offset. */
    uint64_t content_offset;
};

/* Searches everything from offset to the end of the file, which may be any bytes, for whole
 * fragments. A fragment's check is valid only for its place and log, so no fragment is found by
 * accident. */
BB_MUST_CHECK enum bb_status bb_wal_tail_read(struct bb_wal_source *source, uint64_t offset,
                                              struct bb_wal_tail *ret_tail);

#endif
