/* What stands behind the last whole record of a log. The bytes are drawn in wal_format.h.
 *
 * Threads: one. */
#ifndef BB_KV_WAL_WAL_TAIL_H
#define BB_KV_WAL_WAL_TAIL_H

#include "kv/wal/wal_source.h"

struct bb_wal_tail {
    uint64_t durable; /* the greatest durable offset that a fragment of the tail tells of; 0: none
                         does */
    uint64_t displaced_offset; /* where the first whole fragment stands that was written for another
                                  place of this log, and does not stand there; 0: there is none */
    uint64_t content_offset;   /* behind the last byte of the file that is not zero; at least the
                                tail's offset */
};

/* Searches everything from offset to the end of the file, which may be any bytes, for whole
 * fragments. A fragment's check holds only for its own place in its own log, so what is found is no
 * accident. */
BB_MUST_CHECK enum bb_status bb_wal_tail_read(struct bb_wal_source *source, uint64_t offset,
                                              struct bb_wal_tail *ret_tail);

#endif
