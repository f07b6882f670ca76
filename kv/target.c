/* See target.h. */
#include "kv/target.h"

#include <math.h>

#include "kv/options.h"

/* Bits that a ribbon takes for one bit of information: 2 % above the limit (docs/filters.md). */
#define BITS_PER_BIT 1.03

struct totals {
    uint64_t keys;
    uint64_t raw_bytes;
    int deepest; /* level with tables; 0 when there is none below */
};

static struct totals sum_levels(const struct bb_levels *levels)
{
    struct totals totals = {0};
    for (int level = 0; level < BB_LEVEL_COUNT; level++) {
        size_t count = bb_levels_table_count(levels, level);
        for (size_t i = 0; i < count; i++) {
            const struct bb_table_meta *meta = &bb_levels_table(levels, level, i)->meta;
            totals.keys += meta->key_count;
            totals.raw_bytes += meta->raw_bytes;
        }
        totals.deepest = count > 0 ? level : totals.deepest;
    }
    return totals;
}

/* Entropy of the sizes of runs, in bits: what unequal rates cost less than equal ones. */
static double entropy_of_runs(const struct bb_levels *levels, uint64_t keys)
{
    double entropy = 0;
    for (int level = 0; level < BB_LEVEL_COUNT; level++) {
        double run = 0;
        for (size_t i = 0; i < bb_levels_table_count(levels, level); i++) {
            double part = (double)bb_levels_table(levels, level, i)->meta.key_count / (double)keys;
            run += part;
            if (level == 0 && part > 0)
                entropy -= part * log2(part);
        }
        if (level > 0 && run > 0)
            entropy -= run * log2(run);
    }
    return entropy;
}

double bb_target_wasted_reads(const struct bb_db *db, const struct bb_levels *levels)
{
    if (db->options.filter_budget_bytes == 0)
        return db->options.target_wasted_reads;
    struct totals totals = sum_levels(levels);
    if (totals.keys == 0)
        return BB_TARGET_WASTED_READS_DEFAULT;
    /* Memory is b n (log2(1 / R) + H): Monkey, in docs/filters.md. */
    double bits_per_key = (double)db->options.filter_budget_bytes * 8 / (double)totals.keys;
    double target = exp2(entropy_of_runs(levels, totals.keys) - bits_per_key / BITS_PER_BIT);
    return fmin(fmax(target, BB_TARGET_WASTED_READS_MIN), BB_TARGET_WASTED_READS_MAX);
}

/* Raw bytes that the levels down to `deepest` hold when they are full. */
static double full_bytes(const struct bb_db_options *options, int deepest)
{
    double bytes = (double)options->level0_run_count_compact * (double)options->write_buffer_bytes;
    double level_bytes = (double)options->level1_size_bytes;
    for (int level = 1; level <= deepest; level++, level_bytes *= options->level_size_ratio)
        bytes += level_bytes;
    return bytes;
}

uint64_t bb_target_planned_keys(const struct bb_db *db, const struct bb_levels *levels, uint64_t new_keys,
                                uint64_t new_raw_bytes)
{
    struct totals totals = sum_levels(levels);
    uint64_t keys = totals.keys + new_keys;
    uint64_t raw_bytes = totals.raw_bytes + new_raw_bytes;
    if (keys == 0 || raw_bytes == 0)
        return keys;
    double planned = full_bytes(&db->options, totals.deepest > 1 ? totals.deepest : 1) * (double)keys / (double)raw_bytes;
    return planned > (double)keys ? (uint64_t)planned : keys;
}
