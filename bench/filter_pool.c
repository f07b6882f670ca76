/* See filter_pool.h. */
#include "bench/filter_pool.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/assert.h"
#include "base/coding.h"
#include "base/hash.h"
#include "bench/die.h"

const struct pool_kind pool_kinds[] = {
    {"ribbon, of a table's blocks", BB_FILTER_RIBBON, true},
    {"ribbon", BB_FILTER_RIBBON, false},
    {"blocked Bloom", BB_FILTER_BLOCKED_BLOOM, false},
    {"split-block Bloom", BB_FILTER_SPLIT_BLOCK, false},
    {"Bloom", BB_FILTER_BLOOM, false},
    {"partitioned Bloom", BB_FILTER_PARTITIONED, false},
    {"counting Bloom", BB_FILTER_COUNTING, false},
    {"scalable Bloom", BB_FILTER_SCALABLE, false},
};
const size_t pool_kind_count = BB_ARRAY_LENGTH(pool_kinds);

/* The counters of absent keys are above the counters of all members. */
#define ABSENT_BASE (UINT64_C(1) << 48)

static uint64_t member(const struct pool *pool, size_t filter, size_t i)
{
    return bb_hash_mix((pool->seed << 50) + filter * pool->key_count + i + 1);
}

/* --- Standalone filters --- */

static double planned_rate(const struct pool *pool, double target_rate)
{
    struct bb_filter_question question = {
        .kind = pool->kind->kind, .key_count = pool->key_count, .target_rate = target_rate};
    struct bb_filter_plan plan;
    bench_must(bb_filter_plan(&question, &plan));
    return plan.predicted_rate;
}

static void build_alone(struct pool *pool, double target_rate)
{
    size_t starts[POOL_FILTERS_MAX + 1] = {0};
    bool takes_salt = pool->kind->kind != BB_FILTER_SPLIT_BLOCK;
    pool->planned = planned_rate(pool, target_rate);
    for (size_t filter = 0; filter < pool->filter_count; filter++) {
        struct bb_filter_options options = {.kind = pool->kind->kind,
                                            .target_rate = target_rate,
                                            .salt = takes_salt ? pool->seed + filter : 0};
        struct bb_filter_builder *builder = NULL;
        bench_must(bb_filter_builder_create(&options, &builder));
        for (size_t i = 0; i < pool->key_count; i++)
            bench_must(bb_filter_builder_add(builder, member(pool, filter, i)));
        bench_must(bb_filter_builder_finish(builder, &pool->bytes));
        starts[filter + 1] = pool->bytes.size;
        bb_filter_builder_destroy(builder);
    }
    for (size_t filter = 0; filter < pool->filter_count; filter++) {
        struct bb_bytes envelope = {pool->bytes.data + starts[filter],
                                    starts[filter + 1] - starts[filter]};
        struct bb_filter_info info;
        bench_must(bb_filter_view_init(&pool->views[filter], envelope));
        bench_must(bb_filter_info(envelope, &info));
        pool->predicted += info.predicted_rate / (double)pool->filter_count;
    }
    pool->bits_per_key =
        (double)pool->bytes.size * 8 / (double)(pool->key_count * pool->filter_count);
}

/* --- Filters of the blocks of a table --- */

static uint16_t descriptor_of(const struct pool *pool, size_t filter, uint32_t shard)
{
    return bb_load16(pool->descriptors.data + (pool->descriptor_starts[filter] + shard) * 2);
}

static void describe_shards(struct pool *pool, size_t filter, size_t start)
{
    uint32_t shard_count = pool->shard_counts[filter];
    for (uint32_t shard = 0; shard < shard_count; shard++) {
        struct bb_block_filter_info info;
        uint16_t descriptor = descriptor_of(pool, filter, shard);
        size_t size = 0;
        if (!bb_block_filter_size(&pool->format, descriptor, &size) ||
            !bb_block_filter_info(&pool->format, descriptor,
                                  (struct bb_bytes){pool->bytes.data + start, size}, &info))
            bench_die("a filter that was just built has an impossible descriptor");
        pool->payload_starts[filter][shard] = start;
        pool->predicted += info.predicted_rate / shard_count / (double)pool->filter_count;
        start += size;
    }
}

static void build_table(struct pool *pool, double target_rate)
{
    struct bb_block_filter_builder *builder = NULL;
    uint8_t *lead = NULL, *pad = NULL;
    bench_must(bb_buf_extend(&pool->bytes, BB_FILTER_LEAD_BYTES, &lead));
    bench_must(
        bb_block_filter_format_init(&pool->format, pool->kind->kind, target_rate, pool->seed));
    bench_must(bb_block_filter_builder_create(&pool->format, &builder));
    for (size_t filter = 0; filter < pool->filter_count; filter++) {
        size_t start = pool->bytes.size;
        pool->descriptor_starts[filter] = pool->descriptors.size / 2;
        for (size_t i = 0; i < pool->key_count; i++)
            bench_must(bb_block_filter_builder_add(builder, member(pool, filter, i)));
        bench_must(bb_block_filter_builder_finish(builder, &pool->descriptors, &pool->bytes,
                                                  &pool->shard_counts[filter]));
        if (pool->shard_counts[filter] > BB_ARRAY_LENGTH(pool->payload_starts[0]))
            bench_die("too many keys per filter");
        describe_shards(pool, filter, start);
    }
    pool->planned = pool->predicted;
    pool->bits_per_key =
        (double)(pool->bytes.size - BB_FILTER_LEAD_BYTES + pool->descriptors.size) * 8 /
        (double)(pool->key_count * pool->filter_count);
    bench_must(bb_buf_extend(&pool->bytes, BB_FILTER_PAD_BYTES, &pad));
    bb_block_filter_builder_destroy(builder);
}

void pool_init(struct pool *pool, const struct pool_kind *kind, size_t key_count,
               size_t filter_count, double target_rate, uint64_t seed)
{
    *pool = (struct pool){
        .kind = kind, .seed = seed, .key_count = key_count, .filter_count = filter_count};
    if (kind->in_table)
        build_table(pool, target_rate);
    else
        build_alone(pool, target_rate);
}

void pool_deinit(struct pool *pool)
{
    bb_buf_deinit(&pool->bytes);
    bb_buf_deinit(&pool->descriptors);
}

/* --- Questions --- */

static bool ask(const struct pool *pool, size_t filter, uint64_t hash)
{
    if (!pool->kind->in_table)
        return bb_filter_may_contain(&pool->views[filter], hash);
    struct bb_block_filter_key key = bb_block_filter_key(&pool->format, hash);
    uint32_t shard = bb_block_filter_shard(key, pool->shard_counts[filter]);
    return bb_block_filter_may_contain(&pool->format, descriptor_of(pool, filter, shard),
                                       pool->bytes.data + pool->payload_starts[filter][shard], key);
}

uint64_t pool_count_absent(const struct pool *pool, uint64_t question_count)
{
    uint64_t passed = 0;
    uint64_t per_filter = question_count / pool->filter_count;
    uint64_t counter = ABSENT_BASE + (pool->seed << 50);
    for (size_t filter = 0; filter < pool->filter_count; filter++)
        for (uint64_t i = 0; i < per_filter; i++)
            passed += ask(pool, filter, bb_hash_mix(counter++));
    return passed;
}

uint64_t pool_count_denied(const struct pool *pool)
{
    uint64_t denied = 0;
    for (size_t filter = 0; filter < pool->filter_count; filter++)
        for (size_t i = 0; i < pool->key_count; i++)
            denied += !ask(pool, filter, member(pool, filter, i));
    return denied;
}
