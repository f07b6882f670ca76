/* Reads every whole record of a log, with or without damage. Only for repair: recovery stops at the
 * first damage (wal_reader.h), because a hole may follow. Repair also reads records after a hole,
 * and learns that there is a hole.
 *
 * The check of a fragment covers its place, its log and its store, so no record is found by
 * accident. A record is returned whole or not at all. After a damaged fragment the next one may
 * begin anywhere in the block: wal_search.h.
 * Threads: one per call.
 */
#ifndef BB_KV_WAL_WAL_SALVAGE_H
#define BB_KV_WAL_WAL_SALVAGE_H

#include "base/file.h"
#include "kv/wal/wal_format.h"

struct bb_wal_salvage_report {
    uint64_t record_count;
    /* In no whole record, up to the last byte that is not zero. */
    uint64_t bytes_lost;
    /* End of the last whole record or mark, or of the last byte that is not zero if that is
     * later. */
    uint64_t end_offset;
    uint64_t holes; /* stretches of such bytes before a whole record */
};

/* Passes each payload (borrowed for the call) and the offset of its record to visit, in order; a
 * failure of visit ends the salvage. Errors: BB_NOT_FOUND without such a file. BB_CORRUPT when a
 * sound header belongs to another log or another store. BB_UNSUPPORTED for a newer format. */
BB_MUST_CHECK enum bb_status
bb_wal_salvage(struct bb_file_system *fs, const char *path, uint64_t log_number,
               const uint8_t store_id[BB_WAL_STORE_ID_SIZE],
               enum bb_status (*visit)(void *context, struct bb_bytes payload, uint64_t offset),
               void *context, struct bb_wal_salvage_report *ret_report);

/* Reads the store id from a log's header. *ret_is_told false: the header is damaged. */
BB_MUST_CHECK enum bb_status bb_wal_salvage_read_claim(struct bb_file_system *fs, const char *path,
                                                       uint8_t ret_store_id[BB_WAL_STORE_ID_SIZE],
                                                       bool *ret_is_told);

/* *ret_has_first: the first record or mark of the log is whole, whatever the header's other bytes
 * are; its check covers the number and the id in the header. The file is then certainly ours. */
BB_MUST_CHECK enum bb_status bb_wal_salvage_find_first(struct bb_file_system *fs, const char *path,
                                                       uint64_t log_number, bool *ret_has_first);

#endif
