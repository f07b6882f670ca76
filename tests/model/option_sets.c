/* See option_sets.h. */
#include "tests/model/option_sets.h"

static void with_threads(struct bb_db_options *o)
{
    o->deterministic = false;
}

static void tiered(struct bb_db_options *o)
{
    o->compaction_style = BB_COMPACTION_TIERED;
    o->level_size_ratio = 3;
}

static void lazy(struct bb_db_options *o)
{
    o->compaction_style = BB_COMPACTION_LAZY_LEVELING;
    o->level_size_ratio = 3;
}

static void without_filters(struct bb_db_options *o)
{
    o->filter_kind = BB_FILTER_NONE;
}

static void bloom(struct bb_db_options *o)
{
    o->filter_kind = BB_FILTER_BLOOM;
    o->table_filter_bits = 8;
}

static void blocked_bloom(struct bb_db_options *o)
{
    o->filter_kind = BB_FILTER_BLOCKED_BLOOM;
    o->filter_granularity = BB_GRANULARITY_PAGE;
}

static void coarse_ribbon(struct bb_db_options *o)
{
    o->filter_amount = (struct bb_filter_amount){BB_FILTER_WASTED_READS, 0.3};
    o->filter_granularity = 4;
}

static void fine_ribbon(struct bb_db_options *o)
{
    o->filter_amount = (struct bb_filter_amount){BB_FILTER_WASTED_READS, 1e-5};
    o->table_filter_bits = BB_TABLE_FILTER_ALL;
}

static void filter_budget(struct bb_db_options *o)
{
    o->filter_amount = (struct bb_filter_amount){BB_FILTER_BITS_PER_KEY, 4};
}

static void without_cache(struct bb_db_options *o)
{
    o->cache_off = true;
}

static void small_cache(struct bb_db_options *o)
{
    o->cache_bytes = 64 * 1024;
    o->index_residency = BB_INDEX_CACHED;
}

static void tiny_blocks(struct bb_db_options *o)
{
    o->read_mode = BB_READ_MAPPED;
    o->block_size_bytes = 64;
    o->restart_interval = 1;
    o->compression = BB_COMPRESSION_NONE;
}

static void large_blocks(struct bb_db_options *o)
{
    o->read_mode = BB_READ_MAPPED;
    o->block_size_bytes = 16 * 1024;
    o->restart_interval = 100;
    o->table_size_bytes = 256 * 1024;
}

static void without_log(struct bb_db_options *o)
{
    o->wal_off = true;
}

static void buffered_log(struct bb_db_options *o)
{
    o->wal_buffer_bytes = 8 * 1024;
    o->recovery = BB_RECOVERY_STRICT;
}

static void salvaging(struct bb_db_options *o)
{
    o->recovery = BB_RECOVERY_SALVAGE;
    o->shadow_verify_one_in = 3;
}

static void young_tombstones(struct bb_db_options *o)
{
    o->tombstone_age_max = 200;
    o->recovery = BB_RECOVERY_POINT_IN_TIME;
}

const struct option_set option_sets[] = {
    {"plain", NULL, false},
    {"threads", with_threads, false},
    {"tiered", tiered, false},
    {"lazy leveling", lazy, false},
    {"no filters", without_filters, false},
    {"Bloom", bloom, false},
    {"blocked Bloom", blocked_bloom, false},
    {"coarse ribbon", coarse_ribbon, false},
    {"fine ribbon, table filters only", fine_ribbon, false},
    {"filter budget, table filters cached", filter_budget, false},
    {"no cache", without_cache, false},
    {"small cache", small_cache, false},
    {"tiny blocks", tiny_blocks, false},
    {"large blocks", large_blocks, false},
    {"no log", without_log, false},
    {"buffered log, strict", buffered_log, false},
    {"salvage, shadow verification", salvaging, false},
    {"young tombstones, point in time", young_tombstones, false},
    {"indexes", NULL, true},
    {"indexes, threads", with_threads, true},
};
const size_t option_set_count = sizeof(option_sets) / sizeof(option_sets[0]);

struct bb_db_options option_set_options(const struct option_set *set,
                                        struct bb_file_system *file_system)
{
    struct bb_db_options options = {
        .create_if_missing = true,
        .file_system = file_system,
        .write_buffer_bytes = 64 * 1024,
        .cache_bytes = 512 * 1024,
        .block_size_bytes = 512,
        .table_size_bytes = 16 * 1024,
        .level0_run_count_compact = 2,
        .level0_run_count_busy = 2,
        .level0_run_count_stop = 6,
        .level1_size_bytes = 32 * 1024,
        .level_size_ratio = 4,
        .open_tables_max = 32,
        .deterministic = true,
    };
    if (set->change != NULL)
        set->change(&options);
    return options;
}
