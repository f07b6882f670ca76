/* See orphans.h. */
#include "kv/manifest/orphans.h"

#include "base/alloc.h"
#include "base/status.h"

void bb_orphans_deinit(struct bb_orphans *orphans)
{
    bb_free(orphans->numbers);
    bb_free(orphans->index_numbers);
    *orphans = (struct bb_orphans){0};
}

static bool reserve(struct bb_orphans *orphans, size_t extra)
{
    uint64_t *numbers =
        bb_realloc(orphans->numbers, (orphans->count + extra) * sizeof(*orphans->numbers));
    if (numbers != NULL)
        orphans->numbers = numbers;
    uint64_t *index_numbers = bb_realloc(
        orphans->index_numbers, (orphans->index_count + extra) * sizeof(*orphans->index_numbers));
    if (index_numbers != NULL)
        orphans->index_numbers = index_numbers;
    return numbers != NULL && index_numbers != NULL;
}

/* A live table is in an edit if it moves or gets another index file. It is kept, together with its
 * present index file. */
static void add_table(struct bb_orphans *orphans, const struct bb_edit_table *added,
                      const struct bb_levels *levels)
{
    struct bb_table_file *live = bb_levels_find_number(levels, added->number);
    uint64_t live_index = live == NULL ? 0 : bb_table_file_companion_number(live);
    if (live == NULL)
        orphans->numbers[orphans->count++] = added->number;
    if (added->index_number != 0 && added->index_number != live_index)
        orphans->index_numbers[orphans->index_count++] = added->index_number;
}

void bb_orphans_add(struct bb_orphans *orphans, const struct bb_edit *edit,
                    const struct bb_levels *levels)
{
    if (edit->added_count == 0 || !reserve(orphans, edit->added_count))
        return;
    for (size_t i = 0; i < edit->added_count; i++)
        add_table(orphans, &edit->added[i], levels);
}

void bb_orphans_remove(struct bb_orphans *orphans, struct bb_table_file_env *env)
{
    struct bb_error failure = *bb_error_last();
    for (size_t i = 0; i < orphans->count; i++)
        env->remove(env->context, orphans->numbers[i]);
    for (size_t i = 0; i < orphans->index_count; i++)
        env->remove_companion(env->context, orphans->index_numbers[i]);
    bb_orphans_deinit(orphans);
    if (failure.status != BB_OK)
        (void)bb_error_restore(&failure);
}
