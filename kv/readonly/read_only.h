/* A store opened for reading without the lock, next to its writer. It shows a read-only snapshot
 * (kv/readonly/read_only_snapshot.h), taken at opening and by bb_db_refresh. It has no log,
 * manifest or worker; every change is refused. */
#ifndef BB_KV_READONLY_READ_ONLY_H
#define BB_KV_READONLY_READ_ONLY_H

#include "base/status.h"
#include "kv/store/store.h"

/* Makes the newest state the store's first view. Called instead of recovery, after the parts of the
 * store are initialised. */
BB_MUST_CHECK enum bb_status bb_read_only_start(struct bb_db *db);

#endif
