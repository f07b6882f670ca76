/* The table filter, as `filters` and `dump` show it: its parts, and the rate predicted from its
 * ribbons. */
#ifndef BB_TOOLS_FILTER_TABLE_FILTER_REPORT_H
#define BB_TOOLS_FILTER_TABLE_FILTER_REPORT_H

#include "sstable/table/table_walk.h"

struct table_filter_report {
    bool is_there;
    bool is_damaged; /* its list: no further facts are known */
    uint32_t part_count;
    uint32_t chunk_count;
    uint32_t damaged_chunks;
    uint64_t shard_count;
    uint64_t keys;
    uint64_t bits; /* of the section, checksums included */
    double target_rate;
    double predicted_rate; /* over absent keys: equal weight per shard, parts by their keys */
    double bits_per_probe; /* the mean over shards */
    double fill;
};

/* Reads it completely. Damage is reported in *ret_table_filter, with a message in bb_error_last.
 * For a table without one only is_there is set, to false. */
BB_MUST_CHECK enum bb_status table_filter_report_read(struct bb_table *table,
                                                      struct table_filter_report *ret_table_filter);

#endif
