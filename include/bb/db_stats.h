/* What a store counts and reports of itself: bb_db_stats in <bb/db.h>, which includes this. */
#ifndef BB_PUBLIC_DB_STATS_H
#define BB_PUBLIC_DB_STATS_H

#include "bb/base.h"
#include "bb/table.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Why a write waited. */
enum bb_stall {
    BB_STALL_MEMTABLES, /* all write buffers are full and being flushed */
    BB_STALL_LEVEL0,    /* too many runs in level 0 */
    BB_STALL_SLOWDOWN,  /* short pause to let compaction keep up */
    BB_STALL_COUNT,
};
#define BB_STALL_ROOM 8

/* One level of the live version. */
struct bb_level_stats {
    uint64_t table_count;
    uint64_t run_count; /* level 0: tables; below: 0 or 1, or more with tiers */
    uint64_t file_bytes;
    uint64_t entry_count;
    uint64_t key_count;
    uint64_t tombstone_count;       /* of keys */
    uint64_t range_tombstone_count; /* as the tables have them: struct bb_table_meta */
    uint64_t filter_bytes;          /* summaries included */
    uint64_t summary_bytes;         /* of these */
    double filter_rate_sum; /* expected wasted requests per absent look-up that reaches the level,
                               by the filters that are asked (summary_residency) */
    double visit_share;     /* part of the look-ups that ask a run of the level and do not find
                               their key there, mean over its runs; 1 while absent_share is 1 */
    double expected_wasted_reads; /* the level's part of the store's: filter_rate_sum, weighted with
                                     visit_share run by run, times the level's read cost */
    uint64_t reserved[4];
};

/* Since open. */
struct bb_db_stats {
    struct bb_level_stats levels[BB_LEVEL_COUNT];
    struct bb_read_stats level_reads[BB_LEVEL_COUNT]; /* look-ups' visits by level */
    struct bb_read_stats scan_reads;                  /* iterators' blocks; pages asked for sizes */
    uint64_t gets;
    uint64_t gets_found;
    uint64_t memtable_visits; /* memtables asked by look-ups */
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
    uint64_t compaction_range_tombstones; /* read: sum of their inputs' */
    uint64_t covered_tables; /* removed unread: newer range tombstones hid all they had */
    uint64_t covered_bytes;  /* sizes of these */
    uint64_t stalls[BB_STALL_ROOM];
    uint64_t stall_nanoseconds[BB_STALL_ROOM];
    uint64_t memtable_bytes;     /* live and frozen */
    uint64_t table_memory_bytes; /* roots, pinned index pages and pinned summaries, and what
                                    the large pages that these share hold besides */
    struct bb_block_cache_stats cache;
    double target_wasted_reads;   /* the promise; with a budget what it will afford when the levels
                                     above the last are full: 1e-6 if that is more than is useful,
                                     more than 1 if it is too little for filters everywhere. 0: there
                                     is none, for tables are written without filters */
    double expected_wasted_reads; /* sum over the levels: at most 1.1 times the promise; with a
                                     budget, what its filters achieve. Above it for as long as a
                                     compaction takes, where tables that a deleted range hides went
                                     from beside others of higher rates: no look-up costs more then,
                                     but there are fewer cheap ones in the mean */
    uint64_t filter_bytes;        /* of all live tables */
    uint64_t
        filter_budget_bytes;    /* the budget just now: the option, or filter_bits_per_key times the
                                     keys in tables; 0: there is none */
    double filter_bits_per_key; /* filter_bytes, in bits, by the keys in tables: what the option of
                                     that name bounds, if it is given */
    uint64_t system_reads;      /* preads that the operating system was asked for, those that did
                                     not wait for what they had not included */
    uint64_t system_read_bytes;
    uint64_t last_sequence;
    uint64_t tombstone_count; /* in tables, of keys and of ranges */
    uint64_t
        oldest_tombstone_age; /* of these: operations since the oldest, at most so many; 0: there is
                                      none. See tombstone_age_max */

    /* What the compaction style costs; 0 where there is nothing to divide by. */
    uint64_t run_count;         /* of all levels: those that a look-up of an absent key meets */
    double write_amplification; /* since open: bytes of logs, flushes and compactions, by those of
                                   keys and values written */
    double read_amplification;  /* since open: runs asked by a look-up, in the mean */
    double space_amplification; /* at most: bytes of all tables by those of the largest run, which
                                   has each key once */

    /* shadow_verify_one_in. What these checks read is counted in system_reads alone. */
    uint64_t shadow_checks;         /* denials of filters that were checked */
    uint64_t shadow_contradictions; /* of these, the key was there */
    uint64_t reserved[14];
};

#ifdef __cplusplus
}
#endif
#endif
