/* A store in a process that did not open it. A forked child has the handle, but must not change the
 * store: the opener's threads do not exist there, mutexes may be held forever, and the files belong
 * to the opener.
 *
 *     close, destroy, release     release memory and descriptors, at most
 *     everything else             BB_INVALID, before any mutex is touched
 *
 * Even a child that is inside a call, because a listener or a comparator forked it, changes no
 * file: the files refuse (base/file_posix.h). See docs/durability.md, "Fork".
 */
#ifndef BB_KV_STORE_INHERITED_H
#define BB_KV_STORE_INHERITED_H

#include "base/process.h"
#include "kv/store/store.h"

static inline bool bb_store_is_inherited(const struct bb_db *db)
{
    return __builtin_expect(db->process != bb_process_number(), 0);
}

/* Errors: BB_INVALID in a process that did not open the store. */
BB_MUST_CHECK enum bb_status bb_inherited_fail(const struct bb_db *db);
BB_MUST_CHECK static inline enum bb_status bb_inherited_check(const struct bb_db *db)
{
    return bb_store_is_inherited(db) ? bb_inherited_fail(db) : BB_OK;
}

/* In the child: releases the view of an iterator or a selection, and no longer counts that as open.
 * Never waits: if a thread of the parent held the mutex, it does nothing. */
void bb_inherited_release(struct bb_db *db, struct bb_view *view);

/* Enclose the changes of an iterator or a selection. If another thread forks during a change, the
 * child has a torn copy, and must not release the memory that it points to.
 *
 * A fork copies the completed stores of the other threads, so the order of stores matters. No store
 * of a change may complete before the flag is raised: the fence. Neither a relaxed nor a
 * sequentially consistent store alone holds later stores back on ARM. None may complete after the
 * flag is lowered: the release. On x86 both bind only the compiler. */
static inline void bb_move_begin(_Atomic bool *is_moving)
{
    atomic_store_explicit(is_moving, true, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
}

static inline void bb_move_end(_Atomic bool *is_moving)
{
    atomic_store_explicit(is_moving, false, memory_order_release);
}

/* In the child: true if the copy is torn. No thread changes the flag there. */
static inline bool bb_move_was_begun(const _Atomic bool *is_moving)
{
    return atomic_load_explicit(is_moving, memory_order_relaxed);
}

#endif
