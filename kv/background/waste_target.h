/* Derives the filter parameters of tables from the store's options: the shape of the store, the
 * target or memory budget, and the weights of lookups. */
#ifndef BB_KV_BACKGROUND_WASTE_TARGET_H
#define BB_KV_BACKGROUND_WASTE_TARGET_H

#include "compaction/pick/pick.h"
#include "kv/store/store.h"

/* The options for picking compactions of these levels. */
struct bb_pick_options bb_waste_target_pick_options(const struct bb_db *db,
                                                    const struct bb_levels *levels);

/* Tables that join a run of a level. A flush joins run 0 of level 0. */
struct bb_waste_target_tables {
    int level;
    uint64_t run;
    uint64_t key_count;  /* of all tables together */
    uint64_t raw_bytes;  /* keys and values; 0: unknown */
    struct bb_hull hull; /* of their keys; without any: unknown */
};

/* Sets the filters of new tables: rate and table filter. share: gets the waste that the tables will
 * add; NULL: the tables are not for this store, or no other work runs. Installing is held. */
void bb_waste_target_run_options(struct bb_db *db, const struct bb_levels *levels,
                                 const struct bb_waste_target_tables *tables,
                                 struct bb_waste_share *share, struct bb_table_options *options);

/* The options for a table that a memtable becomes, a new run of level 0. share: gets its waste;
 * NULL: the table is not for this store. Installing is not held. */
void bb_waste_target_plan_memtable(struct bb_db *db, struct bb_file_system *file_system,
                                   const struct bb_memtable *memtable, struct bb_waste_share *share,
                                   struct bb_table_options *ret_options);

/* True when the levels `after` an edit of the levels `before` keep the target at all keys within
 * the hull of the new tables, together with the waste that other running work will add: all shares
 * but `share`. Also true when the edit adds no waste there. */
bool bb_waste_target_allows(const struct bb_db *db, const struct bb_levels *before,
                            const struct bb_levels *after, const struct bb_hull *hull,
                            const struct bb_waste_share *share);

/* The effective target: the one given, or the rate that the budget permits for the predicted
 * levels, with all levels above the last one full. 0: tables are written without filters. */
double bb_waste_target_effective(const struct bb_db *db, const struct bb_levels *levels);

/* The effective budget for these levels in bytes, also if it is given in bits per key.
 * 0: there is no budget, or there are no filters. */
uint64_t bb_waste_target_budget_bytes(const struct bb_db *db, const struct bb_levels *levels);

#endif
