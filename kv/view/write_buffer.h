/* A memtable with the log that makes it survive the process. Shared by the views that show it.
 *
 *     active    the leader of the commit queue adds to memtable and log
 *     frozen    read-only; flushed to a table, oldest first; then its log is removed
 *
 * Threads: a reference is taken while its view is protected (under the store's mutex, or by a
 * reader that has pinned the view), and may be dropped anywhere. The log belongs to the leader of
 * the commit queue. The leader is the writer of the memtable; all others are readers.
 */
#ifndef BB_KV_VIEW_WRITE_BUFFER_H
#define BB_KV_VIEW_WRITE_BUFFER_H

#include <stdatomic.h>

#include "bb/db.h"

struct bb_memtable;
struct bb_spare_memtable;
struct bb_wal_writer;

/* A record: the sequence of its last operation, and a check of all records of the logs up to it. */
struct bb_log_mark {
    uint64_t sequence;
    uint64_t check;
};

struct bb_write_buffer {
    _Atomic uint32_t references;
    struct bb_memtable *memtable;    /* owned */
    struct bb_spare_memtable *spare; /* receives the memtable after use */
    /* Owned; NULL when logging is off, or before the first write. */
    struct bb_wal_writer *log;
    uint64_t log_number; /* 0 if there is no log */
    /* Of an empty log that an opening found and kept; 0 if none. */
    uint64_t old_log_number;
    /* Once frozen: every sequence up to here is in this buffer or in older ones. */
    uint64_t sequence_end;
    /* Of a read-only store: the memtable has the logs up to this record. The thread that refreshes
     * the store uses it. */
    struct bb_log_mark last_record;
    /* The latest check of the log found damage: kv/background/scrub_logs.h */
    _Atomic bool is_log_damaged;
};

/* Starts with one reference. Takes memtable and log. spare is borrowed as long as the buffer
 * lives. */
BB_MUST_CHECK enum bb_status bb_write_buffer_create(struct bb_memtable *memtable,
                                                    struct bb_wal_writer *log, uint64_t log_number,
                                                    struct bb_spare_memtable *spare,
                                                    struct bb_write_buffer **ret_buffer);
struct bb_write_buffer *bb_write_buffer_ref(struct bb_write_buffer *buffer);
/* The last reference closes the log, keeps its file, and keeps the memtable as the spare one or
 * releases it. Do not call under a mutex. NULL is allowed. */
void bb_write_buffer_unref(struct bb_write_buffer *buffer);

#endif
