/* See distinct_set.h. */
#include "skip/member/distinct_set.h"

#include "base/alloc.h"

/* A slot: hash of 40 bits, then the granule + 1. */
#define GRANULE_MASK ((UINT64_C(1) << (BB_MEMBER_GRANULE_BITS + 1)) - 1)

#define SLOTS_MIN ((size_t)4096)

/* Tables of up to this many slots have four of them for each member, larger ones two. In a denser
 * table more new members find a taken slot, and that branch is mispredicted. */
#define SPARSE_SLOTS_MAX ((size_t)64 * 1024)
#define PAIRS_MIN        ((size_t)16 * 1024)

static void clear(struct bb_distinct_set *set)
{
    memset(set->slots, 0, (set->slot_mask + 1) * sizeof(set->slots[0]));
}

/* How many members of a granule a table takes before it grows. */
static inline size_t members_for(size_t slot_count)
{
    size_t members = slot_count <= SPARSE_SLOTS_MAX ? slot_count / 4 : slot_count / 2;
    return members < BB_DISTINCT_MEMBERS_MAX ? members : BB_DISTINCT_MEMBERS_MAX;
}

static inline uint64_t slot_word(uint64_t hash40, uint32_t granule)
{
    return hash40 << (BB_MEMBER_GRANULE_BITS + 1) | (granule + 1);
}

enum bb_status bb_distinct_set_init(struct bb_distinct_set *set)
{
    *set = (struct bb_distinct_set){.slot_mask = SLOTS_MIN - 1};
    set->slots = bb_alloc_zeroed(SLOTS_MIN, sizeof(set->slots[0]));
    set->pairs = bb_alloc(PAIRS_MIN * sizeof(set->pairs[0]));
    set->pair_capacity = PAIRS_MIN;
    if (set->slots != NULL && set->pairs != NULL)
        return BB_OK;
    bb_distinct_set_deinit(set);
    return bb_fail(BB_NO_MEMORY, "no memory for the members of a granule");
}

void bb_distinct_set_deinit(struct bb_distinct_set *set)
{
    bb_free(set->slots);
    bb_free(set->pairs);
    *set = (struct bb_distinct_set){0};
}

static void fail(struct bb_distinct_set *set, size_t bytes)
{
    set->status =
        bb_fail(BB_NO_MEMORY, "no memory for the members of a segment (%zu bytes)", bytes);
}

static void grow_pairs(struct bb_distinct_set *set)
{
    size_t capacity = set->pair_capacity + set->pair_capacity / 2;
    uint64_t *pairs = bb_realloc(set->pairs, capacity * sizeof(pairs[0]));
    if (pairs == NULL) {
        fail(set, capacity * sizeof(pairs[0]));
        return;
    }
    set->pairs = pairs;
    set->pair_capacity = capacity;
}

static void grow_slots(struct bb_distinct_set *set)
{
    size_t count = (set->slot_mask + 1) * 2;
    uint64_t *slots = bb_alloc_zeroed(count, sizeof(slots[0]));
    if (slots == NULL) {
        fail(set, count * sizeof(slots[0]));
        return;
    }
    bb_free(set->slots);
    set->slots = slots;
    set->slot_mask = count - 1;
    for (size_t i = set->granule_start; i < set->pair_count; i++) {
        uint64_t hash = bb_member_pair_hash(set->pairs[i]);
        size_t slot = (size_t)hash & set->slot_mask;
        while (slots[slot] != 0)
            slot = (slot + 1) & set->slot_mask;
        slots[slot] = slot_word(hash, set->granule);
    }
}

/* Grows the list or the table for the next member. False: the granule is full, or memory is. */
static bool make_space(struct bb_distinct_set *set)
{
    size_t members = set->pair_count - set->granule_start;
    if (members >= BB_DISTINCT_MEMBERS_MAX)
        set->is_full = true;
    if (set->is_full || set->status != BB_OK)
        return false;
    if (set->pair_count == set->pair_capacity)
        grow_pairs(set);
    if (set->status == BB_OK && members >= members_for(set->slot_mask + 1))
        grow_slots(set);
    return set->status == BB_OK;
}

/* Whether a slot has another member of the granule. differs: its word and the wanted one. No branch
 * tells equal words apart: which members are known is as good as random. */
static inline bool is_taken(uint64_t differs)
{
    return ((differs | (differs == 0)) & GRANULE_MASK) == 0;
}

/* Adds members while there is space for them, and gives how many of them it saw. A known member is
 * written again, and overwritten by the next pair. The loop's variables are in registers: the
 * compiler cannot know that slots and pairs are no part of the set. */
static size_t add_some(struct bb_distinct_set *set, const uint64_t *hashes, size_t count)
{
    uint64_t *slots = set->slots;
    uint64_t *pairs = set->pairs;
    size_t mask = set->slot_mask;
    uint32_t granule = set->granule;
    size_t end = set->pair_count;
    size_t limit = set->granule_start + members_for(mask + 1);
    limit = limit < set->pair_capacity ? limit : set->pair_capacity;
    size_t i = 0;
    for (; i < count && end < limit; i++) {
        uint64_t hash40 = hashes[i] >> (64 - BB_MEMBER_HASH_BITS);
        uint64_t wanted = slot_word(hash40, granule);
        size_t slot = (size_t)hash40 & mask;
        uint64_t differs = slots[slot] ^ wanted;
        while (__builtin_expect(is_taken(differs), 0)) {
            slot = (slot + 1) & mask;
            differs = slots[slot] ^ wanted;
        }
        slots[slot] = wanted;
        pairs[end] = bb_member_pair(hashes[i], granule);
        end += differs != 0;
    }
    set->pair_count = end;
    return i;
}

void bb_distinct_set_add(struct bb_distinct_set *set, const uint64_t *hashes, size_t count)
{
    size_t done = add_some(set, hashes, count);
    while (done < count && make_space(set))
        done += add_some(set, hashes + done, count - done);
}

enum bb_status bb_distinct_set_end_granule(struct bb_distinct_set *set, bool *ret_is_full)
{
    if (set->status != BB_OK)
        return set->status;
    if (set->is_full) {
        set->pair_count = set->granule_start;
        clear(set);
    }
    *ret_is_full = set->is_full;
    set->is_full = false;
    set->granule_start = set->pair_count;
    set->granule++;
    return BB_OK;
}

void bb_distinct_set_reset(struct bb_distinct_set *set)
{
    set->pair_count = 0;
    set->granule_start = 0;
    set->granule = 0;
    clear(set);
}
