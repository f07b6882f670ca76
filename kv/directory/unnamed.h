/* Tables in a store's directory that no manifest names: leftovers, or the only remains of an edit
 * that is unreadable.
 *
 * Their sequences tell the two apart. The log has a flush's data until the edit is durable, and the
 * inputs have a compaction's data: all sequences of such a table are also known from elsewhere. A
 * table with a sequence above all that the manifest and the logs know comes from an ingest, or from
 * a flush without a log, and is the only copy of its data. It was never acknowledged if the
 * manifest ends with a mark, which proves that no edit followed.
 *
 * Threads: one at a time per list.
 */
#ifndef BB_KV_DIRECTORY_UNNAMED_H
#define BB_KV_DIRECTORY_UNNAMED_H

#include "bb/db.h"
#include "kv/directory/directory.h"

struct bb_unnamed_table {
    uint64_t number;
    uint64_t sequence_max;
};

/* A zeroed struct is a valid empty list. */
struct bb_unnamed {
    struct bb_unnamed_table *tables; /* ascending by sequence_max, then by number; owned */
    size_t count;
};

/* Finds the tables that can be opened, have the state's secret and are not in the state. options:
 * resolved. Skips all others. Errors: BB_IO and similar when a file cannot be read. */
BB_MUST_CHECK enum bb_status bb_unnamed_find(struct bb_file_system *fs, const char *path,
                                             const struct bb_db_options *options,
                                             const struct bb_directory *directory,
                                             const struct bb_manifest_state *state,
                                             struct bb_unnamed *ret_list);
void bb_unnamed_deinit(struct bb_unnamed *list);

/* The index of the first table with a sequence above this one; all later tables have one too. */
size_t bb_unnamed_first_above(const struct bb_unnamed *list, uint64_t sequence);

/* Fails with BB_CORRUPT: the table may have been acknowledged. last_sequence: the last one known
 * without it. */
BB_MUST_CHECK enum bb_status bb_unnamed_fail(const char *path, const struct bb_unnamed_table *table,
                                             uint64_t last_sequence,
                                             const struct bb_manifest_report *manifest);

#endif
