/* Entries in memory that a test collects, sorts and compares; streams over them: array_iter.h. */
#ifndef BB_TESTS_SUPPORT_ENTRY_ARRAY_H
#define BB_TESTS_SUPPORT_ENTRY_ARRAY_H

#include "bb/table.h"

/* A zeroed struct is a valid empty array (bytewise order). */
struct bb_entry_array {
    const struct bb_comparator *comparator; /* borrowed; set before the first use */
    struct bb_entry *entries;               /* keys and values owned */
    size_t count;
    size_t capacity;
};

void bb_entry_array_deinit(struct bb_entry_array *array);
/* Copies key and value. */
void bb_entry_array_add(struct bb_entry_array *array, const struct bb_entry *entry);
/* The same from text: put of a value, tombstone when value is NULL. */
void bb_entry_array_add_text(struct bb_entry_array *array, const char *key, uint64_t sequence,
                             const char *value);
/* Brings the entries into the order of a table; equal ones stay in the order in which they were
 * added. */
void bb_entry_array_sort(struct bb_entry_array *array);
/* Appends every entry of the stream from its first on; stops where it ends. */
void bb_entry_array_read(struct bb_entry_array *array, struct bb_iter *iter);
/* Are the two the same, entry by entry? Prints the first difference. */
bool bb_entry_array_equal(const struct bb_entry_array *a, const struct bb_entry_array *b);
/* A stream over the sorted array, which must outlive it and not change. Owned: bb_iter_destroy. */
struct bb_iter *bb_entry_array_iter(const struct bb_entry_array *array);

#endif
