/* One empty memtable, kept for reuse: its pages have been touched, which saves about a third of the
 * cost of an insert. Any thread. */
#ifndef BB_KV_VIEW_SPARE_MEMTABLE_H
#define BB_KV_VIEW_SPARE_MEMTABLE_H

#include "base/sync.h"

struct bb_memtable;

struct bb_spare_memtable {
    struct bb_mutex mutex;
    struct bb_memtable *memtable; /* owned; NULL if none; guarded by the mutex */
    uint64_t capacity_bytes;      /* the only capacity worth keeping; constant */
};

void bb_spare_memtable_init(struct bb_spare_memtable *spare, uint64_t capacity_bytes);
void bb_spare_memtable_deinit(struct bb_spare_memtable *spare);
/* Hands the memtable to the caller; NULL without one of that capacity. */
struct bb_memtable *bb_spare_memtable_take(struct bb_spare_memtable *spare,
                                           uint64_t capacity_bytes);
/* Empties the memtable and keeps it. Returns false, and keeps nothing, if it has another capacity
 * or a memtable is kept already. */
bool bb_spare_memtable_keep(struct bb_spare_memtable *spare, struct bb_memtable *memtable);
/* The memory of the kept memtable; 0: none is kept. */
uint64_t bb_spare_memtable_held_bytes(struct bb_spare_memtable *spare);

#endif
