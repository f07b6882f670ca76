/* Tables that an edit may have named which cannot be read any more: an opening does not remove them.
 * It gives them names that are not the store's, "NUMBER.bbt.lost", under which they stay until they
 * are removed or ingested (bb_db_ingest). Threads: that of the opening. */
#ifndef BB_KV_RECOVERY_SET_ASIDE_H
#define BB_KV_RECOVERY_SET_ASIDE_H

#include "kv/directory.h"
#include "kv/store.h"

/* For a manifest without a mark at its end, that is its report. *ret_count: how many. With strict
 * recovery BB_CORRUPT where there is any. state: with the last sequence of the logs, which were
 * replayed. Of the directory those files become foreign. Call it before the new manifest is
 * published, which makes the names durable. */
BB_MUST_CHECK enum bb_status bb_set_aside_tables(struct bb_db *db, struct bb_directory *directory,
                                                 const struct bb_manifest_state *state,
                                                 const struct bb_manifest_report *manifest,
                                                 uint64_t *ret_count);

#endif
