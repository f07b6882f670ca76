/* See entry_array.h. */
#include "tests/support/entry_array.h"

#include <stdio.h>

#include "base/bytes.h"
#include "tests/support/array_iter.h"
#include "tests/support/must_alloc.h"

static struct bb_bytes copy_bytes(struct bb_bytes bytes)
{
    uint8_t *data = bb_must_realloc(NULL, bytes.size);
    if (bytes.size > 0)
        memcpy(data, bytes.data, bytes.size);
    return bb_bytes_of(data, bytes.size);
}

static struct bb_entry copy_entry(const struct bb_entry *entry)
{
    struct bb_entry copy = *entry;
    copy.key = copy_bytes(entry->key);
    copy.value = copy_bytes(entry->value);
    return copy;
}

static void free_entry(struct bb_entry *entry)
{
    free((void *)(uintptr_t)entry->key.data);
    free((void *)(uintptr_t)entry->value.data);
    *entry = (struct bb_entry){0};
}

static int compare_entries(const struct bb_comparator *comparator, const struct bb_entry *a,
                           struct bb_bytes key, uint64_t sequence)
{
    int order = bb_key_compare(comparator, a->key, key);
    return order != 0 ? order : (a->sequence < sequence) - (a->sequence > sequence);
}

void bb_entry_array_deinit(struct bb_entry_array *array)
{
    for (size_t i = 0; i < array->count; i++)
        free_entry(&array->entries[i]);
    free(array->entries);
    *array = (struct bb_entry_array){0};
}

void bb_entry_array_add(struct bb_entry_array *array, const struct bb_entry *entry)
{
    array->entries = bb_must_grow(array->entries, array->count, &array->capacity, sizeof(*entry));
    array->entries[array->count++] = copy_entry(entry);
}

void bb_entry_array_add_text(struct bb_entry_array *array, const char *key, uint64_t sequence,
                             const char *value)
{
    struct bb_entry entry = {.key = bb_bytes_of_text(key), .sequence = sequence};
    if (value != NULL) {
        entry.kind = BB_ENTRY_PUT;
        entry.value = bb_bytes_of_text(value);
    }
    bb_entry_array_add(array, &entry);
}

/* Merge sort: qsort has no context for the comparator, and must not be quadratic. */
static void sort_range(const struct bb_entry_array *array, struct bb_entry *scratch, size_t low,
                       size_t high)
{
    if (high - low < 2)
        return;
    size_t middle = low + (high - low) / 2;
    sort_range(array, scratch, low, middle);
    sort_range(array, scratch, middle, high);
    struct bb_entry *entries = array->entries;
    size_t a = low;
    size_t b = middle;
    for (size_t i = low; i < high; i++) {
        bool takes_a =
            b == high || (a < middle && compare_entries(array->comparator, &entries[a],
                                                        entries[b].key, entries[b].sequence) <= 0);
        scratch[i] = takes_a ? entries[a++] : entries[b++];
    }
    memcpy(&entries[low], &scratch[low], (high - low) * sizeof(*entries));
}

void bb_entry_array_sort(struct bb_entry_array *array)
{
    struct bb_entry *scratch = bb_must_realloc(NULL, array->count * sizeof(*scratch));
    sort_range(array, scratch, 0, array->count);
    free(scratch);
}

void bb_entry_array_read(struct bb_entry_array *array, struct bb_iter *iter)
{
    for (bb_iter_seek_first(iter); iter->is_valid; bb_iter_next(iter))
        bb_entry_array_add(array, &iter->entry);
}

static bool entry_equal(const struct bb_entry *a, const struct bb_entry *b)
{
    return bb_bytes_equal(a->key, b->key) && a->sequence == b->sequence && a->kind == b->kind &&
           bb_bytes_equal(a->value, b->value);
}

bool bb_entry_array_equal(const struct bb_entry_array *a, const struct bb_entry_array *b)
{
    char text_a[64];
    char text_b[64];
    for (size_t i = 0; i < a->count && i < b->count; i++) {
        if (entry_equal(&a->entries[i], &b->entries[i]))
            continue;
        printf("entry %zu: %s@%llu and %s@%llu\n", i,
               bb_bytes_escape(a->entries[i].key, text_a, sizeof(text_a)),
               (unsigned long long)a->entries[i].sequence,
               bb_bytes_escape(b->entries[i].key, text_b, sizeof(text_b)),
               (unsigned long long)b->entries[i].sequence);
        return false;
    }
    if (a->count != b->count)
        printf("%zu entries and %zu\n", a->count, b->count);
    return a->count == b->count;
}

struct bb_iter *bb_entry_array_iter(const struct bb_entry_array *array)
{
    return bb_array_iter_create(array->entries, array->count, array->comparator);
}
