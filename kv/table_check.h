/* A table of a store that nobody has open, checked whole: itself, and against the manifest's word.
 */
#ifndef BB_KV_TABLE_CHECK_H
#define BB_KV_TABLE_CHECK_H

#include "bb/table.h"

/* Reads all of the table (bb_table_verify), and compares it with what the manifest says of it.
 * BB_CORRUPT: damaged, or another table. */
BB_MUST_CHECK enum bb_status bb_table_check(const char *path,
                                            const struct bb_table_options *options,
                                            const struct bb_table_meta *wanted,
                                            struct bb_table_verify_report *ret_report);

#endif
