/* See resume.h. */
#include "kv/open/resume.h"

#include "base/assert.h"
#include "base/status.h"
#include "kv/background/worker.h"
#include "kv/open/opening.h"
#include "kv/readonly/read_only.h"
#include "kv/store/current_view.h"
#include "kv/write/commit.h"

/* For a store whose recovery failed in doubt. */
static enum bb_status refuse(struct bb_db *db)
{
    return bb_fail(BB_READ_ONLY, "%s: close the store and open it again, since its opening failed",
                   db->directory);
}

/* The manifest that the attempt wrote may be current. It names tables that this handle does not
 * show, and not the logs that they were made from: another attempt would not find their data. */
static enum bb_status end_attempts(struct bb_db *db)
{
    struct bb_error failure = *bb_error_last();
    atomic_store_explicit(&db->resume, refuse, memory_order_release);
    (void)!refuse(db);
    struct bb_error refusal = *bb_error_last();
    return bb_fail(refusal.status, "%s: %s", refusal.message, failure.message);
}

static enum bb_status recover(struct bb_db *db)
{
    struct bb_opening opening = {.db = db};
    enum bb_status status = bb_opening_recover(&opening);
    /* Before the attempt knows its first number, it has made no file. */
    if (status != BB_OK && opening.first_number > 0 && !bb_opening_undo(&opening))
        status = end_attempts(db);
    struct bb_error failure = *bb_error_last();
    bb_opening_deinit(&opening);
    return status == BB_OK ? BB_OK : bb_error_restore(&failure);
}

static enum bb_status try_again(struct bb_db *db)
{
    enum bb_status status = db->manifest == NULL ? recover(db) : BB_OK;
    if (status != BB_OK)
        return status;
    bb_current_view_reclaim(db);
    status = bb_workers_start(db); /* if this fails, the next call tries it */
    if (status == BB_OK)
        atomic_store_explicit(&db->resume, NULL, memory_order_release);
    return status;
}

static enum bb_status resume(struct bb_db *db);

/* Another call may have changed the state while this one waited to lead. */
static enum bb_status go_on(struct bb_db *db)
{
    enum bb_status (*next)(struct bb_db *) = atomic_load(&db->resume);
    if (next == NULL)
        return BB_OK;
    return next == resume ? try_again(db) : next(db);
}

/* REQUIRES: the caller does not lead the commit queue. */
static enum bb_status resume(struct bb_db *db)
{
    struct bb_commit commit;
    enum bb_status status = bb_commit_become_leader(db, &commit);
    if (status != BB_OK)
        return status;
    status = go_on(db);
    struct bb_error failure = *bb_error_last();
    bb_commit_release_leader(db, &commit);
    return status == BB_OK ? BB_OK : bb_error_restore(&failure);
}

enum bb_status bb_resume_wait_for_space(struct bb_db *db)
{
    BB_DEBUG_ASSERT(bb_error_last()->status != BB_OK);
    struct bb_error failure = *bb_error_last();
    struct bb_event event = {.kind = BB_EVENT_ERROR, .level = -1};
    enum bb_status status = bb_read_only_start(db);
    if (status != BB_OK)
        return bb_error_restore(&failure);
    atomic_store_explicit(&db->resume, resume, memory_order_release);
    (void)!bb_fail(BB_NO_SPACE, "%s: open only for reading until there is space: %s", db->directory,
                   failure.message);
    event.message = bb_error_last()->message;
    bb_store_event(db, &event);
    return BB_OK;
}
