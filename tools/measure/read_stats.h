/* Arithmetic on counts of reading. */
#ifndef BB_TOOLS_MEASURE_READ_STATS_H
#define BB_TOOLS_MEASURE_READ_STATS_H

#include "bb/table.h"

struct bb_read_stats read_stats_between(const struct bb_read_stats *before,
                                        const struct bb_read_stats *after);
void read_stats_add(struct bb_read_stats *sum, const struct bb_read_stats *part);
bool read_stats_equal(const struct bb_read_stats *a, const struct bb_read_stats *b);
/* The sum over all results of a visit. */
uint64_t read_stats_visits(const struct bb_read_stats *reads);
/* Calls of pread for blocks, index pages and table filters. */
uint64_t read_stats_preads(const struct bb_read_stats *reads);
/* "filter negatives", ... */
const char *visit_name(enum bb_visit visit);
/* "filter_negatives", ... */
const char *visit_json_name(enum bb_visit visit);

#endif
