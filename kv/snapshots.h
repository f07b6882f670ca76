/* The snapshots that are alive, oldest first: a compaction keeps what they see. Guarded by the
 * store's mutex. */
#ifndef BB_KV_SNAPSHOTS_H
#define BB_KV_SNAPSHOTS_H

#include "bb/db.h"

struct bb_snapshot {
    uint64_t sequence;
    struct bb_snapshot *older;
    struct bb_snapshot *newer;
};

/* A ring through its own head. */
struct bb_snapshots {
    struct bb_snapshot head;
    size_t count;
};

void bb_snapshots_init(struct bb_snapshots *snapshots);
/* sequence must not be below that of the newest snapshot. */
BB_MUST_CHECK enum bb_status bb_snapshots_add(struct bb_snapshots *snapshots, uint64_t sequence,
                                              struct bb_snapshot **ret_snapshot);
void bb_snapshots_remove(struct bb_snapshots *snapshots, struct bb_snapshot *snapshot);
/* The sequence of the oldest, BB_SEQUENCE_MAX when there are none. */
uint64_t bb_snapshots_oldest(const struct bb_snapshots *snapshots);
/* Their sequences, ascending, equal ones once; *ret_sequences is owned (bb_free), NULL when there
 * are none. */
BB_MUST_CHECK enum bb_status bb_snapshots_list(const struct bb_snapshots *snapshots,
                                               uint64_t **ret_sequences, size_t *ret_count);

#endif
