/* Snapshots: states of a store that remain readable. */
#ifndef BB_LEVELDB_SNAPSHOT_H
#define BB_LEVELDB_SNAPSHOT_H

#include <leveldb/c.h>

#include "leveldb/store.h"

struct leveldb_snapshot_t {
    struct bb_leveldb_holder holder;
    struct bb_snapshot *snapshot; /* NULL: creation failed, or the store is closed */
};

#endif
