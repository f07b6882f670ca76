/* Checks that the files of an open store still exist under their names. A file that is removed
 * while it is open accepts writes and syncs, but disappears with the process, and acknowledged
 * writes are lost. The names are therefore checked whenever durability is acknowledged: at a sync
 * of the log, and at a close. The check follows the locked directory, even if it was moved.
 *
 * Threads: the leader's.
 */
#ifndef BB_KV_STORE_PRESENCE_H
#define BB_KV_STORE_PRESENCE_H

#include "kv/store/store.h"

/* *ret_is_there: the current log exists; true when there is no log. */
BB_MUST_CHECK enum bb_status bb_presence_find_log(struct bb_db *db, bool *ret_is_there);
/* The same. Errors: BB_IO when the log was removed. */
BB_MUST_CHECK enum bb_status bb_presence_check_log(struct bb_db *db);

/* Checks CURRENT and the current manifest. Errors: BB_IO when one was removed. REQUIRES: no
 * installing happens. */
BB_MUST_CHECK enum bb_status bb_presence_check(struct bb_db *db);

#endif
