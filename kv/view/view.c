/* See view.h. */
#include "kv/view/view.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/status.h"
#include "compaction/levels/levels.h"
#include "sstable/table/table.h"

enum bb_status bb_view_create(struct bb_view **ret_blank)
{
    struct bb_view *view = bb_alloc_zeroed(1, sizeof(*view));
    if (view == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for a view");
    *ret_blank = view;
    return BB_OK;
}

void bb_view_set(struct bb_view *blank, struct bb_write_buffer *active,
                 struct bb_write_buffer *const *frozen, size_t frozen_count,
                 struct bb_levels *levels)
{
    BB_DEBUG_ASSERT(blank->levels == NULL && blank->frozen_count == 0);
    BB_ASSERT(frozen_count <= BB_FROZEN_MAX);
    atomic_init(&blank->references, 1);
    atomic_init(&blank->sequence_end, UINT64_MAX);
    blank->active = bb_write_buffer_ref(active);
    for (size_t i = 0; i < frozen_count; i++)
        blank->frozen[i] = bb_write_buffer_ref(frozen[i]);
    blank->frozen_count = frozen_count;
    blank->levels = bb_levels_ref(levels);
}

void bb_view_destroy(struct bb_view *view)
{
    if (view == NULL)
        return;
    BB_ASSERT(atomic_load(&view->references) == 0);
    for (size_t i = 0; i < view->frozen_count; i++)
        bb_write_buffer_unref(view->frozen[i]);
    if (view->active != NULL)
        bb_write_buffer_unref(view->active);
    if (view->levels != NULL)
        bb_levels_unref(view->levels);
    bb_free(view);
}

struct bb_write_buffer *bb_view_oldest_frozen(const struct bb_view *view)
{
    BB_DEBUG_ASSERT(view->frozen_count <= BB_FROZEN_MAX);
    return view->frozen_count == 0 ? NULL : view->frozen[view->frozen_count - 1];
}

/* The open table that shows the value in its map; NULL if none. */
static const struct bb_table *find_shown(const struct bb_run *run, struct bb_bytes value)
{
    for (size_t i = 0; i < run->count; i++) {
        const struct bb_table *table =
            atomic_load_explicit(&run->files[i]->table, memory_order_acquire);
        if (table != NULL && bb_table_shows(table, value))
            return table;
    }
    return NULL;
}

enum bb_status bb_view_check_shown(const struct bb_view *view, struct bb_bytes value)
{
    for (size_t i = 0; i < view->levels->turn_count; i++) {
        const struct bb_table *table = find_shown(view->levels->turns[i].run, value);
        if (table != NULL)
            return bb_table_check_shown(table, value);
    }
    return BB_OK;
}
