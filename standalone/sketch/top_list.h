/* The keys with the highest counts, with copies of their bytes.
 *
 * Upper bounds of the number of times that a key was added:
 *
 *     the estimate   of the sketch
 *     c + added      of a listed key whose count was c: c bounds the earlier additions
 *     added          of a key that is absent from a list with free entries: it is new
 *     l + added      of a key that is absent from a full list whose lowest count is l: see below
 *
 * The count of an entry is the estimate or, if it is lower, the other bound that applies. It begins
 * as one bound, and each addition makes another. Conservative updates are compatible with this,
 * since the only requirement is that estimates are upper bounds and never fall. Counts never fall
 * either: the old count c was at most the estimate of its time, which is at most the current
 * estimate, and c + added is at least c.
 *
 * A key that is absent from a full list was added at most l times. When it was last added or
 * removed from the list, its count was at most the lowest count of the list. The lowest count never
 * falls, since counts do not fall and a new key replaces the lowest entry only with a higher count.
 * This requires that the estimates never fall.
 *
 * If cells are full, the estimate stays at the maximum count M and bounds min(truth, M). So does
 * every count here: min(M, c + added) does if c does. A listed key whose estimate is not above the
 * lowest count is such a case: its count is M already.
 *
 * A linear search finds keys: meant for tens to hundreds of keys. Threads: one.
 */
#ifndef BB_STANDALONE_SKETCH_TOP_LIST_H
#define BB_STANDALONE_SKETCH_TOP_LIST_H

#include "bb/filter_sets.h"

struct bb_top_list {
    struct bb_count_entry *entries; /* owned, and so are the bytes of their keys */
    uint32_t capacity;
    uint32_t count;
    uint32_t least; /* index of the lowest count; undefined if the list is empty */
};

BB_MUST_CHECK enum bb_status bb_top_list_init(struct bb_top_list *list, uint32_t capacity);
void bb_top_list_deinit(struct bb_top_list *list);
void bb_top_list_reset(struct bb_top_list *list);

/* Counts `added` more occurrences of a key, at least 1. estimate: the sketch's count of the key
 * after them. BB_NO_MEMORY: nothing was changed. */
BB_MUST_CHECK enum bb_status bb_top_list_add(struct bb_top_list *list, uint64_t hash,
                                             struct bb_bytes key, uint64_t estimate,
                                             uint64_t added);

/* Writes the entries with the highest counts, highest first, equal ones ordered by their hashes.
 * Returns their number. The keys are borrowed. */
size_t bb_top_list_sort(const struct bb_top_list *list, struct bb_count_entry *entries,
                        size_t capacity);

#endif
