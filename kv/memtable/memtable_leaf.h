/* Leaves of the memtable: slots in order of arrival, found by hash tags.
 *
 * A search compares one byte of the hash with the tags of all slots, eight at a time; all tags are
 * in the leaf's first line. It compares the key with one record, rarely two. Keys are sorted only
 * by iterators and when a full leaf is split. A leaf starts with the sorted keys of the leaf it
 * came from, so sorting has little to do.
 *
 * Threads: find and sort any, concurrently with the writer; the rest is the writer's.
 */
#ifndef BB_KV_MEMTABLE_MEMTABLE_LEAF_H
#define BB_KV_MEMTABLE_MEMTABLE_LEAF_H

#include "kv/memtable/memtable_node.h"
#include "kv/memtable/memtable_path.h"

/* A key of a leaf, extracted for sorting. */
struct bb_memtable_item {
    uint64_t prefix;
    uint32_t record;
    uint32_t tag;
};

#define BB_MEMTABLE_NO_SLOT UINT32_MAX

/* Creates an empty leaf. REQUIRES: keys between the fences share their first `skip` bytes. */
uint32_t bb_memtable_leaf_create(struct bb_memtable *memtable, uint32_t low, uint32_t high,
                                 uint32_t skip);
/* The slot of a key, or BB_MEMTABLE_NO_SLOT. prefix: under the leaf's skip. */
uint32_t bb_memtable_leaf_find(const struct bb_memtable *memtable,
                               const struct bb_memtable_leaf *leaf, struct bb_bytes key,
                               uint64_t prefix, uint64_t key_hash);
/* Publishes a record in the next slot. REQUIRES: a slot is free. */
void bb_memtable_leaf_append(struct bb_memtable_leaf *leaf, uint64_t prefix, uint8_t tag,
                             uint32_t record);
/* Copies the leaf's present keys in order and returns their number. */
uint32_t bb_memtable_leaf_sort(const struct bb_memtable *memtable,
                               const struct bb_memtable_leaf *leaf,
                               struct bb_memtable_item items[BB_MEMTABLE_SLOTS]);
/* Splits the full leaf at the end of the path and adds a record with a new key. */
void bb_memtable_leaf_split(struct bb_memtable *memtable, const struct bb_memtable_path *path,
                            uint32_t record, uint8_t tag, bool at_end);

#endif
