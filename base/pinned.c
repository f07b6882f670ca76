/* Releasing pinned bytes. Declared in bb/base.h. Any thread. */
#include "base/pinned.h"

void bb_pinned_release(struct bb_pinned *pinned)
{
    if (pinned == NULL)
        return;
    struct bb_pinned was = *pinned;
    *pinned = (struct bb_pinned){0};
    if (was.unref != NULL)
        was.unref(was.holder);
    /* Last: a thread that sees the count without this pin may destroy the owner of the bytes. */
    if (was.count != NULL)
        atomic_fetch_sub_explicit((_Atomic int64_t *)was.count, 1, memory_order_release);
}

void bb_pinned_count(struct bb_pinned *pinned, _Atomic int64_t *count)
{
    pinned->count = (void *)count;
    atomic_fetch_add_explicit(count, 1, memory_order_relaxed);
}
