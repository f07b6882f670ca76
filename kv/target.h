/* From the store's promise to the rate of one table's filters: the planned size of the store, a memory budget. */
#ifndef BB_KV_TARGET_H
#define BB_KV_TARGET_H

#include "kv/store.h"

/* The promise in force: target_wasted_reads, or what follows from filter_budget_bytes for the levels as they are. */
double bb_target_wasted_reads(const struct bb_db *db, const struct bb_levels *levels);

/* Keys that the store is planned to hold: what its levels will hold when they are full, in keys of the size that its
 * tables have (or that of the key count and raw bytes given, for the first table). Never less than it holds. */
uint64_t bb_target_planned_keys(const struct bb_db *db, const struct bb_levels *levels, uint64_t new_keys,
                                uint64_t new_raw_bytes);

#endif
