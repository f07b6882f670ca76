/* From the store's options to what its tables' filters are to be: the shape of the store, the
 * promise or a memory budget, what is known of the look-ups. */
#ifndef BB_KV_BACKGROUND_TARGET_H
#define BB_KV_BACKGROUND_TARGET_H

#include "compaction/pick.h"
#include "kv/store.h"

/* What compactions of these levels go by. */
struct bb_pick_options bb_target_of(const struct bb_db *db, const struct bb_levels *levels);

/* The filters of a flush with so many keys that joins these levels: rate and summary.
 * pending_waste: what other work under way will add to them. Returns what the flush will add. */
double bb_target_flush(const struct bb_db *db, const struct bb_levels *levels, uint64_t key_count,
                       double pending_waste, struct bb_table_options *table);

/* The same of tables with so many keys in all that join a run of a level. */
double bb_target_run(const struct bb_db *db, const struct bb_levels *levels, int level,
                     uint64_t run, uint64_t key_count, double pending_waste,
                     struct bb_table_options *table);

/* Is the promise kept by the levels `after` an edit of those `before`, together with what other work
 * under way will add? Also when the edit adds nothing to what was there. */
bool bb_target_allows(const struct bb_db *db, const struct bb_levels *before,
                      const struct bb_levels *after, double pending_waste);

/* The promise in force: target_wasted_reads, or what the budget affords for the levels as they will
 * be when those above the last one are full; 0: tables are written without filters. */
double bb_target_wasted_reads(const struct bb_db *db, const struct bb_levels *levels);

/* The budget in force for these levels: filter_budget_bytes, or what filter_bits_per_key comes to;
 * 0: there is none, or there are no filters to keep it. */
uint64_t bb_target_budget_bytes(const struct bb_db *db, const struct bb_levels *levels);

#endif
