/* Sizing of ribbons.
 *
 * One shard has the size for its number of keys. With several shards, each has a binomial number of
 * keys, and some of them have one fingerprint bit more. The size is then bounded by its mean plus
 * six deviations of the varying parts: the rounding of shards to whole groups, and the assignment
 * of keys to the shards with more bits.
 *
 * At a rate between two powers of two the size as a function of the number of keys has drops: a
 * larger set can be divided better, and then takes fewer bytes. The plan uses the size of the
 * smaller set there, so that more keys never take fewer bytes. */
#include "standalone/plan/plan.h"

#include <math.h>

#include "bloomblock/ribbon/ribbon_shape.h"
#include "bloomblock/sizing/rate.h"
#include "bloomblock/table/shard.h"
#include "bloomblock/table/shard_directory.h"

/* Deviations that a size stays within. */
#define BAND 6
/* Number of deviations for which the keys of a shard are considered: beyond, their weight is
 * negligible. */
#define SPREAD 6
/* Numbers of shards before this one whose largest sets may take more. */
#define LARGER_BEFORE 6
/* Up to this many shards are distributed one by one, like the builder does: with the same sums, so
 * that ties are decided equally (1 % is 7 shards of 25, exactly). With more shards, one of them is
 * negligible. */
#define SHARED_OUT_MAX 4096

struct sharing {
    double keys;
    double shards;
    double longer; /* shards of one bit more */
    double slack;
    uint32_t fingerprint_bits;
};

/* How many of the shards have one bit more: as few as keep the mean at or below the target. */
static double longer_shards(double keys, double shards, uint32_t fingerprint_bits,
                            double target_rate)
{
    double shorter_rate = bb_rate_ribbon(fingerprint_bits),
           longer_rate = bb_rate_ribbon(fingerprint_bits + 1);
    double weight = keys / shards, excess = 0, longer = 0;
    if (shards > SHARED_OUT_MAX)
        return shards - floor((target_rate - longer_rate) / (shorter_rate - longer_rate) * shards);
    for (double i = 0; i < shards; i++) {
        bool step = excess + weight * (shorter_rate - target_rate) > 0;
        excess += weight * ((step ? longer_rate : shorter_rate) - target_rate);
        longer += step;
    }
    return longer;
}

/* The distribution of a plan with this many keys. */
static struct sharing sharing_of(const struct bb_filter_plan *plan, uint64_t key_count)
{
    double keys = (double)key_count, shards = (double)bb_shard_count(key_count);
    uint32_t fingerprint_bits = (uint32_t)plan->parameters[1];
    return (struct sharing){.keys = keys,
                            .shards = shards,
                            .longer =
                                longer_shards(keys, shards, fingerprint_bits, plan->target_rate),
                            .slack = plan->slack,
                            .fingerprint_bits = fingerprint_bits};
}

/* --- Bytes --- */

static size_t shard_size(uint32_t key_count, uint32_t fingerprint_bits, double slack)
{
    return bb_ribbon_shape_size(bb_ribbon_shape_for(key_count, fingerprint_bits, slack),
                                fingerprint_bits);
}

/* The mean over the keys that a shard may have. */
static double mean_shard_size(const struct sharing *sharing, uint32_t fingerprint_bits)
{
    double mean = sharing->keys / sharing->shards;
    double deviation = sqrt(mean * (1 - 1 / sharing->shards));
    double first = fmax(1, ceil(mean - SPREAD * deviation));
    double last = fmin(BB_FILTER_GROUP_KEYS_MAX, floor(mean + SPREAD * deviation));
    double bytes = 0, weights = 0;
    for (double keys = first; keys <= last; keys++) {
        double away = (keys - mean) / deviation;
        double weight = exp(-away * away / 2);
        bytes += weight * (double)shard_size((uint32_t)keys, fingerprint_bits, sharing->slack);
        weights += weight;
    }
    return bytes / weights;
}

static double bytes_of(const struct sharing *sharing)
{
    uint32_t longest = sharing->fingerprint_bits + (sharing->longer > 0);
    double directory = (double)bb_shard_directory_size((uint32_t)sharing->shards);
    double part = sharing->longer / sharing->shards;
    if (sharing->shards == 1)
        return directory + (double)shard_size((uint32_t)sharing->keys, longest, sharing->slack);
    double mean =
        sharing->longer * mean_shard_size(sharing, sharing->fingerprint_bits + 1) +
        (sharing->shards - sharing->longer) * mean_shard_size(sharing, sharing->fingerprint_bits);
    double roundings = sharing->shards / 12 * longest * longest;
    double keys_of_longer = sharing->keys * part * (1 - part) / 64;
    return ceil(directory + mean + BAND * sqrt(roundings + keys_of_longer));
}

/* The maximum number of keys that are divided into this many shards. */
static uint64_t last_key_count(uint64_t shards)
{
    return shards == 1 ? BB_FILTER_GROUP_KEYS_MAX : shards * BB_SHARD_KEYS + BB_SHARD_KEYS / 2 - 1;
}

/* The bytes of the set, or of a smaller set that takes more. */
static uint64_t monotone_bytes(const struct bb_filter_plan *plan)
{
    struct sharing sharing = sharing_of(plan, plan->key_count);
    uint64_t shards = plan->parameters[0];
    double bytes = bytes_of(&sharing);
    for (uint64_t i = 1; i < shards && i <= LARGER_BEFORE; i++) {
        sharing = sharing_of(plan, last_key_count(shards - i));
        bytes = fmax(bytes, bytes_of(&sharing));
    }
    return (uint64_t)bytes;
}

/* --- Cost --- */

/* A line of the directory, and a window of the shard: 8 bytes per column in one run, or column by
 * column. */
static double cache_lines(const struct bb_filter_plan *plan, uint32_t fingerprint_bits)
{
    double whole = bb_plan_lines_of_run((double)plan->size_bytes);
    double window = bb_plan_lines_of_run(8.0 * fingerprint_bits);
    if (plan->parameters[0] > 1)
        return 1 + window;
    if (bb_ribbon_shape_for((uint32_t)plan->key_count, fingerprint_bits, plan->slack).bit_exact)
        window = fingerprint_bits * bb_plan_lines_of_run(8);
    return fmin(whole, 1 + window);
}

enum bb_status bb_plan_ribbon(struct bb_filter_plan *plan)
{
    uint32_t fingerprint_bits = (uint32_t)plan->parameters[1];
    if (plan->parameters[1] < 1 || plan->parameters[1] >= BB_RIBBON_FINGERPRINT_BITS_MAX)
        return bb_plan_bad_parameter(plan, 1, "number of fingerprint bits", 1,
                                     BB_RIBBON_FINGERPRINT_BITS_MAX - 1);
    uint64_t shards = bb_shard_count(plan->key_count);
    if (plan->parameters[0] != shards)
        return bb_plan_bad_parameter(plan, 0, "number of shards", shards, shards);
    if (plan->target_rate == 0)
        plan->target_rate = bb_rate_ribbon(fingerprint_bits);
    struct sharing sharing = sharing_of(plan, plan->key_count);
    double longer = sharing.longer / sharing.shards;
    plan->bits_per_probe = fingerprint_bits + (longer > 0);
    plan->predicted_rate = longer * bb_rate_ribbon(fingerprint_bits + 1) +
                           (1 - longer) * bb_rate_ribbon(fingerprint_bits);
    plan->size_bytes = monotone_bytes(plan);
    plan->member_cache_lines = cache_lines(plan, plan->bits_per_probe);
    plan->absent_cache_lines = plan->member_cache_lines;
    return BB_OK;
}
