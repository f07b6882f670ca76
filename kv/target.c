/* See target.h. */
#include "kv/target.h"

#include <math.h>

#include "kv/options.h"

/* Bits that a ribbon takes for one bit of information: 2 % above the limit (docs/filters.md). */
#define BITS_PER_BIT 1.03

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
    uint64_t keys = bb_levels_key_count(levels);
    if (keys == 0)
        return BB_TARGET_WASTED_READS_DEFAULT;
    /* Memory is b n (log2(1 / R) + H): Monkey, in docs/filters.md. */
    double bits_per_key = (double)db->options.filter_budget_bytes * 8 / (double)keys;
    double target = exp2(entropy_of_runs(levels, keys) - bits_per_key / BITS_PER_BIT);
    return fmin(fmax(target, BB_TARGET_WASTED_READS_MIN), BB_TARGET_WASTED_READS_MAX);
}

struct bb_shape bb_target_shape(const struct bb_db *db)
{
    return (struct bb_shape){
        .level0_run_count = db->options.level0_run_count_compact,
        .level1_size_bytes = db->options.level1_size_bytes,
        .level_size_ratio = db->options.level_size_ratio,
    };
}
