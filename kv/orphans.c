/* See orphans.h. */
#include "kv/orphans.h"

#include "base/alloc.h"
#include "base/status.h"

void bb_orphans_deinit(struct bb_orphans *orphans)
{
    bb_free(orphans->numbers);
    *orphans = (struct bb_orphans){0};
}

void bb_orphans_add(struct bb_orphans *orphans, const struct bb_edit *edit,
                    const struct bb_levels *levels)
{
    size_t capacity = orphans->count + edit->added_count;
    if (edit->added_count == 0)
        return;
    uint64_t *numbers = bb_realloc(orphans->numbers, capacity * sizeof(*numbers));
    if (numbers == NULL)
        return;
    orphans->numbers = numbers;
    for (size_t i = 0; i < edit->added_count; i++) {
        if (bb_levels_find_number(levels, edit->added[i].number) == NULL)
            numbers[orphans->count++] = edit->added[i].number;
    }
}

void bb_orphans_remove(struct bb_orphans *orphans, struct bb_table_env *env)
{
    struct bb_error failure = *bb_error_last();
    for (size_t i = 0; i < orphans->count; i++)
        env->remove(env->context, orphans->numbers[i]);
    bb_orphans_deinit(orphans);
    if (failure.status != BB_OK)
        (void)bb_error_restore(&failure);
}
