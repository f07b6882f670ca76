/* Options of the store: defaults, limits and validation in one table. docs/options.md describes
 * them for users. */
#ifndef BB_KV_OPTIONS_H
#define BB_KV_OPTIONS_H

#include "bb/db.h"
#include "kv/stored_options.h"

#define BB_TARGET_WASTED_READS_DEFAULT 0.01

/* Fills in defaults; NULL options are all defaults. The result borrows everything that options
 * borrow (comparator, secret, file system). A filter budget stays unchanged: the rate that it leads
 * to depends on the data. Errors: BB_INVALID names the option, its value and the permitted
 * range. */
BB_MUST_CHECK enum bb_status bb_options_resolve(const struct bb_db_options *options,
                                                struct bb_db_options *ret_resolved);

/* The options of an existing store: for each option the given value, else the stored one, else the
 * default. *ret_merged receives the options to store. Errors: BB_INVALID as above. */
BB_MUST_CHECK enum bb_status bb_options_resolve_stored(const struct bb_db_options *given,
                                                       const struct bb_stored_options *stored,
                                                       struct bb_db_options *ret_resolved,
                                                       struct bb_stored_options *ret_merged);

/* The value of filter_amount if it has this unit, else 0. options: resolved. */
static inline double bb_options_filter_amount(const struct bb_db_options *options,
                                              enum bb_filter_unit unit)
{
    return options->filter_amount.unit == unit ? options->filter_amount.value : 0;
}

/* The target of filter_amount, or the default if it is a budget. options: resolved. */
static inline double bb_options_target(const struct bb_db_options *options)
{
    double target = bb_options_filter_amount(options, BB_FILTER_WASTED_READS);
    return target > 0 ? target : BB_TARGET_WASTED_READS_DEFAULT;
}

/* The options for the tables of a store. cache may be NULL. */
void bb_options_for_table(const struct bb_db_options *options, struct bb_file_system *file_system,
                          const struct bb_hash_secret *secret, struct bb_block_cache *cache,
                          struct bb_table_options *ret_table);

/* open_tables_max, or less if the process may not open that many files. */
uint32_t bb_options_open_tables(const struct bb_db_options *options, struct bb_file_system *fs);

#endif
