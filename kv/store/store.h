/* Internals of a store: state shared by its parts. Each part is a file:
 *
 *     open     open and close            freeze        space for a write: new memtable, new log
 *     replay   earlier logs              flush         a frozen memtable becomes a table
 *     commit   put, delete, write        worker        background work: flushes, compactions
 *     lookup   get, many keys per call   maintain      flush, compact, wait until idle
 *     scan     iterators, snapshots      edit_install  makes a change of the levels durable
 *                                        orphans       tables whose change may not be durable
 *
 * Three roles and two mutexes:
 *   - The leader of the commit queue writes log and active memtable, and freezes.
 *   - One worker flushes, another compacts, each in a separate thread, so that neither waits for
 *     the other. In deterministic mode the leader does both.
 *   - `installing` serialises the workers' changes of the levels and the manifest, including I/O.
 *   - `mutex` guards the state shared by all of them and the readers' bookkeeping. It is not held
 *     during I/O, and is acquired last.
 */
#ifndef BB_KV_STORE_STORE_H
#define BB_KV_STORE_STORE_H

#include <stdatomic.h>

#include "base/assert.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/sync.h"
#include "compaction/levels/levels.h"
#include "compaction/levels/table_file.h"
#include "compaction/rates/rate_request.h"
#include "kv/manifest/orphans.h"
#include "kv/store/commit_queue.h"
#include "kv/store/pace.h"
#include "kv/view/readers.h"
#include "kv/view/spare_memtable.h"
#include "kv/view/snapshots.h"
#include "kv/view/view.h"

struct bb_catalog;
struct bb_compaction;
struct bb_upper_merge;
struct bb_file_limit;
struct bb_file_pool;
struct bb_index_build;
struct bb_manifest;
struct bb_range_request;
struct bb_scrubber;

/* Counters of writes and background work; guarded by the mutex. */
struct bb_store_counts {
    uint64_t flushes;
    uint64_t flush_bytes_written;
    uint64_t compactions;
    uint64_t divided_compactions; /* of these: the upper part had a thread */
    uint64_t compaction_bytes_read;
    uint64_t compaction_bytes_written;
    uint64_t compaction_range_tombstones;
    uint64_t covered_tables;
    uint64_t covered_bytes;
    uint64_t stalls[BB_STALL_COUNT];
    uint64_t stall_nanoseconds[BB_STALL_COUNT];
    uint64_t scrubs;
    uint64_t scrub_bytes;
};

/* The two kinds of background work. */
enum bb_work { BB_WORK_FLUSH, BB_WORK_COMPACTION, BB_WORK_COUNT };

/* A worker for one kind of work. */
struct bb_worker {
    struct bb_db *db;
    enum bb_work work;
    struct bb_thread thread;
    bool has_thread;
    /* Guarded by the store's mutex: */
    struct bb_condvar is_due; /* the worker waits on it */
    /* How often work may have become due, and how many of these signals the worker has handled. */
    uint64_t signals;
    uint64_t answered;
    /* Attempts, including those without work to do. */
    uint64_t begun_attempts;
    /* The latest attempt that failed; attempts count from 1. */
    uint64_t failed_attempt;
    /* A thread waits for another attempt: kv/background/work_wait.h. */
    bool is_asked;
    /* Of the latest attempt; BB_OK when it succeeded. */
    struct bb_error failure;
    /* The same, readable without the mutex. */
    _Atomic bool is_failing;
};

struct bb_db {
    /* Constant while the store is open. */
    /* The process that opened it: base/process.h, kv/store/inherited.h. */
    uint64_t process;
    long process_id;
    struct bb_db_options given;   /* by the caller of bb_db_open */
    struct bb_db_options options; /* resolved, from the given and the stored ones */
    struct bb_stored_options stored_options;
    char *directory;
    struct bb_file_system *system;     /* the caller's, or the operating system's */
    struct bb_file_system *own_system; /* owned; NULL when the options name one */
    struct bb_file_pool *pool;
    /* The same with a limit on open descriptors; belongs to the pool. */
    struct bb_file_system *files;
    struct bb_file_limit *limit; /* on writes of workers; NULL if none */
    struct bb_file *lock;
    uint8_t store_id[16];
    struct bb_hash_secret secret;
    struct bb_block_cache *cache; /* NULL: off */
    struct bb_table_file_env table_env;

    /* Used by readers without a lock. */
    struct bb_readers readers;
    _Atomic size_t iterator_count;  /* open iterators of callers */
    _Atomic uint64_t last_sequence; /* everything up to here is in the current view */

    /* The leader's fields. */
    struct bb_commit_queue commits;
    /* Not NULL while the store waits for space: completes the opening. kv/open/resume.h */
    enum bb_status (*_Atomic resume)(struct bb_db *db);
    struct bb_write_buffer *active; /* the current view's */
    uint64_t sequence_allocated;    /* includes uncommitted ones */
    /* The log must not be appended to: a new log is needed, after the acknowledged writes are in
     * tables. */
    bool is_log_failed;
    /* Merges are stopped for the leader's write, which therefore must not wait for one. */
    bool leader_yields;

    /* Shared by leader and workers. */
    _Atomic uint64_t next_file_number;
    _Atomic uint64_t write_count;
    _Atomic uint64_t write_bytes;
    _Atomic uint64_t commit_count;
    _Atomic uint64_t wal_bytes;
    _Atomic uint64_t known_rows_bytes; /* memory of kv/indexes/known_rows.h */
    /* By selections: kv/indexes/index_demand.h. */
    _Atomic bool flush_builds_indexes;
    _Atomic bool worker_builds_indexes;
    /* The latest check of the manifest found damage. Changed under the mutex. */
    _Atomic bool is_manifest_damaged;

    /* Guarded by mutex. */
    struct bb_mutex mutex;
    /* Signalled for leaders and for flush, compact and wait_idle. */
    struct bb_condvar work_is_done;
    /* The current one. Its levels change under `installing` too. */
    struct bb_view *view;
    struct bb_view *retired; /* not current, perhaps still read */
    /* Views that are being freed, without the mutex. */
    size_t going_views;
    struct bb_spare_memtable spare;
    struct bb_snapshots snapshots;
    struct bb_catalog *catalog; /* attributes and indexes, replaced as a whole */
    bool is_closing;
    /* Running calls that may wait (kv/store/call.h): close waits for them. */
    size_t call_count;
    uint64_t flushed_sequence;               /* everything up to here is in tables */
    struct bb_pace pace;                     /* a series of flushes is in progress */
    struct bb_range_request *range_requests; /* kv/background/range_request.h */
    /* The compacting worker has outputs, or may get some. */
    bool is_merging;
    /* How often is_merging became false. Atomic, because each write reads it without the mutex. */
    _Atomic uint64_t merge_ends;
    /* Flushes and writes that need the space: no merge may run. */
    unsigned yield_count;
    uint64_t compact_requested; /* tickets of bb_db_compact, requested and done */
    uint64_t compact_done;
    struct bb_store_counts counts;
    /* The manifest after its latest change, for scrubs; number 0: none, or poisoned. */
    uint64_t manifest_number;
    uint64_t manifest_durable;

    /* Guarded by installing. */
    struct bb_mutex installing;
    struct bb_manifest *manifest;
    /* Tables in doubt while the manifest is poisoned. */
    struct bb_orphans orphans;
    /* Of all running work: each piece plans its filters within the share of the target that the
     * others leave. */
    struct bb_waste_share *shares;
    struct bb_waste_share work_shares[BB_WORK_COUNT];
    /* Levels below level 0 that a running compaction takes tables from or adds tables to: one bit
     * each. */
    uint32_t pending_levels;
    /* Of a running compaction; runs is 0 without one. */
    struct bb_rate_merge pending_merge;

    struct bb_worker workers[BB_WORK_COUNT];
    struct bb_scrubber *scrubber; /* NULL: no schedule, or not started */

    /* The compacting worker's fields. */
    struct bb_compaction *compaction;   /* in progress, or NULL */
    struct bb_upper_merge *upper_merge; /* the upper part of its keys, or NULL */
    bool may_divide;                    /* dividing the compaction was not tried yet */
    bool is_lower_done;                 /* the compaction has merged its part */
    uint64_t compaction_begin;          /* its start, by the clock */
    struct bb_index_build *index_build; /* of its outputs; owned, or NULL */
    bool has_deferred;                  /* tables lacked index files at its last look */
    uint64_t compact_ticket;            /* the request that it serves, or 0 */
    /* The latest compaction was a piece of a requested range. */
    bool was_range;
};

/* Informs the listener. The mutex is not held. */
static inline void bb_store_event(struct bb_db *db, const struct bb_event *event)
{
    BB_DEBUG_ASSERT(!bb_mutex_is_held(&db->mutex));
    if (db->options.on_event != NULL)
        db->options.on_event(db->options.event_context, event);
}

/* Reports a text as BB_EVENT_RECOVERY and releases it. It ends with a zero; if making it failed,
 * with this status, it is not reported. */
static inline void bb_store_tell(struct bb_db *db, struct bb_buf *text, enum bb_status status)
{
    const struct bb_event event = {
        .kind = BB_EVENT_RECOVERY, .level = -1, .message = (const char *)text->data};
    if (status == BB_OK)
        bb_store_event(db, &event);
    bb_buf_deinit(text);
}

#endif
