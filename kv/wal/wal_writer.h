/* Appends records to a log. wal_format.h draws the bytes.
 *
 * Failures are sticky: after a failed append or sync the contents of the file are unknown, so the
 * file is never written again and every later call returns the first failure. Running out of memory
 * before any write is not sticky, because the file is unchanged.
 *
 * Threads: one at a time; bb_wal_writer_durable may run concurrently.
 */
#ifndef BB_KV_WAL_WAL_WRITER_H
#define BB_KV_WAL_WAL_WRITER_H

#include "base/file.h"
#include "kv/wal/wal_format.h"

struct bb_wal_writer;

/* Creates the file and writes its header; neither the file nor its name is synced. buffer_bytes 0:
 * a record survives a crash of the process after its append. It is in the log's window
 * (wal_window.h), or was written to the file: the first appends, and all appends where windows are
 * not supported, are one write each. Otherwise records are buffered in the process until they
 * exceed this number of bytes, or until flush, sync or close; a crash of the process loses buffered
 * records. A file whose header cannot be written is removed again. fs is borrowed until close.
 * Errors: BB_EXISTS when the name is taken. */
BB_MUST_CHECK enum bb_status bb_wal_writer_create(struct bb_file_system *fs, const char *path,
                                                  uint64_t log_number,
                                                  const uint8_t store_id[BB_WAL_STORE_ID_SIZE],
                                                  size_t buffer_bytes,
                                                  struct bb_wal_writer **ret_writer);

/* Appends count records, one for each payload, together, or in several writes beyond 1 MiB. count 0
 * does nothing. Errors: BB_TOO_LARGE and BB_NO_MEMORY leave the log unchanged; others are sticky.
 */
BB_MUST_CHECK enum bb_status bb_wal_writer_append(struct bb_wal_writer *writer,
                                                  const struct bb_bytes *payloads, size_t count);

/* Appends one record whose payload is head followed by tail, so that a large value need not be
 * copied next to its key. */
BB_MUST_CHECK enum bb_status bb_wal_writer_append_parts(struct bb_wal_writer *writer,
                                                        struct bb_bytes head, struct bb_bytes tail);

/* Writes all records to the file, which needs no window from here on. Call it before the first
 * append to a newer log. */
BB_MUST_CHECK enum bb_status bb_wal_writer_flush(struct bb_wal_writer *writer);

/* Flushes, and makes everything appended so far durable. */
BB_MUST_CHECK enum bb_status bb_wal_writer_sync(struct bb_wal_writer *writer);

/* Appends a mark with the durable offset, unless a record or mark has it already. Does not sync:
 * the mark is correct whether it survives or not. It distinguishes damage to synced bytes from a
 * torn tail. */
BB_MUST_CHECK enum bb_status bb_wal_writer_mark(struct bb_wal_writer *writer);

/* True while there may be a window of the log: until flush and close succeed. */
bool bb_wal_writer_has_window(const struct bb_wal_writer *writer);

/* The size of the log, including buffered records. */
uint64_t bb_wal_writer_size(const struct bb_wal_writer *writer);

/* The end of the records, including buffered ones. */
struct bb_wal_end bb_wal_writer_end(const struct bb_wal_writer *writer);

/* The log is durable up to here. Any thread, while the writer exists. */
uint64_t bb_wal_writer_durable(const struct bb_wal_writer *writer);

/* Flushes, closes the file and releases the writer in any case. If a sync was not recorded yet,
 * notes it at the end, so that later damage to the synced bytes is recognised. Does not sync.
 * Returns the sticky failure, or the first one of closing. NULL is allowed. */
BB_MUST_CHECK enum bb_status bb_wal_writer_close(struct bb_wal_writer *writer);

#endif
