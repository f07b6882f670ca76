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
 * the store is still open. Any other failure means that earlier writes may be lost.
 *
 * A key is 0 ... 64 KiB (BB_KEY_SIZE_MAX) of any bytes, a value 0 ... 1 GiB (BB_VALUE_SIZE_MAX).
 * Keys are ordered bytewise unless a comparator is set. Every call, even a read, fails with
 * BB_TOO_LARGE if it is given a longer key: no such key can be stored, so the call is a bug in the
 * program. The same is true of range bounds and prefixes, even if the range is empty.
 *
 * Durability. After BB_OK a write survives a crash of the process (except with wal_off or
 * wal_buffer_bytes), because the commit is in the operating system's memory: in a file, or in a
 * mapped file. The write survives a power failure as soon as a later synced write, flush or close
 * returns; with sync = true, as soon as the write itself returns. docs/durability.md describes the
 * protocol.
 *
 * Errors. Declarations list the errors specific to a call. In addition, any call may fail with
 * BB_NO_MEMORY. A call that reads may fail with BB_IO or BB_CORRUPT; the message names the file. A
 * call that writes to files may fail with
 *
 *     BB_TOO_LARGE   a value or a batch (4 GiB) is too large
 *     BB_NO_SPACE    the disk is full. Reads continue. Writes succeed again once there is space
 *     BB_IO          writing or syncing failed
 *     BB_BUSY        the store is being closed
 *     BB_READ_ONLY   the store is read-only, or an earlier failure stopped writing. The message
 *                    names the failure; reopen the store
 *
 * Processes. A bb_db belongs to the process that opened it, so a daemon should fork before it opens
 * its store. In a child made by fork only close, destroy and release work. They release the child's
 * memory and descriptors, except those that threads of the parent were using at the fork, and do
 * not touch the store; bb_db_close returns BB_OK. Pinned values stay readable until they are
 * released. Every other call fails immediately with BB_INVALID, and the message tells the child to
 * open the store again. Other processes can open the store once the process that opened it has
 * closed it or exited, even if its children are still running. See docs/durability.md, "Fork".
 *
 * Threads. Any number of threads may use a bb_db concurrently, but no call may start after
 * bb_db_close starts. Batches and iterators are used by one thread at a time. Snapshots may be
 * shared. For NULL the rules of bb/base.h apply.
 *
 * Options are in bb/db_options.h, batches in bb/batch.h, iterators in bb/db_iter.h, statistics in
 * bb/db_stats.h. This header includes all four. */
#ifndef BB_PUBLIC_DB_H
#define BB_PUBLIC_DB_H

#include "bb/base.h"
#include "bb/batch.h"
#include "bb/db_iter.h"
#include "bb/db_options.h"
#include "bb/db_stats.h"
#include "bb/filter.h"
#include "bb/table.h"

#ifdef __cplusplus
extern "C" {
#endif

struct bb_db;
struct bb_snapshot;

/* Opens or creates the store in a directory, which may be reached through symbolic links
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
 * An existing store opens even if the disk has no space for the writes of recovery. It can then be
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
 *                    the operating system before the opening started. It does not contain commits
 *                    that are still in the buffer of wal_buffer_bytes, nor unflushed writes with
 *                    wal_off. A write that failed for its writer may be visible, and may be absent
 *                    from a later state. A half-written record is the end of the log, not damage
 *     Memory         The contents of the logs are kept in memory, outside the cache: at most about
 *                    three of the writer's write buffers. Every table is opened, so that its
 *                    descriptor and root are available
 *     Files          The writer may remove a table at any time. An open file keeps its bytes. So
 *                    while the store has at most open_tables_max tables, every get and iterator
 *                    works without a time limit. With more tables, a call may need a removed table
 *                    whose descriptor was evicted. The call then fails with BB_BUSY; bb_db_refresh
 *                    helps. Such a table is never treated as damaged, nor its keys as absent
 *     Writing        put, delete, write, flush, compact, ingest and checkpoint fail with
 *                    BB_READ_ONLY
 *     Opening        BB_BUSY: the store changed during each of 100 attempts
 *
 * The directory must be on a file system in which a process sees the writes of other processes in
 * order. Local file systems guarantee this, NFS does not. */

/* Moves a read-only store to the newest state, as if it were reopened. Open tables stay open, and
 * only new records are read from a log. Existing iterators keep their state and its tables.
 * BB_BUSY: snapshots exist, or the store changed during each attempt, as in an opening.
 * BB_NOT_FOUND: the directory was moved or removed, or another store has replaced this one: close
 * it, and open again. A backup of the same store that replaces it is a newer state. After a failure
 * the state is unchanged. A store open for writing always shows the newest state: BB_OK.
 * Any thread may call this, concurrently with reads. */
BB_API BB_MUST_CHECK enum bb_status bb_db_refresh(struct bb_db *db);

/* Waits for running background work, and flushes if the next opening would have to replay more than
 * 1 MiB. BB_BUSY: iterators, selections, snapshots, checkpoints or pinned values exist; the store
 * stays open. In a child made by fork: BB_OK, see "Processes" above. Otherwise BB_OK, or the
 * failure that stopped writing. BB_IO: CURRENT or the current manifest was removed while the store
 * was open; or the log was removed, and its writes cannot be saved in a table. NULL is allowed.
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
 * low is empty; the call then deletes nothing and is not an error. Earlier snapshots still show the
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
 * *value is unchanged and no lookup was counted. A block that is in the system's page cache is
 * read. Filters in memory rule out keys without a system call. value must not be NULL. Options
 * used: snapshot, bypass_fill. */
BB_API BB_MUST_CHECK enum bb_status bb_db_get_now(struct bb_db *db,
                                                  const struct bb_get_options *options,
                                                  struct bb_bytes key, struct bb_buf *value);
/* bb_db_get without a copy. On BB_OK the value at the time of the call is in *ret_value, readable
 * and unchanged until bb_pinned_release, even if the key is overwritten, flushed, compacted or
 * evicted. Allocates nothing if the block is cached. Any thread may release the value at any time,
 * but not concurrently with bb_db_close, which fails with BB_BUSY while a value is pinned.
 *
 * The pin keeps no view, table or table file. It keeps only the following in memory:
 *
 * - a value in a table: its data block (block_size_bytes; a large value has a separate block). In
 *   the cache the block counts as pinned and is not evicted, so values pinned for a long time leave
 *   less space for other blocks. Without a cache, or with bypass_fill, only the pin holds the
 *   block.
 * - a value not yet in a table: its whole memtable (write_buffer_bytes) and the open log file,
 *   whose disk space is freed only afterwards. Copy a value that is needed for a long time. */
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

/* bb_db_get for many keys. Results and statistics equal those of single gets at the same moment,
 * except that a block for which the call waits may count as read by a call (blocks_mapped).
 * Each key is hashed once, all lookups use one snapshot, the table filters of all tables are probed
 * before any block is read, and blocks are read in file order (in groups of 1024 keys). Blocks that
 * are not in the page cache are fetched in parallel, as many as the system allows. Keys may be in
 * any order and may repeat. With 100 or more absent keys a call takes less than half the time of
 * single gets, because the memory of the table filters is prefetched. For stored keys whose blocks
 * are in memory, a call takes about as long as single gets.
 *
 * keys, values and statuses have count elements. statuses[i] is the result of bb_db_get for
 * keys[i], and values[i] gets the value; values may be NULL. Returns BB_OK if all statuses are
 * BB_OK or BB_NOT_FOUND. Otherwise returns the first failure; the other keys still get their
 * results. BB_NO_MEMORY before the first lookup sets all statuses. */
BB_API BB_MUST_CHECK enum bb_status bb_db_get_many(struct bb_db *db,
                                                   const struct bb_get_options *options,
                                                   const struct bb_bytes *keys, size_t count,
                                                   struct bb_buf *values, enum bb_status *statuses);

/* The state of the store at this moment. It is readable until the snapshot is released, which must
 * happen before bb_db_close. NULL may be released. */
BB_API BB_MUST_CHECK enum bb_status bb_snapshot_create(struct bb_db *db,
                                                       struct bb_snapshot **ret_snapshot);
BB_API void bb_snapshot_release(struct bb_db *db, struct bb_snapshot *snapshot);

/* Writes all data in memory to tables, durably. BB_EVENT_FLUSH may be reported after the return. */
BB_API BB_MUST_CHECK enum bb_status bb_db_flush(struct bb_db *db);
/* Flushes, and merges all runs into one (the whole key range). */
BB_API BB_MUST_CHECK enum bb_status bb_db_compact(struct bb_db *db);
/* Flushes, and merges the keys from low, inclusive, to high, exclusive, level by level, down to the
 * deepest level that has keys of the range. Data overwritten or deleted there before the call is
 * removed, unless a snapshot sees it. NULL: no bound on that side. Whole tables are merged, so
 * neighbouring keys may be included. The work is done in small steps, which alternate with due
 * compactions and yield to flushes. So neither starves the other, and writes continue. The filters
 * still meet their target. If the range has at least nine tenths of the keys, its tables get the
 * filters that bb_db_compact would give them. Until the call ends, the statistics may expect more
 * wasted reads than the target, although lookups do not waste them. A range with high <= low is
 * empty. */
BB_API BB_MUST_CHECK enum bb_status
bb_db_compact_range(struct bb_db *db, const struct bb_bytes *low, const struct bb_bytes *high);
/* Waits until no flush, compaction or deferred index build (bb/select.h) is due, and ends the busy
 * state of level 0 (see level0_run_count_busy). The events of this work are reported before the
 * return. With a steady writer this may take until the writer stops. */
BB_API BB_MUST_CHECK enum bb_status bb_db_wait_idle(struct bb_db *db);

/* Statistics since open; all 0 in a child made by fork. Reading them does not block other
 * threads. */
BB_API void bb_db_stats(struct bb_db *db, struct bb_db_stats *ret_stats);
/* For measurements: removes unpinned blocks from the block cache, and the bits by which counts of
 * selections know the visible records below newer tables. */
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
 * size of whole tables is exact. For a table in which a range starts or ends, an index page is
 * read. So the error of file_bytes is at most one data block and one index page for each end of the
 * range in each run (each table of level 0 is a run). It does not depend on the size of the range.
 * raw_bytes is scaled in proportion, as if all blocks of a table compressed equally. memtable_bytes
 * is estimated from the search path in the memtable's tree, with an error of a few percent of the
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
    double filter_rate;    /* the target of its filters; 1: no filters */
    double predicted_rate; /* of the filters that are probed: struct bb_level_stats */
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

/* Copies the options that the store keeps (struct bb_db_options, "Stored options") to *ret_options.
 * All other fields are 0, and so are options that no opening has set. */
BB_API void bb_db_stored_options(const struct bb_db *db, struct bb_db_options *ret_options);

/* The store's secret, for computing key hashes outside the store. */
BB_API void bb_db_secret(const struct bb_db *db, struct bb_hash_secret *ret_secret);

#ifdef __cplusplus
}
#endif
#endif
