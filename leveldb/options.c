/* See options.h. docs/leveldb.md lists the effect of each option. */
#include "leveldb/options.h"

#include "leveldb/cache.h"
#include "leveldb/comparator.h"
#include "leveldb/filter_policy.h"
#include "leveldb/memory.h"

#define KIB UINT64_C(1024)
#define MIB (KIB * 1024)
#define GIB (MIB * 1024)

/* The files of max_open_files that LevelDB does not use for tables. */
#define OTHER_FILES 10
/* The smallest size of level 1, which is the size in LevelDB. */
#define LEVEL1_MIN (10 * MIB)

struct leveldb_options_t {
    leveldb_comparator_t *comparator;
    leveldb_filterpolicy_t *filter_policy;
    leveldb_cache_t *cache;
    bool create_if_missing;
    bool error_if_exists;
    bool has_compression;
    size_t write_buffer_size;
    size_t block_size;
    size_t max_file_size;
    int max_open_files;
    int block_restart_interval;
};

leveldb_options_t *leveldb_options_create(void)
{
    leveldb_options_t *options = bb_leveldb_alloc(sizeof(*options));
    if (options == NULL)
        return NULL;
    options->has_compression = true;
    options->write_buffer_size = 4 * MIB;
    options->block_size = 4 * KIB;
    options->max_file_size = 2 * MIB;
    options->max_open_files = 1000;
    options->block_restart_interval = 16;
    return options;
}

void leveldb_options_destroy(leveldb_options_t *options)
{
    bb_leveldb_release(options);
}

void leveldb_options_set_comparator(leveldb_options_t *options, leveldb_comparator_t *comparator)
{
    options->comparator = comparator;
}

void leveldb_options_set_filter_policy(leveldb_options_t *options, leveldb_filterpolicy_t *policy)
{
    options->filter_policy = policy;
}

void leveldb_options_set_create_if_missing(leveldb_options_t *options, uint8_t value)
{
    options->create_if_missing = value != 0;
}

void leveldb_options_set_error_if_exists(leveldb_options_t *options, uint8_t value)
{
    options->error_if_exists = value != 0;
}

void leveldb_options_set_paranoid_checks(leveldb_options_t *options, uint8_t value)
{
    /* The store always makes these checks. */
    (void)options;
    (void)value;
}

void leveldb_options_set_env(leveldb_options_t *options, leveldb_env_t *env)
{
    /* The C interface has only the default environment. */
    (void)options;
    (void)env;
}

void leveldb_options_set_info_log(leveldb_options_t *options, leveldb_logger_t *logger)
{
    /* The C interface has no way to make a logger. */
    (void)options;
    (void)logger;
}

void leveldb_options_set_write_buffer_size(leveldb_options_t *options, size_t value)
{
    options->write_buffer_size = value;
}

void leveldb_options_set_max_open_files(leveldb_options_t *options, int value)
{
    options->max_open_files = value;
}

void leveldb_options_set_cache(leveldb_options_t *options, leveldb_cache_t *cache)
{
    options->cache = cache;
}

void leveldb_options_set_block_size(leveldb_options_t *options, size_t value)
{
    options->block_size = value;
}

void leveldb_options_set_block_restart_interval(leveldb_options_t *options, int value)
{
    options->block_restart_interval = value;
}

void leveldb_options_set_max_file_size(leveldb_options_t *options, size_t value)
{
    options->max_file_size = value;
}

void leveldb_options_set_compression(leveldb_options_t *options, int value)
{
    options->has_compression = value != leveldb_no_compression;
}

static uint64_t clip(uint64_t value, uint64_t min, uint64_t max)
{
    if (value < min)
        return min;
    return value > max ? max : value;
}

static uint64_t clip_int(int value, uint64_t min, uint64_t max)
{
    return clip(value < 0 ? 0 : (uint64_t)value, min, max);
}

/* Limits the values to LevelDB's ranges. LevelDB does not limit the restart interval; 1024 is the
 * store's limit. */
static void resolve_sizes(const leveldb_options_t *options, struct bb_db_options *o)
{
    o->write_buffer_bytes = clip(options->write_buffer_size, 64 * KIB, GIB);
    o->block_size_bytes = (uint32_t)clip(options->block_size, KIB, 4 * MIB);
    o->table_size_bytes = clip(options->max_file_size, MIB, GIB);
    o->open_tables_max =
        (uint32_t)clip_int(options->max_open_files, 64 + OTHER_FILES, 50000) - OTHER_FILES;
    o->restart_interval = (uint32_t)clip_int(options->block_restart_interval, 1, 1024);
    o->level1_size_bytes = clip(4 * o->write_buffer_bytes, LEVEL1_MIN, UINT64_MAX);
}

void bb_leveldb_options_resolve(const leveldb_options_t *options, struct bb_comparator *ret_order,
                                struct bb_db_options *ret_options)
{
    bool has_bloom = bb_leveldb_filter_policy_is_bloom(options->filter_policy);
    *ret_options = (struct bb_db_options){
        .create_if_missing = options->create_if_missing,
        .error_if_exists = options->error_if_exists,
        .compression = options->has_compression ? BB_COMPRESSION_LZ4 : BB_COMPRESSION_NONE,
    };
    resolve_sizes(options, ret_options);
    bb_leveldb_cache_apply(options->cache, ret_options);
    bb_leveldb_filter_policy_apply(options->filter_policy, ret_options);
    if (options->comparator != NULL) {
        *ret_order = bb_leveldb_comparator_order(options->comparator, has_bloom);
        ret_options->comparator = ret_order;
    }
}
