/* Counts the parts of logs that recovery drops, for the report of an opening.
 * Threads: the opener's. */
#ifndef BB_KV_RECOVERY_DROPPED_H
#define BB_KV_RECOVERY_DROPPED_H

#include "kv/store/store.h"

/* A zeroed struct means that no byte was dropped. */
struct bb_dropped {
    uint64_t logs;
    uint64_t bytes;
    uint64_t records; /* whole ones among these bytes */
    uint64_t sequence_first;
    uint64_t sequence_last;
};

/* Adds the records of a log from expected_sequence on, or the bytes that its reader dropped, if
 * that is more. Reads the whole log again. */
BB_MUST_CHECK enum bb_status bb_dropped_count_log(struct bb_file_system *fs, const char *directory,
                                                  const uint8_t store_id[16], uint64_t number,
                                                  uint64_t bytes, uint64_t expected_sequence,
                                                  struct bb_dropped *dropped);

#endif
