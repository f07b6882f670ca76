/* Filters without a store: bits per key, nanoseconds per key to build and per probe, for every
 * kind.
 *
 * The filters of one table of about half a megabyte stay in the second-level cache; random filters
 * are probed. "absent" are absent keys, "member" present ones, "chain" is the latency: the next
 * key depends on the result. Rows of kind `none` are the cost of the measurement. Thread CPU time;
 * the median of 9 rounds.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/coding.h"
#include "base/hash.h"
#include "bench/die.h"
#include "bench/median.h"
#include "bench/thread_clock.h"
#include "bloomblock/table/block_filter.h"

#define ROUNDS      9
#define QUESTIONS   (1 << 16)
#define TABLE_BYTES (400 << 10)

struct table {
    struct bb_block_filter_format format;
    size_t key_count; /* per filter */
    size_t filter_count;
    uint16_t *descriptors;
    size_t *offsets;
    struct bb_buf payload;
};

struct question {
    uint32_t filter;
    struct bb_block_filter_key key;
};

static uint64_t member(const struct table *table, size_t filter, size_t i)
{
    return bb_hash_mix(filter * table->key_count + i + 1);
}

/* Nanoseconds per key. */
static double build(struct table *table)
{
    struct bb_block_filter_builder *builder = NULL;
    struct bb_buf descriptors = {0};
    uint32_t shards = 0;
    uint8_t *lead = NULL, *pad = NULL;
    bench_must(bb_block_filter_builder_create(&table->format, &builder));
    bench_must(bb_buf_extend(&table->payload, BB_FILTER_LEAD_BYTES, &lead));
    double start = thread_clock_now();
    for (size_t filter = 0; filter < table->filter_count; filter++) {
        table->offsets[filter] = table->payload.size;
        for (size_t i = 0; i < table->key_count; i++)
            bench_must(bb_block_filter_builder_add(builder, member(table, filter, i)));
        bench_must(bb_block_filter_builder_finish(builder, &descriptors, &table->payload, &shards));
        table->descriptors[filter] = bb_load16(descriptors.data + filter * 2);
    }
    double elapsed = thread_clock_now() - start;
    bench_must(bb_buf_extend(&table->payload, BB_FILTER_PAD_BYTES, &pad));
    bb_buf_deinit(&descriptors);
    bb_block_filter_builder_destroy(builder);
    return elapsed / (double)(table->filter_count * table->key_count);
}

static void draw(const struct table *table, bool members, struct question *questions)
{
    for (uint64_t i = 0; i < QUESTIONS; i++) {
        uint64_t random = bb_hash_mix(i + UINT64_C(0x5eed00000000));
        uint32_t filter = bb_hash_range(random, (uint32_t)table->filter_count);
        uint64_t hash = members ? member(table, filter, (random & 0xffffff) % table->key_count)
                                : bb_hash_mix(~random);
        questions[i] = (struct question){filter, bb_block_filter_key(&table->format, hash)};
    }
}

static bool ask(const struct table *table, struct question question)
{
    return bb_block_filter_may_contain(&table->format, table->descriptors[question.filter],
                                       table->payload.data + table->offsets[question.filter],
                                       question.key);
}

/* Runs through all questions; *passed counts the yes. chain: the next question waits. */
static double round_of(const struct table *table, const struct question *questions, bool chain,
                       uint64_t *passed)
{
    double start = thread_clock_now();
    uint64_t yes = 0;
    uint32_t depends = 0;
    for (uint32_t i = 0; i < QUESTIONS; i++) {
        bool answer = ask(table, questions[i ^ depends]);
        yes += answer;
        if (chain) {
            depends = answer;
            __asm__ volatile("" : "+r"(depends));
            depends >>= 1;
        }
    }
    *passed = yes;
    return (thread_clock_now() - start) / QUESTIONS;
}

static double measure(const struct table *table, bool members, bool chain, double *ret_rate)
{
    struct question *questions = bench_allocate(QUESTIONS * sizeof(*questions));
    double times[ROUNDS];
    uint64_t passed = 0;
    draw(table, members, questions);
    for (int i = 0; i < ROUNDS; i++)
        times[i] = round_of(table, questions, chain, &passed);
    free(questions);
    *ret_rate = (double)passed / QUESTIONS;
    return median_of(times, ROUNDS);
}

static void bench(enum bb_filter_kind kind, size_t key_count, double target_rate)
{
    struct table table = {.key_count = key_count};
    bench_must(bb_block_filter_format_init(&table.format, kind, target_rate, 1));
    table.filter_count = TABLE_BYTES * 8 / 10 / key_count;
    table.descriptors = bench_allocate(table.filter_count * sizeof(table.descriptors[0]));
    table.offsets = bench_allocate(table.filter_count * sizeof(table.offsets[0]));
    double build_time = build(&table);
    double bits = (double)(table.payload.size - BB_FILTER_LEAD_BYTES - BB_FILTER_PAD_BYTES +
                           table.filter_count * 2) *
                  8 / (double)(table.filter_count * key_count);
    double rate = 0, recall = 0, unused = 0;
    double absent = measure(&table, false, false, &rate);
    double present = measure(&table, true, false, &recall);
    double chain = measure(&table, false, true, &unused);
    printf("%-14s %6zu %10.6f %8.3f %10.6f %8.1f %8.1f %8.1f %8.1f%s\n", bb_filter_kind_name(kind),
           key_count, target_rate, bits, rate, build_time, absent, present, chain,
           recall == 1 ? "" : "  MEMBERS DENIED");
    free(table.descriptors);
    free(table.offsets);
    bb_buf_deinit(&table.payload);
}

int main(void)
{
    static const enum bb_filter_kind kinds[] = {BB_FILTER_NONE, BB_FILTER_RIBBON,
                                                BB_FILTER_BLOCKED_BLOOM, BB_FILTER_BLOOM};
    static const size_t key_counts[] = {30, 100, 300, 1000, 2000};
    static const double rates[] = {0.01, 0.0078125, 0.001};
    printf("%-14s %6s %10s %8s %10s %8s %8s %8s %8s\n", "kind", "keys", "target", "bits/key",
           "measured", "build", "absent", "member", "chain");
    for (size_t k = 0; k < 4; k++)
        for (size_t n = 0; n < 5; n++)
            for (size_t r = 0; r < 3; r++)
                bench(kinds[k], key_counts[n], rates[r]);
    return 0;
}
