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

void bb_view_set(struct bb_view *blank, struct bb_write_buffer *const *buffers, size_t buffer_count,
                 struct bb_levels *levels)
{
    BB_DEBUG_ASSERT(blank->levels == NULL && blank->buffer_count == 0);
    BB_ASSERT(buffer_count > 0 && buffer_count <= BB_ARRAY_LENGTH(blank->buffers));
    atomic_init(&blank->references, 1);
    atomic_init(&blank->sequence_end, UINT64_MAX);
    for (size_t i = 0; i < buffer_count; i++)
        blank->buffers[i] = bb_write_buffer_ref(buffers[i]);
    blank->buffer_count = buffer_count;
    blank->levels = bb_levels_ref(levels);
}

void bb_view_destroy(struct bb_view *view)
{
    if (view == NULL)
        return;
    BB_ASSERT(atomic_load(&view->references) == 0);
    for (size_t i = view->buffer_count; i > 0; i--)
        bb_write_buffer_unref(view->buffers[i - 1]);
    bb_levels_unref(view->levels);
    bb_free(view);
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
