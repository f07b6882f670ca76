/* From the store's promise to the rate of one table's filters: the planned size of the store, a memory budget. */
#ifndef BB_KV_TARGET_H
#define BB_KV_TARGET_H

#include "compaction/rates.h"
#include "kv/store.h"

/* The promise in force: target_wasted_reads, or what follows from filter_budget_bytes for the levels as they are. */
double bb_target_wasted_reads(const struct bb_db *db, const struct bb_levels *levels);

/* The shape that the store grows into: its levels down to the deepest that has tables or, if that is deeper,
 * output_level, each full or with what it holds, whichever is more. */
void bb_target_shape(const struct bb_db *db, const struct bb_levels *levels, int output_level,
                     struct bb_rate_shape *ret_shape);

#endif
