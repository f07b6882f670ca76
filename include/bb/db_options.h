/* Options of a store, of writes and of gets; the events of a store, and the report of an opening.
 * <bb/db.h> includes this file. */
#ifndef BB_PUBLIC_DB_OPTIONS_H
#define BB_PUBLIC_DB_OPTIONS_H

#include "bb/base.h"
#include "bb/db_stats.h"
#include "bb/filter.h"
#include "bb/table.h"

#ifdef __cplusplus
extern "C" {
#endif

struct bb_snapshot;

/* Events, which are reported to on_event. */
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
    /* bb_db_scrub, bb_db_index_materialize, scrub_interval_seconds or shadow_verify_one_in found
     * damage. Sets message, which names the file and, for damaged bytes, the offset. */
    BB_EVENT_DAMAGE,
};

/* Fields that the kind does not set are 0, except that level is -1 and message is empty. */
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
 * complete record, because the process crashed between two writes, is intact in every mode. A kill
 * within a write may cut a record, which is a damaged end.
 * docs/durability.md, "Recovery modes", compares the modes with other stores. */
enum bb_recovery {
    /* Default: drop bytes that were never synced, as after a power failure. Damage of synced data
     * is BB_CORRUPT. */
    BB_RECOVERY_SYNCED,
    /* Every damaged end is BB_CORRUPT, synced or not. The message tells how much is readable. */
    BB_RECOVERY_STRICT,
    /* The state ends before the first damage, even if the damaged data was synced. A log that is
     * truncated there is kept as NUMBER.wal.damaged. */
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
    /* Logs that end in zeros, which no write of the store leaves. The zeros may have replaced
     * records, which are lost. The number of these records is unknown, so dropped_bytes and
     * dropped_logs do not count them. */
    uint64_t zeroed_logs;
};

/* What determines the size of a store's filters: a target for wasted reads, or a budget. */
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
 * Stored options: filter_amount, write_buffer_bytes, block_size_bytes, compression, the expert
 * options of filters (except table_filter_off), and the expert options of tables and compaction
 * (except defer_index_files). An opening for writing stores each of these that is not 0, and the
 * value is durable when the opening returns. A later opening uses the stored value of each option
 * that it leaves at 0. The three counts of level 0 limit each other, so setting one replaces all
 * three. To return to a default, set the option to the default's value, and tombstone_age_max to
 * 10^18. docs/options.md ranks all options and describes the effect of a change. */
struct bb_db_options {
    /* ---- everyday options ---- */

    bool create_if_missing;
    bool error_if_exists;
    /* Open without the lock, concurrently with a writer: see "Read-only stores" in bb/db.h.
     * Excludes create_if_missing and error_if_exists. */
    bool read_only;
    const struct bb_comparator *comparator; /* recorded by name; borrowed while the store is open */

    struct bb_filter_amount filter_amount; /* default: 0.01 wasted reads */
    uint64_t write_buffer_bytes;           /* default 64 MiB; 64 KiB ... 16 GiB */
    uint64_t cache_bytes;                  /* block cache, default 64 MiB; 64 KiB ... 1 TiB */
    uint32_t block_size_bytes;             /* default 4096; 64 ... 16 MiB */
    enum bb_compression compression;       /* default LZ4 */

    /* Maximum combined write rate of flushes, compactions and ingests, in bytes per second; 0: no
     * limit, otherwise at least 64 KiB. Flushes have priority; the others get the rest, at least a
     * quarter. If the limit is below the rate of writes, writes stall. In deterministic mode the
     * calling thread waits. */
    uint64_t background_bytes_per_second;

    /* Called with each event, in the thread in which it happens: a background thread, or a thread
     * that is in a call of the library, such as a stalled writer or the thread that opens the
     * store. Several threads may call it concurrently. No lock is held, so on_event may read
     * statistics. The thread waits until on_event returns. */
    void (*on_event)(void *context, const struct bb_event *event);
    void *event_context;

    /* ---- expert: memory ---- */

    bool cache_off; /* every block request reads the file */
    enum bb_index_residency index_residency;
    enum bb_read_mode read_mode; /* of tables: bb/table.h */
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
     * assumed to find their keys in the levels in proportion to the levels' data. Such a lookup
     * wastes no reads in the level of its key, nor in deeper levels. The store divides the target
     * over the levels accordingly, so that memory is minimal; it divides a budget so that waste is
     * minimal. A level may get no filters. */
    double absent_share;
    /* Bits per key in the table filters of the largest run: 1 ... 24, BB_TABLE_FILTER_NONE or
     * BB_TABLE_FILTER_ALL (bb/table.h); default 5. Smaller runs put more of their bits into table
     * filters. Kinds other than ribbon have a table filter only if this is set. */
    double table_filter_bits;
    /* True: table filters are not probed, and new tables have none (BB_TABLE_FILTER_NONE). Existing
     * tables then have only the rate of their block filters. The statistics count only block
     * filters, and compactions restore the target as they rewrite the tables. False: the table
     * filter of each table that was probed is in memory, outside the cache. It takes
     * table_filter_bits / 8 bytes per key: see table_memory_bytes. */
    bool table_filter_off;

    /* ---- expert: tables and compaction ---- */

    uint32_t restart_interval; /* entries between full keys, default 20; 1 ... 1024 */
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
     * raised to it. Default: 3 times level0_run_count_compact, or level0_run_count_stop - 1 if that
     * is less; 12 if both have their defaults. */
    uint32_t level0_run_count_busy;
    /* Runs at which writes wait: above level0_run_count_compact, at most 10,000; default 36. */
    uint32_t level0_run_count_stop;
    uint64_t level1_size_bytes; /* 4 KiB ... 1 TiB; default 4 write buffers */
    /* Size of a level divided by the size of the level above it, 2 ... 100; default 10, with tiers
     * 4. With tiers this is also the number of runs at which a level is merged. */
    uint32_t level_size_ratio;
    /* Maximum age of a deletion, of a key or a range, in operations of the store, counted from the
     * sequence of the deletion. Operations are counted, not time, so the same calls cause the same
     * work. An older deletion is compacted until it no longer hides a version, and is then removed.
     * A version held only by a snapshot is removed after the snapshot is released. 0 (default): no
     * limit; normal compactions remove deletions.
     *
     * The store checks after each flush and compaction, and after the release of the oldest
     * snapshot, when no other work is due. So after bb_db_flush and bb_db_wait_idle no older
     * deletion exists, except deletions newer than the oldest snapshot. In deterministic mode the
     * release of a snapshot starts no work; the next flush or bb_db_wait_idle does.
     * Cost: at worst, with deletions everywhere, all data is written once per level every
     * tombstone_age_max operations. So choose at least the number of keys. */
    uint64_t tombstone_age_max;
    bool defer_index_files; /* compactions defer index files too: bb/select.h */

    /* ---- expert: durability and recovery ---- */

    /* No log. A crash of the process loses writes since the last flush. A write with sync is
     * BB_INVALID; bb_db_flush makes writes durable. */
    bool wal_off;
    /* 0 (default): a crash of the process loses no commit (docs/durability.md, "Commit"). Otherwise
     * the process buffers up to this many bytes of commits, at most 1 GiB, and a crash of the
     * process loses them. 0 may map a file, and then installs a handler of SIGBUS: see
     * BB_READ_COPIES. */
    uint32_t wal_buffer_bytes;
    enum bb_recovery recovery; /* handling of damage at the end of the logs */
    /* bb_db_open fills in this report, even if the opening fails: the report then shows how much is
     * readable. bb_db_verify fills in the losses that an opening with the same `recovery` would
     * have, without a repair. NULL: no report. Borrowed for the call. All 0 with read_only. */
    struct bb_db_recovery *recovery_report;

    /* ---- expert: verification ---- */

    /* Verifies filters in use: one in this many lookups, chosen at random, also reads the blocks
     * that the filters ruled out. If such a block has the key, the filter is wrong. The lookup then
     * returns the block's result, the contradiction is counted (shadow_contradictions) and reported
     * (BB_EVENT_DAMAGE), and the filters of this table are not used until the store is reopened. 0
     * (default): no lookups; 1: all. A block that cannot be read fails the lookup. For
     * bb_db_get_many: one in this many calls. */
    uint32_t shadow_verify_one_in;
    /* Interval in seconds, 1 ... 10^9. In each interval a background thread reads and verifies
     * every table, index file and log, and the manifest. It spreads the reads over the interval.
     * The first interval starts at open, with a table chosen at random. So in the long run all
     * tables are verified, even if no process runs for a whole interval. Damage is reported
     * (BB_EVENT_DAMAGE) and counted (damaged_files), and the thread continues. 0 (default): never.
     * BB_INVALID with read_only or deterministic, which have no threads: call bb_db_scrub
     * instead. */
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
    /* Borrowed; NULL: none. Counts are added to it. An iterator adds its counts when it is
     * destroyed. */
    struct bb_read_stats *stats;
    /* As in struct bb_read_options. */
    bool ignore_filters;
    bool account_avoided;
    bool bypass_fill;
};

#ifdef __cplusplus
}
#endif
#endif
