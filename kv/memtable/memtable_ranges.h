/* The range tombstones of a memtable, beside its tree.
 *
 * All of them stand in a chain of records in the memtable's arena, newest first: adding one cannot
 * fail, and what is in the chain is found. So that look-ups need not walk it, the writer now and
 * then puts the newest ones into an index: lists of fragments, each about twice as long as the one
 * behind it (as the digits of a binary counter), so that every tombstone is copied but a few times
 * and a look-up searches few lists. What is newer than the index is walked.
 *
 *     chain     @97 -> @93 -> @88 -> @80 -> ... -> @2         records in the arena
 *     index                   up to 88: [ list of 64 ] [ list of 32 ] [ list of 16 ]
 *
 * An index is constant once published. Those that were replaced stay until the memtable is reset:
 * readers may still be in them.
 *
 * Threads: add: the writer. Everything else: any. init, reset and deinit: nobody else is inside.
 */
#ifndef BB_KV_MEMTABLE_MEMTABLE_RANGES_H
#define BB_KV_MEMTABLE_MEMTABLE_RANGES_H

#include <stdatomic.h>

#include "sstable/ranges/range_region.h"

struct bb_memtable;
struct bb_memtable_range_index;

/* Zeroed it is empty. */
struct bb_memtable_ranges {
    _Atomic uint32_t newest; /* record in the arena: key is low, value is high; 0: none */
    _Atomic uint64_t count;
    _Atomic(const struct bb_memtable_range_index *) index; /* NULL: none yet */
    /* The writer's. */
    uint32_t unindexed;                      /* records before the index */
    uint64_t index_bytes;                    /* of all indexes, replaced ones too */
    struct bb_memtable_range_index *indexes; /* all there were; owned */
};

/* Takes in a record that lies in the arena, and is linked to the newest one. */
void bb_memtable_ranges_add(struct bb_memtable *memtable, uint32_t record);
/* Nothing is left. */
void bb_memtable_ranges_reset(struct bb_memtable_ranges *ranges);
/* Is there room for so many more, as far as the index goes? Tombstones that all overlap make one
 * that grows with the square of their number: then it is time for a table. */
bool bb_memtable_ranges_fit(const struct bb_memtable *memtable);

/* The greatest sequence of at most `sequence` that covers the key; 0: none. REQUIRES: not empty. */
uint64_t bb_memtable_ranges_covering(const struct bb_memtable *memtable, struct bb_bytes key,
                                     uint64_t sequence);

#endif
