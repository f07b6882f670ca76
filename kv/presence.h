/* Are the files of an open store still there under their names? A file that was removed while it is
 * open takes writes and syncs as before, and is gone with the process: what is acknowledged to it is
 * lost. So the names are looked at where something is acknowledged as durable: at a sync of the log,
 * and at a close. Names are those in the directory that is locked, wherever that was moved.
 *
 * Threads: the leader's.
 */
#ifndef BB_KV_PRESENCE_H
#define BB_KV_PRESENCE_H

#include "kv/store.h"

/* Is the log in use there? Without one nothing is missing: true. */
BB_MUST_CHECK enum bb_status bb_store_find_log(struct bb_db *db, bool *ret_is_there);
/* The same; BB_IO: it was removed. */
BB_MUST_CHECK enum bb_status bb_store_check_log_present(struct bb_db *db);

/* CURRENT, and the manifest in force. BB_IO: one was removed. REQUIRES: nothing installs. */
BB_MUST_CHECK enum bb_status bb_store_check_present(struct bb_db *db);

#endif
