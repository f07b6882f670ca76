/* What an opening without the lock sees of a store: one state of it, while its writer goes on.
 *
 *     CURRENT -> manifest      which tables, and the log to begin with
 *     list                     the logs from that one on
 *     tables                   each is opened, and stays so: its bytes are there when its name is
 *                              gone
 *     logs, ascending          into a memtable
 *
 * WHY that is one state, a front part of the order of commits: the tables have everything up to the
 * manifest's last sequence. A log that was listed beside a newer one had all of its records before
 * the list was made, and is read after it; the newest log of the list gives what it has when it is
 * opened. So records are missing at the end only. Whatever is removed between the steps was made
 * superfluous by a record of the manifest before (docs/durability.md, R3): then something is missing
 * here, and the manifest is not the one that was read any more.
 *
 * Threads: one at a time for one store.
 */
#ifndef BB_KV_GLIMPSE_H
#define BB_KV_GLIMPSE_H

#include "kv/store.h"

/* A zeroed struct is a valid empty glimpse. */
struct bb_glimpse {
    struct bb_levels *levels;       /* with a reference; all tables are open */
    struct bb_write_buffer *buffer; /* what the logs hold; without a log of its own; with a
                                       reference */
    uint64_t last_sequence;         /* everything up to here is in levels and buffer */
};
void bb_glimpse_deinit(struct bb_glimpse *glimpse);

/* Takes the newest state. *before is a glimpse taken earlier, or empty: what it has already (open
 * tables, what was read of the same logs) is used again. BB_BUSY: the writer was quicker than so
 * many attempts, or another store has taken the place of the one that was opened. BB_NOT_FOUND: no
 * store. Changes nothing in the directory. */
BB_MUST_CHECK enum bb_status bb_glimpse_take(struct bb_db *db, const struct bb_glimpse *before,
                                             struct bb_glimpse *ret_glimpse);

#endif
