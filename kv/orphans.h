/* Tables and index files that were written and whose manifest record failed: the files of this process that nothing
 * refers to. While the record is in doubt (the manifest is poisoned) they stay, for an opening may
 * yet find it. They go once a new manifest is in force, which does not name them; what still stays
 * behind is an orphan for the next opening.
 *
 * Threads: the worker's.
 */
#ifndef BB_KV_ORPHANS_H
#define BB_KV_ORPHANS_H

#include "compaction/levels.h"
#include "kv/manifest/edit.h"

/* A zeroed struct is a valid empty list. */
struct bb_orphans {
    uint64_t *numbers; /* of tables; owned */
    size_t count;
    uint64_t *index_numbers; /* owned */
    size_t index_count;
};

void bb_orphans_deinit(struct bb_orphans *orphans);

/* An edit was not installed: remembers the tables that it would have added and that are not live in
 * these levels, for a table that moves is. Without memory for that they are left to the next
 * opening. */
void bb_orphans_add(struct bb_orphans *orphans, const struct bb_edit *edit,
                    const struct bb_levels *levels);

/* Removes the files and forgets them. REQUIRES: it is certain that no manifest names them. Keeps
 * the calling thread's latest failure. */
void bb_orphans_remove(struct bb_orphans *orphans, struct bb_table_env *env);

#endif
