/* From the store's promise to the rate of one table's filters: the shape of the store, a
 * memory budget. */
#ifndef BB_KV_TARGET_H
#define BB_KV_TARGET_H

#include "compaction/shape.h"
#include "kv/store.h"

/* The promise in force: target_wasted_reads, or what follows from filter_budget_bytes for the
 * levels as they are. */
double bb_target_wasted_reads(const struct bb_db *db, const struct bb_levels *levels);

/* The sizes of the store's levels, as its options want them. */
struct bb_shape bb_target_shape(const struct bb_db *db);

#endif
