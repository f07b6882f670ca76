/* Bits per key and probes of a classic Bloom filter compared with theory: the experiment of texts
 * of the nineties and their successors, at their size and with enough probes. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/assert.h"
#include "base/buf.h"
#include "base/hash.h"
#include "bench/die.h"
#include "bench/filter_pool.h"
#include "bench/filter_tables.h"

#define KEY_COUNT UINT64_C(80000)

struct setting {
    uint32_t bits_per_key;
    uint32_t probes;
};

static const struct setting settings[] = {
    {20, 6}, {20, 14}, {20, 20}, {10, 7}, {5, 3}, {2, 1}, {2, 2}, {2, 5},
};

static void build(struct setting setting, uint64_t seed, struct bb_buf *envelope)
{
    struct bb_filter_options options = {
        .kind = BB_FILTER_BLOOM, .parameters = {KEY_COUNT * setting.bits_per_key, setting.probes}};
    struct bb_filter_builder *builder = NULL;
    bench_must(bb_filter_builder_create(&options, &builder));
    for (uint64_t i = 0; i < KEY_COUNT; i++)
        bench_must(bb_filter_builder_add(builder, bb_hash_mix((seed << 50) + i)));
    bench_must(bb_filter_builder_finish(builder, envelope));
    bb_filter_builder_destroy(builder);
}

static uint64_t count_passed(const struct bb_filter_view *view, uint64_t base,
                             uint64_t question_count)
{
    uint64_t passed = 0;
    for (uint64_t i = 0; i < question_count; i++)
        passed += bb_filter_may_contain(view, bb_hash_mix(base + i));
    return passed;
}

/* Within six standard deviations of the rate predicted by the bits. */
static bool is_near(uint64_t passed, double rate, uint64_t question_count)
{
    double expected = rate * (double)question_count;
    return fabs((double)passed - expected) <= 6 * sqrt(expected * (1 - rate)) + 6;
}

static void print_row(struct setting setting, double theory, const struct bb_filter_info *info,
                      const uint64_t passed[2], uint64_t question_count)
{
    printf("| %" PRIu32 " | %" PRIu32 " | %.4f | %.4e | %.4e | %" PRIu64 " | %.4e | %" PRIu64
           " | %.4e |\n",
           setting.bits_per_key, setting.probes, info->fill, theory, info->predicted_rate,
           passed[0], (double)passed[0] / (double)question_count, passed[1],
           (double)passed[1] / (double)(2 * question_count));
    fflush(stdout);
}

static bool print_setting(struct setting setting, uint64_t seed, uint64_t question_count)
{
    const uint64_t parameters[2] = {KEY_COUNT * setting.bits_per_key, setting.probes};
    uint64_t base = (seed << 50) + (UINT64_C(1) << 48);
    struct bb_buf envelope = {0};
    struct bb_filter_plan plan;
    struct bb_filter_info info;
    struct bb_filter_view view;
    build(setting, seed, &envelope);
    bench_must(bb_filter_predict(BB_FILTER_BLOOM, KEY_COUNT, parameters, &plan));
    bench_must(bb_filter_info(bb_buf_bytes(&envelope), &info));
    bench_must(bb_filter_view_init(&view, bb_buf_bytes(&envelope)));
    uint64_t once = count_passed(&view, base, question_count);
    uint64_t twice = once + count_passed(&view, base + question_count, question_count);
    print_row(setting, plan.predicted_rate, &info, (uint64_t[]){once, twice}, question_count);
    bb_buf_deinit(&envelope);
    return is_near(once, info.predicted_rate, question_count) &&
           is_near(twice, info.predicted_rate, 2 * question_count);
}

bool filter_tables_probes(uint64_t seed, uint64_t question_count)
{
    bool fine = true;
    printf("\nClassic Bloom, %" PRIu64 " keys, %" PRIu64 " and %" PRIu64
           " non-member keys, seed %" PRIu64 ":\n\n",
           KEY_COUNT, question_count, 2 * question_count, seed);
    printf("| m/n | k | fill | theory | from the bits | passed | rate | passed of twice as many | "
           "rate |\n"
           "|---|---|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < BB_ARRAY_LENGTH(settings); i++)
        fine &= print_setting(settings[i], seed, question_count);
    return fine;
}
