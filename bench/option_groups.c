/* See option_groups.h. */
#include "bench/option_groups.h"

#define KIB (UINT64_C(1) << 10)
#define MIB (UINT64_C(1) << 20)

/* Less than the data, so that lookups read blocks; more than all filters and index pages. */
#define COMPACTED    .cache_bytes = 16 * MIB
#define SMALL_CACHE  .cache_bytes = 256 * KIB
#define LARGE_CACHE  .cache_bytes = 256 * MIB
#define SMALL_BLOCKS COMPACTED, .block_size_bytes = 512
#define MANY_TABLES  COMPACTED, .table_size_bytes = 128 * KIB
/* Several levels of 1,000,000 keys. */
#define LEVELS COMPACTED, .write_buffer_bytes = 2 * MIB

static const struct option_store compacted[] = {
    {"defaults", {COMPACTED}, false},
    {"cache_off", {.cache_off = true}, false},
    {"index_residency cached", {COMPACTED, .index_residency = BB_INDEX_CACHED}, false},
    {"filter_kind bloom", {COMPACTED, .filter_kind = BB_FILTER_BLOOM}, false},
    {"filter_kind blocked bloom", {COMPACTED, .filter_kind = BB_FILTER_BLOCKED_BLOOM}, false},
    {"filter_kind none", {COMPACTED, .filter_kind = BB_FILTER_NONE}, false},
    {"filter_granularity 4", {COMPACTED, .filter_granularity = 4}, false},
    {"table_filter_bits none", {COMPACTED, .table_filter_bits = BB_TABLE_FILTER_NONE}, false},
    {"table_filter_bits all", {COMPACTED, .table_filter_bits = BB_TABLE_FILTER_ALL}, false},
    {"table_filter_off", {COMPACTED, .table_filter_off = true}, false},
    {"restart_interval 4", {COMPACTED, .restart_interval = 4}, false},
    {"restart_interval 64", {COMPACTED, .restart_interval = 64}, false},
    {"shadow_verify_one_in 1000", {COMPACTED, .shadow_verify_one_in = 1000}, false},
    {"shadow_verify_one_in 1", {COMPACTED, .shadow_verify_one_in = 1}, false},
};

static const struct option_store small_cache[] = {
    {"defaults", {SMALL_CACHE}, false},
    {"cache_off", {.cache_off = true}, false},
    {"index_residency cached", {SMALL_CACHE, .index_residency = BB_INDEX_CACHED}, false},
    {"table_filter_off", {SMALL_CACHE, .table_filter_off = true}, false},
};

static const struct option_store large_cache[] = {
    {"defaults", {LARGE_CACHE}, false},
    {"cache_off", {.cache_off = true}, false},
    {"index_residency cached", {LARGE_CACHE, .index_residency = BB_INDEX_CACHED}, false},
    {"restart_interval 4", {LARGE_CACHE, .restart_interval = 4}, false},
    {"restart_interval 64", {LARGE_CACHE, .restart_interval = 64}, false},
};

static const struct option_store small_blocks[] = {
    {"defaults", {SMALL_BLOCKS}, false},
    {"filter_granularity 4", {SMALL_BLOCKS, .filter_granularity = 4}, false},
    {"filter_granularity 16", {SMALL_BLOCKS, .filter_granularity = 16}, false},
    {"filter_granularity page", {SMALL_BLOCKS, .filter_granularity = BB_GRANULARITY_PAGE}, false},
    {"table_filter_bits all", {SMALL_BLOCKS, .table_filter_bits = BB_TABLE_FILTER_ALL}, false},
    {"restart_interval 4", {SMALL_BLOCKS, .restart_interval = 4}, false},
};

static const struct option_store many_tables[] = {
    {"defaults", {MANY_TABLES}, false},
    {"open_tables_max 16", {MANY_TABLES, .open_tables_max = 16}, false},
    {"open_tables_max 256", {MANY_TABLES, .open_tables_max = 256}, false},
};

static const struct option_store levels[] = {
    {"defaults", {LEVELS}, false},
    {"level0_run_count_compact 2", {LEVELS, .level0_run_count_compact = 2}, false},
    {"level0_run_count_compact 8", {LEVELS, .level0_run_count_compact = 8}, false},
    {"level0_run_count_busy 4", {LEVELS, .level0_run_count_busy = 4}, false},
    {"level0_run_count_busy 24", {LEVELS, .level0_run_count_busy = 24}, false},
    {"level0_run_count_stop 13", {LEVELS, .level0_run_count_stop = 13}, false},
    {"level0_run_count_stop 1000", {LEVELS, .level0_run_count_stop = 1000}, false},
    {"level1_size_bytes half", {LEVELS, .level1_size_bytes = 4 * MIB}, false},
    {"level1_size_bytes 4 times", {LEVELS, .level1_size_bytes = 32 * MIB}, false},
    {"level_size_ratio 4", {LEVELS, .level_size_ratio = 4}, false},
    {"level_size_ratio 20", {LEVELS, .level_size_ratio = 20}, false},
    {"table_size_bytes quarter", {LEVELS, .table_size_bytes = 256 * KIB}, false},
    {"table_size_bytes 8 times", {LEVELS, .table_size_bytes = 8 * MIB}, false},
};

static const struct option_store absent_shares[] = {
    {"defaults", {LEVELS}, false},
    {"absent_share 0.1", {LEVELS, .absent_share = 0.1}, false},
    {"absent_share 0.01", {LEVELS, .absent_share = 0.01}, false},
};

static const struct option_store deletions[] = {
    {"defaults", {LEVELS}, false},
    {"tombstone_age_max 1,000,000", {LEVELS, .tombstone_age_max = 1000000}, false},
    {"tombstone_age_max 100,000", {LEVELS, .tombstone_age_max = 100000}, false},
};

static const struct option_store logs[] = {
    {"defaults", {COMPACTED}, false},
    {"wal_buffer_bytes 64 KiB", {COMPACTED, .wal_buffer_bytes = 64 * KIB}, false},
    {"wal_off", {COMPACTED, .wal_off = true}, false},
};

static const struct option_store plain_logs[] = {
    {"defaults", {COMPACTED}, true},
    {"wal_buffer_bytes 4 KiB", {COMPACTED, .wal_buffer_bytes = 4 * KIB}, true},
    {"wal_buffer_bytes 64 KiB", {COMPACTED, .wal_buffer_bytes = 64 * KIB}, true},
    {"wal_buffer_bytes 1 MiB", {COMPACTED, .wal_buffer_bytes = MIB}, true},
    {"wal_off", {COMPACTED, .wal_off = true}, true},
};

#define STORES(array) (array), sizeof(array) / sizeof((array)[0])

static const struct option_group groups[] = {
    {"compacted", "one run, a cache of 16 MiB", OPTION_LOAD_COMPACT, STORES(compacted)},
    {"small-cache", "one run, a cache of 256 KiB", OPTION_LOAD_COMPACT, STORES(small_cache)},
    {"large-cache", "one run, a cache of 256 MiB", OPTION_LOAD_COMPACT, STORES(large_cache)},
    {"small-blocks", "one run, blocks of 512 bytes", OPTION_LOAD_COMPACT, STORES(small_blocks)},
    {"many-tables", "one run, tables of 128 KiB", OPTION_LOAD_COMPACT, STORES(many_tables)},
    {"levels", "as loaded, a write buffer of 2 MiB", OPTION_LOAD_PUTS, STORES(levels)},
    {"absent-shares", "as loaded, a write buffer of 2 MiB", OPTION_LOAD_PUTS,
     STORES(absent_shares)},
    {"deletions", "half of the keys deleted, a write buffer of 2 MiB", OPTION_LOAD_DELETES,
     STORES(deletions)},
    {"log", "as loaded", OPTION_LOAD_PUTS, STORES(logs)},
    {"plain-log", "as loaded, a file system without windows", OPTION_LOAD_PUTS, STORES(plain_logs)},
};

const struct option_group *option_groups(size_t *ret_count)
{
    *ret_count = sizeof(groups) / sizeof(groups[0]);
    return groups;
}
