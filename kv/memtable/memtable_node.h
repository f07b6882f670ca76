/* Internals of a memtable: records, leaves and inner nodes in one arena, at 32-bit offsets.
 *
 *     record     offset  size
 *                     0     8  sequence << 8 | kind
 *                     8     4  the next older version of the same key; 0: none
 *                    12     4  size of the value
 *                    16     4  size of the key
 *                    20        key, value
 *
 *     leaf       512 bytes, 8 lines: header and the tags of all slots share the first line;
 *                keys in [key of low, key of high), slots in order of arrival
 *
 *     inner      512 bytes, 8 lines: the prefixes, searched first, fill the first four;
 *                child i holds keys in [separator i - 1, separator i), counted from 0, with the
 *                node's own fences at both ends
 *
 * Invariants for lock-free readers:
 *
 *   1. A record never changes. Versions of a key form a chain, newest first; the slot holds its
 *      head.
 *   2. A leaf changes only in two ways. Its count grows; the fields of slot n are written before
 *      the count n + 1 is stored (release). A slot's head is replaced by a newer version (release).
 *   3. An inner node changes only in its children: a child is replaced by one with the same keys
 *      and more.
 *   4. A full node is replaced instead of changed. A reader inside the old node sees the state as
 *      of the time it entered.
 *   5. Separators are never removed. The lower fence of a leaf therefore always remains the lower
 *      fence of some leaf, and an iterator finds its position by descending to it again.
 *   6. No leaf except the root is empty.
 *
 * A fence or separator is a reference to a record with that key: no key is copied.
 *
 * Prefixes: 8 bytes of the key after the first `skip` bytes, big-endian (bb_bytes_prefix64). When
 * both fences exist, all keys between them start with the shared prefix of the fences, so skipping
 * it needs no check. With a comparator that is not bytewise, skip and all prefixes are 0, so that
 * every comparison uses full keys.
 */
#ifndef BB_KV_MEMTABLE_MEMTABLE_NODE_H
#define BB_KV_MEMTABLE_MEMTABLE_NODE_H

#include <stdatomic.h>

#include "base/arena.h"
#include "base/assert.h"
#include "base/bytes.h"
#include "bloomblock/table/memory_filter.h"
#include "sstable/entry.h"

#define BB_MEMTABLE_NODE_SIZE  512
#define BB_MEMTABLE_SLOTS      38
#define BB_MEMTABLE_TAG_WORDS  5
#define BB_MEMTABLE_SEPARATORS 31
#define BB_MEMTABLE_CHILDREN   (BB_MEMTABLE_SEPARATORS + 1)
struct bb_memtable_record {
    uint64_t sequence_and_kind;
    uint32_t older;
    uint32_t value_size;
    uint32_t key_size;
    uint8_t bytes[];
};
#define BB_MEMTABLE_RECORD_HEADER offsetof(struct bb_memtable_record, bytes)

struct bb_memtable_leaf {
    _Atomic uint32_t count;
    uint32_t skip;
    uint32_t low;                                 /* 0: no lower fence */
    uint32_t high;                                /* 0: no upper fence */
    _Atomic uint64_t tags[BB_MEMTABLE_TAG_WORDS]; /* one byte of each key's hash */
    uint64_t prefixes[BB_MEMTABLE_SLOTS];
    _Atomic uint32_t records[BB_MEMTABLE_SLOTS];
};

struct bb_memtable_inner {
    uint64_t prefixes[BB_MEMTABLE_SEPARATORS]; /* those after the last separator: UINT64_MAX */
    uint8_t count;                             /* separators */
    /* skip is the shared prefix of the separators: a key may differ within it. */
    uint8_t must_check;
    uint16_t skip;
    uint32_t low;
    uint32_t high;
    uint32_t separators[BB_MEMTABLE_SEPARATORS];
    _Atomic uint32_t children[BB_MEMTABLE_CHILDREN];
};

_Static_assert(BB_MEMTABLE_RECORD_HEADER == 20, "a record's header has 20 bytes");
_Static_assert(sizeof(struct bb_memtable_leaf) == BB_MEMTABLE_NODE_SIZE, "a leaf has 8 lines");
_Static_assert(sizeof(struct bb_memtable_inner) == BB_MEMTABLE_NODE_SIZE,
               "an inner node has 8 lines");
_Static_assert(BB_MEMTABLE_TAG_WORDS * 8 >= BB_MEMTABLE_SLOTS, "every slot has a tag");
_Static_assert(BB_KEY_SIZE_MAX - 1 <= UINT16_MAX, "the size of a shared prefix has 16 bits");

struct bb_memtable_range_index;

/* Written only by the writer, read by any thread: relaxed. */
struct bb_memtable_counts {
    _Atomic uint64_t keys;
    _Atomic uint64_t sequence_max;
    _Atomic uint64_t raw_bytes;
    _Atomic uint64_t used_bytes;
};

/* kv/memtable/memtable_ranges.h. A zeroed struct is empty. */
struct bb_memtable_ranges {
    /* Record in the arena: its key is low, its value is high. 0: none. */
    _Atomic uint32_t newest;
    _Atomic uint64_t count;
    _Atomic(const struct bb_memtable_range_index *) index; /* NULL until the first index */
    /* The writer's fields. */
    uint32_t unindexed;                      /* records newer than the index */
    uint64_t index_bytes;                    /* of all indexes, including replaced ones */
    struct bb_memtable_range_index *indexes; /* all indexes, including replaced ones; owned */
};

struct bb_memtable {
    /* Read by lookups; written at creation, except the root. */
    /* Inner levels above the leaves << 32 | offset of the root node. */
    _Atomic uint64_t root;
    uint8_t *memory; /* the arena's */
    struct bb_memory_filter filter;
    struct bb_memtable_ranges ranges;       /* lookups read its first field */
    const struct bb_comparator *comparator; /* borrowed; NULL: bytewise */
    bool is_bytewise;
    /* Keys that compare equal have equal bytes: filter and tags may be used. */
    bool is_hashed;
    uint64_t capacity;

    /* The writer's fields, on separate cache lines, because the counters change with every
     * entry. */
    _Alignas(64) struct bb_memtable_counts counts;
    struct bb_arena arena;
    uint64_t leaf_count;
    uint64_t inner_count;
    uint32_t last_leaf;   /* the leaf without an upper fence */
    uint32_t last_record; /* with the highest key; 0: empty */
    /* The most bytes of the arena that were used before the last reset. Constant between resets. */
    uint64_t used_before;
};

static inline void *bb_memtable_at(const struct bb_memtable *memtable, uint32_t offset)
{
    return memtable->memory + (size_t)offset * BB_ARENA_UNIT;
}

static inline struct bb_memtable_record *bb_memtable_record_at(const struct bb_memtable *memtable,
                                                               uint32_t offset)
{
    return bb_memtable_at(memtable, offset);
}

static inline struct bb_memtable_leaf *bb_memtable_leaf_at(const struct bb_memtable *memtable,
                                                           uint32_t offset)
{
    return bb_memtable_at(memtable, offset);
}

static inline struct bb_memtable_inner *bb_memtable_inner_at(const struct bb_memtable *memtable,
                                                             uint32_t offset)
{
    return bb_memtable_at(memtable, offset);
}

static inline struct bb_bytes bb_memtable_record_key(const struct bb_memtable_record *record)
{
    return bb_bytes_of(record->bytes, record->key_size);
}

static inline struct bb_bytes bb_memtable_record_value(const struct bb_memtable_record *record)
{
    return bb_bytes_of(record->bytes + record->key_size, record->value_size);
}

static inline uint64_t bb_memtable_record_sequence(const struct bb_memtable_record *record)
{
    return record->sequence_and_kind >> 8;
}

static inline enum bb_entry_kind bb_memtable_record_kind(const struct bb_memtable_record *record)
{
    return (enum bb_entry_kind)(record->sequence_and_kind & 0xff);
}

static inline struct bb_bytes bb_memtable_key_at(const struct bb_memtable *memtable,
                                                 uint32_t record)
{
    return bb_memtable_record_key(bb_memtable_record_at(memtable, record));
}

/* The key without its first skip bytes. REQUIRES: it has that many. */
static inline struct bb_bytes bb_memtable_tail(struct bb_bytes key, size_t skip)
{
    BB_DEBUG_ASSERT(skip <= key.size);
    return skip == 0 ? key : bb_bytes_of(key.data + skip, key.size - skip);
}

static inline uint64_t bb_memtable_prefix(const struct bb_memtable *memtable, struct bb_bytes key,
                                          size_t skip)
{
    return memtable->is_bytewise ? bb_bytes_prefix64(bb_memtable_tail(key, skip)) : 0;
}

/* Compares keys that share their first skip bytes. */
static inline int bb_memtable_compare(const struct bb_memtable *memtable, struct bb_bytes a,
                                      struct bb_bytes b, size_t skip)
{
    if (memtable->is_bytewise)
        return bb_bytes_compare(bb_memtable_tail(a, skip), bb_memtable_tail(b, skip));
    return memtable->comparator->compare(memtable->comparator->context, a, b);
}

/* The length of the shared prefix of all keys between two fences. */
static inline uint32_t bb_memtable_fence_skip(const struct bb_memtable *memtable, uint32_t low,
                                              uint32_t high)
{
    if (!memtable->is_bytewise || low == 0 || high == 0)
        return 0;
    return (uint32_t)bb_bytes_shared_prefix(bb_memtable_key_at(memtable, low),
                                            bb_memtable_key_at(memtable, high));
}

/* One byte of the hash for a leaf; the filter uses other bytes. */
static inline uint8_t bb_memtable_tag(uint64_t key_hash)
{
    return (uint8_t)(key_hash >> 24);
}

static inline unsigned bb_memtable_root_height(uint64_t root)
{
    return (unsigned)(root >> 32);
}

/* Allocates a node. REQUIRES: bb_memtable_add has checked that memory remains. */
static inline uint32_t bb_memtable_node_alloc(struct bb_memtable *memtable)
{
    uint32_t node = bb_arena_alloc(&memtable->arena, BB_MEMTABLE_NODE_SIZE, 64);
    BB_ASSERT(node != 0);
    return node;
}

#endif
