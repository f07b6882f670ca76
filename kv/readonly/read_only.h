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

/* Checks that the store accepts a change; `what` names the requested work ("a flush"). Errors:
 * BB_READ_ONLY for a read-only store, BB_INVALID for a store of another process, BB_NO_SPACE for an
 * opening that still waits for space and finds none (kv/open/resume.h). REQUIRES: the caller
 * does not lead the commit queue. */
BB_MUST_CHECK enum bb_status bb_read_only_check(struct bb_db *db, const char *what);

#endif
