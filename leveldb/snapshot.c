/* See snapshot.h. */
#include "leveldb/snapshot.h"

#include "leveldb/memory.h"

static void let_go(struct bb_leveldb_holder *holder)
{
    leveldb_snapshot_t *snapshot = (leveldb_snapshot_t *)holder;
    bb_snapshot_release(holder->store->db, snapshot->snapshot);
    snapshot->snapshot = NULL;
}

const leveldb_snapshot_t *leveldb_create_snapshot(leveldb_t *db)
{
    leveldb_snapshot_t *snapshot = bb_leveldb_alloc(sizeof(*snapshot));
    if (snapshot == NULL)
        return NULL;
    /* LevelDB's signature cannot report a failure. Reading with the snapshot reports it. */
    if (bb_snapshot_create(db->db, &snapshot->snapshot) == BB_OK)
        bb_leveldb_store_add(db, &snapshot->holder, let_go);
    return snapshot;
}

void leveldb_release_snapshot(leveldb_t *db, const leveldb_snapshot_t *snapshot)
{
    leveldb_snapshot_t *own = (leveldb_snapshot_t *)snapshot;
    /* The program may have closed db already. The holder knows whether the store is open. */
    (void)db;
    if (own == NULL)
        return;
    bb_leveldb_store_remove(&own->holder);
    bb_leveldb_release(own);
}
