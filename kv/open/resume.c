/* See resume.h. */
#include "kv/open/resume.h"

#include "base/assert.h"
#include "base/status.h"
#include "kv/background/worker.h"
#include "kv/open/opening.h"
#include "kv/readonly/read_only.h"
#include "kv/store/current_view.h"
#include "kv/write/commit.h"

static enum bb_status try_again(struct bb_db *db)
{
    struct bb_opening opening = {.db = db};
    enum bb_status status = db->manifest == NULL ? bb_opening_recover(&opening) : BB_OK;
    if (status != BB_OK && !bb_opening_undo(&opening))
        status = bb_fail(BB_READ_ONLY, "%s: open the store again, since its opening failed: %s",
                         db->directory, bb_error_last()->message);
    struct bb_error failure = *bb_error_last();
    bb_opening_deinit(&opening);
    if (status != BB_OK)
        return bb_error_restore(&failure);
    bb_current_view_reclaim(db);
    status = bb_workers_start(db);
    if (status == BB_OK) {
        atomic_store_explicit(&db->resume, NULL, memory_order_release);
        return BB_OK;
    }
    bb_mutex_lock(&db->mutex);
    db->is_closing = false; /* they were stopped; the next call starts them */
    bb_mutex_unlock(&db->mutex);
    return status;
}

/* REQUIRES: the caller does not lead the commit queue. */
static enum bb_status resume(struct bb_db *db)
{
    struct bb_commit commit;
    enum bb_status status = bb_commit_become_leader(db, &commit);
    if (status != BB_OK)
        return status;
    if (atomic_load(&db->resume) != NULL)
        status = try_again(db);
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
