/* The range tombstones of a memtable, kept outside its tree.
 *
 * All of them are in a chain of records in the memtable's arena, newest first. Adding one cannot
 * fail, and every one in the chain is found. To keep lookups from walking the chain, the writer
 * occasionally moves the newest ones into an index: lists of fragments, each about twice as long as
 * the next (like the digits of a binary counter). Each tombstone is therefore copied only a few
 * times, and a lookup searches few lists. Tombstones newer than the index are found by walking the
 * chain.
 *
 *     chain     @97 -> @93 -> @88 -> @80 -> ... -> @2         records in the arena
 *     index                   up to 88: [ list of 64 ] [ list of 32 ] [ list of 16 ]
 *
 * An index is constant once published. Replaced indexes stay until the memtable is reset, because
 * readers may still use them.
 *
 * Threads: add: the writer. init, reset and deinit need exclusive access. Everything else: any.
 */
#ifndef BB_KV_MEMTABLE_MEMTABLE_RANGES_H
#define BB_KV_MEMTABLE_MEMTABLE_RANGES_H

#include <stdatomic.h>

#include "sstable/ranges/range_region.h"

struct bb_memtable;
struct bb_memtable_range_index;

/* A zeroed struct is empty. */
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

/* Adds a record that is in the arena and linked to the newest one. */
void bb_memtable_ranges_add(struct bb_memtable *memtable, uint32_t record);
/* Removes everything. */
void bb_memtable_ranges_reset(struct bb_memtable_ranges *ranges);
/* True when the index can take this many more tombstones. Tombstones that all overlap make it grow
 * with the square of their number; then the memtable must become a table. */
bool bb_memtable_ranges_fit(const struct bb_memtable *memtable);

/* The highest sequence of at most `sequence` that covers the key; 0 if none. REQUIRES: not
 * empty. */
uint64_t bb_memtable_ranges_covering(const struct bb_memtable *memtable, struct bb_bytes key,
                                     uint64_t sequence);

#endif
