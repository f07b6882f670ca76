/* A memtable with the log that makes it survive the process. Shared by the views that show it.
 *
 *     active    the leader of the commit queue adds to memtable and log
 *     frozen    read-only; flushed to a table, oldest first; then its log is removed
 *
 * Threads: references are taken where the view that has one is kept from going (under the store's
 * mutex, or by a reader that has pinned the view), and given back anywhere. The log belongs to the
 * leader of the commit queue. Of the memtable the leader is the writer, everybody else a reader.
 */
#ifndef BB_KV_WRITE_WRITE_BUFFER_H
#define BB_KV_WRITE_WRITE_BUFFER_H

#include <stdatomic.h>

#include "base/sync.h"
#include "bb/db.h"

struct bb_memtable;
struct bb_wal_writer;

/* One memtable that is empty and waits to be used again: its pages are touched already, which is
 * about a third of the cost of an insert. Any thread. */
struct bb_spare_memtable {
    struct bb_mutex mutex;
    struct bb_memtable *memtable; /* owned; NULL: none; guarded by the mutex */
    uint64_t capacity_bytes;      /* of the ones that are worth keeping; constant */
};

void bb_spare_memtable_init(struct bb_spare_memtable *spare, uint64_t capacity_bytes);
void bb_spare_memtable_deinit(struct bb_spare_memtable *spare);
/* Now the caller's; NULL when there is none of that capacity. */
struct bb_memtable *bb_spare_memtable_take(struct bb_spare_memtable *spare,
                                           uint64_t capacity_bytes);

struct bb_write_buffer {
    _Atomic uint32_t references;
    struct bb_memtable *memtable;    /* owned */
    struct bb_spare_memtable *spare; /* where it goes in the end */
    struct bb_wal_writer *log;       /* owned; NULL when logging is off, or nothing was written */
    uint64_t log_number;             /* 0 when there is no log */
    uint64_t old_log_number;         /* of an empty log that an opening found and let be; 0: none */
    uint64_t sequence_end; /* once frozen: every sequence up to here is in this buffer or in older
                              ones */
};

/* One reference. Takes memtable and log. spare is borrowed as long as the buffer lives. */
BB_MUST_CHECK enum bb_status bb_write_buffer_create(struct bb_memtable *memtable,
                                                    struct bb_wal_writer *log, uint64_t log_number,
                                                    struct bb_spare_memtable *spare,
                                                    struct bb_write_buffer **ret_buffer);
struct bb_write_buffer *bb_write_buffer_ref(struct bb_write_buffer *buffer);
/* The last reference closes the log, whose file stays, and keeps the memtable as the spare one or
 * releases it: not under a mutex. */
void bb_write_buffer_unref(struct bb_write_buffer *buffer);

#endif
