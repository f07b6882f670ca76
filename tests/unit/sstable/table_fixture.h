/* Shared by the tests of tables: lists of entries, a table built from them in a file system in
 * memory, and the right result of a lookup by walking the list. */
#ifndef BB_TESTS_UNIT_SSTABLE_TABLE_FIXTURE_H
#define BB_TESTS_UNIT_SSTABLE_TABLE_FIXTURE_H

#include <stdio.h>

#include "base/bytes.h"
#include "bb/table.h"
#include "sstable/entry.h"
#include "tests/support/assert_status.h"
#include "tests/support/file_memory.h"
#include "tests/support/must_alloc.h"
#include "tests/support/rng.h"

#define FIXTURE_PATH "/table"

struct entry_list {
    struct bb_entry *entries; /* keys and values owned */
    size_t count;
    size_t capacity;
};

static inline struct bb_bytes copy_bytes(struct bb_bytes bytes)
{
    uint8_t *copy = bb_must_realloc(NULL, bytes.size);
    if (bytes.size > 0)
        memcpy(copy, bytes.data, bytes.size);
    return bb_bytes_of(copy, bytes.size);
}

static inline void entry_list_add(struct entry_list *list, struct bb_bytes key, uint64_t sequence,
                                  enum bb_entry_kind kind, struct bb_bytes value)
{
    list->entries =
        bb_must_grow(list->entries, list->count, &list->capacity, sizeof(list->entries[0]));
    list->entries[list->count++] = (struct bb_entry){
        .key = copy_bytes(key), .sequence = sequence, .kind = kind, .value = copy_bytes(value)};
}

static inline void entry_list_add_text(struct entry_list *list, const char *key, uint64_t sequence,
                                       const char *value)
{
    enum bb_entry_kind kind = value == NULL ? BB_ENTRY_DELETE : BB_ENTRY_PUT;
    struct bb_bytes bytes = value == NULL ? (struct bb_bytes){0} : bb_bytes_of_text(value);
    entry_list_add(list, bb_bytes_of_text(key), sequence, kind, bytes);
}

static inline void entry_list_deinit(struct entry_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free((void *)(uintptr_t)list->entries[i].key.data);
        free((void *)(uintptr_t)list->entries[i].value.data);
    }
    free(list->entries);
    *list = (struct entry_list){0};
}

static inline int compare_entries(const struct bb_entry *a, const struct bb_entry *b,
                                  const struct bb_comparator *comparator)
{
    return bb_entry_compare(comparator, a->key, a->sequence, b->key, b->sequence);
}

/* glibc's qsort_r under C11 with _GNU_SOURCE; the context is the comparator. */
static inline int compare_for_sort(const void *a, const void *b, void *comparator)
{
    return compare_entries(a, b, comparator);
}

/* Sorts, and drops entries equal in key and sequence. */
static inline void entry_list_sort(struct entry_list *list, const struct bb_comparator *comparator)
{
    if (list->count == 0)
        return;
    qsort_r(list->entries, list->count, sizeof(list->entries[0]), compare_for_sort,
            (void *)(uintptr_t)comparator);
    size_t kept = 1;
    for (size_t i = 1; i < list->count; i++) {
        if (compare_entries(&list->entries[kept - 1], &list->entries[i], comparator) != 0) {
            list->entries[kept++] = list->entries[i];
            continue;
        }
        free((void *)(uintptr_t)list->entries[i].key.data);
        free((void *)(uintptr_t)list->entries[i].value.data);
    }
    list->count = kept;
}

/* Hostile keys, one version or many, tombstones, values up to value_size_max. */
static inline void entry_list_add_random(struct entry_list *list, struct bb_rng *rng,
                                         size_t key_count, size_t value_size_max)
{
    uint8_t key[300];
    uint8_t *value = bb_must_realloc(NULL, value_size_max);
    for (size_t i = 0; i < key_count; i++) {
        size_t key_size = bb_rng_key(rng, key, sizeof(key));
        uint64_t versions = bb_rng_one_in(rng, 4) ? bb_rng_between(rng, 2, 40) : 1;
        for (uint64_t v = 0; v < versions; v++) {
            bool is_put = !bb_rng_one_in(rng, 6);
            size_t value_size = is_put ? bb_rng_skewed(rng, value_size_max) : 0;
            /* Half of the values compress. */
            if (bb_rng_one_in(rng, 2))
                memset(value, 'v', value_size);
            else
                bb_rng_bytes(rng, value, value_size);
            entry_list_add(list, bb_bytes_of(key, key_size), bb_rng_below(rng, 1000) * 2 + 1,
                           is_put ? BB_ENTRY_PUT : BB_ENTRY_DELETE, bb_bytes_of(value, value_size));
        }
    }
    free(value);
}

/* Index of the first entry at or after (key, sequence). */
static inline size_t entry_list_find(const struct entry_list *list, struct bb_bytes key,
                                     uint64_t sequence, const struct bb_comparator *comparator)
{
    struct bb_entry wanted = {.key = key, .sequence = sequence};
    size_t low = 0;
    size_t high = list->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_entries(&list->entries[middle], &wanted, comparator) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* BB_VISIT_PRESENT, TOMBSTONE, NOT_VISIBLE, OUT_OF_BOUNDS, and FALSE_POSITIVE for "no entry of the
 * key": the list does not know the filters' results. */
static inline enum bb_visit entry_list_get(const struct entry_list *list, struct bb_bytes key,
                                           uint64_t sequence,
                                           const struct bb_comparator *comparator,
                                           const struct bb_entry **ret_entry)
{
    size_t at = entry_list_find(list, key, sequence, comparator);
    if (bb_key_compare(comparator, key, list->entries[0].key) < 0 ||
        bb_key_compare(comparator, key, list->entries[list->count - 1].key) > 0)
        return BB_VISIT_OUT_OF_BOUNDS;
    if (at < list->count && bb_key_compare(comparator, list->entries[at].key, key) == 0) {
        *ret_entry = &list->entries[at];
        return list->entries[at].kind == BB_ENTRY_PUT ? BB_VISIT_PRESENT : BB_VISIT_TOMBSTONE;
    }
    if (at > 0 && bb_key_compare(comparator, list->entries[at - 1].key, key) == 0)
        return BB_VISIT_NOT_VISIBLE;
    return BB_VISIT_FALSE_POSITIVE;
}

static inline void assert_same_entry(const struct bb_entry *found, const struct bb_entry *expected)
{
    assert_true(bb_bytes_equal(found->key, expected->key));
    assert_true(found->sequence == expected->sequence);
    assert_int_equal(found->kind, expected->kind);
    assert_true(bb_bytes_equal(found->value, expected->value));
}

/* Writes the list as a table; options->file_system must be set. */
static inline void build_table(const char *path, const struct bb_table_options *options,
                               const struct entry_list *list, struct bb_table_meta *ret_meta)
{
    struct bb_table_builder *builder = NULL;
    assert_ok(bb_table_builder_create(path, options, &builder));
    for (size_t i = 0; i < list->count; i++)
        assert_ok(bb_table_builder_add(builder, &list->entries[i]));
    assert_ok(bb_table_builder_finish(builder, ret_meta));
    bb_table_builder_destroy(builder);
}

/* The bytewise order backwards. */
static inline int compare_backwards(void *context, struct bb_bytes a, struct bb_bytes b)
{
    (void)context;
    return bb_bytes_compare(b, a);
}
static const struct bb_comparator backwards = {.name = "backwards", .compare = compare_backwards};

/* Keys 0, step, 2 step, ... of six digits, with values of the letters a to d. */
static inline void entry_list_add_numbers(struct entry_list *list, int count, int step,
                                          size_t value_size)
{
    struct bb_rng rng;
    char *value = bb_must_alloc_zeroed(value_size + 1);
    bb_rng_init(&rng, 7);
    for (int i = 0; i < count; i++) {
        char key[16];
        snprintf(key, sizeof(key), "%06d", i * step);
        for (size_t j = 0; j < value_size; j++)
            value[j] = (char)bb_rng_between(&rng, 'a', 'd');
        entry_list_add_text(list, key, 7, value);
    }
    free(value);
}

#endif
