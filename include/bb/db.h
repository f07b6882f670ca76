/* The embedded key-value store.
 *
 *     struct bb_db_options options = {.create_if_missing = true,
 *                                     .filter_amount = {BB_FILTER_WASTED_READS, 0.01}};
 *     struct bb_db *db = NULL;
 *     if (bb_db_open("/var/lib/thing", &options, &db) != BB_OK)
 *         fprintf(stderr, "%s\n", bb_error_last()->message);
 *     status = bb_db_put(db, NULL, bb_text("bloom"), bb_text("block"));
 *     status = bb_db_get(db, NULL, bb_text("bloom"), &buffer);  // BB_OK, BB_NOT_FOUND or an error
 *     status = bb_db_close(db);
 *
 * Compilers warn if a status is ignored. Check the status of bb_db_close too: BB_BUSY means that
 * the store is still open, and any other failure that earlier writes may be lost.
 *
 * A key is 0 ... 64 KiB (BB_KEY_SIZE_MAX) of any bytes, a value 0 ... 1 GiB (BB_VALUE_SIZE_MAX).
 * Keys are ordered bytewise unless a comparator is set. Every call, also a read, fails with
 * BB_TOO_LARGE if it is given a longer key: no such key can be stored, so the lookup is a bug of
 * the caller. The same is true of range bounds and prefixes, even if the range is empty.
 *
 * Durability. After BB_OK a write survives a crash of the process, because each commit is passed to
 * the operating system. It survives a power failure after the next synced write, flush or close.
 * With sync = true it does so before the call returns. docs/durability.md describes the protocol.
 *
 * Errors. Declarations list the errors specific to a call. In addition, any call may fail with
 * BB_NO_MEMORY. A call that reads may fail with BB_IO or BB_CORRUPT; the message names the file. A
 * call that writes to files may fail with
 *
 *     BB_TOO_LARGE   a value or a batch (4 GiB) is too large
 *     BB_NO_SPACE    the disk is full. Reads continue, and writes too when there is space again
 *     BB_IO          writing or syncing failed
 *     BB_BUSY        the store is being closed
 *     BB_READ_ONLY   the store is read-only, or an earlier failure stopped writing. The message
 *                    names the failure; reopen the store
 *
 * Processes. A bb_db belongs to the process that opened it. In a child made by fork every call on
 * it fails immediately with BB_INVALID, and the message explains that the child must open the store
 * again. Only close, destroy and release work there. They release the child's memory and
 * descriptors, except descriptors in use by threads of the parent at the fork, and do not touch the
 * store; bb_db_close returns BB_OK. Pinned values stay readable until they are released. So a
 * daemon should fork before it opens its store. Other processes can open the store once the process
 * that opened it has closed it or exited, even if its children are still running. See
 * docs/durability.md, "Fork".
 *
 * Threads. Any number of threads may use a bb_db concurrently, but no call may start after
 * bb_db_close starts. Batches and iterators are used by one thread at a time. Snapshots may be
 * shared. For NULL the rules of bb/base.h apply. */
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

/* Events reported to on_event, by the thread in which they happen. It holds no lock. */
enum bb_event_kind {
    /* A memtable became a table. Sets level 0, nanoseconds, bytes_written. */
    BB_EVENT_FLUSH,
    /* Tables were merged. Sets level, nanoseconds since the start, bytes_read, bytes_written.
     * Moving a table without reading it is not reported. */
    BB_EVENT_COMPACTION,
    /* A write waited. Sets stall, nanoseconds. */
    BB_EVENT_STALL,
    /* Opening dropped or ignored something. Sets message. */
    BB_EVENT_RECOVERY,
    /* Background work failed. Sets message. The work is retried if that may help. */
    BB_EVENT_ERROR,
    /* bb_db_scrub, scrub_interval_seconds or shadow_verify_one_in found damage. Sets message, which
     * names the file and, for damaged bytes, the offset. */
    BB_EVENT_DAMAGE,
};

/* Fields that the kind does not set are 0, level is -1, and message is empty. */
struct bb_event {
    enum bb_event_kind kind;
    enum bb_stall stall;
    int level; /* of the output, or -1 */
    uint64_t nanoseconds;
    uint64_t bytes_read;
    uint64_t bytes_written;
    const char *message; /* borrowed for the call; may be empty, never NULL */
};

/* How opening handles logs or a manifest whose end is damaged or missing. A log that ends with a
 * complete record, because the process crashed between two writes, is intact in every mode.
 * docs/durability.md, "Recovery modes", compares the modes with other stores. */
enum bb_recovery {
    /* Default: drop bytes that were never synced, as after a power failure. Damage of synced data
     * is BB_CORRUPT. */
    BB_RECOVERY_SYNCED,
    /* Every damaged end is BB_CORRUPT, synced or not. The message tells how much is readable. */
    BB_RECOVERY_STRICT,
    /* The state ends before the first damage, also of synced data. A log that is truncated there is
     * kept as NUMBER.wal.damaged. */
    BB_RECOVERY_POINT_IN_TIME,
    /* Repair (bb_db_repair) a store that BB_RECOVERY_SYNCED would reject, using readable data after
     * the damage too, and open it. */
    BB_RECOVERY_SALVAGE,
};

/* Report of an opening. struct bb_db_options has the pointer to it. */
struct bb_db_recovery {
    uint64_t logs;           /* logs read */
    uint64_t records;        /* readable batches, up to the first damage */
    uint64_t sequence_first; /* of these; 0: no records */
    uint64_t sequence_last;
    uint64_t dropped_bytes;          /* bytes of logs that are no longer part of the store */
    uint64_t dropped_logs;           /* files that contained them */
    uint64_t dropped_records;        /* complete batches among them, after damage or a gap */
    uint64_t dropped_sequence_first; /* of these; 0: no records */
    uint64_t dropped_sequence_last;
    uint64_t dropped_manifest_bytes; /* bytes of an unfinished change */
    uint64_t files_set_aside;        /* renamed with the suffix ".lost" or ".damaged" */
    /* Some of the dropped, renamed or repaired data was synced, or may have been. */
    bool is_damaged;
    bool is_repaired;          /* by BB_RECOVERY_SALVAGE */
    bool deletions_may_return; /* as in struct bb_db_repair_report */
    /* Logs that end in zeros, which no write of the store leaves. Records that the zeros may have
     * replaced are lost. Their number is unknown, so dropped_bytes and dropped_logs do not count
     * them. */
    uint64_t zeroed_logs;
};

/* How much filter a store has: a target for wasted reads, or a budget of memory. */
enum bb_filter_unit {
    /* Target: wasted block requests per lookup of an absent key, over the whole store, 1e-6 ... 1;
     * 0 means 0.01. With absent_share: per lookup of any key. */
    BB_FILTER_WASTED_READS = 0,
    /* Budget: total bytes of all filters, 1 ... 2^50, exceeded by at most 5 % when no compaction is
     * due. The target follows from it. */
    BB_FILTER_BYTES = 1,
    /* Budget: bits for each key in tables, like the "10 bits per key" of other stores, 0.01 ...
     * 100. It grows with the store and is kept like BB_FILTER_BYTES. The bits are distributed over
     * the levels so that wasted reads are minimal. A key counts once for each table that contains
     * it. */
    BB_FILTER_BITS_PER_KEY = 2,
};

/* For example {BB_FILTER_WASTED_READS, 0.001}, {BB_FILTER_BYTES, 64 << 20} or
 * {BB_FILTER_BITS_PER_KEY, 10}. */
struct bb_filter_amount {
    enum bb_filter_unit unit;
    double value;
};

/* Zero means the default in every field. Most programs need only the everyday options.
 *
 * Stored options: filter_amount, write_buffer_bytes, block_size_bytes, compression, and of the
 * expert options those of filters (without table_filter_residency) and of tables and compaction. An
 * opening for writing stores each of them that is not 0, durably before it returns. A later opening
 * uses the stored value of each option that it leaves at 0. So only an option that is set changes
 * the shape of the data. To return to a default, set the option to the default's value; for
 * defaults of 0 set filter_slack to 1e-9 and tombstone_age_max to 10^18. docs/options.md ranks all
 * options and describes the effect of a change. */
struct bb_db_options {
    /* ---- everyday options ---- */

    bool create_if_missing;
    bool error_if_exists;
    /* Open without the lock, concurrently with a writer: see "Read-only stores" below. Excludes
     * create_if_missing and error_if_exists. */
    bool read_only;
    const struct bb_comparator *comparator; /* recorded by name; borrowed while the store is open */

    struct bb_filter_amount filter_amount; /* default: 0.01 wasted reads */
    uint64_t write_buffer_bytes;           /* default 64 MiB; 64 KiB ... 16 GiB */
    uint64_t cache_bytes;                  /* block cache, default 64 MiB; 64 KiB ... 1 TiB */
    uint32_t block_size_bytes;             /* default 4096; 64 ... 16 MiB */
    enum bb_compression compression;       /* default LZ4 */

    /* Maximum combined write rate of flushes, compactions and ingests, in bytes per second; 0: no
     * limit, otherwise at least 64 KiB. Flushes have priority; the others get the rest and at least
     * a quarter. If the limit is below the rate of writes, writes stall. In deterministic mode the
     * calling thread waits. */
    uint64_t background_bytes_per_second;

    /* Receives background events and stalls in the thread in which they happen: the flushing and
     * the compacting thread, which may call concurrently, a stalled writer, or the opening thread.
     * No lock is held, so the callback may read statistics. The callback blocks its calling
     * thread. */
    void (*on_event)(void *context, const struct bb_event *event);
    void *event_context;

    /* ---- expert: memory ---- */

    bool cache_off; /* every block request reads the file */
    enum bb_index_residency index_residency;
    /* Maximum number of open table files, 16 ... 1,000,000; default 1000. Limited to half of the
     * process's descriptor limit at the time of opening. */
    uint32_t open_tables_max;

    /* ---- expert: filters ---- */

    /* Default ribbon. With BB_FILTER_NONE filter_amount may not be set. With BB_FILTER_NONE, or
     * with a comparator that equates different bytes, there is no target: target_wasted_reads of
     * the statistics is 0. */
    enum bb_filter_kind filter_kind;
    uint32_t filter_granularity; /* blocks per filter, default 1 */
    /* Share of lookups that are for absent keys, above 0 ... 1; default 1. The other lookups are
     * assumed to find their keys in the levels in proportion to the levels' data, and waste no
     * reads in the level of their key and deeper. The target (or the budget) is divided over the
     * levels accordingly, so that memory (or waste) is minimal. A level may get no filters. */
    double absent_share;
    /* Bits per key in the table filters of the largest run, 1 ... 24, default 5. Smaller runs put
     * more of their bits there. Or BB_TABLE_FILTER_NONE, BB_TABLE_FILTER_ALL (bb/table.h). Kinds
     * other than ribbon have a table filter only if this is set. */
    double table_filter_bits;
    /* Where table filters are kept while the store is open:
     *
     *   BB_TABLE_FILTER_PINNED  in memory, outside the cache (default): table_filter_bits / 8 bytes
     *                           per key of the tables that were probed, see table_memory_bytes
     *   BB_TABLE_FILTER_CACHED  in the block cache, which must have space for all of them.
     *                           Otherwise absent keys read more than without table filters.
     *                           Without a cache: pinned
     *   BB_TABLE_FILTER_UNUSED  not probed, and not written to new tables: table_filter_bits is
     *                           BB_TABLE_FILTER_NONE. Older tables have only the rate of their
     *                           block filters. The statistics count only these filters, and
     *                           compactions restore the target as they rewrite the tables */
    enum bb_table_filter_residency table_filter_residency;
    double filter_slack; /* extra space that shortens the build of ribbons: bb/filter.h, slack */

    /* ---- expert: tables and compaction ---- */

    uint32_t restart_interval; /* entries between full keys, default 16; 1 ... 1024 */
    /* Compaction splits its output here, 4 KiB ... 64 GiB; default 1/8 of level 1, up to 8 MiB. */
    uint64_t table_size_bytes;
    enum bb_compaction_style compaction_style; /* default leveled; see level_size_ratio */
    /* Number of runs at which level 0 is merged, 1 ... 1000; default 4. While flushes follow each
     * other, level0_run_count_busy applies. */
    uint32_t level0_run_count_compact;
    /* Number of runs at which level 0 is merged while flushes follow each other. Each merge
     * rewrites the data of level 1, so fewer and larger merges write less, but absent keys and
     * iterators search more runs. If no flush has ended for 5 seconds, or if bb_db_wait_idle waits,
     * level0_run_count_compact applies. In deterministic mode only bb_db_wait_idle ends the busy
     * state. It must be below level0_run_count_stop. A value below level0_run_count_compact is
     * raised to it. Default 12: 3 times level0_run_count_compact, limited to below the stop. */
    uint32_t level0_run_count_busy;
    /* Runs at which writes wait: above level0_run_count_compact, at most 10,000; default 36. */
    uint32_t level0_run_count_stop;
    uint64_t level1_size_bytes; /* 4 KiB ... 1 TiB; default 4 write buffers */
    /* Size of a level divided by the size of the level above it, 2 ... 100; default 10, with tiers
     * 4. With tiers this is also the number of runs at which a level is merged. */
    uint32_t level_size_ratio;
    /* Maximum age of a deletion, of a key or a range, in operations of the store, counted from the
     * sequence of the deletion. So the same calls cause the same work. An older deletion is
     * compacted until it hides no version any more, and is then removed. A version held only by a
     * snapshot is removed after the snapshot is released. 0 (default): no limit; normal compactions
     * remove deletions.
     *
     * The store checks after each flush and compaction, and after the release of the oldest
     * snapshot, when no other work is due. So after bb_db_flush and bb_db_wait_idle no older
     * deletion exists, except deletions newer than the oldest snapshot. In deterministic mode the
     * release of a snapshot starts no work; the next flush or bb_db_wait_idle does.
     * Cost: at worst, with deletions everywhere, all data is written once per level every
     * tombstone_age_max operations. So choose at least the number of keys. */
    uint64_t tombstone_age_max;
    bool defer_index_files; /* by compactions too: bb/select.h */

    /* ---- expert: durability and recovery ---- */

    /* No log. A crash of the process loses writes since the last flush. A write with sync is
     * BB_INVALID; bb_db_flush makes writes durable. */
    bool wal_off;
    /* 0 (default): each commit is one write(2). Otherwise the process buffers up to this many bytes
     * of commits, at most 1 GiB, and a crash of the process loses them. */
    uint32_t wal_buffer_bytes;
    enum bb_recovery recovery; /* handling of damage at the end of the logs */
    /* Filled in by bb_db_open, also if it fails: it then tells how much is readable. bb_db_verify
     * fills in the losses of an opening with the same `recovery`, without a repair. NULL: no
     * report. Borrowed for the call. All 0 with read_only. */
    struct bb_db_recovery *recovery_report;

    /* ---- expert: verification ---- */

    /* Verifies filters in use: one of this many lookups, chosen at random, reads the blocks that
     * the filters ruled out. If such a block has the key, the filter is wrong. The lookup then
     * returns the block's result, the contradiction is counted (shadow_contradictions) and reported
     * (BB_EVENT_DAMAGE), and the filters of this table are not used until the store is reopened. 0
     * (default): no lookups; 1: all. A block that cannot be read fails the lookup. For
     * bb_db_get_many: one of this many calls. */
    uint32_t shadow_verify_one_in;
    /* A background thread reads and verifies every table and index file once in this many seconds,
     * 1 ... 10^9, as bb_db_scrub does, and spreads the reads over the interval. The first interval
     * starts at open, with a table chosen at random, so that a series of processes that end earlier
     * verifies all tables too. Damage is reported (BB_EVENT_DAMAGE) and counted
     * (damaged_files), and the thread continues. 0 (default): never. BB_INVALID with read_only or
     * deterministic, which have no threads: call bb_db_scrub instead. */
    uint64_t scrub_interval_seconds;

    /* ---- expert: environment ---- */

    struct bb_file_system *file_system; /* borrowed while open; NULL: the operating system's */
    /* For a new store, copied; NULL: random. An existing store keeps its secret. */
    const struct bb_hash_secret *secret;
    /* Runs flushes and compactions on the caller's thread, inside put, so that a seed determines
     * the whole execution. */
    bool deterministic;
};

struct bb_write_options {
    /* Durable against power failure when the call returns. BB_INVALID if the store was opened with
     * wal_off, because there is no log to sync. */
    bool sync;
};

struct bb_get_options {
    const struct bb_snapshot *snapshot; /* NULL: the newest state */
    /* Borrowed; counts are added to it if not NULL, by an iterator when it is destroyed. */
    struct bb_read_stats *stats;
    /* As in struct bb_read_options. */
    bool ignore_filters;
    bool account_avoided;
    bool bypass_fill;
};

/* Opens or creates the store in a directory, which may be reached over symbolic links
 * (SECURITY.md). options are copied. The store is owned: bb_db_close.
 *
 *     BB_NOT_FOUND     the store does not exist and may not be created
 *     BB_EXISTS        it exists, open or not, and error_if_exists is set
 *     BB_BUSY          it is open or being created; the message names the holder of the lock
 *     BB_INVALID       an option is out of range, or the comparator differs from the store's
 *     BB_CORRUPT       damage, or files that look like an incomplete store: no store is created
 *                      over them. Use bb_db_repair
 *     BB_UNSUPPORTED   written by a newer version
 *
 * If the disk has no space for recovery's writes, an existing store opens nevertheless. It can be
 * read in its recovered state. Every call that writes to files first tries to complete the
 * recovery, which may take as long as an opening, and fails with BB_NO_SPACE until the recovery
 * succeeds. on_event reports this. */
BB_API BB_MUST_CHECK enum bb_status
bb_db_open(const char *directory, const struct bb_db_options *options, struct bb_db **ret_db);
/* Read-only stores: with options.read_only a store can be opened while another process, or this
 * one, has it open for writing. The call takes no lock, and creates, changes and removes nothing in
 * the directory. It needs only read permission.
 *
 *     State          The state at the time of opening: a prefix of the writer's commits, in
 *                    complete batches, without a hole. It contains all writes that were passed to
 *                    the operating system before the opening started. Commits buffered because of
 *                    wal_buffer_bytes are not among these, and neither are unflushed writes with
 *                    wal_off. A write that failed for its writer may be visible, and may be absent
 *                    from a later state. A half-written record is the end of the log, not damage
 *     Memory         The contents of the logs are kept in memory, outside the cache: at most about
 *                    three of the writer's write buffers. Every table is opened, for its descriptor
 *                    and root
 *     Files          The writer may remove a table at any time. An open file keeps its bytes. So
 *                    while the store has at most open_tables_max tables, every get and iterator
 *                    works without a time limit. With more tables, an evicted descriptor may belong
 *                    to a removed table. The call then fails with BB_BUSY; bb_db_refresh helps.
 *                    Such a table is never treated as damaged, nor its keys as absent
 *     Writing        put, delete, write, flush, compact, ingest and checkpoint fail with
 *                    BB_READ_ONLY
 *     Opening        BB_BUSY: the store changed during each of 100 attempts
 *
 * The directory must be on a file system that shows a process the writes of another one in order.
 * Local file systems do, NFS does not. */

/* Moves a read-only store to the newest state, like a new opening. Open tables stay open, and only
 * new records are read from a log. Existing iterators keep their state and its tables. BB_BUSY:
 * snapshots exist, or the store changed during each attempt, as in an opening. After a failure the
 * state is unchanged. A store open for writing always shows the newest state: BB_OK. Any thread may
 * call this, concurrently with reads. */
BB_API BB_MUST_CHECK enum bb_status bb_db_refresh(struct bb_db *db);

/* Waits for running background work, and flushes if the next opening would have to replay more than
 * 1 MiB. BB_BUSY: iterators, selections, snapshots, checkpoints or pinned values exist; the store
 * stays open. In a child made by fork: BB_OK, see "Processes" above. Otherwise BB_OK, or the
 * failure that stopped writing. BB_IO also if the store's log, CURRENT or manifest was removed
 * while the store was open, and acknowledged writes cannot be saved in a table. NULL is allowed.
 *
 * Other threads: no call may start after close starts, and no read may be running then. Close waits
 * for running calls that write or wait for background work. Writes that were queued before close
 * are completed. The other running writes, flushes, ingests and waits for a compaction fail with
 * BB_BUSY, and the compaction is abandoned. */
BB_API BB_MUST_CHECK enum bb_status bb_db_close(struct bb_db *db);

BB_API BB_MUST_CHECK enum bb_status bb_db_put(struct bb_db *db,
                                              const struct bb_write_options *options,
                                              struct bb_bytes key, struct bb_bytes value);
/* Deletes a key. An absent key is not an error. */
BB_API BB_MUST_CHECK enum bb_status
bb_db_delete(struct bb_db *db, const struct bb_write_options *options, struct bb_bytes key);
/* Deletes all keys from low, inclusive, to high, exclusive, in the store's order. This is one
 * operation that costs about as much as one delete, independent of the number of keys. Later
 * compactions reclaim the space (bb_db_compact_range does so immediately). A range with high <=
 * low is empty; the call then has no effect and is not an error. Earlier snapshots still show the
 * keys. */
BB_API BB_MUST_CHECK enum bb_status bb_db_delete_range(struct bb_db *db,
                                                       const struct bb_write_options *options,
                                                       struct bb_bytes low, struct bb_bytes high);
/* Applies all operations of the batch atomically. Later operations on a key override earlier ones,
 * including deletions of a range that contains the key. The batch is not changed. */
BB_API BB_MUST_CHECK enum bb_status
bb_db_write(struct bb_db *db, const struct bb_write_options *options, const struct bb_batch *batch);
/* BB_WOULD_WAIT if bb_db_write of this batch would now wait for background work; otherwise BB_OK,
 * or the failure that stops writing. The result is exact if no other thread writes to the store
 * between this call and bb_db_write. With `deterministic` no write counts as waiting. */
BB_API BB_MUST_CHECK enum bb_status bb_db_write_check(struct bb_db *db,
                                                      const struct bb_batch *batch);
/* BB_OK with a copy of the value in *value (replaced), or BB_NOT_FOUND. value may be NULL to get
 * only the status. */
BB_API BB_MUST_CHECK enum bb_status bb_db_get(struct bb_db *db,
                                              const struct bb_get_options *options,
                                              struct bb_bytes key, struct bb_buf *value);

/* The same for threads that must not wait for a device, such as an event loop. BB_WOULD_WAIT: the
 * lookup needs a part of a table that is not in memory, so another thread has to call bb_db_get;
 * *value is unchanged and no lookup was counted. A block in the system's page cache is read.
 * Filters in memory rule out keys without a system call. value must not be NULL. Options used:
 * snapshot, bypass_fill. */
BB_API BB_MUST_CHECK enum bb_status bb_db_get_now(struct bb_db *db,
                                                  const struct bb_get_options *options,
                                                  struct bb_bytes key, struct bb_buf *value);
/* bb_db_get without a copy. On BB_OK the value at the time of the call is in *ret_value, readable
 * and unchanged until bb_pinned_release, even if the key is overwritten, flushed, compacted or
 * evicted. Allocates nothing if the block is cached. Any thread may release the value at any time,
 * but not concurrently with bb_db_close, which fails with BB_BUSY while a value is pinned.
 *
 * The pin keeps only these in memory (no view, no table, no table file):
 *
 * - a value in a table: its data block (block_size_bytes; a large value has a separate block). In
 *   the cache the block counts as pinned and is not evicted, so values pinned for a long time leave
 *   less space for other blocks. Without a cache, or with bypass_fill, only the pin holds the
 *   block.
 * - a value not yet in a table: its whole memtable (write_buffer_bytes) and the open log file,
 *   whose disk space is freed only afterwards. Copy a value that is needed for long. */
BB_API BB_MUST_CHECK enum bb_status bb_db_get_pinned(struct bb_db *db,
                                                     const struct bb_get_options *options,
                                                     struct bb_bytes key,
                                                     struct bb_pinned *ret_value);
/* bb_db_get into memory of a fixed size. Copies up to capacity bytes of the value into buffer.
 * *ret_size is the size of the whole value; if it is above capacity, the rest was not copied.
 * buffer may be NULL if capacity is 0. */
BB_API BB_MUST_CHECK enum bb_status bb_db_get_into(struct bb_db *db,
                                                   const struct bb_get_options *options,
                                                   struct bb_bytes key, void *buffer,
                                                   size_t capacity, size_t *ret_size);

/* bb_db_get for many keys. Results and statistics equal those of single gets at the same moment.
 * Each key is hashed once, all lookups use one snapshot, the table filters of all tables are probed
 * before any block is read, and blocks are read in file order (in groups of 1024 keys). Blocks that
 * are not in the page cache are fetched in parallel, as many as the system allows. Keys may be in
 * any order and may repeat. With 100 or more absent keys a call takes less than half the time of
 * single gets, because the memory of the table filters is prefetched. Stored keys in memory cost
 * about as much as single gets.
 *
 * keys, values and statuses have count elements. statuses[i] is the result of bb_db_get for
 * keys[i], and values[i] gets the value; values may be NULL. Returns BB_OK if all statuses are
 * BB_OK or BB_NOT_FOUND. Otherwise returns the first failure; the other keys still get their
 * results. BB_NO_MEMORY before the first lookup sets all statuses. */
BB_API BB_MUST_CHECK enum bb_status bb_db_get_many(struct bb_db *db,
                                                   const struct bb_get_options *options,
                                                   const struct bb_bytes *keys, size_t count,
                                                   struct bb_buf *values, enum bb_status *statuses);

BB_API BB_MUST_CHECK enum bb_status bb_batch_create(struct bb_batch **ret_batch);
/* NULL is allowed. */
BB_API void bb_batch_destroy(struct bb_batch *batch);
/* Removes all operations; the memory is kept for reuse. */
BB_API void bb_batch_reset(struct bb_batch *batch);
/* Key and value are copied. */
BB_API BB_MUST_CHECK enum bb_status bb_batch_put(struct bb_batch *batch, struct bb_bytes key,
                                                 struct bb_bytes value);
BB_API BB_MUST_CHECK enum bb_status bb_batch_delete(struct bb_batch *batch, struct bb_bytes key);
/* As bb_db_delete_range. */
BB_API BB_MUST_CHECK enum bb_status
bb_batch_delete_range(struct bb_batch *batch, struct bb_bytes low, struct bb_bytes high);
/* Number of operations, and their size in bytes in the log. */
BB_API size_t bb_batch_count(const struct bb_batch *batch);
BB_API size_t bb_batch_size_bytes(const struct bb_batch *batch);
/* Calls visit for each operation in order until it returns a status other than BB_OK. For
 * BB_ENTRY_DELETE_RANGE, key is low and value is high. */
BB_API BB_MUST_CHECK enum bb_status
bb_batch_iterate(const struct bb_batch *batch,
                 enum bb_status (*visit)(void *context, enum bb_entry_kind kind,
                                         struct bb_bytes key, struct bb_bytes value),
                 void *context);

/* The state at creation, readable until released, before bb_db_close. NULL may be released. */
BB_API BB_MUST_CHECK enum bb_status bb_snapshot_create(struct bb_db *db,
                                                       struct bb_snapshot **ret_snapshot);
BB_API void bb_snapshot_release(struct bb_db *db, struct bb_snapshot *snapshot);

/* An iterator over the keys present in a snapshot (or in the state at creation), in order, in both
 * directions. It is not valid until the first seek. Key and value are borrowed until it moves. */
BB_API BB_MUST_CHECK enum bb_status bb_db_iter_create(struct bb_db *db,
                                                      const struct bb_get_options *options,
                                                      struct bb_db_iter **ret_iter);
/* The same, limited to the keys of a range. seek_first and seek_last move to the first and last key
 * of the range, and a seek to a key before the range moves to its first key. The iterator reads no
 * tables or blocks outside the range and skips no deleted keys there. A range with high <= low is
 * empty. range: copied; NULL: all keys. */
BB_API BB_MUST_CHECK enum bb_status bb_db_iter_create_range(struct bb_db *db,
                                                            const struct bb_get_options *options,
                                                            const struct bb_key_range *range,
                                                            struct bb_db_iter **ret_iter);
/* The same, limited to keys with a prefix. BB_INVALID in a store with a comparator, whose order
 * need not keep such keys together; use bounds there. */
BB_API BB_MUST_CHECK enum bb_status bb_db_iter_create_prefix(struct bb_db *db,
                                                             const struct bb_get_options *options,
                                                             struct bb_bytes prefix,
                                                             struct bb_db_iter **ret_iter);
/* NULL is allowed. */
BB_API void bb_db_iter_destroy(struct bb_db_iter *iter);
BB_API bool bb_db_iter_valid(const struct bb_db_iter *iter);
BB_API void bb_db_iter_seek_first(struct bb_db_iter *iter);
BB_API void bb_db_iter_seek_last(struct bb_db_iter *iter);
/* Moves to the first key at or after `key`. If `key` is too long, the iterator is not valid, and
 * its status is BB_TOO_LARGE, until the next seek. */
BB_API void bb_db_iter_seek(struct bb_db_iter *iter, struct bb_bytes key);
/* REQUIRES, as the next three calls: the iterator is valid. */
BB_API void bb_db_iter_next(struct bb_db_iter *iter);
BB_API void bb_db_iter_prev(struct bb_db_iter *iter);
BB_API struct bb_bytes bb_db_iter_key(const struct bb_db_iter *iter);
BB_API struct bb_bytes bb_db_iter_value(const struct bb_db_iter *iter);
/* BB_OK unless reading failed. Check it whenever valid returns false. */
BB_API BB_MUST_CHECK enum bb_status bb_db_iter_status(const struct bb_db_iter *iter);

/* Writes all data in memory to tables, durably. BB_EVENT_FLUSH may be reported after the return. */
BB_API BB_MUST_CHECK enum bb_status bb_db_flush(struct bb_db *db);
/* Flushes, and merges all runs into one (the whole key range). */
BB_API BB_MUST_CHECK enum bb_status bb_db_compact(struct bb_db *db);
/* Flushes, and merges the keys from low, inclusive, to high, exclusive, level by level, down to the
 * deepest level that has keys of the range. Data overwritten or deleted there before the call is
 * removed, unless a snapshot sees it. NULL: no bound on that side. Whole tables are merged, so
 * neighbouring keys may be included. The work is done in small steps that alternate with due
 * compactions and yield to flushes, so that neither starves the other, and writes continue. Filter
 * rates keep the target. A range with high <= low is empty. */
BB_API BB_MUST_CHECK enum bb_status
bb_db_compact_range(struct bb_db *db, const struct bb_bytes *low, const struct bb_bytes *high);
/* Waits until no flush, compaction or deferred index build (bb/select.h) is due, and ends the busy
 * state of level 0 (see level0_run_count_busy). The events of this work are reported before the
 * return. With a steady writer this may take until the writer stops. */
BB_API BB_MUST_CHECK enum bb_status bb_db_wait_idle(struct bb_db *db);

/* Statistics since open; all 0 in a child made by fork. Reading them does not block other
 * threads. */
BB_API void bb_db_stats(struct bb_db *db, struct bb_db_stats *ret_stats);
/* Removes unpinned blocks from the block cache, for measurements. */
BB_API void bb_db_clear_cache(struct bb_db *db);

struct bb_range_size {
    /* Bytes of tables: data, filters, index. Includes data that is overwritten or deleted but not
     * yet compacted. */
    uint64_t file_bytes;
    /* Keys and values of the same tables, uncompressed. */
    uint64_t raw_bytes;
    uint64_t memtable_bytes; /* keys and values not yet in tables */
};
/* Approximate space used by ranges: ret_sizes[i] is the size of ranges[i]. Reads no data block. The
 * size of whole tables is exact; for a table in which a range starts or ends, an index page is
 * read. So file_bytes is off by at most one data block and one index page for each end of the range
 * and each run (at most one table per level below level 0, and each table of level 0), whatever the
 * size of the range. raw_bytes is in proportion, as if all blocks of a table compressed equally.
 * memtable_bytes is estimated from the path through the tree, with an error of a few percent of the
 * memtable. Sizes of adjacent ranges add up. A range with high <= low is empty. */
BB_API BB_MUST_CHECK enum bb_status bb_db_approximate_sizes(struct bb_db *db,
                                                            const struct bb_key_range *ranges,
                                                            size_t count,
                                                            struct bb_range_size *ret_sizes);

/* The live tables: by level, newest run first, then by key. Owned: bb_db_table_list_deinit. */
struct bb_db_table {
    int level;
    char *path;
    uint64_t file_size;
    uint64_t entry_count;
    double filter_rate;
    bool is_damaged; /* its latest verification (bb_db_scrub, scrub_interval_seconds) failed */
    bool is_index_damaged; /* the same for its index file */
};
struct bb_db_table_list {
    struct bb_db_table *tables;
    size_t count;
};
BB_API BB_MUST_CHECK enum bb_status bb_db_tables(struct bb_db *db,
                                                 struct bb_db_table_list *ret_list);
BB_API void bb_db_table_list_deinit(struct bb_db_table_list *list);

/* The options that the store keeps (struct bb_db_options, "Stored options"), in ret_options; all
 * other fields, and options that no opening has given, are 0. */
BB_API void bb_db_stored_options(const struct bb_db *db, struct bb_db_options *ret_options);

/* The store's secret, for computing key hashes outside the store. */
BB_API void bb_db_secret(const struct bb_db *db, struct bb_hash_secret *ret_secret);

#ifdef __cplusplus
}
#endif
#endif
