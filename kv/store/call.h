/* Checks at the start and in the course of calls of the interface. */
#ifndef BB_KV_STORE_CALL_H
#define BB_KV_STORE_CALL_H

#include "kv/store/store.h"

/* Checks that the store accepts a change; `what` names the requested work ("a flush"). Errors:
 * BB_READ_ONLY for a read-only store, BB_INVALID for a store of another process, BB_NO_SPACE for an
 * opening that still waits for space and finds none (kv/open/resume.h). REQUIRES: the caller does
 * not lead the commit queue. */
BB_MUST_CHECK enum bb_status bb_call_check_change(struct bb_db *db, const char *what);

/* Enclose a call that may wait for workers, so that closing waits for it. Errors: BB_BUSY when the
 * store is being closed. The mutex is not held. */
BB_MUST_CHECK enum bb_status bb_call_begin(struct bb_db *db);
/* Both: for a call that requests a change. */
BB_MUST_CHECK enum bb_status bb_call_begin_change(struct bb_db *db, const char *what);
void bb_call_end(struct bb_db *db);
/* Checked by such a call from time to time. Errors: BB_BUSY when it must return. The mutex is not
 * held. */
BB_MUST_CHECK enum bb_status bb_call_check_open(struct bb_db *db);
/* The same for long steps of the compacting worker, which also end when a flush or a write needs
 * the space. */
BB_MUST_CHECK enum bb_status bb_call_check_merging(struct bb_db *db);

#endif
