/* The memtable: every version that was written and is not in a table yet, sorted, in memory.
 *
 * A B+-tree whose leaves take keys in order of arrival, with 8-byte prefixes and 1-byte hash tags,
 * in front of it a blocked Bloom filter for keys that are not there. Everything but the filter lies
 * in one arena; the picture is in memtable_node.h.
 *
 * Threads: one writer at a time (add); any number of readers beside it, which never wait and never
 * make it wait. A reader finds every entry whose add happened before its own call. create, reset
 * and destroy: nobody else is inside.
 */
#ifndef BB_KV_MEMTABLE_MEMTABLE_H
#define BB_KV_MEMTABLE_MEMTABLE_H

#include "bb/table.h"
#include "sstable/ranges/range_region.h"

struct bb_memtable;

/* capacity_bytes: for entries, nodes and filter together, at most BB_MEMTABLE_CAPACITY_MAX
 * (BB_TOO_LARGE). Somewhat more address space is taken, and touched only by groups of entries that
 * happen to divide very many nodes. comparator is borrowed; NULL: bytewise. */
#define BB_MEMTABLE_CAPACITY_MAX (UINT64_C(24) << 30)
BB_MUST_CHECK enum bb_status bb_memtable_create(const struct bb_comparator *comparator,
                                                uint64_t capacity_bytes,
                                                struct bb_memtable **ret_memtable);
/* NULL is allowed. */
void bb_memtable_destroy(struct bb_memtable *memtable);
/* Empties it and keeps the memory: the first touch of fresh memory costs about as much as half an
 * insert. */
void bb_memtable_reset(struct bb_memtable *memtable);

/* The capacity with which an empty memtable surely takes so many entries, with so many bytes of
 * keys and values. */
uint64_t bb_memtable_capacity_for(uint64_t entry_count, uint64_t raw_bytes);
/* Is there surely room for so many entries, with so many bytes of keys and values in all, whatever
 * nodes they divide? The writer's question. */
bool bb_memtable_fits(const struct bb_memtable *memtable, uint64_t entry_count, uint64_t raw_bytes);

/* Adds a version, or a range tombstone (BB_ENTRY_DELETE_RANGE), of which an empty one is passed
 * over. key_hash: bb_hash_key under the store's secret; the same for every call with this key.
 * BB_NO_SPACE (never after fits said yes), BB_INVALID when the sequence is not above that of the
 * key's newest version, or the newest range tombstone, BB_TOO_LARGE beyond the limits of
 * bb/table.h: nothing was changed. */
BB_MUST_CHECK enum bb_status bb_memtable_add(struct bb_memtable *memtable,
                                             const struct bb_entry *entry, uint64_t key_hash);

#define BB_MEMTABLE_HEIGHT_MAX 16
/* The way from the root to a leaf. */
struct bb_memtable_path {
    unsigned height;                          /* inner nodes passed */
    uint32_t nodes[BB_MEMTABLE_HEIGHT_MAX];   /* from the root on */
    uint8_t children[BB_MEMTABLE_HEIGHT_MAX]; /* the child that was taken in each */
    uint32_t leaf;
};

/* Adding in two steps: the first finds the way and asks for the memory at its end, which arrives
 * while the caller does something else, such as writing the log; the second adds. REQUIRES: nothing
 * is added in between, and key and hash are the same. */
void bb_memtable_find_way(const struct bb_memtable *memtable, struct bb_bytes key,
                          uint64_t key_hash, struct bb_memtable_path *ret_path);
BB_MUST_CHECK enum bb_status bb_memtable_add_at(struct bb_memtable *memtable,
                                                const struct bb_memtable_path *path,
                                                const struct bb_entry *entry, uint64_t key_hash);

/* The newest version of key with a sequence of at most `sequence`: BB_OK, or BB_NOT_FOUND without a
 * message. One that a range tombstone of at most `sequence` covers, or nothing that it covers, is a
 * deletion with the sequence of that. The value is borrowed while the memtable lives and is not reset. */
BB_MUST_CHECK enum bb_status bb_memtable_get(const struct bb_memtable *memtable,
                                             struct bb_bytes key, uint64_t key_hash,
                                             uint64_t sequence, struct bb_bytes *ret_value,
                                             enum bb_entry_kind *ret_kind, uint64_t *ret_sequence);

/* May there be anything to say of the key? False: bb_memtable_get would find nothing. Most look-ups
 * of absent keys need no more, and it takes a sixth of the instructions. */
bool bb_memtable_may_contain(const struct bb_memtable *memtable, uint64_t key_hash);

/* About the part of the keys that is below key: 0 ... 1, monotone in the key while nothing is
 * added. Exact while the memtable has at most some dozen keys; beyond that the error grows with the
 * number of tree levels and is some percent of all keys. Costs as much as a look-up. */
double bb_memtable_rank(const struct bb_memtable *memtable, struct bb_bytes key);

/* All versions in the order of entries, both directions. Shows everything that was added before it
 * was created, and of what is added later some. Keys and values are borrowed from the memtable,
 * which must outlive it. Its status is BB_OK, or BB_NO_MEMORY after a step backwards through very
 * many versions of one key. */
BB_MUST_CHECK enum bb_status bb_memtable_iter_create(const struct bb_memtable *memtable,
                                                     struct bb_iter **ret_iter);

/* Has the region around the key take in the range tombstones with sequences of at most `sequence`.
 * What it borrows lives as the memtable does. */
void bb_memtable_range_region(const struct bb_memtable *memtable, struct bb_bytes key,
                              uint64_t sequence, struct bb_range_region *region);
/* Adds all range tombstones, newest first. Keys are borrowed from the memtable. */
BB_MUST_CHECK enum bb_status bb_memtable_list_ranges(const struct bb_memtable *memtable,
                                                     struct bb_range_array *array);

/* Counts; any thread, each by itself exact as of some moment. */
bool bb_memtable_is_empty(const struct bb_memtable *memtable);
uint64_t bb_memtable_range_count(const struct bb_memtable *memtable); /* range tombstones */
uint64_t bb_memtable_entry_count(const struct bb_memtable *memtable); /* versions and tombstones */
uint64_t bb_memtable_key_count(const struct bb_memtable *memtable);
uint64_t bb_memtable_tombstone_count(const struct bb_memtable *memtable);
uint64_t bb_memtable_sequence_min(const struct bb_memtable *memtable); /* 0 when empty */
uint64_t bb_memtable_sequence_max(const struct bb_memtable *memtable);
uint64_t bb_memtable_raw_bytes(const struct bb_memtable *memtable);  /* keys and values */
uint64_t bb_memtable_used_bytes(const struct bb_memtable *memtable); /* of the capacity */
uint64_t bb_memtable_capacity(const struct bb_memtable *memtable);

#endif
