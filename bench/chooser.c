/* See chooser.h.
 *
 * MIX_HOT_RANGES is the shape of RocksDB's "mixgraph" (Cao, Dong, Vemuri, Du: Characterizing,
 * Modeling, and Benchmarking RocksDB Key-Value Workloads at Facebook, FAST 2020) with the
 * parameters of its "prefix_dist" example: 30 ranges of the order of keys, whose popularity is the
 * sum of two exponential terms, and a power law for the keys of a range. Ranges are shuffled, and
 * so are the keys of a range.
 */
#include "bench/chooser.h"

#include <math.h>

#include "bench/zipf.h"

/* Popularity of range x, from 1: A e^(B x) + C e^(D x). */
#define RANGE_A 14.18
#define RANGE_B (-2.917)
#define RANGE_C 0.0164
#define RANGE_D (-0.08082)
/* A coprime of CHOOSER_RANGES, which shuffles them. */
#define RANGE_STEP 7
/* The k-th key of a range has the cumulated popularity A k^B. */
#define KEY_A 0.002312
#define KEY_B 0.3467
/* Length of a seek: a generalised Pareto distribution. */
#define LENGTH_SHAPE 2.517
#define LENGTH_SCALE 14.236

static void weigh_ranges(struct chooser *chooser)
{
    double sum = 0;
    for (int i = 0; i < CHOOSER_RANGES; i++) {
        double x = i + 1;
        sum += RANGE_A * exp(RANGE_B * x) + RANGE_C * exp(RANGE_D * x);
        chooser->weights[i] = sum;
    }
}

void chooser_init(struct chooser *chooser, const struct ledger *ledger, uint64_t seed,
                  uint64_t thread)
{
    *chooser = (struct chooser){
        .ledger = ledger, .thread = thread, .dice.seed = dice_mix(dice_mix(~seed) + thread)};
    weigh_ranges(chooser);
}

void chooser_begin_phase(struct chooser *chooser, const struct mix_phase *phase)
{
    chooser->phase = phase;
    chooser->each_count = 0;
    chooser->each_step = 0;
}

enum mix_kind chooser_kind(struct chooser *chooser)
{
    uint64_t percent = dice_below(&chooser->dice, 100);
    size_t kind = 0;
    while (percent >= chooser->phase->percents[kind])
        percent -= chooser->phase->percents[kind++];
    return (enum mix_kind)kind;
}

static uint64_t key_count(const struct chooser *chooser)
{
    return chooser->ledger->workload->options.key_count;
}

static uint64_t thread_count(const struct chooser *chooser)
{
    return chooser->ledger->thread_count;
}

/* Keys loaded, and insertions, if all threads are as far as this one. */
static uint64_t stored_count(const struct chooser *chooser)
{
    return key_count(chooser) + chooser->insert_count * thread_count(chooser);
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b != 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* The thread's keys, in steps that have no common divisor with their number. */
static uint64_t next_of_each(struct chooser *chooser)
{
    uint64_t threads = thread_count(chooser);
    uint64_t count = (key_count(chooser) - chooser->thread + threads - 1) / threads;
    if (chooser->each_step == 0) {
        chooser->each_step = 1 + dice_below(&chooser->dice, count);
        while (common_divisor(chooser->each_step, count) != 1)
            chooser->each_step++;
    }
    uint64_t place = chooser->each_count++ * chooser->each_step % count;
    return place * threads + chooser->thread;
}

static uint64_t choose_range(struct chooser *chooser)
{
    double drawn = dice_unit(&chooser->dice) * chooser->weights[CHOOSER_RANGES - 1];
    uint64_t range = 0;
    while (drawn > chooser->weights[range])
        range++;
    return range * RANGE_STEP % CHOOSER_RANGES;
}

static uint64_t index_in_hot_range(struct chooser *chooser)
{
    uint64_t count = key_count(chooser);
    uint64_t range = choose_range(chooser);
    uint64_t begin = count * range / CHOOSER_RANGES;
    uint64_t end = count * (range + 1) / CHOOSER_RANGES;
    double rank = ceil(pow(dice_unit(&chooser->dice) / KEY_A, 1 / KEY_B));
    uint64_t position = begin;
    uint64_t index = 0;
    if (end > begin)
        position += dice_mix((uint64_t)rank) % (end - begin);
    (void)workload_index(chooser->ledger->workload, chooser->ledger->sorted[position], &index);
    return index;
}

uint64_t chooser_index(struct chooser *chooser)
{
    uint64_t count = key_count(chooser);
    switch (chooser->phase->choice) {
    case MIX_ZIPF:
        return dice_mix(zipf_draw(&chooser->dice, count)) % count;
    case MIX_LATEST:
        return stored_count(chooser) - 1 - zipf_draw(&chooser->dice, stored_count(chooser));
    case MIX_EACH:
        return next_of_each(chooser);
    case MIX_HOT_RANGES:
        return index_in_hot_range(chooser);
    default:
        return dice_below(&chooser->dice, count);
    }
}

uint64_t chooser_own_index(struct chooser *chooser)
{
    uint64_t index = chooser_index(chooser);
    uint64_t own = index - index % thread_count(chooser) + chooser->thread;
    return own < key_count(chooser) ? own : chooser->thread;
}

uint64_t chooser_insertion(struct chooser *chooser)
{
    uint64_t threads = thread_count(chooser);
    uint64_t first = (key_count(chooser) + threads - 1) / threads * threads + chooser->thread;
    return first + chooser->insert_count++ * threads;
}

uint64_t chooser_never(struct chooser *chooser)
{
    return workload_absent_number(chooser->ledger->workload,
                                  dice_below(&chooser->dice, UINT64_C(1) << 60));
}

uint64_t chooser_length(struct chooser *chooser)
{
    uint64_t most = chooser->phase->count;
    double length = 0;
    switch (chooser->phase->length) {
    case MIX_LENGTH_UNIFORM:
        return 1 + dice_below(&chooser->dice, most);
    case MIX_LENGTH_PARETO:
        length = LENGTH_SCALE * (pow(dice_unit(&chooser->dice), -LENGTH_SHAPE) - 1) / LENGTH_SHAPE;
        return length >= (double)most ? most : 1 + (uint64_t)length;
    default:
        return most;
    }
}

uint64_t chooser_position(struct chooser *chooser, uint64_t space)
{
    uint64_t count = chooser->ledger->capacity;
    return count > space ? dice_below(&chooser->dice, count - space) : 0;
}
