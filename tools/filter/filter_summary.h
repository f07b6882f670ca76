/* The summary of a table, as `filters` and `dump` show it: what it consists of, and what its
 * ribbons let expect. */
#ifndef BB_TOOLS_FILTER_FILTER_SUMMARY_H
#define BB_TOOLS_FILTER_FILTER_SUMMARY_H

#include "sstable/table_walk.h"

struct filter_summary {
    bool is_there;
    bool is_damaged; /* its list: nothing more is known of it */
    uint32_t part_count;
    uint32_t chunk_count;
    uint32_t damaged_chunks;
    uint64_t shard_count;
    uint64_t keys;
    uint64_t bits; /* of the section, checksums included */
    double target_rate;
    double predicted_rate; /* over absent keys, who meet shards alike and parts by their keys */
    double bits_per_probe; /* the mean over shards */
    double fill;
};

/* Reads it whole. Damage is told in *ret_summary, and with a message in bb_error_last. Nothing but
 * is_there = false for a table without. */
BB_MUST_CHECK enum bb_status filter_summary_read(struct bb_table *table,
                                                 struct filter_summary *ret_summary);

#endif
