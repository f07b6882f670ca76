/* See work.h. */
#include "leveldb/work.h"

static void add(_Atomic uint64_t *sum, uint64_t value)
{
    atomic_fetch_add_explicit(sum, value, memory_order_relaxed);
}

void bb_leveldb_work_listen(void *context, const struct bb_event *event)
{
    struct bb_leveldb_work *work = context;
    bool is_work = event->kind == BB_EVENT_FLUSH || event->kind == BB_EVENT_COMPACTION;
    if (!is_work || event->level < 0 || event->level >= BB_LEVEL_COUNT)
        return;
    struct bb_leveldb_work_level *level = &work->levels[event->level];
    add(&level->nanoseconds, event->nanoseconds);
    add(&level->bytes_read, event->bytes_read);
    add(&level->bytes_written, event->bytes_written);
}
