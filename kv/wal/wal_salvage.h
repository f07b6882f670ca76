/* Every whole record of a log, damage or not: for repair alone. Recovery stops at the first damage
 * (wal_reader.h), because behind it there may be a hole; whoever comes here wants what is behind the
 * hole too, and is told that there is one.
 *
 * The check of a fragment covers its place, its log and its store, so nothing is taken by accident.
 * A record is given whole or not at all. Behind a damaged fragment the next one may begin anywhere
 * in the block: wal_search.h. Threads: one per call.
 */
#ifndef BB_KV_WAL_WAL_SALVAGE_H
#define BB_KV_WAL_WAL_SALVAGE_H

#include "base/file.h"
#include "kv/wal/wal_format.h"

struct bb_wal_salvage_report {
    uint64_t record_count;
    uint64_t bytes_lost; /* in no whole record, up to the last byte that is not zero */
    uint64_t
        end_offset; /* behind the last whole record or mark, and the last byte that is not zero */
    uint64_t holes; /* stretches of such bytes with a whole record behind them */
};

/* Hands each payload (borrowed for the call) and the offset of its record to visit, in order; its
 * failure ends the salvage. BB_NOT_FOUND: no such file. BB_CORRUPT: a sound header says that this
 * is another log, or another store's. BB_UNSUPPORTED: a newer format. */
BB_MUST_CHECK enum bb_status
bb_wal_salvage(struct bb_file_system *fs, const char *path, uint64_t log_number,
               const uint8_t store_id[BB_WAL_STORE_ID_SIZE],
               enum bb_status (*visit)(void *context, struct bb_bytes payload, uint64_t offset),
               void *context, struct bb_wal_salvage_report *ret_report);

/* Which store a log says it is of. *ret_is_told false: its header is damaged. */
BB_MUST_CHECK enum bb_status bb_wal_claim_read(struct bb_file_system *fs, const char *path,
                                               uint8_t ret_store_id[BB_WAL_STORE_ID_SIZE],
                                               bool *ret_is_told);

#endif
