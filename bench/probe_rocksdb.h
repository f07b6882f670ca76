/* RocksDB's filters, as near as its installed interface lets one come. */
#ifndef BB_BENCH_PROBE_ROCKSDB_H
#define BB_BENCH_PROBE_ROCKSDB_H

#include <stdint.h>

#define PROBE_KEY_SIZE 16

/* Asked with Get: a store of one table, everything in memory. */
struct probe_rocksdb {
    int is_ribbon;
    double bits_per_key; /* of a Bloom filter of the same rate */
    /* Results. */
    double outside;    /* ns of a Get of a key beyond all tables: no filter is asked */
    double absent;     /* ns of a Get of a key that the filter denies */
    double bloom_hits; /* filters asked per such Get, from RocksDB's own counter: must be 1 */
};

/* Measures two filters in turns. keys: members, then as many absent ones, PROBE_KEY_SIZE bytes
 * each, whose first byte is not 0xff. Ends the program on failure. */
void probe_rocksdb_measure(struct probe_rocksdb filters[2], const uint8_t *keys, uint64_t count,
                           int rounds);

#endif
