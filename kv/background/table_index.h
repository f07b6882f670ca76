/* Builds the index file of an existing table: reads its data once, in large pieces and bypassing
 * the cache; or drops it. Threads: one per build. */
#ifndef BB_KV_BACKGROUND_TABLE_INDEX_H
#define BB_KV_BACKGROUND_TABLE_INDEX_H

#include "compaction/levels/table_file.h"
#include "kv/indexes/index_build.h"

/* Builds and installs it: one record of the manifest replaces the previous index file.
 * *ret_is_replaced: a compaction has replaced the table in the meantime, and the file was removed.
 * Errors: BB_BUSY when the store is being closed, or when the build yields and a flush needs the
 * space. REQUIRES: the build has a catalog. The mutex is not held. */
BB_MUST_CHECK enum bb_status bb_table_index_install(struct bb_index_build *build,
                                                    struct bb_table_file *file,
                                                    bool *ret_is_replaced);

/* Takes the index file away from the table: one record of the manifest, then the file is removed.
 * *ret_is_replaced: a compaction has replaced the table in the meantime. */
BB_MUST_CHECK enum bb_status bb_table_index_drop(struct bb_db *db, struct bb_table_file *file,
                                                 bool *ret_is_replaced);

#endif
