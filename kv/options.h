/* Options of the store: defaults, limits and validation in one table. docs/options.md has the same
 * for readers. */
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

/* Fills in defaults; NULL options are all defaults. The result borrows everything that options
 * borrow (comparator, secret, file system). filter_budget_bytes stays unchanged: the rate that it
 * leads to depends on the data. Errors: BB_INVALID names the option, its value and the permitted
 * range. */
BB_MUST_CHECK enum bb_status bb_options_resolve(const struct bb_db_options *options,
                                                struct bb_db_options *ret_resolved);

/* The options for the tables of a level. cache may be NULL. */
void bb_options_for_table(const struct bb_db_options *options, int level,
                          struct bb_file_system *file_system, const struct bb_hash_secret *secret,
                          struct bb_block_cache *cache, struct bb_table_options *ret_table);

/* open_tables_max, or less if the process may not open that many files. */
uint32_t bb_options_open_tables(const struct bb_db_options *options, struct bb_file_system *fs);

#endif
