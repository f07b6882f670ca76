/* A store in a process that did not open it: a child made by fork has the handle, and must leave the
 * store alone. It has none of the opener's threads, and mutexes may be held for ever; its files are
 * the opener's.
 *
 *     close, destroy, release     release memory and descriptors, at most
 *     everything else             BB_INVALID, before any mutex is touched
 *
 * Even a child that is in the middle of a call, because it was forked by a listener or a comparator,
 * changes no file: the files refuse (base/file_posix.h).
 * docs/durability.md, "Fork".
 */
#ifndef BB_KV_INHERITED_H
#define BB_KV_INHERITED_H

#include "base/process.h"
#include "kv/store.h"

static inline bool bb_store_is_inherited(const struct bb_db *db)
{
    return __builtin_expect(db->process != bb_process_number(), 0);
}

/* BB_INVALID in a process that did not open the store. */
BB_MUST_CHECK enum bb_status bb_store_fail_inherited(const struct bb_db *db);
BB_MUST_CHECK static inline enum bb_status bb_store_check_process(const struct bb_db *db)
{
    return bb_store_is_inherited(db) ? bb_store_fail_inherited(db) : BB_OK;
}

/* Of an inherited store: when the process was forked, did no thread change anything in it or hold
 * anything of it? Then it is whole, and may be taken apart. Waits for nothing. */
bool bb_store_was_still(struct bb_db *db);

#endif
