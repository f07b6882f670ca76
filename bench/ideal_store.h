/* A store that only does the steps that no store of blocks can avoid. It knows the place of every
 * block, and has no index, no versions and no locks. The times of its steps are lower limits for
 * every store with blocks that are compressed and verified.
 *
 *     file      the workload's entries in order: a key and a value each, in blocks of the given
 *               size, each compressed by LZ4; one after the other
 *     filter    memory of 10 bits per key; a probe reads one cache line of it. It may be divided
 *               among runs, as the filters of a store are; then a probe of all runs reads one line
 *               of each part
 *
 * Threads: one.
 */
#ifndef BB_BENCH_IDEAL_STORE_H
#define BB_BENCH_IDEAL_STORE_H

#include "bench/workload.h"

struct ideal_store;

/* Writes the file, which is removed when the store is destroyed; ends the process on failure.
 * Owned: ideal_store_destroy. */
struct ideal_store *ideal_store_create(const char *path, const struct workload *workload,
                                       size_t block_size);
void ideal_store_destroy(struct ideal_store *store);

uint64_t ideal_store_block_count(const struct ideal_store *store);
uint64_t ideal_store_entries_per_block(const struct ideal_store *store);
/* Mean size of a compressed block, in bytes. */
double ideal_store_stored_size(const struct ideal_store *store);

/* Divides the filter among runs with these numbers of keys. REQUIRES: one key at least. */
void ideal_store_set_runs(struct ideal_store *store, const uint64_t *key_counts, size_t run_count);
/* Reads the line of the filter that the hash of a key chooses. */
uint64_t ideal_store_probe(const struct ideal_store *store, uint64_t hash);
/* Reads such a line of each run's part. No read waits for another one. */
uint64_t ideal_store_probe_runs(const struct ideal_store *store, uint64_t hash);
/* Reads a block from the page cache with a call, into a buffer that the next call uses again.
 * Returns its compressed bytes. */
struct bb_bytes ideal_store_read(struct ideal_store *store, uint64_t block);
/* The same, but copies the block from a map of the file. */
struct bb_bytes ideal_store_copy(struct ideal_store *store, uint64_t block);
/* Reads a block, and the next ones up to the given size, in one call. Returns the number of
 * blocks. */
uint64_t ideal_store_read_on(struct ideal_store *store, uint64_t block, size_t size);
/* The compressed bytes of a block that the last read or copy has. */
struct bb_bytes ideal_store_stored(const struct ideal_store *store, uint64_t block);
/* Returns the entries of a block. */
struct bb_bytes ideal_store_decode(struct ideal_store *store, struct bb_bytes stored);

#endif
