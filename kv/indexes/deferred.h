/* Index files that flushes have put off.
 *
 *     flush         writes its table without an index file, unless selections ask for indexes
 *     compaction    builds those of its outputs, and so of what comes from level 0
 *     at last       the compacting worker builds those of level 0 that are still without one
 *
 * Tables of level 0 are rewritten soon, and their index files with them: whatever is loaded would be
 * indexed twice. The worker's turn comes when it has no table to rewrite, and either flushes have
 * ceased (kv/write/pace.h) or selections ask (index_demand.h). No table leaves level 0 but by being
 * rewritten; so deeper tables without an index file are those of before an index was created, which
 * bb_db_index_materialize is for.
 *
 * Threads: the compacting worker's.
 */
#ifndef BB_KV_INDEXES_DEFERRED_H
#define BB_KV_INDEXES_DEFERRED_H

#include "kv/store.h"

/* Builds the index file of the oldest such table, if its turn has come. is_quiet: flushes have ceased.
 * *ret_did: it did. Sets db->has_deferred. */
BB_MUST_CHECK enum bb_status bb_deferred_build_some(struct bb_db *db, bool is_quiet, bool *ret_did);

#endif
