/* Goal: zipf_draw has the frequencies of Zipf's distribution, and other draws their ranges.
 * Method: a million draws with a fixed seed. The counts of single ranks, and of groups of rarer
 * ones, are compared with the expected ones: a difference of five standard deviations fails. The
 * expected frequencies come from the sum over all ranks, which the generator does not compute. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/die.h"
#include "bench/workload.h"
#include "bench/zipf.h"

#define DRAWS      1000000
#define SEED       20261123
#define DEVIATIONS 5.0

/* Ranks from 2^k - 1 on, below 2^(k+1) - 1, are group k. */
#define GROUPS 20

static unsigned group_of(uint64_t rank)
{
    unsigned group = 0;
    while ((rank + 1) >> (group + 1) != 0)
        group++;
    return group;
}

static void check_count(uint64_t n, unsigned group, double count, double probability)
{
    double expected = DRAWS * probability;
    double deviation = sqrt(expected * (1 - probability));
    if (fabs(count - expected) > DEVIATIONS * deviation + 1)
        bench_die("seed %d, %llu ranks, group %u: drawn %.0f times, expected %.1f +- %.1f", SEED,
                  (unsigned long long)n, group, count, expected, deviation);
}

static void check_zipf(uint64_t n)
{
    double sums[GROUPS] = {0};
    double counts[GROUPS] = {0};
    double sum = 0;
    struct dice dice = {.seed = SEED};
    for (uint64_t rank = 0; rank < n; rank++) {
        double weight = pow((double)rank + 1, -ZIPF_EXPONENT);
        sums[group_of(rank)] += weight;
        sum += weight;
    }
    for (int i = 0; i < DRAWS; i++) {
        uint64_t rank = zipf_draw(&dice, n);
        if (rank >= n)
            bench_die("rank %llu of %llu", (unsigned long long)rank, (unsigned long long)n);
        counts[group_of(rank)]++;
    }
    for (unsigned group = 0; group < GROUPS; group++)
        check_count(n, group, counts[group], sums[group] / sum);
}

static void check_mixing(void)
{
    struct dice dice = {.seed = SEED};
    for (int i = 0; i < 1000; i++) {
        uint64_t number = dice_draw(&dice);
        if (dice_unmix(dice_mix(number)) != number)
            bench_die("%016llx is not found again", (unsigned long long)number);
    }
}

/* A key of each size leads to its number, and that to its index. */
static void check_keys(size_t key_size)
{
    uint8_t key[64];
    uint64_t found = 0;
    struct workload workload;
    workload_init(&workload, &(struct workload_options){.key_count = 1000,
                                                        .key_size = key_size,
                                                        .value_size = 8,
                                                        .seed = SEED,
                                                        .is_bare = true});
    for (uint64_t i = 0; i < 1000; i++) {
        workload_key(&workload, workload_number(&workload, i), key);
        if (!workload_index(&workload, workload_parse(&workload, key), &found) || found != i)
            bench_die("key %llu has index %llu", (unsigned long long)i, (unsigned long long)found);
        if (workload_index(&workload, workload_absent_number(&workload, i), &found))
            bench_die("absent key %llu has an index", (unsigned long long)i);
    }
    workload_deinit(&workload);
}

int main(void)
{
    check_zipf(1);
    check_zipf(2);
    check_zipf(1000);
    check_zipf(1000000);
    check_mixing();
    check_keys(8);
    check_keys(16);
    check_keys(40);
    puts("distributions checked");
    return 0;
}
