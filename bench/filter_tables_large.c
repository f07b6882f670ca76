/* The size of a large set at 0.01 %, and the result for a billion URLs. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/assert.h"
#include "base/buf.h"
#include "base/hash.h"
#include "bench/die.h"
#include "bench/filter_pool.h"
#include "bench/filter_tables.h"

#define TARGET  1e-4
#define BILLION 1e9

struct size {
    double bits_per_key;
    double planned;
    double predicted;
    double measured;
};

#define QUESTIONS UINT64_C(50000000)

static double measure(const struct bb_filter_view *view, uint64_t seed)
{
    uint64_t passed = 0;
    uint64_t base = (seed << 50) + (UINT64_C(1) << 48);
    for (uint64_t i = 0; i < QUESTIONS; i++)
        passed += bb_filter_may_contain(view, bb_hash_mix(base + i));
    return (double)passed / (double)QUESTIONS;
}

static double planned_rate(enum bb_filter_kind kind, uint64_t key_count)
{
    struct bb_filter_question question = {
        .kind = kind, .key_count = key_count, .target_rate = TARGET};
    struct bb_filter_plan plan;
    bench_must(bb_filter_plan(&question, &plan));
    return plan.predicted_rate;
}

static struct size build(enum bb_filter_kind kind, uint64_t key_count, uint64_t seed)
{
    struct bb_filter_options options = {.kind = kind, .target_rate = TARGET, .salt = seed};
    struct bb_filter_builder *builder = NULL;
    struct bb_buf envelope = {0};
    struct bb_filter_info info;
    struct bb_filter_view view;
    bench_must(bb_filter_builder_create(&options, &builder));
    for (uint64_t i = 0; i < key_count; i++)
        bench_must(bb_filter_builder_add(builder, bb_hash_mix((seed << 50) + i)));
    bench_must(bb_filter_builder_finish(builder, &envelope));
    bb_filter_builder_destroy(builder);
    bench_must(bb_filter_info(bb_buf_bytes(&envelope), &info));
    bench_must(bb_filter_view_init(&view, bb_buf_bytes(&envelope)));
    struct size size = {info.bits_per_key, planned_rate(kind, key_count), info.predicted_rate,
                        measure(&view, seed)};
    bb_buf_deinit(&envelope);
    return size;
}

static void print_row(const char *name, uint64_t key_count, struct size size)
{
    printf("| %s | %" PRIu64 " | %.3f | %.4f | %.3e | %.3e | %.3f GB |\n", name, key_count,
           size.bits_per_key, size.bits_per_key / log2(1 / TARGET), size.predicted, size.measured,
           size.bits_per_key / 8 * BILLION / 1e9);
    fflush(stdout);
}

bool filter_tables_large(uint64_t seed, uint64_t key_count_max)
{
    static const struct {
        const char *name;
        enum bb_filter_kind kind;
    } rows[] = {{"ribbon", BB_FILTER_RIBBON}, {"Bloom", BB_FILTER_BLOOM}};
    bool fine = true;
    printf(
        "\nTarget 0.01 %%. The limit is %.2f bits per key: %.2f GB for a billion keys. The last\n"
        "column extrapolates the bits per key.\n\n",
        log2(1 / TARGET), log2(1 / TARGET) / 8);
    printf("| kind | keys | bits/key | of the limit | predicted | measured | a billion keys |\n"
           "|---|---|---|---|---|---|---|\n");
    for (uint64_t key_count = 100000; key_count <= key_count_max; key_count *= 10)
        for (size_t i = 0; i < BB_ARRAY_LENGTH(rows); i++) {
            struct size size = build(rows[i].kind, key_count, seed);
            print_row(rows[i].name, key_count, size);
            fine &= size.planned <= TARGET;
        }
    return fine;
}
