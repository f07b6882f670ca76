/* Is an index file whole, of its table, and true? For verification and repair; look-ups and selections
 * trust checksums.
 *
 * Threads: one per call.
 */
#ifndef BB_KV_INDEXES_INDEX_CHECK_H
#define BB_KV_INDEXES_INDEX_CHECK_H

#include "kv/manifest/edit.h"

/* Reads all of the index file that the table names, and shows it every record of the table.
 * BB_CORRUPT: it is missing, damaged, another table's, or lies. BB_UNSUPPORTED: of a newer version.
 * options: of the table, whose files are read through their file system.
 * REQUIRES: the table names one. */
BB_MUST_CHECK enum bb_status bb_index_check(const char *directory,
                                            const struct bb_edit_table *table,
                                            const struct bb_table_options *options);

#endif
