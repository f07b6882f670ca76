/* The keys with the highest counts. */
#include "standalone/sketch/top_list.h"

#include <string.h>

#include "base/alloc.h"
#include "base/status.h"

enum bb_status bb_top_list_init(struct bb_top_list *list, uint32_t capacity)
{
    *list = (struct bb_top_list){.capacity = capacity};
    if (capacity == 0)
        return BB_OK;
    list->entries = bb_alloc_zeroed(capacity, sizeof(list->entries[0]));
    if (list->entries == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for a list of %u keys", capacity);
    return BB_OK;
}

void bb_top_list_reset(struct bb_top_list *list)
{
    for (uint32_t i = 0; i < list->count; i++) {
        bb_free((void *)list->entries[i].key.data);
        list->entries[i] = (struct bb_count_entry){0};
    }
    list->count = 0;
    list->least = 0;
}

void bb_top_list_deinit(struct bb_top_list *list)
{
    bb_top_list_reset(list);
    bb_free(list->entries);
    *list = (struct bb_top_list){0};
}

static struct bb_count_entry *find(const struct bb_top_list *list, uint64_t hash)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (list->entries[i].hash == hash)
            return &list->entries[i];
    return NULL;
}

static void find_least(struct bb_top_list *list)
{
    list->least = 0;
    for (uint32_t i = 1; i < list->count; i++)
        if (list->entries[i].count < list->entries[list->least].count)
            list->least = i;
}

/* Adds a key after the last entry. In a full list it replaces the entry with the lowest count. */
static enum bb_status insert(struct bb_top_list *list, uint64_t hash, struct bb_bytes key,
                             uint64_t count)
{
    uint8_t *copy = bb_alloc(key.size);
    if (copy == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for a key of %zu bytes", key.size);
    if (key.size > 0)
        memcpy(copy, key.data, key.size);
    bool full = list->count == list->capacity;
    struct bb_count_entry *entry = &list->entries[full ? list->least : list->count++];
    bb_free((void *)entry->key.data);
    *entry = (struct bb_count_entry){.hash = hash, .count = count, .key = {copy, key.size}};
    return BB_OK;
}

/* The lower of two bounds: the estimate, and `before + added`, where `before` bounds the earlier
 * additions. */
static uint64_t bound_of(uint64_t estimate, uint64_t before, uint64_t added)
{
    return before < estimate && added < estimate - before ? before + added : estimate;
}

enum bb_status bb_top_list_add(struct bb_top_list *list, uint64_t hash, struct bb_bytes key,
                               uint64_t estimate, uint64_t added)
{
    bool full = list->count == list->capacity;
    if (full && (list->capacity == 0 || estimate <= list->entries[list->least].count))
        return BB_OK;
    struct bb_count_entry *entry = find(list, hash);
    uint64_t unlisted = full ? list->entries[list->least].count : 0;
    enum bb_status status = BB_OK;
    if (entry != NULL)
        entry->count = bound_of(estimate, entry->count, added);
    else
        status = insert(list, hash, key, bound_of(estimate, unlisted, added));
    if (status == BB_OK)
        find_least(list);
    return status;
}

static bool goes_before(const struct bb_count_entry *a, const struct bb_count_entry *b)
{
    return a->count != b->count ? a->count > b->count : a->hash < b->hash;
}

size_t bb_top_list_sort(const struct bb_top_list *list, struct bb_count_entry *entries,
                        size_t capacity)
{
    size_t sorted = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        size_t place = sorted;
        while (place > 0 && goes_before(&list->entries[i], &entries[place - 1]))
            place--;
        if (place == capacity)
            continue;
        size_t moved = (sorted < capacity ? sorted : capacity - 1) - place;
        memmove(&entries[place + 1], &entries[place], moved * sizeof(entries[0]));
        entries[place] = list->entries[i];
        sorted += sorted < capacity;
    }
    return sorted;
}
