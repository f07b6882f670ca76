/* Reads the records of a log in order, and judges where and how it ends. The bytes are drawn in
 * wal_format.h.
 *
 *     what stands there                             what next gives
 *     the end of the file                           BB_NOT_FOUND
 *     damage, and a record or mark behind it        BB_CORRUPT; with tolerate_damage the log ends
 *     says that the log was durable beyond it       there
 *     any other damage, zeros, a cut record         BB_NOT_FOUND: a tail that nobody had synced;
 *                                                   the report says what was dropped
 *
 * The size of the file is taken when it is opened; a read that gives less than that is an error,
 * never an end. Before damage is believed the block is read a second time. No length is believed
 * before its check is: memory grows with verified fragments only.
 *
 * Threads: one at a time.
 */
#ifndef BB_KV_WAL_WAL_READER_H
#define BB_KV_WAL_WAL_READER_H

#include "base/buf.h"
#include "base/file.h"
#include "kv/wal/wal_format.h"

struct bb_wal_reader;

/* How the log ended; complete once next has given BB_NOT_FOUND. */
struct bb_wal_report {
    uint64_t record_count;
    uint64_t end_offset;    /* behind the last whole record or mark */
    struct bb_wal_end end;  /* of the records; its offset is 0 when not even the header is whole */
    uint64_t dropped_bytes; /* behind it, up to the last byte that is not zero: what was lost or
                               never whole */
    bool is_damaged;        /* some of that was known durable: tolerated damage, no torn tail */
    bool is_marked;         /* it ends with a mark, by which all of its records were durable */
    char reason[96];        /* why the log ends before its file does; empty when it does not */
};

/* Opens the log with this number of this store. A file that is shorter than its header is an empty
 * log: the process or the power died while it was created. BB_NOT_FOUND: no such file. BB_CORRUPT:
 * another log or another store's, or a damaged header before records that were durable.
 * BB_UNSUPPORTED: a newer format. fs is borrowed until close. */
BB_MUST_CHECK enum bb_status bb_wal_reader_open(struct bb_file_system *fs, const char *path,
                                                uint64_t log_number,
                                                const uint8_t store_id[BB_WAL_STORE_ID_SIZE],
                                                bool tolerate_damage,
                                                struct bb_wal_reader **ret_reader);

/* BB_OK with the next record's payload, borrowed until the next call; BB_NOT_FOUND at the end;
 * BB_CORRUPT, BB_IO, BB_NO_MEMORY. Whatever is not BB_OK is also what every later call gives. */
BB_MUST_CHECK enum bb_status bb_wal_reader_next(struct bb_wal_reader *reader,
                                                struct bb_bytes *ret_payload);

/* Was the record that next gave last put together in a buffer of its own, which can be taken? */
bool bb_wal_reader_is_own(const struct bb_wal_reader *reader);
/* That buffer, which holds the payload where it is; owned from here on. REQUIRES: is_own. */
struct bb_buf bb_wal_reader_take(struct bb_wal_reader *reader);

/* Where the record that next gave last begins in the file, for messages. */
uint64_t bb_wal_reader_offset(const struct bb_wal_reader *reader);

/* The greatest offset up to which any of the log's records or marks says that it is durable: more
 * than BB_WAL_HEADER_SIZE when the log was ever synced and told of it. Reads the whole file. */
BB_MUST_CHECK enum bb_status bb_wal_reader_durable(struct bb_wal_reader *reader,
                                                   uint64_t *ret_offset);

/* Borrowed while the reader is open. */
const struct bb_wal_report *bb_wal_reader_report(const struct bb_wal_reader *reader);

/* NULL is allowed. */
void bb_wal_reader_close(struct bb_wal_reader *reader);

#endif
