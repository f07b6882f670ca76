/* A read-only snapshot: one state of a store, read without the lock while its writer continues.
 *
 *     CURRENT -> manifest      the tables, and the first log
 *     list                     the logs from that one on
 *     tables                   each is opened and stays open: its data remains after its name is
 *                              removed
 *     logs, ascending          into a memtable
 *
 * WHY this is one state, a prefix of the history of commits: the tables have everything up to the
 * manifest's last sequence. A log that was listed together with a newer one was complete before the
 * list was made, and is read after it. The newest log of the list is read up to its length at
 * opening. Records are therefore missing only at the end. A record of the manifest precedes every
 * removal between the steps (docs/durability.md, R3): if a file is missing here, the manifest has
 * changed since it was read.
 *
 * Threads: one at a time per store.
 */
#ifndef BB_KV_READONLY_READ_ONLY_SNAPSHOT_H
#define BB_KV_READONLY_READ_ONLY_SNAPSHOT_H

#include "kv/store/store.h"

/* A zeroed struct is a valid, empty read-only snapshot. */
struct bb_read_only_snapshot {
    struct bb_levels *levels; /* with a reference; all tables are open */
    /* The contents of the logs, with a reference. It has no log. */
    struct bb_write_buffer *buffer;
    /* Everything up to here is in levels and buffer. */
    uint64_t last_sequence;
};
void bb_read_only_snapshot_deinit(struct bb_read_only_snapshot *snapshot);

/* Reads the newest state. *before is an earlier read-only snapshot, or empty: its open tables and
 * the parts of the same logs that it read are reused. Errors: BB_BUSY when the writer changed the
 * store during every attempt. BB_NOT_FOUND without a store, or when another one has replaced it.
 * Changes nothing in the directory. */
BB_MUST_CHECK enum bb_status bb_read_only_snapshot_take(struct bb_db *db,
                                                        const struct bb_read_only_snapshot *before,
                                                        struct bb_read_only_snapshot *ret_snapshot);

#endif
