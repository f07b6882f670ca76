/* The keys with the greatest counts, with copies of their bytes.
 *
 * A key that is not in a full list was, when it last came, counted no higher than the least of the
 * list, which never falls: so the least count of a full list bounds all keys outside of it. That
 * holds as long as counts are offered that never fall either.
 *
 * Looked through from end to end: meant for tens to hundreds of keys. Threads: one.
 */
#ifndef BB_BLOOMBLOCK_TOP_LIST_H
#define BB_BLOOMBLOCK_TOP_LIST_H

#include "bb/filter_sets.h"

struct bb_top_list {
    struct bb_count_entry *entries; /* owned, and so are the bytes of their keys */
    uint32_t capacity;
    uint32_t count;
    uint32_t least; /* index of the least count; any if there are none */
};

BB_MUST_CHECK enum bb_status bb_top_list_init(struct bb_top_list *list, uint32_t capacity);
void bb_top_list_deinit(struct bb_top_list *list);
void bb_top_list_reset(struct bb_top_list *list);

/* A key has been counted again. BB_NO_MEMORY: nothing was changed. */
BB_MUST_CHECK enum bb_status bb_top_list_add(struct bb_top_list *list, uint64_t hash,
                                             struct bb_bytes key, uint64_t count);

/* Writes the entries with the greatest counts, greatest first, equal ones by their hashes; gives
 * how many. The keys are borrowed. */
size_t bb_top_list_sort(const struct bb_top_list *list, struct bb_count_entry *entries,
                        size_t capacity);

#endif
