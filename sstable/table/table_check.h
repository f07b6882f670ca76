/* Checks a table of a store that is not open: its contents, and against the manifest. */
#ifndef BB_SSTABLE_TABLE_TABLE_CHECK_H
#define BB_SSTABLE_TABLE_TABLE_CHECK_H

#include "bb/table.h"

/* Reads the whole table (bb_table_verify), and compares it with the manifest's description. Errors:
 * BB_CORRUPT when it is damaged, or another table. */
BB_MUST_CHECK enum bb_status bb_table_check(const char *path,
                                            const struct bb_table_options *options,
                                            const struct bb_table_meta *wanted,
                                            struct bb_table_verify_report *ret_report);

#endif
