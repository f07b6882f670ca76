/* See waste_target.h. */
#include "kv/background/waste_target.h"

#include "compaction/pick/plan_rates.h"
#include "compaction/rates/rates.h"
#include "compaction/rates/table_filter_bits.h"
#include "kv/memtable/memtable.h"
#include "kv/memtable/memtable_ranges.h"
#include "kv/options.h"
#include "kv/store/current_view.h"

/* During a series of flushes level 0 collects more runs than level0_run_count_compact. They are not
 * planned for, because bits reserved for them would usually be unused. */
static struct bb_filter_budget budget_given(const struct bb_db *db)
{
    double bits_per_key = bb_options_filter_amount(&db->options, BB_FILTER_BITS_PER_KEY);
    return (struct bb_filter_budget){
        .bytes = (uint64_t)bb_options_filter_amount(&db->options, BB_FILTER_BYTES),
        .bits_per_key = bits_per_key,
        .level0_runs = bits_per_key > 0 ? db->options.level0_run_count_compact : 0,
    };
}

/* 0: unknown, as long as a budget in bytes has no keys. */
static double budget_bits_per_key(const struct bb_filter_budget *budget,
                                  const struct bb_levels *levels)
{
    double keys = (double)bb_levels_key_count(levels);
    if (budget->bytes == 0)
        return budget->bits_per_key;
    return keys == 0 ? 0 : 8 * (double)budget->bytes / keys;
}

/* keys_per_block: of new tables; 0: unknown. */
static struct bb_filter_budget budget_of(const struct bb_db *db, const struct bb_levels *levels,
                                         double keys_per_block)
{
    struct bb_filter_budget budget = budget_given(db);
    const struct bb_filter_cost_tables tables = {
        .kind = db->options.filter_kind,
        .table_filter_bits = db->options.table_filter_bits,
        .blocks_per_filter = db->options.filter_granularity,
        .keys_per_block = keys_per_block,
        .uncounted_bytes = bb_filter_budget_uncounted_bytes(&budget),
        .budget_bits = budget_bits_per_key(&budget, levels),
    };
    if (bb_filter_budget_is_given(&budget))
        budget.cost = bb_filter_cost_calibrate(levels, &tables);
    return budget;
}

static struct bb_pick_options pick_options(const struct bb_db *db, const struct bb_levels *levels,
                                           double keys_per_block)
{
    return (struct bb_pick_options){
        .shape = {.level0_run_count = db->options.level0_run_count_busy,
                  .level1_size_bytes = db->options.level1_size_bytes,
                  .level_size_ratio = db->options.level_size_ratio,
                  .style = db->options.compaction_style},
        .has_filters = db->options.filter_kind != BB_FILTER_NONE,
        .target_wasted_reads = bb_options_target(&db->options),
        .weights = {.absent_share = db->options.absent_share},
        .budget = budget_of(db, levels, keys_per_block),
    };
}

struct bb_pick_options bb_waste_target_pick_options(const struct bb_db *db,
                                                    const struct bb_levels *levels)
{
    return pick_options(db, levels, 0);
}

/* 0: unknown. */
static double keys_per_block(const struct bb_db *db, const struct bb_waste_target_tables *tables)
{
    return tables->raw_bytes == 0 ? 0
                                  : (double)db->options.block_size_bytes *
                                        (double)tables->key_count / (double)tables->raw_bytes;
}

/* The running merge of level 0, for a budget in bits per key; otherwise NULL. Its edit is installed
 * before its end is recorded, so its input must still be in the levels. */
static const struct bb_rate_merge *merge_of(const struct bb_db *db, const struct bb_levels *levels)
{
    const struct bb_rate_merge *merge = &db->pending_merge;
    bool is_there = merge->runs > 0 && bb_levels_find_number(levels, merge->input) != NULL;
    return db->options.filter_amount.unit == BB_FILTER_BITS_PER_KEY && is_there ? merge : NULL;
}

void bb_waste_target_run_options(struct bb_db *db, const struct bb_levels *levels,
                                 const struct bb_waste_target_tables *tables,
                                 struct bb_waste_share *share, struct bb_table_options *options)
{
    struct bb_pick_options pick = pick_options(db, levels, keys_per_block(db, tables));
    struct bb_rate_request request = bb_plan_rates_request(levels, &pick);
    request.output_level = tables->level;
    request.output_run = tables->run;
    request.output_keys = tables->key_count;
    request.hull = tables->hull;
    request.shares = db->shares;
    request.own_share = share;
    if (tables->level == 0)
        request.merge = merge_of(db, levels);
    bb_table_filter_bits_set(&request, bb_rates_for_run(&request), options);
    if (share == NULL)
        return;
    struct bb_hull hull = bb_rate_request_output_hull(&request);
    bb_waste_share_set(&db->shares, share, &hull,
                       bb_rates_waste_added(&request, options->filter_rate));
}

/* The hull of a memtable's keys. Unknown if it has range tombstones, or without memory for an
 * iterator. */
static struct bb_hull hull_of(const struct bb_memtable *memtable,
                              const struct bb_comparator *comparator)
{
    struct bb_hull hull = {.comparator = comparator};
    struct bb_iter *iter = NULL;
    if (bb_memtable_ranges_count(memtable) > 0 || bb_memtable_iter_create(memtable, &iter) != BB_OK)
        return hull;
    bb_iter_seek_first(iter);
    if (iter->is_valid)
        bb_hull_widen(&hull, iter->entry.key, iter->entry.key);
    bb_iter_seek_last(iter);
    if (iter->is_valid)
        bb_hull_widen(&hull, iter->entry.key, iter->entry.key);
    bb_iter_destroy(iter);
    return hull;
}

void bb_waste_target_plan_memtable(struct bb_db *db, struct bb_file_system *file_system,
                                   const struct bb_memtable *memtable, struct bb_waste_share *share,
                                   struct bb_table_options *ret_options)
{
    const struct bb_waste_target_tables tables = {
        .key_count = bb_memtable_key_count(memtable),
        .raw_bytes = bb_memtable_raw_bytes(memtable),
        .hull = hull_of(memtable, db->options.comparator),
    };
    bb_options_for_table(&db->options, file_system, &db->secret, NULL, ret_options);
    bb_mutex_lock(&db->installing);
    struct bb_levels *levels = bb_current_view_ref_levels(db);
    bb_waste_target_run_options(db, levels, &tables, share, ret_options);
    bb_levels_unref(levels);
    bb_mutex_unlock(&db->installing);
}

bool bb_waste_target_allows(const struct bb_db *db, const struct bb_levels *before,
                            const struct bb_levels *after, const struct bb_hull *hull,
                            const struct bb_waste_share *share)
{
    struct bb_pick_options options = bb_waste_target_pick_options(db, after);
    if (!options.has_filters || bb_filter_budget_is_given(&options.budget))
        return true;
    int deepest = bb_levels_deepest(after);
    int last = deepest < 1 ? 1 : deepest;
    struct bb_rate_request request = bb_plan_rates_request(after, &options);
    request.hull = *hull;
    request.shares = db->shares;
    request.own_share = share;
    double waste = bb_rate_request_waste(&request, last);
    double limit = BB_RATES_SLACK * options.target_wasted_reads;
    request.levels = before;
    return waste <= limit * (1 + 1e-9) ||
           waste <= bb_rate_request_waste(&request, last) * (1 + 1e-9);
}

double bb_waste_target_effective(const struct bb_db *db, const struct bb_levels *levels)
{
    if (db->options.filter_kind == BB_FILTER_NONE)
        return 0;
    struct bb_pick_options options = bb_waste_target_pick_options(db, levels);
    struct bb_rate_request request = bb_plan_rates_request(levels, &options);
    request.output_level = bb_levels_deepest(levels) < 1 ? 1 : bb_levels_deepest(levels);
    return bb_rates_target(&request);
}

uint64_t bb_waste_target_budget_bytes(const struct bb_db *db, const struct bb_levels *levels)
{
    struct bb_filter_budget budget = budget_given(db);
    if (db->options.filter_kind == BB_FILTER_NONE)
        return 0;
    double bits = bb_filter_budget_bits(&budget, (double)bb_levels_key_count(levels));
    return budget.bytes > 0 ? budget.bytes : (uint64_t)(bits / 8);
}
