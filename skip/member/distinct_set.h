/* Collects the distinct members of each granule of a segment, as pairs. A hash table with open
 * addressing finds repeated members; a list has the pairs.
 *
 * A slot has a hash and the granule for which it was set. Slots of earlier granules count as empty,
 * so the table is not cleared between granules. It doubles if a quarter of its slots is taken, or
 * half of the slots of a large table.
 *
 * Threads: one.
 */
#ifndef BB_SKIP_MEMBER_DISTINCT_SET_H
#define BB_SKIP_MEMBER_DISTINCT_SET_H

#include "base/status.h"
#include "skip/member/member_pair.h"

/* Members of one granule. A granule with more is not indexed: it may hold any member. */
#define BB_DISTINCT_MEMBERS_MAX (256u * 1024)

struct bb_distinct_set {
    uint64_t *slots; /* owned: hash of 40 bits << 11 | granule + 1; 0: empty */
    size_t slot_mask;
    uint64_t *pairs; /* owned; in order of granules */
    size_t pair_count;
    size_t pair_capacity;
    size_t granule_start;  /* pairs before the current granule */
    uint32_t granule;      /* current one, of the segment */
    bool is_full;          /* the current granule has too many members */
    enum bb_status status; /* the first failure */
};

BB_MUST_CHECK enum bb_status bb_distinct_set_init(struct bb_distinct_set *set);
void bb_distinct_set_deinit(struct bb_distinct_set *set);

/* Adds members to the current granule. */
void bb_distinct_set_add(struct bb_distinct_set *set, const uint64_t *hashes, size_t count);

/* Ends the granule. *ret_is_full: the granule has too many members, and its pairs were removed.
 * Returns the first failure. */
BB_MUST_CHECK enum bb_status bb_distinct_set_end_granule(struct bb_distinct_set *set,
                                                         bool *ret_is_full);

/* Begins a segment. */
void bb_distinct_set_reset(struct bb_distinct_set *set);

#endif
