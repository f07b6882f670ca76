/* See spare_memtable.h. */
#include "kv/view/spare_memtable.h"

#include "base/assert.h"
#include "kv/memtable/memtable.h"

void bb_spare_memtable_init(struct bb_spare_memtable *spare, uint64_t capacity_bytes)
{
    bb_mutex_init(&spare->mutex);
    spare->memtable = NULL;
    spare->capacity_bytes = capacity_bytes;
}

void bb_spare_memtable_deinit(struct bb_spare_memtable *spare)
{
    bb_memtable_destroy(spare->memtable);
    bb_mutex_deinit(&spare->mutex);
}

struct bb_memtable *bb_spare_memtable_take(struct bb_spare_memtable *spare, uint64_t capacity_bytes)
{
    struct bb_memtable *memtable = NULL;
    if (capacity_bytes != spare->capacity_bytes)
        return NULL;
    bb_mutex_lock(&spare->mutex);
    memtable = spare->memtable;
    spare->memtable = NULL;
    bb_mutex_unlock(&spare->mutex);
    return memtable;
}

bool bb_spare_memtable_keep(struct bb_spare_memtable *spare, struct bb_memtable *memtable)
{
    BB_DEBUG_ASSERT(memtable != NULL);
    if (bb_memtable_capacity(memtable) != spare->capacity_bytes)
        return false;
    bb_memtable_reset(memtable);
    if (!bb_mutex_enter(&spare->mutex))
        return false;
    bool is_kept = spare->memtable == NULL;
    if (is_kept)
        spare->memtable = memtable;
    bb_mutex_unlock(&spare->mutex);
    return is_kept;
}

uint64_t bb_spare_memtable_held_bytes(struct bb_spare_memtable *spare)
{
    if (!bb_mutex_enter(&spare->mutex))
        return 0;
    uint64_t bytes = spare->memtable == NULL ? 0 : bb_memtable_held_bytes(spare->memtable);
    bb_mutex_unlock(&spare->mutex);
    return bytes;
}
