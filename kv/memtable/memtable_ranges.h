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

#include "sstable/ranges/range_tombstone_region.h"

struct bb_memtable;
struct bb_memtable_ranges;

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

/* Narrows the region around the key by the range tombstones with sequences of at most `sequence`.
 * Borrowed keys live as long as the memtable. */
void bb_memtable_ranges_narrow(const struct bb_memtable *memtable, struct bb_bytes key,
                               uint64_t sequence, struct bb_range_tombstone_region *region);
/* Adds all range tombstones, newest first. Keys are borrowed from the memtable. */
BB_MUST_CHECK enum bb_status bb_memtable_ranges_list(const struct bb_memtable *memtable,
                                                     struct bb_range_tombstone_array *array);

/* The visible ones of at most `sequence`, as an owned list; *ret_list stays unchanged if there are
 * none. snapshots: ascending. */
BB_MUST_CHECK enum bb_status bb_memtable_ranges_list_seen(const struct bb_memtable *memtable,
                                                          uint64_t sequence,
                                                          const uint64_t *snapshots,
                                                          size_t snapshot_count,
                                                          struct bb_range_tombstones **ret_list);

/* Their number. Any thread; exact as of some moment. */
uint64_t bb_memtable_ranges_count(const struct bb_memtable *memtable);

#endif
