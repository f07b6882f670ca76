/* A filter that grows: tables of fingerprints, each expansion times as large as the previous one.
 *
 * Table i of a growing filter has the rate target / ((i + 1) * (i + 2)). The sum over all tables is
 * target * (1 - 1 / (tables + 1)), so the target holds for any number of members. A filter that
 * does not grow has one table with the target.
 *
 * One thread at a time. */
#ifndef BB_REDIS_FINGERPRINT_FINGERPRINT_CHAIN_H
#define BB_REDIS_FINGERPRINT_FINGERPRINT_CHAIN_H

#include "redis/fingerprint/fingerprint_table.h"

#define BB_FINGERPRINT_CHAIN_TABLES_MAX    64
#define BB_FINGERPRINT_CHAIN_EXPANSION_MAX 32768

struct bb_fingerprint_options {
    /* Of the first table, in members. */
    uint64_t capacity;
    /* Target for the whole filter. */
    double rate;
    /* Capacity of a table, in capacities of the table before; 0: the filter does not grow. */
    uint32_t expansion;
    /* A set contains a fingerprint once; a multiset repeats it for each addition. */
    bool is_set;
    uint32_t table_limit;
};

struct bb_fingerprint_chain {
    struct bb_fingerprint_options options;
    uint32_t table_count;
    struct bb_fingerprint_table *tables[BB_FINGERPRINT_CHAIN_TABLES_MAX];
};

enum bb_fingerprint_outcome {
    BB_FINGERPRINT_ADDED,
    /* A set contains it already. */
    BB_FINGERPRINT_KNOWN,
    /* The filter has reached its capacity and cannot grow further. */
    BB_FINGERPRINT_FULL,
    BB_FINGERPRINT_NO_MEMORY,
};

/* Whether the first table is possible, and expansion and table_limit are in their ranges. */
bool bb_fingerprint_options_are_possible(const struct bb_fingerprint_options *options);

/* NULL: there is no memory. REQUIRES: possible options. */
struct bb_fingerprint_chain *
bb_fingerprint_chain_create(const struct bb_fingerprint_options *options);
void bb_fingerprint_chain_destroy(struct bb_fingerprint_chain *chain);
/* NULL: there is no memory. */
struct bb_fingerprint_chain *bb_fingerprint_chain_copy(const struct bb_fingerprint_chain *chain);

/* Appends the next table. FULL: there is no space for one, or its rate or capacity are beyond the
 * limits. */
enum bb_fingerprint_outcome bb_fingerprint_chain_grow(struct bb_fingerprint_chain *chain);

enum bb_fingerprint_outcome bb_fingerprint_chain_add(struct bb_fingerprint_chain *chain,
                                                     uint64_t hash);
bool bb_fingerprint_chain_contains(const struct bb_fingerprint_chain *chain, uint64_t hash);
uint64_t bb_fingerprint_chain_find(const struct bb_fingerprint_chain *chain, uint64_t hash);
/* Removes it once, from the newest table that has it. False: no table has it. */
bool bb_fingerprint_chain_remove(struct bb_fingerprint_chain *chain, uint64_t hash);

/* Adds all members of a filter with equal options. FULL or NO_MEMORY: some are missing. */
enum bb_fingerprint_outcome bb_fingerprint_chain_unite(struct bb_fingerprint_chain *chain,
                                                       const struct bb_fingerprint_chain *other);

struct bb_fingerprint_totals {
    uint64_t capacity;
    uint64_t count;
    /* All memory in bytes. */
    uint64_t memory;
    uint64_t shard_count;
    /* An upper bound of the rate, for the members that it has. */
    double rate;
};
struct bb_fingerprint_totals bb_fingerprint_chain_totals(const struct bb_fingerprint_chain *chain);

#endif
