/* The memtable: all versions that are not in a table yet, sorted, in memory.
 *
 * It is a B+-tree whose leaves hold keys in order of arrival, with 8-byte prefixes and 1-byte hash
 * tags. A blocked Bloom filter rules out absent keys before the tree is searched. Everything except
 * the filter is in one arena; memtable_node.h draws it.
 *
 * Threads: one writer at a time (add) and any number of readers, which never block each other. A
 * reader finds every entry whose add happened before its own call. create, reset and destroy need
 * exclusive access.
 */
#ifndef BB_KV_MEMTABLE_MEMTABLE_H
#define BB_KV_MEMTABLE_MEMTABLE_H

#include "bb/table.h"
#include "kv/memtable/memtable_path.h"

struct bb_memtable;

/* capacity_bytes: for entries, nodes and filter together. Errors: BB_TOO_LARGE beyond
 * BB_MEMTABLE_CAPACITY_MAX. Slightly more address space is reserved; only groups of entries that
 * happen to split very many nodes touch it. comparator is borrowed; NULL: bytewise. */
#define BB_MEMTABLE_CAPACITY_MAX (UINT64_C(24) << 30)
BB_MUST_CHECK enum bb_status bb_memtable_create(const struct bb_comparator *comparator,
                                                uint64_t capacity_bytes,
                                                struct bb_memtable **ret_memtable);
/* NULL is allowed. */
void bb_memtable_destroy(struct bb_memtable *memtable);
/* Empties the memtable and keeps its memory: the first touch of fresh memory costs about half as
 * much as an insert. */
void bb_memtable_reset(struct bb_memtable *memtable);

/* A capacity at which an empty memtable is certain to accept this number of entries, with this
 * number of bytes of keys and values. */
uint64_t bb_memtable_capacity_for(uint64_t entry_count, uint64_t raw_bytes);
/* True when this number of entries, with raw_bytes bytes of keys and values in total, certainly
 * fits, however many nodes they split. Called by the writer. */
bool bb_memtable_fits(const struct bb_memtable *memtable, uint64_t entry_count, uint64_t raw_bytes);

/* Adds a version, or a range tombstone (BB_ENTRY_DELETE_RANGE); an empty range is ignored.
 * key_hash: bb_hash_key under the store's secret; the same for every call with this key. Errors:
 * BB_NO_SPACE (never after fits returned true), BB_INVALID when the sequence is not above the
 * sequence of the key's newest version or the newest range tombstone, BB_TOO_LARGE beyond the
 * limits of bb/table.h. A failure has no effect. */
BB_MUST_CHECK enum bb_status bb_memtable_add(struct bb_memtable *memtable,
                                             const struct bb_entry *entry, uint64_t key_hash);

/* Adding in two steps. The first finds the path and prefetches its last node, so that the caller
 * can do other work in the meantime, such as writing the log. The second adds the entry. REQUIRES:
 * no entry is added in between, and key and hash are the same. */
void bb_memtable_find_way(const struct bb_memtable *memtable, struct bb_bytes key,
                          uint64_t key_hash, struct bb_memtable_path *ret_path);
BB_MUST_CHECK enum bb_status bb_memtable_add_at(struct bb_memtable *memtable,
                                                const struct bb_memtable_path *path,
                                                const struct bb_entry *entry, uint64_t key_hash);

/* Finds the newest version of key with a sequence of at most `sequence`. Returns BB_OK, or
 * BB_NOT_FOUND without a message. If a range tombstone of at most `sequence` covers that version,
 * or covers an absent key, the result is a deletion with the tombstone's sequence. The value is
 * borrowed until the memtable is reset or destroyed. */
BB_MUST_CHECK enum bb_status bb_memtable_get(const struct bb_memtable *memtable,
                                             struct bb_bytes key, uint64_t key_hash,
                                             uint64_t sequence, struct bb_bytes *ret_value,
                                             enum bb_entry_kind *ret_kind, uint64_t *ret_sequence);

/* Prefetches the memory that bb_memtable_may_contain reads of the filter. */
void bb_memtable_prefetch(const struct bb_memtable *memtable, uint64_t key_hash);
/* Probes the memtable's filter and range tombstones. False: bb_memtable_get would find no entry.
 * This is enough for most lookups of absent keys and takes a sixth of the instructions. */
bool bb_memtable_may_contain(const struct bb_memtable *memtable, uint64_t key_hash);

/* Estimates the share of keys below key: 0 ... 1, monotone in the key while no entry is added.
 * Exact up to a few dozen keys. Beyond that the error grows with the height of the tree and is a
 * few percent of all keys. Costs as much as a lookup. */
double bb_memtable_share(const struct bb_memtable *memtable, struct bb_bytes key);

/* Iterates over all versions in entry order, in both directions. Includes everything added before
 * the iterator was created, and some entries added later. Keys and values are borrowed from the
 * memtable, which must outlive it. The status is BB_OK, or BB_NO_MEMORY after a step backward
 * through very many versions of one key. */
BB_MUST_CHECK enum bb_status bb_memtable_iter_create(const struct bb_memtable *memtable,
                                                     struct bb_iter **ret_iter);
/* sstable/approach.h. REQUIRES: the iterator is over a memtable. */
bool bb_memtable_iter_approach(struct bb_iter *iter, struct bb_bytes key, uint64_t sequence,
                               unsigned step);

/* Counts; any thread. Each is exact as of some moment. */
bool bb_memtable_is_empty(const struct bb_memtable *memtable);
uint64_t bb_memtable_key_count(const struct bb_memtable *memtable);
uint64_t bb_memtable_sequence_max(const struct bb_memtable *memtable); /* 0 when empty */
uint64_t bb_memtable_raw_bytes(const struct bb_memtable *memtable);    /* keys and values */
uint64_t bb_memtable_used_bytes(const struct bb_memtable *memtable);   /* of the capacity */
/* With the memory that earlier entries used: reset keeps it. */
uint64_t bb_memtable_held_bytes(const struct bb_memtable *memtable);
uint64_t bb_memtable_capacity(const struct bb_memtable *memtable);

#endif
