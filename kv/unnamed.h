/* Tables in a store's directory that no manifest names: leftovers, or all that is left of an edit that
 * cannot be read any more.
 *
 * Which of the two follows from their sequences. What a flush has written is in the log until the
 * edit is durable, and what a compaction has written is in its inputs: all sequences of such a table
 * are known without it. A table with a sequence above all that the manifest and the logs know is an
 * ingest's, or that of a flush without a log, and nothing else has what it holds. It was never
 * acknowledged if the manifest ends with a mark, by which no edit came after those that were read.
 *
 * Threads: one at a time for one list. */
#ifndef BB_KV_UNNAMED_H
#define BB_KV_UNNAMED_H

#include "bb/db.h"
#include "kv/directory.h"

struct bb_unnamed_table {
    uint64_t number;
    uint64_t sequence_max;
};

/* A zeroed struct is a valid empty list. */
struct bb_unnamed {
    struct bb_unnamed_table *tables; /* ascending by sequence_max, then by number; owned */
    size_t count;
};

/* The tables that can be opened, have the state's secret and are not in the state. options:
 * resolved. Others are left out; BB_IO and the like where a file cannot be read. */
BB_MUST_CHECK enum bb_status bb_unnamed_find(struct bb_file_system *fs, const char *path,
                                             const struct bb_db_options *options,
                                             const struct bb_directory *directory,
                                             const struct bb_manifest_state *state,
                                             struct bb_unnamed *ret_list);
void bb_unnamed_deinit(struct bb_unnamed *list);

/* The index of the first table that has a sequence above this one; those after it have one, too. */
size_t bb_unnamed_first_above(const struct bb_unnamed *list, uint64_t sequence);

/* BB_CORRUPT: the table may have been acknowledged. last_sequence: what is known without it. */
BB_MUST_CHECK enum bb_status bb_unnamed_fail(const char *path, const struct bb_unnamed_table *table,
                                             uint64_t last_sequence,
                                             const struct bb_manifest_report *manifest);

#endif
