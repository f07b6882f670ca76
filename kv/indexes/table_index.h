/* The index file of a table that is there already: its data is read once, in large pieces and past
 * the cache. Threads: one for each build. */
#ifndef BB_KV_INDEXES_TABLE_INDEX_H
#define BB_KV_INDEXES_TABLE_INDEX_H

#include "compaction/table_file.h"
#include "kv/indexes/index_build.h"

/* Finished and synced, its name not yet; the last of build->built. BB_BUSY: the store is being
 * closed. REQUIRES: the build has a catalog. */
BB_MUST_CHECK enum bb_status bb_table_index_build(struct bb_index_build *build,
                                                  struct bb_table_file *file);

/* The same, and it is put in force: one record of the manifest names it in the place of the one before.
 * *ret_is_replaced: a compaction has replaced the table meanwhile, and nothing is left of it. The mutex
 * is not held. */
BB_MUST_CHECK enum bb_status bb_table_index_bring(struct bb_index_build *build,
                                                  struct bb_table_file *file,
                                                  bool *ret_is_replaced);

#endif
