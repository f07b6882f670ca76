/* Tables and index files that were written, but whose manifest record failed: unreferenced files of
 * this process. While the record is in doubt (the manifest is poisoned) they stay, because an
 * opening may still find it. They are removed once a new manifest without them is current. The next
 * opening removes the rest as orphans.
 *
 * Threads: the worker's.
 */
#ifndef BB_KV_MANIFEST_ORPHANS_H
#define BB_KV_MANIFEST_ORPHANS_H

#include "compaction/levels/levels.h"
#include "kv/manifest/edit.h"

/* A zeroed struct is a valid empty list. */
struct bb_orphans {
    uint64_t *numbers; /* of tables; owned */
    size_t count;
    uint64_t *index_numbers; /* owned */
    size_t index_count;
};

void bb_orphans_deinit(struct bb_orphans *orphans);

/* Adds the tables of an edit that was not installed, except tables that are live in these levels: a
 * table that moves is live. Without memory for the list, the next opening removes them. */
void bb_orphans_add(struct bb_orphans *orphans, const struct bb_edit *edit,
                    const struct bb_levels *levels);

/* Removes the files and empties the list. Keeps the calling thread's latest failure. REQUIRES:
 * certainly no manifest names them. */
void bb_orphans_remove(struct bb_orphans *orphans, struct bb_table_file_env *env);

#endif
