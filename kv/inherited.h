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
#ifndef BB_KV_INHERITED_H
#define BB_KV_INHERITED_H

#include "base/process.h"
#include "kv/store.h"

static inline bool bb_store_is_inherited(const struct bb_db *db)
{
    return __builtin_expect(db->process != bb_process_number(), 0);
}

/* Errors: BB_INVALID in a process that did not open the store. */
BB_MUST_CHECK enum bb_status bb_store_fail_inherited(const struct bb_db *db);
BB_MUST_CHECK static inline enum bb_status bb_store_check_process(const struct bb_db *db)
{
    return bb_store_is_inherited(db) ? bb_store_fail_inherited(db) : BB_OK;
}

/* For an inherited store: true when no thread was changing or using it at the fork. Then it is
 * consistent, and may be released. Never waits. */
bool bb_store_was_still(struct bb_db *db);

#endif
