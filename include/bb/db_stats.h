/* Statistics of a store, which bb_db_stats returns. <bb/db.h> includes this file. */
#ifndef BB_PUBLIC_DB_STATS_H
#define BB_PUBLIC_DB_STATS_H

#include "bb/base.h"
#include "bb/table.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Reason why a write waited. */
enum bb_stall {
    BB_STALL_MEMTABLES, /* all write buffers are full and being flushed */
    BB_STALL_LEVEL0,    /* too many runs in level 0 */
    BB_STALL_SLOWDOWN,  /* short pause to let compaction keep up */
    BB_STALL_COUNT,
};

/* One level of the store's current state. */
struct bb_level_stats {
    uint64_t table_count;
    uint64_t run_count; /* level 0: tables; below: 0 or 1, or more with tiers */
    uint64_t file_bytes;
    uint64_t entry_count;
    uint64_t key_count;
    uint64_t tombstone_count;       /* of keys */
    uint64_t range_tombstone_count; /* stored fragments: struct bb_table_meta */
    uint64_t filter_bytes;          /* including table filters */
    uint64_t table_filter_bytes;    /* of these */
    /* Expected wasted requests per lookup of an absent key that reaches the level: the predicted
     * rates of the filters that are probed (table_filter_off), summed over the runs. A run counts
     * for the share of the lookups whose key is between the bounds of one of its tables. Lookups
     * are assumed to be spread like the keys of the store, and this share is estimated from the
     * bounds of all tables. The predicted rate of a table follows from its stored filters (struct
     * bb_table_meta). It is 0 in a table with only range tombstones, and the target in a table of
     * an older version. */
    double filter_rate_sum;
    /* Tables with keys whose filters rule out no key: a predicted rate of 1. Most have no
     * filters. */
    uint64_t passing_table_count;
    /* Tables of an older version, without a predicted rate: filter_rate_sum has their target. */
    uint64_t unpredicted_table_count;
    /* Share of lookups that search a run of the level and do not find their key there; the mean
     * over its runs. 1 while absent_share is 1 and each run spans all keys of the store. */
    double visit_share;
    /* The level's part of the store's expected_wasted_reads: for each run, the share of lookups
     * that search it in vain times its predicted rate. */
    double expected_wasted_reads;
};

/* Since open. */
struct bb_db_stats {
    struct bb_level_stats levels[BB_LEVEL_COUNT];
    struct bb_read_stats level_reads[BB_LEVEL_COUNT]; /* visits of lookups, by level */
    struct bb_read_stats scan_reads; /* of iterators, and of bb_db_approximate_sizes */
    uint64_t gets;
    uint64_t gets_found;
    uint64_t memtable_visits; /* memtables searched by lookups */
    uint64_t memtable_hits;   /* value or tombstone found there */
    uint64_t writes;          /* operations committed */
    uint64_t write_bytes;     /* keys and values of these */
    uint64_t commits;         /* log appends */
    uint64_t wal_bytes;
    uint64_t flushes;
    uint64_t flush_bytes_written;
    uint64_t compactions;
    uint64_t compaction_bytes_read;
    uint64_t compaction_bytes_written;
    /* Range tombstones read: the sum over the inputs. */
    uint64_t compaction_range_tombstones;
    /* Tables removed without reading them, because newer range tombstones hid all their entries. */
    uint64_t covered_tables;
    uint64_t covered_bytes; /* sizes of these */
    uint64_t stalls[BB_STALL_COUNT];
    uint64_t stall_nanoseconds[BB_STALL_COUNT];
    uint64_t memtable_bytes; /* of the active and the frozen memtables */
    /* The memory that the store keeps for memtables: these, the memory that earlier entries used in
     * them, and one empty memtable. */
    uint64_t memtable_held_bytes;
    /* Roots, pinned index pages and pinned table filters, including unused space in their large
     * pages. Also the bits by which counts of selections know the visible records below newer
     * tables: some 0.4 bytes for each record of the granules that they counted. */
    uint64_t table_memory_bytes;
    struct bb_block_cache_stats cache;
    /* The target. With a budget: the value that the budget achieves once all levels above the last
     * are full; 1e-6 if the budget is larger than useful, above 1 if it is too small for filters in
     * all levels. 0: no target, because tables are written without filters. */
    double target_wasted_reads;
    /* Sum over the levels, computed from the stored filters, for lookups that are spread like the
     * keys. The plan allows at most 1.1 times the target. With a budget it allows the value that
     * the budget achieves. A table of few keys may have a lower rate than planned, or a higher one,
     * which other tables balance. When tables with low rates are removed because a range deletion
     * hides them, the mean over the other tables rises, and may exceed the target until the next
     * compaction. No lookup takes longer because of this. */
    double expected_wasted_reads;
    uint64_t filter_bytes; /* of all live tables */
    /* The current budget in bytes, even if filter_amount is bits per key; 0: no budget. */
    uint64_t filter_budget_bytes;
    /* filter_bytes in bits, divided by the number of keys in tables. A filter_amount in
     * BB_FILTER_BITS_PER_KEY limits it. */
    double filter_bits_per_key;
    /* Preads issued, including the non-blocking attempts of bb_db_get_many and bb_db_get_now. */
    uint64_t system_reads;
    uint64_t system_read_bytes;
    uint64_t last_sequence;
    uint64_t tombstone_count; /* in tables, of keys and of ranges */
    /* Upper bound of the number of operations since the oldest tombstone in tables; 0: no table has
     * a tombstone. See tombstone_age_max. */
    uint64_t oldest_tombstone_age;

    /* Costs of the compaction style; 0 if the divisor is 0. */
    uint64_t run_count; /* of all levels: the most runs that a lookup of an absent key searches */
    /* Since open: bytes of logs, flushes and compactions, divided by the bytes of keys and values
     * written. */
    double write_amplification;
    /* Since open: mean number of runs searched by a lookup. */
    double read_amplification;
    /* Upper bound: bytes of all tables, divided by the bytes of the largest run, which has each key
     * once. */
    double space_amplification;

    /* shadow_verify_one_in. The reads of these checks count only in system_reads. */
    uint64_t shadow_checks;         /* checks of a table whose filters ruled out the key */
    uint64_t shadow_contradictions; /* of these, found an entry of the key */

    /* bb_db_scrub and scrub_interval_seconds. */
    uint64_t scrubs;      /* completed scrubs of all files */
    uint64_t scrub_bytes; /* bytes read by them; system_read_bytes includes these */
    /* Live files (tables, index files, logs, the manifest) whose latest verification found damage
     * or a read error; bb_db_tables lists the tables. If not 0: restore a backup, or close the
     * store and call bb_db_repair. */
    uint64_t damaged_files;
};

#ifdef __cplusplus
}
#endif
#endif
