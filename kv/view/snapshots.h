/* The live snapshots, oldest first. A compaction keeps all versions that they can see. Guarded by
 * the store's mutex. */
#ifndef BB_KV_VIEW_SNAPSHOTS_H
#define BB_KV_VIEW_SNAPSHOTS_H

#include "bb/db.h"

struct bb_snapshot {
    uint64_t sequence;
    struct bb_snapshot *older;
    struct bb_snapshot *newer;
};

/* A ring through its head. */
struct bb_snapshots {
    struct bb_snapshot head;
    size_t count;
};

void bb_snapshots_init(struct bb_snapshots *snapshots);
/* REQUIRES: sequence is not below the newest snapshot's. */
BB_MUST_CHECK enum bb_status bb_snapshots_add(struct bb_snapshots *snapshots, uint64_t sequence,
                                              struct bb_snapshot **ret_snapshot);
void bb_snapshots_remove(struct bb_snapshots *snapshots, struct bb_snapshot *snapshot);
/* The sequence of the oldest; BB_SEQUENCE_MAX if none exist. */
uint64_t bb_snapshots_oldest(const struct bb_snapshots *snapshots);
/* Their sequences, ascending, without duplicates. *ret_sequences is owned (bb_free), NULL if none
 * exist. */
BB_MUST_CHECK enum bb_status bb_snapshots_list(const struct bb_snapshots *snapshots,
                                               uint64_t **ret_sequences, size_t *ret_count);

#endif
