/* Statistics of flushes and compactions, by the level that they wrote, for "leveldb.stats". Any
 * thread. */
#ifndef BB_LEVELDB_WORK_H
#define BB_LEVELDB_WORK_H

#include <stdatomic.h>

#include "bb/db.h"

struct bb_leveldb_work {
    struct bb_leveldb_work_level {
        _Atomic uint64_t nanoseconds;
        _Atomic uint64_t bytes_read;
        _Atomic uint64_t bytes_written;
    } levels[BB_LEVEL_COUNT];
};

/* The store's listener; context is a struct bb_leveldb_work. */
void bb_leveldb_work_listen(void *context, const struct bb_event *event);

#endif
