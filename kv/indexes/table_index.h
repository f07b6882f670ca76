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

#endif
