/* See call.h. */
#include "kv/store/call.h"

#include "base/assert.h"
#include "base/status.h"
#include "kv/store/inherited.h"

enum bb_status bb_call_check_change(struct bb_db *db, const char *what)
{
    enum bb_status status = bb_inherited_check(db);
    enum bb_status (*resume)(struct bb_db *) =
        atomic_load_explicit(&db->resume, memory_order_acquire);
    if (status == BB_OK && resume != NULL)
        return resume(db);
    if (status != BB_OK || !db->options.read_only)
        return status;
    return bb_fail(BB_READ_ONLY,
                   "%s: %s needs a store that is open for writing, this one is "
                   "open with read_only",
                   db->directory, what);
}

enum bb_status bb_call_check_open(struct bb_db *db)
{
    bb_mutex_lock(&db->mutex);
    bool is_closing = db->is_closing;
    bb_mutex_unlock(&db->mutex);
    return is_closing ? bb_fail(BB_BUSY, "the store is being closed") : BB_OK;
}

enum bb_status bb_call_check_merging(struct bb_db *db)
{
    bb_mutex_lock(&db->mutex);
    bool yields = db->yield_count > 0;
    bb_mutex_unlock(&db->mutex);
    return yields ? bb_fail(BB_BUSY, "a write needs the space") : bb_call_check_open(db);
}

enum bb_status bb_call_begin(struct bb_db *db)
{
    bb_mutex_lock(&db->mutex);
    bool is_closing = db->is_closing;
    db->call_count += !is_closing;
    bb_mutex_unlock(&db->mutex);
    return is_closing ? bb_fail(BB_BUSY, "the store is being closed") : BB_OK;
}

enum bb_status bb_call_begin_change(struct bb_db *db, const char *what)
{
    enum bb_status status = bb_call_check_change(db, what);
    return status == BB_OK ? bb_call_begin(db) : status;
}

void bb_call_end(struct bb_db *db)
{
    bb_mutex_lock(&db->mutex);
    BB_DEBUG_ASSERT(db->call_count > 0);
    db->call_count--;
    if (db->is_closing)
        bb_condvar_broadcast(&db->work_is_done);
    bb_mutex_unlock(&db->mutex);
}
