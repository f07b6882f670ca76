/* Textbook formulas compared with the exact values, for small sets: the rate (1 - e^(-kn/m))^k,
 * double hashing modulo m, and counters of four bits. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/buf.h"
#include "base/hash.h"
#include "bench/die.h"
#include "bench/filter_pool.h"
#include "bench/filter_tables.h"

#define BITS_PER_KEY 16
#define PROBES       11
#define KEYS_MAX     10000
#define QUESTIONS    2000 /* of each filter */

/* Probe i is h1 + i h2 modulo m. */
struct double_hashing {
    uint64_t words[KEYS_MAX * BITS_PER_KEY / 64 + 1];
    uint64_t bits;
};

static uint64_t probe(const struct double_hashing *filter, uint64_t hash, uint64_t i)
{
    return ((hash & UINT32_MAX) + i * (hash >> 32)) % filter->bits;
}

static void add(struct double_hashing *filter, uint64_t hash)
{
    for (uint64_t i = 0; i < PROBES; i++) {
        uint64_t at = probe(filter, hash, i);
        filter->words[at / 64] |= UINT64_C(1) << (at % 64);
    }
}

static bool may_contain(const struct double_hashing *filter, uint64_t hash)
{
    bool all = true;
    for (uint64_t i = 0; i < PROBES && all; i++) {
        uint64_t at = probe(filter, hash, i);
        all = filter->words[at / 64] >> (at % 64) & 1;
    }
    return all;
}

static uint64_t member(uint64_t seed, uint64_t filter, uint64_t i)
{
    return bb_hash_mix((seed << 50) + (filter << 20) + i);
}

static uint64_t absent(uint64_t seed, uint64_t filter, uint64_t i)
{
    return member(seed, filter, (1 << 19) + i);
}

static uint64_t passed_double_hashing(uint64_t seed, uint64_t key_count, uint64_t filter_count)
{
    static struct double_hashing filter;
    uint64_t passed = 0;
    filter.bits = key_count * BITS_PER_KEY;
    for (uint64_t f = 0; f < filter_count; f++) {
        memset(filter.words, 0, (filter.bits / 64 + 1) * sizeof(filter.words[0]));
        for (uint64_t i = 0; i < key_count; i++)
            add(&filter, member(seed, f, i));
        for (uint64_t i = 0; i < QUESTIONS; i++)
            passed += may_contain(&filter, absent(seed, f, i));
    }
    return passed;
}

static void build(uint64_t seed, uint64_t key_count, uint64_t f, struct bb_buf *envelope)
{
    struct bb_filter_options options = {.kind = BB_FILTER_BLOOM,
                                        .parameters = {key_count * BITS_PER_KEY, PROBES}};
    struct bb_filter_builder *builder = NULL;
    bench_must(bb_filter_builder_create(&options, &builder));
    for (uint64_t i = 0; i < key_count; i++)
        bench_must(bb_filter_builder_add(builder, member(seed, f, i)));
    bench_must(bb_filter_builder_finish(builder, envelope));
    bb_filter_builder_destroy(builder);
}

static uint64_t passed_ours(uint64_t seed, uint64_t key_count, uint64_t filter_count)
{
    uint64_t passed = 0;
    for (uint64_t f = 0; f < filter_count; f++) {
        struct bb_buf envelope = {0};
        struct bb_filter_view view;
        build(seed, key_count, f, &envelope);
        bench_must(bb_filter_view_init(&view, bb_buf_bytes(&envelope)));
        for (uint64_t i = 0; i < QUESTIONS; i++)
            passed += bb_filter_may_contain(&view, absent(seed, f, i));
        bb_buf_deinit(&envelope);
    }
    return passed;
}

/* Ours agrees with the computed rate, within six standard deviations of its count; filters of few
 * keys differ among each other, which adds the same again. */
static bool print_row(uint64_t seed, uint64_t key_count, uint64_t filter_count)
{
    const uint64_t parameters[2] = {key_count * BITS_PER_KEY, PROBES};
    struct bb_filter_plan plan;
    bench_must(bb_filter_predict(BB_FILTER_BLOOM, key_count, parameters, &plan));
    double questions = (double)filter_count * QUESTIONS;
    double textbook = pow(1 - exp(-(double)PROBES / BITS_PER_KEY), PROBES);
    double ours = (double)passed_ours(seed, key_count, filter_count);
    double doubled = (double)passed_double_hashing(seed, key_count, filter_count);
    double expected = plan.predicted_rate * questions;
    printf("| %" PRIu64 " | %.3e | %.3e | %.3f | %.3f | %.2f |\n", key_count, textbook,
           plan.predicted_rate, plan.predicted_rate / textbook, ours / expected,
           doubled / (textbook * questions));
    fflush(stdout);
    return fabs(ours - expected) <= 12 * sqrt(expected);
}

/* For a counter with its intended load: sixteen marks or more, with mean ln 2. */
static double overflow_probability(void)
{
    double mean = log(2), term = exp(-mean), sum = 0;
    for (int i = 1; i < 40; i++) {
        term *= mean / i;
        sum += i > 15 ? term : 0;
    }
    return sum;
}

bool filter_tables_formulas(uint64_t seed)
{
    static const uint64_t key_counts[] = {20, 100, 1000, KEYS_MAX};
    bool fine = true;
    printf("\nClassic Bloom, %d bits per key, %d probes, seed %" PRIu64
           ". \"passed\" is measured, in multiples of\nthe named rate:\n\n",
           BITS_PER_KEY, PROBES, seed);
    printf("| n | textbook | expectation | expectation / textbook | ours passed / expectation | "
           "double hashing passed / textbook |\n|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < BB_ARRAY_LENGTH(key_counts); i++)
        fine &= print_row(seed, key_counts[i], key_counts[i] > 1000 ? 2000 : 20000);
    printf("\nA counter of four bits overflows with probability %.1e when half of all are 0.\n",
           overflow_probability());
    return fine;
}
