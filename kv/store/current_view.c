/* See current_view.h. */
#include "kv/store/current_view.h"

#include "base/assert.h"

static void retire(struct bb_db *db, struct bb_view *view)
{
    BB_DEBUG_ASSERT(view != db->view);
    atomic_fetch_sub(&view->references, 1);
    view->next_retired = db->retired;
    db->retired = view;
}

/* Final for a retired view: its announcements are withdrawn, and new references go only to the
 * current view. */
static bool is_unused(struct bb_db *db, const struct bb_view *view)
{
    return !bb_readers_is_used(&db->readers, view) && atomic_load(&view->references) == 0;
}

/* Unlinks the retired views without readers. The mutex is held. */
static struct bb_view *take_unused(struct bb_db *db)
{
    BB_DEBUG_ASSERT(bb_mutex_is_held(&db->mutex));
    struct bb_view *unused = NULL;
    struct bb_view **link = &db->retired;
    while (*link != NULL) {
        struct bb_view *view = *link;
        if (!is_unused(db, view)) {
            link = &view->next_retired;
            continue;
        }
        *link = view->next_retired;
        view->next_retired = unused;
        unused = view;
        db->going_views++;
    }
    return unused;
}

/* The mutex is not held: files are closed and removed here. */
static void destroy_views(struct bb_db *db, struct bb_view *view)
{
    size_t count = 0;
    while (view != NULL) {
        struct bb_view *next = view->next_retired;
        bb_view_destroy(view);
        view = next;
        count++;
    }
    if (count == 0)
        return;
    bb_mutex_lock(&db->mutex);
    db->going_views -= count;
    bb_mutex_unlock(&db->mutex);
}

void bb_current_view_reclaim(struct bb_db *db)
{
    bb_mutex_lock(&db->mutex);
    struct bb_view *unused = take_unused(db);
    bb_mutex_unlock(&db->mutex);
    destroy_views(db, unused);
}

void bb_current_view_publish(struct bb_db *db, struct bb_view *blank,
                             struct bb_write_buffer *const *buffers, size_t buffer_count,
                             struct bb_levels *levels)
{
    BB_DEBUG_ASSERT(bb_mutex_is_held(&db->mutex));
    struct bb_view *old = db->view;
    bb_view_set(blank, buffers, buffer_count, levels);
    db->view = blank;
    bb_readers_publish(&db->readers, blank);
    if (old != NULL)
        retire(db, old);
}

static void end_view(struct bb_view *view, uint64_t sequence)
{
    if (atomic_load_explicit(&view->sequence_end, memory_order_relaxed) > sequence)
        atomic_store_explicit(&view->sequence_end, sequence, memory_order_relaxed);
}

void bb_current_view_end(struct bb_db *db)
{
    BB_DEBUG_ASSERT(bb_mutex_is_held(&db->mutex));
    uint64_t last = atomic_load_explicit(&db->last_sequence, memory_order_acquire);
    if (db->view != NULL)
        end_view(db->view, last);
    for (struct bb_view *view = db->retired; view != NULL; view = view->next_retired)
        end_view(view, last);
}

struct bb_view *bb_current_view_pin(struct bb_db *db)
{
    bb_mutex_lock(&db->mutex);
    struct bb_view *view = db->view;
    atomic_fetch_add(&view->references, 1);
    bb_mutex_unlock(&db->mutex);
    return view;
}

void bb_current_view_unpin(struct bb_db *db, struct bb_view *view)
{
    BB_DEBUG_ASSERT(atomic_load(&view->references) > 0);
    bb_mutex_lock(&db->mutex);
    atomic_fetch_sub(&view->references, 1);
    struct bb_view *unused = take_unused(db);
    bb_mutex_unlock(&db->mutex);
    destroy_views(db, unused);
}

struct bb_levels *bb_current_view_ref_levels(struct bb_db *db)
{
    bb_mutex_lock(&db->mutex);
    struct bb_levels *levels = bb_levels_ref(db->view->levels);
    bb_mutex_unlock(&db->mutex);
    return levels;
}
