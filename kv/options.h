/* Options of the store: defaults, limits and validation, in one table. docs/options.md is the same
 * for people. */
#ifndef BB_KV_OPTIONS_H
#define BB_KV_OPTIONS_H

#include "bb/db.h"

#define BB_TARGET_WASTED_READS_DEFAULT 0.01
#define BB_TARGET_WASTED_READS_MIN     1e-6
#define BB_TARGET_WASTED_READS_MAX     1.0
#define BB_FILTER_BITS_PER_KEY_MIN     0.01
#define BB_FILTER_BITS_PER_KEY_MAX     100.0

#define BB_LEVEL_READ_COST_MIN 1e-6
#define BB_LEVEL_READ_COST_MAX 1e6

/* Fills in defaults; NULL options are all defaults. BB_INVALID names the option, what was given and
 * what is allowed. The result borrows what options borrow (comparator, secret, file system).
 * filter_budget_bytes stays as it is: the rate that follows from it depends on the data. */
BB_MUST_CHECK enum bb_status bb_options_resolve(const struct bb_db_options *options,
                                                struct bb_db_options *ret_resolved);

/* Options of the tables that the store writes to a level and reads. cache may be NULL. */
void bb_options_for_table(const struct bb_db_options *options, int level,
                          struct bb_file_system *file_system, const struct bb_hash_secret *secret,
                          struct bb_block_cache *cache, struct bb_table_options *ret_table);

/* open_tables_max, or less where the process may not open as many files. */
uint32_t bb_options_open_tables(const struct bb_db_options *options, struct bb_file_system *fs);

#endif
