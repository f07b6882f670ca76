/* Appends records to a log. The bytes are drawn in wal_format.h.
 *
 * Failures stick: after a failed append or sync of the file nobody knows what it holds, so the file
 * is never written again and every later call returns the first failure. Want of memory before
 * anything was written does not stick: nothing was changed.
 *
 * Threads: one at a time.
 */
#ifndef BB_KV_WAL_WAL_WRITER_H
#define BB_KV_WAL_WAL_WRITER_H

#include "base/file.h"
#include "kv/wal/wal_format.h"

struct bb_wal_writer;

/* Creates the file and writes its header; neither the file nor its name is synced. BB_EXISTS when
 * the name is taken. buffer_bytes 0: each append is one write. Else records gather in the process
 * until they are more than so many bytes, or until flush, sync or close; the death of the process
 * loses what was gathered. A file whose header cannot be written is removed again. fs is borrowed until close. */
BB_MUST_CHECK enum bb_status bb_wal_writer_create(struct bb_file_system *fs, const char *path,
                                                  uint64_t log_number,
                                                  const uint8_t store_id[BB_WAL_STORE_ID_SIZE],
                                                  size_t buffer_bytes,
                                                  struct bb_wal_writer **ret_writer);

/* Appends count records, one for each payload, as one write to the file, or, beyond 1 MiB, as
 * several. BB_TOO_LARGE, BB_NO_MEMORY: nothing was changed. Others stick. count 0 does nothing. */
BB_MUST_CHECK enum bb_status bb_wal_writer_append(struct bb_wal_writer *writer,
                                                  const struct bb_bytes *payloads, size_t count);

/* One record whose payload is head, then tail: a large value need not be copied behind its key. */
BB_MUST_CHECK enum bb_status bb_wal_writer_append_parts(struct bb_wal_writer *writer,
                                                        struct bb_bytes head, struct bb_bytes tail);

/* Hands to the operating system what a buffered writer has gathered. */
BB_MUST_CHECK enum bb_status bb_wal_writer_flush(struct bb_wal_writer *writer);

/* Flushes, and makes everything appended so far durable. */
BB_MUST_CHECK enum bb_status bb_wal_writer_sync(struct bb_wal_writer *writer);

/* Appends a mark that says how far the log is durable, if no record or mark says so yet. Does not
 * sync: the mark is true whether it survives or not. While it is there, damage of what was synced is
 * told from a torn tail. */
BB_MUST_CHECK enum bb_status bb_wal_writer_mark(struct bb_wal_writer *writer);

/* Bytes of the log, gathered ones included. */
uint64_t bb_wal_writer_size(const struct bb_wal_writer *writer);

/* Where the records end, gathered ones included. */
struct bb_wal_end bb_wal_writer_end(const struct bb_wal_writer *writer);

/* Up to here the log is durable. */
uint64_t bb_wal_writer_durable(const struct bb_wal_writer *writer);

/* Flushes, closes the file and releases the writer in any case. When there was a sync that no
 * record has told of, it is noted at the end, so that later damage of what it made durable is
 * recognised. Does not sync. Gives the failure that stuck, or the first one of closing. NULL is
 * allowed. */
BB_MUST_CHECK enum bb_status bb_wal_writer_close(struct bb_wal_writer *writer);

#endif
