/* Keeps tables that a lost edit may have named, or that have the data of a log that was cut. An
 * opening does not remove them, but renames them to "NUMBER.bbt.lost", which is not a name of the
 * store. They stay until they are removed or ingested (bb_db_ingest).
 * Threads: the opener's. */
#ifndef BB_KV_OPEN_SET_ASIDE_H
#define BB_KV_OPEN_SET_ASIDE_H

#include "kv/directory/directory.h"
#include "kv/store/store.h"

/* For a manifest without a mark at its end, or if a log has a loss; `manifest` is its report.
 * *ret_count: the number of tables. state: with the last sequence of the replayed logs. These files
 * become foreign in `directory`. Call before the new manifest is published, which makes the names
 * durable. Errors: BB_CORRUPT when strict recovery finds such a table. */
BB_MUST_CHECK enum bb_status bb_set_aside_tables(struct bb_db *db, struct bb_directory *directory,
                                                 const struct bb_manifest_state *state,
                                                 const struct bb_manifest_report *manifest,
                                                 uint64_t *ret_count);

#endif
