/* Measures the building of ribbons: nanoseconds and bits per key, by number of keys and slack.
 *
 * Single filters, with half a million keys in total: unsorted hashes are sorted, solved and
 * written. Sets: a standalone filter of a million keys, which is cut into shards of a thousand; the
 * time includes adding the keys. "tries" is the mean number of seeds that a filter needed. Times
 * are processor time of the thread, the median of 9 rounds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/assert.h"
#include "base/buf.h"
#include "base/hash.h"
#include "bb/filter.h"
#include "bench/die.h"
#include "bench/median.h"
#include "bench/thread_clock.h"
#include "bloomblock/descriptor.h"
#include "bloomblock/hash_sort.h"
#include "bloomblock/table/shard.h"

#define ROUNDS   9
#define KEYS     (1 << 19)
#define SET_KEYS 1000000
#define RATE     (1.0 / 128)

static const double slacks[] = {0, 0.03, 0.06};

/* --- Single filters --- */

struct filters {
    struct bb_shard_builder *builder;
    size_t key_count; /* per filter */
    size_t filter_count;
    uint64_t *hashes;
    struct bb_buf payload;
    uint64_t tries;
};

/* Nanoseconds per key: for only sorting, and for everything. */
static void build_filters(struct filters *filters, double *ret_sort, double *ret_all)
{
    size_t n = filters->key_count;
    size_t count = filters->filter_count * n;
    for (size_t i = 0; i < count; i++)
        filters->hashes[i] = bb_hash_mix(i + 1);
    filters->tries = 0;
    bb_buf_reset(&filters->payload);
    double start = thread_clock_now();
    for (size_t i = 0; i < count; i += n)
        (void)bb_hash_sort(filters->hashes + i, n);
    double sorted = thread_clock_now();
    for (size_t i = 0; i < count; i += n) {
        uint16_t descriptor = 0;
        bench_must(bb_shard_encode(filters->builder, filters->hashes + i, n, (double)n,
                                   &filters->payload, &descriptor));
        filters->tries += bb_descriptor_decode(descriptor).seed + 1;
    }
    *ret_sort = (sorted - start) / (double)count;
    *ret_all = (thread_clock_now() - start) / (double)count;
}

static void bench_filters(size_t key_count, double slack)
{
    struct filters filters = {.key_count = key_count, .filter_count = KEYS / key_count};
    struct bb_block_filter_format format;
    double sorts[ROUNDS], totals[ROUNDS];
    bench_must(bb_block_filter_format_init(&format, BB_FILTER_RIBBON, RATE, 1));
    format.slack = slack;
    filters.builder = bench_allocate(sizeof(*filters.builder));
    filters.hashes = bench_allocate(KEYS * sizeof(filters.hashes[0]));
    bb_shard_builder_init(filters.builder, &format);
    for (int i = 0; i < ROUNDS; i++)
        build_filters(&filters, &sorts[i], &totals[i]);
    printf("%8zu %6.2f %9.3f %6.2f %8.1f %8.1f\n", key_count, slack,
           (double)(filters.payload.size + 2 * filters.filter_count) * 8 /
               (double)(filters.filter_count * key_count),
           (double)filters.tries / (double)filters.filter_count, median_of(sorts, ROUNDS),
           median_of(totals, ROUNDS));
    bb_buf_deinit(&filters.payload);
    free(filters.hashes);
    free(filters.builder);
}

/* --- Sets of shards --- */

static double build_set(struct bb_filter_builder *builder, struct bb_buf *envelope)
{
    double start = thread_clock_now();
    for (uint64_t i = 0; i < SET_KEYS; i++)
        bench_must(bb_filter_builder_add(builder, bb_hash_mix(i + 1)));
    bench_must(bb_filter_builder_finish(builder, envelope));
    return (thread_clock_now() - start) / SET_KEYS;
}

static void bench_set(double slack)
{
    struct bb_filter_options options = {
        .kind = BB_FILTER_RIBBON, .target_rate = RATE, .slack = slack};
    struct bb_filter_builder *builder = NULL;
    struct bb_buf envelope = {0};
    double times[ROUNDS];
    bench_must(bb_filter_builder_create(&options, &builder));
    for (int i = 0; i < ROUNDS; i++) {
        bb_buf_reset(&envelope);
        times[i] = build_set(builder, &envelope);
    }
    printf("%8d %6.2f %9.3f %6s %8s %8.1f\n", SET_KEYS, slack, (double)envelope.size * 8 / SET_KEYS,
           "", "", median_of(times, ROUNDS));
    bb_filter_builder_destroy(builder);
    bb_buf_deinit(&envelope);
}

int main(void)
{
    static const size_t key_counts[] = {30, 100, 300, 1000, 2000};
    printf("%8s %6s %9s %6s %8s %8s\n", "keys", "slack", "bits/key", "tries", "sort", "build");
    for (size_t n = 0; n < BB_ARRAY_LENGTH(key_counts); n++)
        for (size_t s = 0; s < BB_ARRAY_LENGTH(slacks); s++)
            bench_filters(key_counts[n], slacks[s]);
    for (size_t s = 0; s < BB_ARRAY_LENGTH(slacks); s++)
        bench_set(slacks[s]);
    return 0;
}
