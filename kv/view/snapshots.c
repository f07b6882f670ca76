/* See snapshots.h. */
#include "kv/view/snapshots.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/status.h"

void bb_snapshots_init(struct bb_snapshots *snapshots)
{
    snapshots->head.older = &snapshots->head;
    snapshots->head.newer = &snapshots->head;
    snapshots->count = 0;
}

enum bb_status bb_snapshots_add(struct bb_snapshots *snapshots, uint64_t sequence,
                                struct bb_snapshot **ret_snapshot)
{
    struct bb_snapshot *head = &snapshots->head;
    BB_ASSERT(snapshots->count == 0 || head->older->sequence <= sequence);
    struct bb_snapshot *snapshot = bb_alloc(sizeof(*snapshot));
    if (snapshot == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for a snapshot");
    snapshot->sequence = sequence;
    snapshot->newer = head;
    snapshot->older = head->older;
    head->older->newer = snapshot;
    head->older = snapshot;
    snapshots->count++;
    *ret_snapshot = snapshot;
    return BB_OK;
}

void bb_snapshots_remove(struct bb_snapshots *snapshots, struct bb_snapshot *snapshot)
{
    BB_ASSERT(snapshots->count > 0 && snapshot != &snapshots->head);
    snapshot->older->newer = snapshot->newer;
    snapshot->newer->older = snapshot->older;
    snapshots->count--;
    bb_free(snapshot);
}

uint64_t bb_snapshots_oldest(const struct bb_snapshots *snapshots)
{
    return snapshots->count == 0 ? BB_SEQUENCE_MAX : snapshots->head.newer->sequence;
}

enum bb_status bb_snapshots_list(const struct bb_snapshots *snapshots, uint64_t **ret_sequences,
                                 size_t *ret_count)
{
    *ret_sequences = NULL;
    *ret_count = 0;
    if (snapshots->count == 0)
        return BB_OK;
    uint64_t *sequences = bb_alloc_zeroed(snapshots->count, sizeof(*sequences));
    if (sequences == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for the list of %zu snapshots", snapshots->count);
    size_t count = 0;
    for (const struct bb_snapshot *s = snapshots->head.newer; s != &snapshots->head; s = s->newer) {
        if (count == 0 || sequences[count - 1] != s->sequence)
            sequences[count++] = s->sequence;
    }
    *ret_sequences = sequences;
    *ret_count = count;
    return BB_OK;
}
