/* The levels of a store as rows. */
#ifndef BB_TOOLS_STORE_LEVEL_REPORT_H
#define BB_TOOLS_STORE_LEVEL_REPORT_H

#include "bb/db.h"
#include "tools/output/output.h"

void level_report_write(const struct bb_db_stats *stats, struct output *out);
/* An array of the levels that hold tables; owned. */
json_t *level_report_json(const struct bb_db_stats *stats);

/* True if wasted reads are weighted, instead of counting once per lookup of an absent key. */
bool level_report_is_weighted(const struct bb_db_stats *stats);

/* Sentences about the expected rates: which tables rule out nothing, which rates are unknown.
 * Writes none if no table is in doubt. total: of all levels. */
void level_report_write_doubts(const struct bb_level_stats *total, struct output *out);

/* Sums over the levels. */
struct bb_level_stats level_report_total(const struct bb_db_stats *stats);

#endif
