/* Bits per key and probes of a classic Bloom filter beside theory: the experiment that texts of the
 * nineties and their descendants print, at a size of theirs and with questions enough. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/assert.h"
#include "base/hash.h"
#include "bench/filter_pool.h"
#include "bench/filter_tables.h"
#include "bloomblock/bloom.h"
#include "bloomblock/rate.h"

#define KEY_COUNT UINT64_C(80000)

struct setting {
    uint32_t bits_per_key;
    uint32_t probes;
};

static const struct setting settings[] = {
    {20, 6}, {20, 14}, {20, 20}, {10, 7}, {5, 3}, {2, 1}, {2, 2}, {2, 5},
};

static uint64_t count_passed(const uint8_t *payload, uint64_t bits, uint32_t probes, uint64_t base,
                             uint64_t question_count)
{
    uint64_t passed = 0;
    for (uint64_t i = 0; i < question_count; i++)
        passed += bb_bloom_may_contain(payload, bits, probes, bb_hash_mix(base + i));
    return passed;
}

/* Within six standard deviations of what the bits predict. */
static bool is_near(uint64_t passed, double rate, uint64_t question_count)
{
    double expected = rate * (double)question_count;
    return fabs((double)passed - expected) <= 6 * sqrt(expected * (1 - rate)) + 6;
}

static bool print_setting(struct setting setting, uint64_t seed, uint64_t question_count)
{
    uint64_t bits = KEY_COUNT * setting.bits_per_key;
    uint8_t *payload = calloc(1, bb_bloom_size(bits));
    if (payload == NULL)
        exit(1);
    for (uint64_t i = 0; i < KEY_COUNT; i++)
        bb_bloom_add(payload, bits, setting.probes, bb_hash_mix((seed << 50) + i));
    double theory = bb_rate_bloom(KEY_COUNT, bits, setting.probes);
    double fill = (double)bb_bloom_set_count(payload, bb_bloom_size(bits)) / (double)bits;
    double predicted = pow(fill, setting.probes);
    uint64_t base = (seed << 50) + (UINT64_C(1) << 48);
    uint64_t once = count_passed(payload, bits, setting.probes, base, question_count);
    uint64_t twice =
        once + count_passed(payload, bits, setting.probes, base + question_count, question_count);
    printf("| %" PRIu32 " | %" PRIu32 " | %.4f | %.4e | %.4e | %" PRIu64 " | %.4e | %" PRIu64
           " | %.4e |\n",
           setting.bits_per_key, setting.probes, fill, theory, predicted, once,
           (double)once / (double)question_count, twice,
           (double)twice / (double)(2 * question_count));
    fflush(stdout);
    free(payload);
    return is_near(once, predicted, question_count) &&
           is_near(twice, predicted, 2 * question_count);
}

bool filter_tables_probes(uint64_t seed, uint64_t question_count)
{
    bool fine = true;
    printf("\nClassic Bloom, %" PRIu64 " keys, %" PRIu64 " and %" PRIu64
           " foreign questions, seed %" PRIu64 ":\n\n",
           KEY_COUNT, question_count, 2 * question_count, seed);
    printf("| m/n | k | fill | theory | from the bits | passed | rate | passed of twice as many | "
           "rate |\n"
           "|---|---|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < BB_ARRAY_LENGTH(settings); i++)
        fine &= print_setting(settings[i], seed, question_count);
    return fine;
}
