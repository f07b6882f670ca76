/* See inherited.h. */
#include "kv/store/inherited.h"

#include "base/assert.h"
#include "base/status.h"

enum bb_status bb_inherited_fail(const struct bb_db *db)
{
    return bb_fail(
        BB_INVALID,
        "%s: was opened by process %ld, and this is process %ld, which a fork made: a "
        "store does not go through fork; open it here, once process %ld has closed it or "
        "with read_only",
        db->directory, db->process_id, bb_process_id(), db->process_id);
}

void bb_inherited_release(struct bb_db *db, struct bb_view *view)
{
    BB_DEBUG_ASSERT(bb_store_is_inherited(db));
    if (!bb_mutex_enter(&db->mutex))
        return;
    atomic_fetch_sub(&view->references, 1);
    bb_mutex_unlock(&db->mutex);
    atomic_fetch_sub(&db->iterator_count, 1);
}
