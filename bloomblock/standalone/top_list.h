/* The keys with the greatest counts, with copies of their bytes.
 *
 * Bounds of how often a key came, none of them too low:
 *
 *     the estimate   of the sketch
 *     c + added      of a listed key whose count was c: c bounded what came before
 *     added          of a key that is not in a list with room: it never came before
 *     l + added      of a key that is not in a full list whose least count is l: see below
 *
 * An entry's count is the estimate or, if that is less, the other bound that applies: it began as
 * one bound and each addition makes another. No conservative update is in the way, since it only
 * asks that estimates bound the truth and never fall. Counts never fall: an entry's was at most the
 * estimate of its time, which is at most that of now, and so are c and c + added at least c.
 *
 * A key that is not in a full list came at most l times: when it last came, or fell out, its count
 * was no higher than the least of the list then, and the least never falls, since counts do not and
 * a new key replaces the least only with a higher one. That holds as long as estimates are offered
 * that never fall either.
 *
 * Where cells are full the estimate stays at the greatest count there is, M, and bounds min(truth,
 * M); so does every count here: min(M, c + added) does if c does. A listed key whose estimate is
 * not above the least is such a one: its count is M already.
 *
 * Looked through from end to end: meant for tens to hundreds of keys. Threads: one.
 */
#ifndef BB_BLOOMBLOCK_STANDALONE_TOP_LIST_H
#define BB_BLOOMBLOCK_STANDALONE_TOP_LIST_H

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

/* A key came added times more, above 0, and now is counted estimate times. BB_NO_MEMORY: nothing
 * was changed. */
BB_MUST_CHECK enum bb_status bb_top_list_add(struct bb_top_list *list, uint64_t hash,
                                             struct bb_bytes key, uint64_t estimate,
                                             uint64_t added);

/* Writes the entries with the greatest counts, greatest first, equal ones by their hashes; gives
 * how many. The keys are borrowed. */
size_t bb_top_list_sort(const struct bb_top_list *list, struct bb_count_entry *entries,
                        size_t capacity);

#endif
