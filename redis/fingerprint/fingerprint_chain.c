/* See fingerprint_chain.h. */
#include "redis/fingerprint/fingerprint_chain.h"

#include <string.h>

#include "redis/server/redis_module.h"

/* Computes the capacity and the rate of table number `at`. False: such a table is not possible. */
static bool plan_table(const struct bb_fingerprint_options *options, uint32_t at,
                       uint64_t *ret_capacity, double *ret_rate)
{
    uint64_t capacity = options->capacity;
    for (uint32_t i = 0; i < at; i++) {
        if (__builtin_mul_overflow(capacity, options->expansion, &capacity))
            return false;
    }
    double share = options->expansion == 0 ? 1 : ((double)at + 1) * ((double)at + 2);
    *ret_capacity = capacity;
    *ret_rate = options->rate / share;
    return bb_fingerprint_table_is_possible(*ret_capacity, *ret_rate);
}

bool bb_fingerprint_options_are_possible(const struct bb_fingerprint_options *options)
{
    uint64_t capacity = 0;
    double rate = 0;
    return options->expansion <= BB_FINGERPRINT_CHAIN_EXPANSION_MAX && options->table_limit >= 1 &&
           options->table_limit <= BB_FINGERPRINT_CHAIN_TABLES_MAX &&
           plan_table(options, 0, &capacity, &rate);
}

struct bb_fingerprint_chain *
bb_fingerprint_chain_create(const struct bb_fingerprint_options *options)
{
    struct bb_fingerprint_chain *chain = RedisModule_TryAlloc(sizeof(*chain));
    if (chain == NULL)
        return NULL;
    memset(chain, 0, sizeof(*chain));
    chain->options = *options;
    if (bb_fingerprint_chain_grow(chain) == BB_FINGERPRINT_ADDED)
        return chain;
    RedisModule_Free(chain);
    return NULL;
}

void bb_fingerprint_chain_destroy(struct bb_fingerprint_chain *chain)
{
    if (chain == NULL)
        return;
    for (uint32_t i = 0; i < chain->table_count; i++)
        bb_fingerprint_table_destroy(chain->tables[i]);
    RedisModule_Free(chain);
}

static bool copy_shard(struct bb_fingerprint_table *table, uint32_t at,
                       const struct bb_fingerprint_table *from)
{
    struct bb_fingerprint_shard *copy =
        bb_fingerprint_shard_copy(bb_fingerprint_table_shard(from, at), &from->shape);
    if (copy != NULL && bb_fingerprint_table_set_shard(table, at, copy))
        return true;
    bb_fingerprint_shard_destroy(copy);
    return false;
}

/* Copies all members of a table into an empty table of the same shape. */
static bool copy_table(struct bb_fingerprint_table *table, const struct bb_fingerprint_table *from)
{
    for (uint32_t at = 0; at < from->shard_count;) {
        uint32_t run = bb_fingerprint_table_empty_run(from, at);
        if (run == 0 && !copy_shard(table, at, from))
            return false;
        at += run == 0 ? 1 : run;
    }
    return true;
}

struct bb_fingerprint_chain *bb_fingerprint_chain_copy(const struct bb_fingerprint_chain *chain)
{
    struct bb_fingerprint_chain *copy = bb_fingerprint_chain_create(&chain->options);
    for (uint32_t i = 0; copy != NULL && i < chain->table_count; i++) {
        if ((i == 0 || bb_fingerprint_chain_grow(copy) == BB_FINGERPRINT_ADDED) &&
            copy_table(copy->tables[i], chain->tables[i]))
            continue;
        bb_fingerprint_chain_destroy(copy);
        copy = NULL;
    }
    return copy;
}

enum bb_fingerprint_outcome bb_fingerprint_chain_grow(struct bb_fingerprint_chain *chain)
{
    uint64_t capacity = 0;
    double rate = 0;
    bool may_grow = chain->table_count == 0 || chain->options.expansion != 0;
    if (!may_grow || chain->table_count == chain->options.table_limit ||
        !plan_table(&chain->options, chain->table_count, &capacity, &rate))
        return BB_FINGERPRINT_FULL;
    struct bb_fingerprint_table *table = bb_fingerprint_table_create(capacity, rate);
    if (table == NULL)
        return BB_FINGERPRINT_NO_MEMORY;
    chain->tables[chain->table_count++] = table;
    return BB_FINGERPRINT_ADDED;
}

bool bb_fingerprint_chain_contains(const struct bb_fingerprint_chain *chain, uint64_t hash)
{
    for (uint32_t i = chain->table_count; i-- > 0;) {
        if (bb_fingerprint_table_find(chain->tables[i], hash) > 0)
            return true;
    }
    return false;
}

uint64_t bb_fingerprint_chain_find(const struct bb_fingerprint_chain *chain, uint64_t hash)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < chain->table_count; i++)
        count += bb_fingerprint_table_find(chain->tables[i], hash);
    return count;
}

static bool add_to(struct bb_fingerprint_table *table, uint64_t hash)
{
    return table->count < table->capacity && bb_fingerprint_table_add(table, hash);
}

/* Adds to the newest table with space. WHY older tables too: removals may have made space there. */
static bool add_to_any(struct bb_fingerprint_chain *chain, uint64_t hash)
{
    for (uint32_t i = chain->table_count; i-- > 0;) {
        if (add_to(chain->tables[i], hash))
            return true;
    }
    return false;
}

enum bb_fingerprint_outcome bb_fingerprint_chain_add(struct bb_fingerprint_chain *chain,
                                                     uint64_t hash)
{
    if (chain->options.is_set && bb_fingerprint_chain_contains(chain, hash))
        return BB_FINGERPRINT_KNOWN;
    if (add_to_any(chain, hash))
        return BB_FINGERPRINT_ADDED;
    enum bb_fingerprint_outcome grown = bb_fingerprint_chain_grow(chain);
    if (grown != BB_FINGERPRINT_ADDED)
        return grown;
    bool is_added = add_to(chain->tables[chain->table_count - 1], hash);
    return is_added ? BB_FINGERPRINT_ADDED : BB_FINGERPRINT_NO_MEMORY;
}

bool bb_fingerprint_chain_remove(struct bb_fingerprint_chain *chain, uint64_t hash)
{
    for (uint32_t i = chain->table_count; i-- > 0;) {
        if (bb_fingerprint_table_remove(chain->tables[i], hash))
            return true;
    }
    return false;
}

enum bb_fingerprint_outcome bb_fingerprint_chain_unite(struct bb_fingerprint_chain *chain,
                                                       const struct bb_fingerprint_chain *other)
{
    while (chain->table_count < other->table_count) {
        enum bb_fingerprint_outcome grown = bb_fingerprint_chain_grow(chain);
        if (grown != BB_FINGERPRINT_ADDED)
            return grown;
    }
    for (uint32_t i = 0; i < other->table_count; i++) {
        if (!bb_fingerprint_table_unite(chain->tables[i], other->tables[i]))
            return BB_FINGERPRINT_FULL;
    }
    return BB_FINGERPRINT_ADDED;
}

struct bb_fingerprint_totals bb_fingerprint_chain_totals(const struct bb_fingerprint_chain *chain)
{
    struct bb_fingerprint_totals totals = {.memory =
                                               RedisModule_MallocSize((void *)(uintptr_t)chain)};
    for (uint32_t i = 0; i < chain->table_count; i++) {
        const struct bb_fingerprint_table *table = chain->tables[i];
        totals.capacity += table->capacity;
        totals.count += table->count;
        totals.memory += bb_fingerprint_table_memory(table);
        totals.shard_count += table->shard_count;
        totals.rate += bb_fingerprint_table_rate(table);
    }
    totals.rate = totals.rate < 1 ? totals.rate : 1;
    return totals;
}
