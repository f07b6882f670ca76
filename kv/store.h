/* The inside of a store: what its parts share. Each part is a file:
 *
 *     open      open and close            freeze    room for the next write: new memtable, new log
 *     replay    the logs of before        flush     a frozen memtable becomes a table
 *     commit    put, delete, write        worker    background work: flushes, compactions
 *     lookup    get, many at once         maintain  flush, compact, wait until idle
 *     scan      iterators, snapshots      install   a change of the levels is made durable
 *                                         orphans   tables whose change could not be made durable
 *
 * Three roles and two mutexes:
 *   - The leader of the commit queue writes log and active memtable, and freezes.
 *   - One worker flushes, one compacts, each a thread of its own, so that neither waits for the
 *     other; in deterministic mode the leader is both.
 *   - `installing` orders the workers' changes of the levels and of the manifest, I/O included.
 *   - `mutex` guards what all of them and the readers' bookkeeping share. It is not held over I/O,
 *     and taken last.
 */
#ifndef BB_KV_STORE_H
#define BB_KV_STORE_H

#include <stdatomic.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/sync.h"
#include "compaction/levels.h"
#include "compaction/rate_request.h"
#include "compaction/table_file.h"
#include "kv/write/commit_queue.h"
#include "kv/orphans.h"
#include "kv/write/pace.h"
#include "kv/readers.h"
#include "kv/snapshots.h"
#include "kv/view.h"
#include "kv/waste_share.h"

struct bb_catalog;
struct bb_compaction;
struct bb_file_limit;
struct bb_file_pool;
struct bb_index_build;
struct bb_manifest;
struct bb_range_request;
struct bb_scrubber;

/* Counters of writing and background work; guarded by the mutex. */
struct bb_store_counts {
    uint64_t flushes;
    uint64_t flush_bytes_written;
    uint64_t compactions;
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

/* Who does one of them. */
struct bb_worker {
    struct bb_db *db;
    enum bb_work work;
    struct bb_thread thread;
    bool has_thread;
    /* Guarded by the store's mutex: */
    struct bb_condvar is_due; /* the worker waits */
    /* How often work may have become due, and how many of these the worker has answered by finding
     * nothing. */
    uint64_t signals;
    uint64_t answered;
    uint64_t begun_attempts; /* pieces of work begun, also when there was nothing to do */
    uint64_t failed_attempt; /* the latest of them that failed, from 1 on */
    bool is_asked;           /* somebody waits for another attempt: kv/background/work_wait.h */
    struct bb_error failure; /* of the latest piece of work; BB_OK when all is well */
    _Atomic bool is_failing; /* the same, for a look without the mutex */
};

struct bb_db {
    /* Constant while the store is open. */
    uint64_t process; /* that opened it: base/process.h, kv/inherited.h */
    long process_id;
    struct bb_db_options options; /* resolved */
    char *directory;
    struct bb_file_system *system; /* as given, or the operating system's */
    bool owns_system;
    struct bb_file_pool *pool;
    struct bb_file_system *files; /* the same with a limit on open descriptors: the pool's */
    struct bb_file_limit *limit;  /* on what workers write; NULL: none */
    struct bb_file *lock;
    uint8_t store_id[16];
    struct bb_hash_secret secret;
    struct bb_block_cache *cache; /* NULL: off */
    struct bb_table_env table_env;

    /* For readers, without a lock. */
    struct bb_readers readers;
    _Atomic size_t iterator_count;  /* the callers' */
    _Atomic uint64_t last_sequence; /* everything up to here is in the current view */

    /* The leader's. */
    struct bb_commit_queue commits;
    /* Not NULL while the store waits for space: carries its opening out. kv/recovery/resume.h */
    enum bb_status (*_Atomic resume)(struct bb_db *db);
    struct bb_write_buffer *active; /* that of the current view */
    uint64_t sequence_allocated;    /* given out, committed or not */
    /* Nothing may be appended: a new log, and what was acknowledged to tables first. */
    bool is_log_failed;

    /* Shared by leader and workers. */
    _Atomic uint64_t next_file_number;
    _Atomic uint64_t write_count;
    _Atomic uint64_t write_bytes;
    _Atomic uint64_t commit_count;
    _Atomic uint64_t wal_bytes;

    /* Guarded by mutex. */
    struct bb_mutex mutex;
    struct bb_condvar work_is_done; /* leaders and flush, compact, wait_idle wait */
    struct bb_view *view;           /* the current one; its levels change under installing too */
    struct bb_view *retired;        /* not current, perhaps still read */
    size_t going_views;             /* neither: being freed, without the mutex */
    struct bb_spare_memtable spare;
    struct bb_snapshots snapshots;
    struct bb_catalog *catalog; /* attributes and indexes, replaced as a whole */
    bool is_closing;
    size_t call_count;                       /* calls of kv/maintain.c under way, which may wait */
    uint64_t flushed_sequence;               /* everything up to here is in tables */
    struct bb_pace pace;                     /* do flushes follow each other? */
    struct bb_range_request *range_requests; /* kv/background/range_request.h */
    bool is_merging;                         /* the compacting worker has, or may get, outputs */
    bool merges_yield;          /* a flush needs the space: no merge may be under way */
    uint64_t compact_requested; /* tickets of bb_db_compact, requested and done */
    uint64_t compact_done;
    struct bb_store_counts counts;

    /* Guarded by installing. */
    struct bb_mutex installing;
    struct bb_manifest *manifest;
    struct bb_orphans orphans;     /* tables that are in doubt as long as the manifest is */
    struct bb_waste_share *shares; /* of all work under way: each plans its filters with what the
                                      others have taken of the promise */
    struct bb_waste_share work_shares[BB_WORK_COUNT];
    /* Below level 0, those that a compaction under way takes tables from, or brings them to: a bit
     * for each. */
    uint32_t pending_levels;
    struct bb_rate_merge pending_merge; /* of a compaction under way; runs 0: there is none */

    struct bb_worker workers[BB_WORK_COUNT];
    struct bb_scrubber *scrubber; /* NULL: no schedule, or not started */

    /* The compacting worker's. */
    struct bb_compaction *compaction;   /* in progress, or NULL */
    uint64_t compaction_begin;          /* when, by the clock */
    struct bb_index_build *index_build; /* of its outputs; owned, or NULL */
    uint64_t compact_ticket;            /* the request that it serves, or 0 */
    bool was_range;                     /* the latest compaction was a piece of a requested range */
};

#endif
