/* RocksDB's filters without a store, built and probed through its classes.
 *
 * No header that RocksDB installs has the two classes, FilterBitsBuilder and FilterBitsReader; they
 * are only declared there. rocksdb_filter.cc declares their virtual functions for the versions
 * whose source has that order.
 */
#ifndef BB_BENCH_ROCKSDB_FILTER_H
#define BB_BENCH_ROCKSDB_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KEY_QUESTION_SIZE 16

/* A key, and the index of the filter to probe for it. */
struct key_question {
    uint32_t filter;
    uint8_t key[KEY_QUESTION_SIZE];
};

struct rocksdb_filter;

/* The reason why a measurement is impossible, such as a version whose classes are unknown here;
 * NULL if it is possible. */
const char *rocksdb_filter_obstacle(void);

/* A filter over count keys of KEY_QUESTION_SIZE bytes in one array. bits_per_key: of a Bloom
 * filter; a Ribbon of the same rate takes fewer. NULL and a line on standard error when RocksDB
 * returns no filter, or one with a false negative. */
struct rocksdb_filter *rocksdb_filter_create(bool is_ribbon, double bits_per_key,
                                             const uint8_t *keys, size_t count);

void rocksdb_filter_destroy(struct rocksdb_filter *filter);

/* The size of the filter in a table. */
size_t rocksdb_filter_size(const struct rocksdb_filter *filter);

/* Probes like RocksDB: one virtual call per key, which hashes the key. Returns the number of
 * positives. */
uint64_t rocksdb_filter_ask(struct rocksdb_filter *const *filters,
                            const struct key_question *questions, size_t count);

#ifdef __cplusplus
}
#endif

#endif
