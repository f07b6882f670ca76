/* RocksDB's filters by themselves, built and asked through its own classes.
 *
 * No header that RocksDB installs has the two classes, FilterBitsBuilder and FilterBitsReader; they
 * are declared there by name alone. rocksdb_filter.cc says in its own words which virtual functions
 * they have, for the versions whose source has that order. */
#ifndef BB_BENCH_ROCKSDB_FILTER_H
#define BB_BENCH_ROCKSDB_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KEY_QUESTION_SIZE 16

/* A key, and which of several filters is asked for it. */
struct key_question {
    uint32_t filter;
    uint8_t key[KEY_QUESTION_SIZE];
};

struct rocksdb_filter;

/* Why nothing can be measured, such as a version whose classes are not known here; NULL: it can. */
const char *rocksdb_filter_obstacle(void);

/* A filter over count keys of KEY_QUESTION_SIZE bytes one behind the other. bits_per_key: of a
 * Bloom filter; a Ribbon of the same rate takes fewer. NULL and a line on standard error when
 * RocksDB gives none, or one that denies a member. */
struct rocksdb_filter *rocksdb_filter_create(bool is_ribbon, double bits_per_key,
                                             const uint8_t *keys, size_t count);

void rocksdb_filter_destroy(struct rocksdb_filter *filter);

/* Bytes that the filter takes in a table. */
size_t rocksdb_filter_size(const struct rocksdb_filter *filter);

/* Asks as RocksDB asks: one virtual call per key, which hashes the key. How many "may contain". */
uint64_t rocksdb_filter_ask(struct rocksdb_filter *const *filters,
                            const struct key_question *questions, size_t count);

#ifdef __cplusplus
}
#endif

#endif
