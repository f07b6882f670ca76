/* See table_ranges.h. */
#include "sstable/build/table_ranges.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "sstable/format.h"

void bb_table_ranges_deinit(struct bb_table_ranges *ranges)
{
    for (size_t i = 0; i < ranges->array.count; i++)
        bb_free((void *)(uintptr_t)ranges->array.tombstones[i].low.data);
    bb_range_tombstone_array_deinit(&ranges->array);
    bb_range_tombstones_destroy(ranges->list);
    ranges->list = NULL;
}

enum bb_status bb_table_ranges_add(struct bb_table_ranges *ranges, struct bb_bytes low,
                                   struct bb_bytes high, uint64_t sequence)
{
    uint8_t *copy = bb_alloc(low.size + high.size);
    if (copy == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for a range tombstone");
    if (low.size > 0)
        memcpy(copy, low.data, low.size);
    if (high.size > 0)
        memcpy(copy + low.size, high.data, high.size);
    enum bb_status status =
        bb_range_tombstone_array_add(&ranges->array, bb_bytes_of(copy, low.size),
                                     bb_bytes_of(copy + low.size, high.size), sequence);
    if (status != BB_OK)
        bb_free(copy);
    return status;
}

static void count_sequences(const struct bb_range_tombstones *list,
                            struct bb_properties *properties)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct bb_range_tombstone_fragment *fragment = &list->fragments[i];
        uint64_t newest = fragment->sequences[0];
        uint64_t oldest = fragment->sequences[fragment->count - 1];
        if (newest > properties->sequence_max)
            properties->sequence_max = newest;
        if (oldest < properties->sequence_min)
            properties->sequence_min = oldest;
        bb_properties_note_tombstone(properties, oldest);
        properties->range_tombstone_count += fragment->count;
    }
}

enum bb_status bb_table_ranges_widen(const struct bb_range_tombstones *list,
                                     struct bb_properties *properties)
{
    bool has_entries = properties->entry_count > 0;
    struct bb_bytes low = list->fragments[0].low;
    struct bb_bytes high = list->fragments[list->count - 1].high;
    enum bb_status status = BB_OK;
    count_sequences(list, properties);
    if (!has_entries ||
        bb_key_compare(list->comparator, low, bb_buf_bytes(&properties->smallest)) < 0)
        status = bb_buf_assign(&properties->smallest, low);
    properties->largest_is_exclusive =
        !has_entries ||
        bb_key_compare(list->comparator, high, bb_buf_bytes(&properties->largest)) > 0;
    if (status == BB_OK && properties->largest_is_exclusive)
        status = bb_buf_assign(&properties->largest, high);
    return status;
}

enum bb_status bb_table_ranges_finish(struct bb_table_ranges *ranges,
                                      const struct bb_comparator *comparator,
                                      struct bb_properties *properties)
{
    if (ranges->array.count == 0)
        return BB_OK;
    enum bb_status status =
        bb_range_tombstones_create(ranges->array.tombstones, ranges->array.count, comparator,
                                   BB_RANGE_SECTION_SIZE_MAX, &ranges->list);
    return status == BB_OK ? bb_table_ranges_widen(ranges->list, properties) : status;
}
