/* What of the logs does not become part of the store: for the report of an opening. Threads: that of
 * the opening. */
#ifndef BB_KV_RECOVERY_DROPPED_H
#define BB_KV_RECOVERY_DROPPED_H

#include "kv/store.h"

/* A zeroed struct: nothing was. */
struct bb_dropped {
    uint64_t logs;
    uint64_t bytes;
    uint64_t records; /* whole ones among them */
    uint64_t sequence_first;
    uint64_t sequence_last;
};

/* Adds what a log has of sequences from expected_sequence on, or the bytes, when that is more, which
 * its reader has dropped. Reads all of it once more. */
BB_MUST_CHECK enum bb_status bb_dropped_count_log(struct bb_db *db, uint64_t number, uint64_t bytes,
                                                  uint64_t expected_sequence,
                                                  struct bb_dropped *dropped);

#endif
