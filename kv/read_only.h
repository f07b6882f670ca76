/* A store that is opened for reading beside its writer, without the lock: what it shows is a glimpse
 * (kv/glimpse.h), taken at opening and by bb_db_refresh. There is no log, no manifest and no worker
 * of its own; whatever would write is refused. */
#ifndef BB_KV_READ_ONLY_H
#define BB_KV_READ_ONLY_H

#include "base/status.h"
#include "kv/store.h"

/* Makes the newest state the store's first view. Called in place of recovery; the parts of the
 * store are there. */
BB_MUST_CHECK enum bb_status bb_read_only_start(struct bb_db *db);

/* BB_READ_ONLY for a store that may not be changed, BB_INVALID for one that is another process's;
 * `what` was asked for ("a flush"). BB_NO_SPACE for one whose opening still waits for space, and
 * finds none now: kv/recovery/resume.h. The caller does not lead the commit queue. */
BB_MUST_CHECK enum bb_status bb_read_only_check(struct bb_db *db, const char *what);

#endif
