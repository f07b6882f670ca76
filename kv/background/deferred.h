/* Index files that flushes have deferred.
 *
 *     flush         writes its table without an index file, unless selections use indexes
 *     compaction    builds the files of its outputs, which include the data from level 0
 *     finally       the compacting worker builds the files that level 0 still lacks
 *
 * With defer_index_files compactions build no files either, and the worker builds the files of all
 * levels.
 *
 * Tables of level 0 are soon rewritten, with their index files, so new data would be indexed twice.
 * The worker builds them when it has no table to rewrite, and either the series of flushes has
 * ended (kv/store/pace.h) or selections use indexes (index_demand.h). Unless defer_index_files is
 * set, a table without an index file leaves level 0 only by being rewritten. Deeper tables without
 * an index file are therefore older than the index; bb_db_index_materialize builds their files.
 *
 * Threads: the compacting worker's.
 */
#ifndef BB_KV_BACKGROUND_DEFERRED_H
#define BB_KV_BACKGROUND_DEFERRED_H

#include "kv/store/store.h"

/* Builds the index file of the oldest such table, if it is due. is_quiet: the series of flushes has
 * ended. *ret_did: a file was built. Sets db->has_deferred. */
BB_MUST_CHECK enum bb_status bb_deferred_build_some(struct bb_db *db, bool is_quiet, bool *ret_did);

#endif
