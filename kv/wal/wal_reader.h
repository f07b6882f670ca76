/* Reads the records of a log in order, and determines where and how it ends. wal_format.h draws the
 * bytes.
 *
 *     contents                                      result of next
 *     the end of the file                           BB_NOT_FOUND
 *     damage, and a later record or mark that       BB_CORRUPT; with tolerate_damage the log ends
 *     shows that this part was durable              there
 *     any other damage, zeros, a cut record         BB_NOT_FOUND: an unsynced tail; the report
 *                                                   describes the dropped bytes
 *
 * The file size is read at opening; a read that returns less is an error, never an end. A damaged
 * block is read a second time before it counts as damaged. No length is used before its check was
 * verified: memory grows only with verified fragments.
 *
 * Threads: one at a time.
 */
#ifndef BB_KV_WAL_WAL_READER_H
#define BB_KV_WAL_WAL_READER_H

#include "base/buf.h"
#include "base/file.h"
#include "kv/wal/wal_format.h"

struct bb_wal_reader;

/* How the log ended; complete once next has returned BB_NOT_FOUND. */
struct bb_wal_report {
    uint64_t record_count;
    uint64_t end_offset; /* end of the last whole record or mark */
    /* End of the records. Its offset is 0 when not even the header is whole. */
    struct bb_wal_end end;
    /* Bytes after end_offset, up to the last byte that is not zero: lost, or never complete. */
    uint64_t dropped_bytes;
    /* Some of them were durable: tolerated damage, not a torn tail. */
    bool is_damaged;
    /* It ends with a mark, which proves that all of its records were durable. */
    bool is_marked;
    /* Why the log ends before its file does; empty if it does not. */
    char reason[96];
};

/* Opens the log with this number of this store. A file shorter than its header is an empty log: a
 * crash or power failure interrupted its creation. fs is borrowed until close. Errors: BB_NOT_FOUND
 * without such a file. BB_CORRUPT for another log or another store's, or a damaged header before
 * durable records. BB_UNSUPPORTED for a newer format. */
BB_MUST_CHECK enum bb_status bb_wal_reader_open(struct bb_file_system *fs, const char *path,
                                                uint64_t log_number,
                                                const uint8_t store_id[BB_WAL_STORE_ID_SIZE],
                                                bool tolerate_damage,
                                                struct bb_wal_reader **ret_reader);

/* BB_OK with the next record's payload, borrowed until the next call; BB_NOT_FOUND at the end.
 * Errors: BB_CORRUPT, BB_IO, BB_NO_MEMORY. Every later call returns the same status. */
BB_MUST_CHECK enum bb_status bb_wal_reader_next(struct bb_wal_reader *reader,
                                                struct bb_bytes *ret_payload);

/* True when the last returned record was assembled in a separate buffer, which can be taken. */
bool bb_wal_reader_is_own(const struct bb_wal_reader *reader);
/* Takes that buffer, with the payload in it; the caller owns it. REQUIRES: is_own. */
struct bb_buf bb_wal_reader_take(struct bb_wal_reader *reader);

/* The running check of the log at the end of the last returned record: of all its records. */
uint64_t bb_wal_reader_check(const struct bb_wal_reader *reader);
/* The file offset of the last returned record, for messages. */
uint64_t bb_wal_reader_offset(const struct bb_wal_reader *reader);

/* The highest offset that any record or mark of the log calls durable. It exceeds
 * BB_WAL_HEADER_SIZE when the log was synced and a later record or mark recorded that. Reads the
 * whole file. */
BB_MUST_CHECK enum bb_status bb_wal_reader_durable(struct bb_wal_reader *reader,
                                                   uint64_t *ret_offset);

/* Borrowed while the reader is open. */
const struct bb_wal_report *bb_wal_reader_report(const struct bb_wal_reader *reader);

/* NULL is allowed. */
void bb_wal_reader_close(struct bb_wal_reader *reader);

#endif
