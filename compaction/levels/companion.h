/* A file that belongs to a table and shares its lifetime: the table's indexes over values. This
 * layer does not read it.
 *
 * The table file and the current readers share a companion. When the last reference is dropped,
 * `destroy` removes the file if it was marked obsolete.
 * Threads: any.
 */
#ifndef BB_COMPACTION_LEVELS_COMPANION_H
#define BB_COMPACTION_LEVELS_COMPANION_H

#include <stdatomic.h>

#include "bb/base.h"

struct bb_companion {
    _Atomic uint32_t references;
    uint64_t number;          /* file number */
    _Atomic bool is_obsolete; /* no manifest names the file any more */
    _Atomic bool is_damaged;  /* the latest check of the file found damage */
    /* Releases everything, and removes the file if the companion is obsolete. */
    void (*destroy)(struct bb_companion *companion);
};

static inline void bb_companion_init(struct bb_companion *companion, uint64_t number,
                                     void (*destroy)(struct bb_companion *companion))
{
    atomic_init(&companion->references, 1);
    atomic_init(&companion->is_obsolete, false);
    atomic_init(&companion->is_damaged, false);
    companion->number = number;
    companion->destroy = destroy;
}

static inline struct bb_companion *bb_companion_ref(struct bb_companion *companion)
{
    atomic_fetch_add_explicit(&companion->references, 1, memory_order_relaxed);
    return companion;
}

/* NULL is allowed. */
static inline void bb_companion_unref(struct bb_companion *companion)
{
    if (companion != NULL &&
        atomic_fetch_sub_explicit(&companion->references, 1, memory_order_acq_rel) == 1)
        companion->destroy(companion);
}

/* Drops a reference to a companion that no manifest names any more. NULL is allowed. */
static inline void bb_companion_drop(struct bb_companion *companion)
{
    if (companion != NULL)
        atomic_store(&companion->is_obsolete, true);
    bb_companion_unref(companion);
}

#endif
