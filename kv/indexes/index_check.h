/* Checks that an index file is intact, belongs to its table, and is correct. For verification and
 * repair; lookups and selections rely on checksums.
 *
 * Threads: one per call.
 */
#ifndef BB_KV_INDEXES_INDEX_CHECK_H
#define BB_KV_INDEXES_INDEX_CHECK_H

#include "kv/manifest/edit.h"

/* Reads the whole index file that the table names, and checks it with every record of the table.
 * options: the table's; their file system is used. REQUIRES: the table names an index file. Errors:
 * BB_CORRUPT when it is missing, no regular file, damaged, another table's, or wrong.
 * BB_UNSUPPORTED for a newer version. BB_IO when a file cannot be read. */
BB_MUST_CHECK enum bb_status bb_index_check(const char *directory,
                                            const struct bb_edit_table *table,
                                            const struct bb_table_options *options);

#endif
