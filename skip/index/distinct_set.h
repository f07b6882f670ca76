/* The distinct members of each granule of a segment, collected as pairs: an open table in front of a
 * list.
 *
 * A slot holds a hash and the granule that it was set for: slots of earlier granules count as empty,
 * so that nothing is cleared between granules. The table doubles where half of it is taken.
 *
 * Threads: one.
 */
#ifndef BB_SKIP_INDEX_DISTINCT_SET_H
#define BB_SKIP_INDEX_DISTINCT_SET_H

#include "base/status.h"
#include "skip/index/member_pair.h"

/* Members of one granule. With more the granule is not indexed: whatever is asked may be there. */
#define BB_DISTINCT_MEMBERS_MAX (256u * 1024)

struct bb_distinct_set {
    uint64_t *slots; /* owned: hash of 40 bits << 11 | granule + 1; 0: empty */
    size_t slot_mask;
    uint64_t *pairs; /* owned; in order of granules */
    size_t pair_count;
    size_t pair_capacity;
    size_t granule_start;  /* pairs before the granule at hand */
    uint32_t granule;      /* at hand, of the segment */
    bool is_full;          /* the granule at hand has too many members */
    enum bb_status status; /* the first failure */
};

BB_MUST_CHECK enum bb_status bb_distinct_set_init(struct bb_distinct_set *set);
void bb_distinct_set_deinit(struct bb_distinct_set *set);

/* Grows the list or the table for the next member. False: the granule is full, or memory is. */
bool bb_distinct_set_make_room(struct bb_distinct_set *set);

#define BB_DISTINCT_GRANULE_MASK ((UINT64_C(1) << (BB_MEMBER_GRANULE_BITS + 1)) - 1)

static inline uint64_t bb_distinct_slot(uint64_t hash40, uint32_t granule)
{
    return hash40 << (BB_MEMBER_GRANULE_BITS + 1) | (granule + 1);
}

/* Adds a member to the granule at hand. */
static inline void bb_distinct_set_add(struct bb_distinct_set *set, uint64_t hash)
{
    uint64_t wanted = bb_distinct_slot(hash >> (64 - BB_MEMBER_HASH_BITS), set->granule);
    size_t slot = (size_t)(hash >> (64 - BB_MEMBER_HASH_BITS)) & set->slot_mask;
    for (;; slot = (slot + 1) & set->slot_mask) {
        uint64_t found = set->slots[slot];
        if (found == wanted)
            return;
        if (((found ^ wanted) & BB_DISTINCT_GRANULE_MASK) != 0)
            break;
    }
    if (set->pair_count == set->pair_capacity ||
        (set->pair_count - set->granule_start) * 2 > set->slot_mask) {
        if (!bb_distinct_set_make_room(set))
            return;
        bb_distinct_set_add(set, hash);
        return;
    }
    set->slots[slot] = wanted;
    set->pairs[set->pair_count++] = bb_member_pair(hash, set->granule);
}

/* Ends the granule. *ret_is_full: it has too many members, and its pairs are gone. Gives the first
 * failure. */
BB_MUST_CHECK enum bb_status bb_distinct_set_end_granule(struct bb_distinct_set *set,
                                                         bool *ret_is_full);

/* Begins a segment. */
void bb_distinct_set_reset(struct bb_distinct_set *set);

#endif
