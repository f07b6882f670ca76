/* The embedded key-value store.
 *
 *     struct bb_db_options options = {.create_if_missing = true, .target_wasted_reads = 0.01};
 *     struct bb_db *db = NULL;
 *     if (bb_db_open("/var/lib/thing", &options, &db) != BB_OK)
 *         fprintf(stderr, "%s\n", bb_error_last()->message);
 *     bb_db_put(db, NULL, key, value);
 *     bb_db_get(db, NULL, key, &buffer);                    // BB_OK, BB_NOT_FOUND or an error
 *     bb_db_close(db);
 *
 * Keys are 0 ... 64 KiB (BB_KEY_SIZE_MAX) of any bytes, values 0 ... 1 GiB. Keys order bytewise unless a
 * comparator says otherwise. A longer key is BB_TOO_LARGE wherever one is given, to reading calls too,
 * whose answer is then neither there nor absent: a program that asks for a key that cannot be put is
 * mistaken. The same holds of what bounds a range and of prefixes, also when the range is empty.
 *
 * Durability. A write that returned BB_OK survives the death of the process at once (each commit is
 * handed to the operating system), and the loss of power from the next synced write, flush or close
 * on; with sync = true before it returns. docs/durability.md is the protocol.
 *
 * Errors. Declarations name what is particular to a call. Besides, any call may fail with BB_NO_MEMORY;
 * one that reads, with BB_IO or BB_CORRUPT, of the file that the message names; and one that writes or
 * works, with
 *     BB_TOO_LARGE   a value or a batch (4 GiB) is larger than it may be
 *     BB_NO_SPACE    the disk is full. Reads go on, and so do writes when there is space again
 *     BB_IO          writing or syncing failed
 *     BB_BUSY        the store is being closed
 *     BB_READ_ONLY   it was opened so, or writing was stopped by an earlier failure, which the message
 *                    names: open the store again
 *
 * NULL. Options that are NULL are defaults, everywhere. For all other pointers the rules of bb/base.h
 * hold: NULL where a declaration says what it means, and nowhere else.
 *
 * Processes. A bb_db belongs to the process that opened it. In a child made by fork every call on it
 * fails with BB_INVALID, at once and without a wait, and the message says to open the store again
 * there. Only what closes, destroys or releases works: it releases memory and descriptors of the
 * child, as far as no thread of the parent was using them at the fork, and does nothing to the store;
 * bb_db_close is BB_OK. Pinned values stay readable until then. So a daemon opens its store after it
 * has forked. A store is open to others as soon as the process that opened it has closed it or ended,
 * whether or not children of it live. docs/durability.md, "Fork".
 *
 * Threads. A bb_db may be used by any number of threads at once, except that close must be the last
 * call that begins. Batches and iterators are for one thread at a time. Snapshots may be shared.
 */
#ifndef BB_PUBLIC_DB_H
#define BB_PUBLIC_DB_H

#include "bb/base.h"
#include "bb/db_stats.h"
#include "bb/filter.h"
#include "bb/table.h"

#ifdef __cplusplus
extern "C" {
#endif

struct bb_db;
struct bb_batch;
struct bb_snapshot;
struct bb_db_iter;

/* What the store tells a listener, from the thread that did it and without a lock held. */
enum bb_event_kind {
    BB_EVENT_FLUSH,      /* a memtable became a table: level 0, nanoseconds, bytes_written */
    BB_EVENT_COMPACTION, /* tables were merged: level, nanoseconds from its beginning on, bytes_read,
                            bytes_written. Tables that were moved unread are none */
    BB_EVENT_STALL,      /* a write waited: stall, nanoseconds */
    BB_EVENT_RECOVERY,   /* something was dropped or left alone at open; message says what */
    BB_EVENT_ERROR,      /* background work failed; message says why; it is tried again where that
                            may help */
    BB_EVENT_DAMAGE,     /* a running store has found damage, which no call has failed of; message
                            names the file */
};

/* Fields that the kind does not name are 0, level -1, message empty. */
struct bb_event {
    enum bb_event_kind kind;
    enum bb_stall stall;
    int level; /* of the output, or -1 */
    uint64_t nanoseconds;
    uint64_t bytes_read;
    uint64_t bytes_written;
    const char *message; /* borrowed for the call; may be empty, never NULL */
};

/* What an opening does where logs or the manifest do not end as they were written. docs/durability.md,
 * "Recovery modes", has them beside those of other stores. A log whose process died between two writes
 * ends as it was written, in every mode. */
enum bb_recovery {
    BB_RECOVERY_SYNCED, /* default: bytes that were never synced are dropped, as a loss of power leaves
                           them; damage of what was synced is BB_CORRUPT */
    BB_RECOVERY_STRICT,        /* both are BB_CORRUPT; the message says how much can be read */
    BB_RECOVERY_POINT_IN_TIME, /* the state ends before the first damage, of what was synced too.
                                  Logs that are cut by that are kept as NUMBER.wal.damaged */
    BB_RECOVERY_SALVAGE, /* what BB_RECOVERY_SYNCED refuses is repaired (bb_db_repair), with all that
                            can be read after the damage too, and opened */
};

/* What an opening found and did; struct bb_db_options names where it goes. */
struct bb_db_recovery {
    uint64_t logs;           /* that were read */
    uint64_t records;        /* batches of them that can be read, up to the first damage */
    uint64_t sequence_first; /* of these; 0: there are none */
    uint64_t sequence_last;
    uint64_t dropped_bytes;          /* of logs: no part of the store any more */
    uint64_t dropped_logs;           /* files that they are of */
    uint64_t dropped_records;        /* whole batches among them, after damage or a gap */
    uint64_t dropped_sequence_first; /* of these; 0: there are none */
    uint64_t dropped_sequence_last;
    uint64_t dropped_manifest_bytes; /* of a change that was never finished */
    uint64_t files_set_aside;        /* that have the suffix ".lost" or ".damaged" now */
    bool is_damaged;           /* some of what was dropped, set aside or repaired had been synced,
                                        or may have been */
    bool is_repaired;          /* by BB_RECOVERY_SALVAGE */
    bool deletions_may_return; /* as a repair reports it */
    uint64_t reserved[8];
};

/* Zero means default, everywhere. docs/options.md says which options are kept in the store. */
struct bb_db_options {
    size_t struct_size; /* sizeof of it, or 0: bb/base.h */

    bool create_if_missing;
    bool error_if_exists;
    const struct bb_comparator *comparator; /* kept by name; borrowed while the store is open */
    struct bb_file_system *file_system;     /* NULL: the operating system's */

    /* Memory. */
    uint64_t write_buffer_bytes; /* default 64 MiB; 64 KiB ... 16 GiB */
    uint64_t cache_bytes;        /* block cache, default 64 MiB */
    bool cache_off;              /* every block request is a read */
    enum bb_index_residency index_residency;
    uint32_t open_tables_max; /* open table files at a time, default 1000, at least 16; but no more
                                 than half of what the process may open when the store is opened */

    /* Filters: the promise, and how it is kept. At most one of the first three; all 0:
     * target_wasted_reads = 0.01. */
    double target_wasted_reads; /* wasted block requests per look-up of an absent key, whole store;
                                   1e-6 ... 1. With absent_share or level_read_costs below: wasted
                                   requests, each times its cost, per look-up of any key */
    uint64_t filter_budget_bytes; /* or: bytes for all filters, which are not exceeded by more than
                                     5 % while nothing is due; the target follows from it */
    double filter_bits_per_key;   /* or: so many bits for each key in tables, as other stores' "10
                                     bits per key", 0.01 ... 100: a budget that grows with the store,
                                     kept as filter_budget_bytes is, and spread over the levels so
                                     that the least is wasted. A key counts once for each table that
                                     has it */
    enum bb_filter_kind filter_kind; /* default ribbon. With none, none of the three above is given;
                                        nothing is promised then, and with a comparator that equates
                                        different bytes: target_wasted_reads of the statistics is 0 */
    uint32_t filter_granularity;     /* blocks per filter, default 1 */
    const struct bb_hash_secret
        *secret; /* for a new store; NULL: random. An existing store has its own. */

    /* Tables. */
    uint32_t block_size_bytes;              /* default 4096 */
    uint32_t restart_interval;              /* default 16 */
    enum bb_compression compression;        /* of level 1 and below; default LZ4 */
    enum bb_compression compression_level0; /* default: that of the others */
    uint64_t table_size_bytes; /* compaction cuts its output here; default 1/8 of level 1, at most 8
                                  MiB */

    /* Compaction. compaction_style is below. */
    uint32_t level0_run_count_compact; /* level 0 is merged from so many runs on, default 4; while
                                          flushes follow each other: level0_run_count_busy, below */
    uint32_t level0_run_count_stop;    /* default 36: writes wait */
    uint64_t level1_size_bytes;        /* default 4 write buffers */
    uint32_t level_size_ratio;         /* default 10; with tiers 4: also the number of runs at which
                                          a level is merged */
    /* The most that flushes, compactions and ingests together write, per second; 0: no limit. A
     * flush goes first: the others get what it leaves, and a quarter at least. Slower than the
     * writes come, the limit makes them
     * stall. At least 64 KiB. In deterministic mode the caller waits. */
    uint64_t background_bytes_per_second;

    /* Durability. */
    bool wal_off;              /* no log: writes since the last flush are lost with the process, and
                                  a write with sync is BB_INVALID; bb_db_flush makes durable */
    uint32_t wal_buffer_bytes; /* 0: each commit is one write(2). Else commits gather in the process
                                  up to so many bytes, and the death of the process loses them */
    enum bb_recovery recovery; /* what an opening does with damage at the end of the logs */

    /* Work on the caller's thread (flush and compaction inside put), so that a seed fixes the whole
     * execution. */
    bool deterministic;

    /* Told of what happens in the background, and of stalls, by the thread that it happens in: the
     * flushing and the compacting one, which may call at the same time, a writer that stalls, the
     * opening one. No lock is held, so that it may ask for statistics; what it waits for waits too.
     */
    void (*on_event)(void *context, const struct bb_event *event);
    void *event_context;

    /* Filters, what more may be known of the look-ups. They spread the promise, or the budget, over
     * the levels so that the memory, or the waste, is least; a level may end up without filters. */
    double absent_share; /* part of the look-ups that are for absent keys, above 0 ... 1; default 1.
                            The others find their key, in proportion to the data, and waste nothing
                            in its level and below it */
    double level_read_costs[BB_LEVEL_COUNT]; /* relative cost of a wasted request by level, 1e-6 ...
                                                1e6; default 1 */

    /* Filters, how they are stored (bb/table.h). */
    double
        summary_bits; /* bits per key in the table summaries of the largest run, 1 ... 24, default
                         5; smaller runs put more of theirs into it. Or BB_SUMMARY_NONE,
                         BB_SUMMARY_ALL. Kinds other than ribbon have a summary only on request */
    /* Where summaries are while the store is open:
     *   BB_SUMMARY_PINNED  in memory beside the cache (default): summary_bits / 8 bytes per key of
     *                      the tables that were asked, see table_memory_bytes
     *   BB_SUMMARY_CACHED  in the block cache, which must have room for them all: else absent keys
     *                      read more than without summaries. Without a cache: pinned
     *   BB_SUMMARY_UNUSED  not asked, and none are written: summary_bits is BB_SUMMARY_NONE. Tables
     *                      that have one keep what their blocks' filters can: the statistics count
     *                      these alone, and compactions restore the promise as they rewrite them */
    enum bb_summary_residency summary_residency;
    double filter_slack; /* space given for time when filters are built: bb/filter.h */

    bool
        read_only; /* without the lock and beside the writer: see "Reading beside the writer" below.
                       Excludes create_if_missing and error_if_exists */

    enum bb_compaction_style compaction_style; /* default leveled; see level_size_ratio */

    /* How long a deletion, of a key or a range, may stay in tables, in operations of the store:
     * counted from its own sequence, so that the same calls bring about the same work. An older one is
     * compacted until nothing is left that it hides, and then gone; and versions that a snapshot
     * held go once it is released. 0 (default): no bound, they go as compactions come by.
     * Looked at whenever a flush or a compaction has ended or the oldest snapshot was released, after all
     * other work: so bb_db_flush and bb_db_wait_idle leave none that is older, but for those that are
     * newer than the oldest snapshot. In deterministic mode a released snapshot alone moves nothing:
     * the next flush or bb_db_wait_idle does.
     * Cost: at worst, with deletions everywhere, all data is written once per level in so many
     * operations: less than the keys in the store is not worth it. */
    uint64_t tombstone_age_max;

    /* While flushes follow each other, level 0 gathers so many runs before it is merged: each merge
     * rewrites what level 1 has, so that fewer and larger ones write less, and absent keys and
     * iterators meet more runs meanwhile. Once no flush has ended for 5 seconds, or bb_db_wait_idle
     * waits, level0_run_count_compact counts. Less counts as that; below level0_run_count_stop. Default 3
     * times level0_run_count_compact, as far as that is below the stop: 12. In deterministic mode
     * only bb_db_wait_idle makes it quiet. */
    uint32_t level0_run_count_busy;

    /* Filled in by bb_db_open, also where it fails: what can be read then. NULL: nobody wants to know.
     * Borrowed for the call. With a struct_size of 0 it is not looked at, and read_only leaves it 0. */
    struct bb_db_recovery *recovery_report;

    /* Checks of filters in use: one of so many look-ups, drawn, reads the blocks that filters tell it
     * not to read. One that has the key all the same is a contradiction: the look-up returns what the
     * block says, it is counted (shadow_contradictions) and told (BB_EVENT_DAMAGE), and none of that
     * table's filters is asked again before the store is opened anew. 0 (default): none; 1: all. A
     * block that cannot be read fails the look-up. Of bb_db_get_many one of so many calls. */
    uint32_t shadow_verify_one_in;
};

struct bb_write_options {
    size_t struct_size; /* sizeof of it, or 0: bb/base.h */
    bool sync;          /* durable against loss of power before the call returns. BB_INVALID where
                           the store was opened with wal_off: there is no log to be synced */
};

struct bb_get_options {
    size_t struct_size;                 /* sizeof of it, or 0: bb/base.h */
    const struct bb_snapshot *snapshot; /* NULL: the newest state */
    struct bb_read_stats *stats; /* added to, when not NULL; by an iterator when it is destroyed */
    /* As in struct bb_read_options. */
    bool ignore_filters;
    bool account_avoided;
    bool bypass_fill;
};

/* Opens or creates the store in a directory, which may be reached over symbolic links (SECURITY.md).
 * options are copied.
 *     BB_NOT_FOUND     there is no store, and it may not be created
 *     BB_EXISTS        there is one, open or not, and error_if_exists
 *     BB_BUSY          it is open, or being made; the message names the holder of the lock
 *     BB_INVALID       an option out of range, or another comparator than the store's: both are named
 *     BB_CORRUPT       damage, or files that look like a store's without one: nothing is created over
 *                      them. bb_db_repair is the way on
 *     BB_UNSUPPORTED   written by a newer version
 * Where the disk has no space for what recovery writes, a store that is there opens all the same:
 * it is read as it was found, and every call that writes or works tries to carry the recovery out,
 * which may take as long as an opening, and is BB_NO_SPACE until that succeeds. on_event is told. */
BB_API BB_MUST_CHECK enum bb_status
bb_db_open(const char *directory, const struct bb_db_options *options, struct bb_db **ret_db);
/* Reading beside the writer: with options.read_only a store is opened whether or not another process,
 * or this one, has it open for writing. No lock is taken, and nothing in the directory is created,
 * changed or removed; permission to read is enough.
 *
 *     What is seen   One state, of the moment of opening: a front part of the writer's commits,
 *                    whole batches, without a hole. A write that was given to the operating system
 *                    when the opening began is in it (what wal_buffer_bytes holds back and, with
 *                    wal_off, what is not flushed is not). A write that returned an error to its
 *                    writer may be seen, and be gone in a later state. A record that is only half
 *                    written is the end of the log, and no damage
 *     Memory         What the logs hold is kept in memory besides the cache: at most about three of
 *                    the writer's write buffers. Every table is opened, for its descriptor and root
 *     Files          The writer may remove a table at any time. A file that is open keeps its
 *                    bytes; so as long as the store has at most open_tables_max tables, every get
 *                    and iterator goes on for as long as it likes. With more, a table whose
 *                    descriptor had to be given up may be gone: the call fails with BB_BUSY, and
 *                    bb_db_refresh helps. It never takes such a table for damage, or a key for absent
 *     Refused        Whatever writes or works: put, delete, write, flush, compact, ingest,
 *                    checkpoint: BB_READ_ONLY
 *     Opening        BB_BUSY: the store changed under each of 100 attempts
 *
 * The directory must be on a file system that shows a process the writes of the other one in order:
 * local ones do, NFS does not. */

/* A store that is read beside its writer now shows the newest state: as a new opening would, but
 * tables that were open stay so, and of a log only what came since is added. Iterators stay with the
 * state that they began in, whose tables stay open as long. BB_BUSY: snapshots are open; or as in
 * opening. After a failure the state is the one before. A store that is open for writing always
 * shows the newest state: BB_OK. May be called from any thread, beside reads. */
BB_API BB_MUST_CHECK enum bb_status bb_db_refresh(struct bb_db *db);

/* Waits for running background work, and flushes when more than 1 MiB would have to be replayed at the
 * next opening. Iterators, snapshots or pinned values still
 * open: BB_BUSY, and the store stays open. BB_OK in a child made by fork: see "Processes" above. Else
 * BB_OK or the failure that stopped writing; BB_IO also where the store's log, CURRENT or manifest was
 * removed under it, and what was acknowledged cannot be brought to a table that is named. NULL is
 * allowed.
 * Close also waits for calls of other threads that write or wait for background work: writes that
 * were in line before it are done, those that come while it waits are refused with BB_BUSY, and so
 * are flushes and those who wait for a compaction, which is given up, and ingests. When it returns there is no
 * store any more: no call may begin then, and none that reads may still be under way. */
BB_API BB_MUST_CHECK enum bb_status bb_db_close(struct bb_db *db);

BB_API BB_MUST_CHECK enum bb_status bb_db_put(struct bb_db *db,
                                              const struct bb_write_options *options,
                                              struct bb_bytes key, struct bb_bytes value);
/* Deleting what is not there is no error. */
BB_API BB_MUST_CHECK enum bb_status
bb_db_delete(struct bb_db *db, const struct bb_write_options *options, struct bb_bytes key);
/* Deletes all keys from low, inclusive, to high, exclusive, in the store's order: one operation that
 * costs about as much as one delete, however many keys there are. Their space is given back as
 * compactions come by (at once: bb_db_compact_range). A range whose high is not above its low is
 * empty: nothing is deleted, and that is no error. Snapshots taken before still show the keys. */
BB_API BB_MUST_CHECK enum bb_status bb_db_delete_range(struct bb_db *db,
                                                       const struct bb_write_options *options,
                                                       struct bb_bytes low, struct bb_bytes high);
/* All of the batch or nothing; later operations of a batch win over earlier ones on the same key,
 * also where one of them deletes a range that the key lies in.
 * The batch stays the caller's and is unchanged. */
BB_API BB_MUST_CHECK enum bb_status
bb_db_write(struct bb_db *db, const struct bb_write_options *options, const struct bb_batch *batch);
/* BB_OK with a copy of the value in *value (replaced), or BB_NOT_FOUND. value may be NULL: only the
 * status. */
BB_API BB_MUST_CHECK enum bb_status bb_db_get(struct bb_db *db,
                                              const struct bb_get_options *options,
                                              struct bb_bytes key, struct bb_buf *value);

/* The same without a copy: BB_OK with the value in *ret_value, where it stays readable and unchanged
 * until bb_pinned_release, whatever is written, flushed, compacted or evicted meanwhile. The
 * value is that of the moment of the call. Allocates nothing when the block is cached. Any thread
 * may release it, at any time but in parallel with bb_db_close, which is BB_BUSY while a value is
 * pinned.
 * What is kept in memory meanwhile, and nothing else (no view, no table, no file of a table):
 *   - a value in a table: its data block (block_size_bytes; a large value has one of its own). In
 *     the cache it counts as pinned and is not evicted, so that values that stay pinned for long
 *     leave that much less for others; with the cache off, or bypass_fill, it is the pin's alone;
 *   - a value that is not in a table yet: its whole memtable (write_buffer_bytes), and the open log
 *     file, whose space on disk is free only then. A value that is kept for long is better copied.
 */
BB_API BB_MUST_CHECK enum bb_status bb_db_get_pinned(struct bb_db *db,
                                                     const struct bb_get_options *options,
                                                     struct bb_bytes key,
                                                     struct bb_pinned *ret_value);
/* The same into memory of a fixed size: copies the first bytes of the value, at most capacity, into
 * buffer, and *ret_size is the size of the whole value: above capacity, the rest is missing. buffer
 * may be NULL when capacity is 0. */
BB_API BB_MUST_CHECK enum bb_status bb_db_get_into(struct bb_db *db,
                                                   const struct bb_get_options *options,
                                                   struct bb_bytes key, void *buffer,
                                                   size_t capacity, size_t *ret_size);

/* The same for many keys at once, equal to single gets of the same moment, in answers and in
 * statistics: each key is hashed once, all see one snapshot, the summaries of all tables are asked
 * before any block is read, and blocks are read in the order of the file (in groups of 1024 keys),
 * those that are not in the system's memory as many at a time as it fetches. Keys may be in any
 * order and repeat. Absent keys, 100 or more at once, take less than half the time of single gets:
 * what their summaries look at is fetched together. Stored ones in memory cost about as much as
 * single gets.
 * statuses[i] is what bb_db_get would return for keys[i], and values[i] gets the value; values may
 * be NULL. BB_OK when all are BB_OK or BB_NOT_FOUND; else the first failure, and the others are
 * answered all the same. BB_NO_MEMORY before any was answered: then it stands in all of statuses.
 */
BB_API BB_MUST_CHECK enum bb_status bb_db_get_many(struct bb_db *db,
                                                   const struct bb_get_options *options,
                                                   const struct bb_bytes *keys, size_t count,
                                                   struct bb_buf *values, enum bb_status *statuses);

BB_API BB_MUST_CHECK enum bb_status bb_batch_create(struct bb_batch **ret_batch);
/* NULL is allowed. */
BB_API void bb_batch_destroy(struct bb_batch *batch);
/* Empties it; the memory stays for the next operations. */
BB_API void bb_batch_reset(struct bb_batch *batch);
/* Key and value are copied. */
BB_API BB_MUST_CHECK enum bb_status bb_batch_put(struct bb_batch *batch, struct bb_bytes key,
                                                 struct bb_bytes value);
BB_API BB_MUST_CHECK enum bb_status bb_batch_delete(struct bb_batch *batch, struct bb_bytes key);
/* As bb_db_delete_range. */
BB_API BB_MUST_CHECK enum bb_status
bb_batch_delete_range(struct bb_batch *batch, struct bb_bytes low, struct bb_bytes high);
/* Operations, and their bytes as they come to stand in the log. */
BB_API size_t bb_batch_count(const struct bb_batch *batch);
BB_API size_t bb_batch_size_bytes(const struct bb_batch *batch);
/* Calls visit for each operation in order, until it returns something else than BB_OK. Of a
 * BB_ENTRY_DELETE_RANGE key is low, and value is high. */
BB_API BB_MUST_CHECK enum bb_status
bb_batch_iterate(const struct bb_batch *batch,
                 enum bb_status (*visit)(void *context, enum bb_entry_kind kind,
                                         struct bb_bytes key, struct bb_bytes value),
                 void *context);

/* The state of now, kept readable until released; releasing NULL is allowed. */
BB_API BB_MUST_CHECK enum bb_status bb_snapshot_create(struct bb_db *db,
                                                       struct bb_snapshot **ret_snapshot);
BB_API void bb_snapshot_release(struct bb_db *db, struct bb_snapshot *snapshot);

/* Iterator over the keys that are present in a snapshot (or the state at creation), in order, both
 * directions. key and value are borrowed until the iterator moves. */
BB_API BB_MUST_CHECK enum bb_status bb_db_iter_create(struct bb_db *db,
                                                      const struct bb_get_options *options,
                                                      struct bb_db_iter **ret_iter);
/* The same over the keys of a range alone: to the caller there is nothing else in the store. The
 * first and the last key are those of the range, and seeks to keys in front of it go to its first.
 * Neither tables nor blocks that lie outside are read, nor deleted keys there passed over. Of a
 * range whose high is not above its low nothing is shown. range: copied; NULL: everything. */
BB_API BB_MUST_CHECK enum bb_status bb_db_iter_create_range(struct bb_db *db,
                                                            const struct bb_get_options *options,
                                                            const struct bb_key_range *range,
                                                            struct bb_db_iter **ret_iter);
/* The same over the keys that begin with these bytes. BB_INVALID in a store with a comparator, whose
 * order need not keep such keys together: there bounds say what is meant. */
BB_API BB_MUST_CHECK enum bb_status bb_db_iter_create_prefix(struct bb_db *db,
                                                             const struct bb_get_options *options,
                                                             struct bb_bytes prefix,
                                                             struct bb_db_iter **ret_iter);
/* NULL is allowed. */
BB_API void bb_db_iter_destroy(struct bb_db_iter *iter);
BB_API bool bb_db_iter_valid(const struct bb_db_iter *iter);
BB_API void bb_db_iter_seek_first(struct bb_db_iter *iter);
BB_API void bb_db_iter_seek_last(struct bb_db_iter *iter);
/* To the first key at or after key. A key that is too long: to none, and status is BB_TOO_LARGE until
 * the next seek. */
BB_API void bb_db_iter_seek(struct bb_db_iter *iter, struct bb_bytes key);
/* REQUIRES: valid. */
BB_API void bb_db_iter_next(struct bb_db_iter *iter);
BB_API void bb_db_iter_prev(struct bb_db_iter *iter);
BB_API struct bb_bytes bb_db_iter_key(const struct bb_db_iter *iter);
BB_API struct bb_bytes bb_db_iter_value(const struct bb_db_iter *iter);
/* BB_OK unless reading failed; look at it whenever valid turns false. */
BB_API BB_MUST_CHECK enum bb_status bb_db_iter_status(const struct bb_db_iter *iter);

/* Writes everything in memory to tables, durably. */
BB_API BB_MUST_CHECK enum bb_status bb_db_flush(struct bb_db *db);
/* Flushes, and merges all runs into one (the whole key range). */
BB_API BB_MUST_CHECK enum bb_status bb_db_compact(struct bb_db *db);
/* Flushes, and merges what lies between low, inclusive, and high, exclusive, level by level down to
 * the deepest one that holds keys of the range: what was overwritten or deleted there before the
 * call is gone, as far as no snapshot sees it. NULL: open to that side. Tables are merged whole,
 * so that neighbours of the range may come along. Works in small pieces, in turn with the
 * compactions that are due and after flushes: neither waits long for the other, and writes go on.
 * The promise on filter rates is kept. A range whose high is not above its low is empty. */
BB_API BB_MUST_CHECK enum bb_status
bb_db_compact_range(struct bb_db *db, const struct bb_bytes *low, const struct bb_bytes *high);
/* Waits until no flush or compaction is due, and makes level 0 count as quiet (see
 * level0_run_count_busy); beside a steady writer that may take as long as it writes. */
BB_API BB_MUST_CHECK enum bb_status bb_db_wait_idle(struct bb_db *db);

/* Statistics since open; all 0 in a child made by fork. Reading them disturbs nobody. */
BB_API void bb_db_stats(struct bb_db *db, struct bb_db_stats *ret_stats);
/* Drops unpinned blocks from the block cache: for measurements. */
BB_API void bb_db_clear_cache(struct bb_db *db);

struct bb_range_size {
    uint64_t file_bytes;     /* of tables: data, filters, index; what is overwritten or deleted and
                                not compacted yet counts too */
    uint64_t raw_bytes;      /* keys and values of the same, uncompressed */
    uint64_t memtable_bytes; /* keys and values that are not in tables yet */
    uint64_t reserved[1];
};
/* About how much space ranges take. Reads no data block: whole tables are known exactly, and of one
 * in which a range begins or ends an index page is looked at. So file_bytes is off by at most one
 * data block and one index page for each end of the range and each run (at most one table per level
 * below level 0, and each of level 0), whatever the range's size; raw_bytes in proportion, as if
 * all blocks of a table were compressed alike. memtable_bytes comes from the way through the tree:
 * some percent of the memtable. Neighbouring ranges add up. A range whose high is not above its low
 * is empty. ret_sizes[count]. */
BB_API BB_MUST_CHECK enum bb_status bb_db_approximate_sizes(struct bb_db *db,
                                                            const struct bb_key_range *ranges,
                                                            size_t count,
                                                            struct bb_range_size *ret_sizes);

/* Paths of the live tables, newest first within a level. Owned: bb_db_table_list_deinit. */
struct bb_db_table {
    int level;
    char *path;
    uint64_t file_size;
    uint64_t entry_count;
    double filter_rate;
    uint64_t reserved[3];
};
struct bb_db_table_list {
    struct bb_db_table *tables;
    size_t count;
};
BB_API BB_MUST_CHECK enum bb_status bb_db_tables(struct bb_db *db,
                                                 struct bb_db_table_list *ret_list);
BB_API void bb_db_table_list_deinit(struct bb_db_table_list *list);

/* The store's secret, for computing key hashes outside. */
BB_API void bb_db_secret(const struct bb_db *db, struct bb_hash_secret *ret_secret);

#ifdef __cplusplus
}
#endif
#endif
