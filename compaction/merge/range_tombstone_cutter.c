/* See range_tombstone_cutter.h. */
#include "compaction/merge/range_tombstone_cutter.h"

#include "base/assert.h"
#include "base/buf.h"

static enum bb_status gather(struct bb_table_file *const *inputs, size_t input_count,
                             struct bb_range_tombstone_array *array)
{
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < input_count && status == BB_OK; i++) {
        struct bb_table *table = NULL;
        if (inputs[i]->meta.range_tombstone_count == 0)
            continue;
        status = bb_table_file_open(inputs[i], &table);
        if (status == BB_OK)
            status = bb_range_tombstone_array_add_list(array, bb_table_range_tombstones(table));
    }
    return status;
}

enum bb_status bb_range_tombstone_cutter_init(struct bb_range_tombstone_cutter *cutter,
                                              struct bb_table_file *const *inputs,
                                              size_t input_count, const struct bb_retain *retain)
{
    struct bb_range_tombstone_array array = {0};
    *cutter = (struct bb_range_tombstone_cutter){0};
    enum bb_status status = gather(inputs, input_count, &array);
    if (status == BB_OK && array.count > 0)
        status = bb_range_tombstones_create_seen(array.tombstones, array.count, retain->comparator,
                                                 retain->snapshots, retain->snapshot_count,
                                                 &cutter->list);
    bb_range_tombstone_array_deinit(&array);
    return status;
}

void bb_range_tombstone_cutter_deinit(struct bb_range_tombstone_cutter *cutter)
{
    bb_range_tombstones_destroy(cutter->list);
    bb_buf_deinit(&cutter->cut);
    *cutter = (struct bb_range_tombstone_cutter){0};
}

/* True when no run older than the output has data between the two keys. */
static bool is_bottom(const struct bb_levels *levels, const struct bb_plan *plan,
                      struct bb_bytes low, struct bb_bytes high)
{
    size_t i = bb_levels_first_older(levels, plan->output_level, plan->output_run);
    for (; i < levels->turn_count; i++) {
        if (bb_run_overlaps(levels->turns[i].run, levels->comparator, low, high))
            return false;
    }
    return true;
}

struct bb_range_tombstone_fragment
bb_range_tombstone_cutter_part(const struct bb_range_tombstone_cutter *cutter, size_t index,
                               const struct bb_bytes *high)
{
    const struct bb_comparator *comparator = cutter->list->comparator;
    struct bb_range_tombstone_fragment part = cutter->list->fragments[index];
    struct bb_bytes cut = bb_buf_bytes(&cutter->cut);
    if (cutter->has_cut && bb_key_compare(comparator, part.low, cut) < 0)
        part.low = cut;
    if (high != NULL && bb_key_compare(comparator, *high, part.high) < 0)
        part.high = *high;
    return part;
}

enum bb_status bb_range_tombstone_cutter_take(const struct bb_range_tombstone_cutter *cutter,
                                              const struct bb_bytes *high,
                                              const struct bb_levels *levels,
                                              const struct bb_plan *plan,
                                              const struct bb_retain *retain,
                                              struct bb_range_tombstone_array *array)
{
    enum bb_status status = BB_OK;
    if (cutter->list == NULL)
        return BB_OK;
    for (size_t i = cutter->index; i < cutter->list->count && status == BB_OK; i++) {
        struct bb_range_tombstone_fragment part = bb_range_tombstone_cutter_part(cutter, i, high);
        if (bb_key_compare(cutter->list->comparator, part.low, part.high) >= 0)
            break;
        bool bottom = is_bottom(levels, plan, part.low, part.high);
        for (size_t j = 0; j < part.count && status == BB_OK; j++) {
            if (bb_retain_keeps_range(retain, &part, j, bottom))
                status =
                    bb_range_tombstone_array_add(array, part.low, part.high, part.sequences[j]);
        }
    }
    return status;
}

/* Each tombstone of the fragment is written with both ends. */
static uint64_t fragment_bytes(const struct bb_range_tombstone_fragment *fragment)
{
    return fragment->count * (fragment->low.size + fragment->high.size + sizeof(uint64_t));
}

uint64_t bb_range_tombstone_cutter_pass(struct bb_range_tombstone_cutter *cutter,
                                        struct bb_bytes key)
{
    BB_DEBUG_ASSERT(cutter->passed >= cutter->index);
    const struct bb_range_tombstones *list = cutter->list;
    if (list == NULL)
        return 0;
    while (cutter->passed < list->count &&
           bb_key_compare(list->comparator, list->fragments[cutter->passed].low, key) < 0)
        cutter->passed_bytes += fragment_bytes(&list->fragments[cutter->passed++]);
    return cutter->passed_bytes;
}

enum bb_status bb_range_tombstone_cutter_cut(struct bb_range_tombstone_cutter *cutter,
                                             struct bb_bytes high)
{
    BB_DEBUG_ASSERT(!cutter->has_cut || cutter->list == NULL ||
                    bb_key_compare(cutter->list->comparator, bb_buf_bytes(&cutter->cut), high) <=
                        0);
    if (cutter->list == NULL)
        return BB_OK;
    enum bb_status status = bb_buf_assign(&cutter->cut, high);
    if (status != BB_OK)
        return status;
    cutter->has_cut = true;
    const struct bb_range_tombstones *list = cutter->list;
    while (cutter->index < list->count &&
           bb_key_compare(list->comparator, list->fragments[cutter->index].high, high) <= 0)
        cutter->index++;
    cutter->passed = cutter->index;
    cutter->passed_bytes = 0;
    return BB_OK;
}
