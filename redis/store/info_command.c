/* See info_command.h. The numbers are in memory, so the server's thread replies. */
#include "redis/store/info_command.h"

#include "redis/command/reply.h"
#include "redis/store/store_key.h"

/* The pairs of a reply. */
struct rows {
    struct RedisModuleCtx *ctx;
    long count;
};

static void name_row(struct rows *rows, const char *name)
{
    (void)RedisModule_ReplyWithSimpleString(rows->ctx, name);
    rows->count++;
}

static void number(struct rows *rows, const char *name, uint64_t value)
{
    name_row(rows, name);
    (void)RedisModule_ReplyWithLongLong(rows->ctx, (long long)value);
}

static void real(struct rows *rows, const char *name, double value)
{
    name_row(rows, name);
    (void)RedisModule_ReplyWithDouble(rows->ctx, value);
}

static void text(struct rows *rows, const char *name, const char *value)
{
    name_row(rows, name);
    (void)RedisModule_ReplyWithSimpleString(rows->ctx, value);
}

/* ---- BB.INFO ---- */

/* A store that could not be created has zeros. */
static void read_stats(const struct bb_redis_store *store, struct bb_db_stats *ret_stats)
{
    *ret_stats = (struct bb_db_stats){0};
    if (store->db != NULL)
        bb_db_stats(store->db, ret_stats);
}

static struct bb_level_stats sum_levels(const struct bb_db_stats *stats)
{
    struct bb_level_stats sum = {.table_count = 0};
    for (int level = 0; level < BB_LEVEL_COUNT; level++) {
        sum.table_count += stats->levels[level].table_count;
        sum.file_bytes += stats->levels[level].file_bytes;
        sum.entry_count += stats->levels[level].entry_count;
    }
    return sum;
}

static void write_options(struct rows *rows, const struct bb_redis_store *store)
{
    struct bb_redis_store_words words;
    bb_redis_store_options_print(&store->options, &words);
    for (int i = 0; i < BB_REDIS_STORE_OPTIONS_WORDS; i += 2)
        text(rows, words.texts[i], words.texts[i + 1]);
}

static void write_info(struct rows *rows, struct bb_redis_store *store)
{
    struct bb_db_stats stats;
    struct bb_redis_path path = bb_redis_root_store(&store->id);
    read_stats(store, &stats);
    struct bb_level_stats sum = sum_levels(&stats);
    write_options(rows, store);
    text(rows, "directory", store->db == NULL ? "" : path.text);
    number(rows, "fields_estimated", store->db == NULL ? 0 : bb_redis_store_estimate(store));
    number(rows, "entries_in_tables", sum.entry_count);
    number(rows, "tables", sum.table_count);
    number(rows, "runs", stats.run_count);
    number(rows, "file_bytes", sum.file_bytes);
    number(rows, "filter_bytes", stats.filter_bytes);
    real(rows, "filter_bits_per_key", stats.filter_bits_per_key);
    number(rows, "memory_bytes", bb_redis_store_memory(store));
    number(rows, "memtable_bytes", stats.memtable_bytes);
    number(rows, "memtable_held_bytes", stats.memtable_held_bytes);
    number(rows, "cache_bytes", stats.cache.used_bytes);
    number(rows, "is_incomplete", store->is_incomplete);
}

/* ---- BB.STATS ---- */

static struct bb_read_stats sum_reads(const struct bb_db_stats *stats, uint64_t *ret_visits)
{
    struct bb_read_stats sum = {.block_requests = 0};
    *ret_visits = 0;
    for (int level = 0; level < BB_LEVEL_COUNT; level++) {
        const struct bb_read_stats *reads = &stats->level_reads[level];
        for (int visit = 0; visit < BB_VISIT_COUNT; visit++) {
            sum.visits[visit] += reads->visits[visit];
            *ret_visits += visit == BB_VISIT_OUT_OF_BOUNDS ? 0 : reads->visits[visit];
        }
        sum.block_requests += reads->block_requests;
        sum.block_reads += reads->block_reads;
        sum.avoided_requests += reads->avoided_requests;
        sum.damaged_filters += reads->damaged_filters;
    }
    return sum;
}

static void write_lookups(struct rows *rows, const struct bb_db_stats *stats)
{
    uint64_t visits = 0;
    struct bb_read_stats reads = sum_reads(stats, &visits);
    uint64_t absent = stats->gets - stats->gets_found;
    uint64_t wasted = reads.visits[BB_VISIT_FALSE_POSITIVE];
    number(rows, "lookups", stats->gets);
    number(rows, "lookups_found", stats->gets_found);
    number(rows, "memtable_hits", stats->memtable_hits);
    number(rows, "table_visits", visits);
    number(rows, "table_filter_negative", reads.visits[BB_VISIT_TABLE_FILTER_NEGATIVE]);
    number(rows, "block_filter_negative", reads.visits[BB_VISIT_FILTER_NEGATIVE]);
    number(rows, "block_requests", reads.block_requests);
    number(rows, "block_reads", reads.block_reads);
    number(rows, "block_requests_avoided", reads.avoided_requests);
    number(rows, "block_requests_wasted", wasted);
    real(rows, "wasted_per_absent_lookup", absent == 0 ? 0 : (double)wasted / (double)absent);
    real(rows, "wasted_target", stats->target_wasted_reads);
    real(rows, "wasted_expected", stats->expected_wasted_reads);
    number(rows, "damaged_filters", reads.damaged_filters);
}

static void write_stats(struct rows *rows, struct bb_redis_store *store)
{
    struct bb_db_stats stats;
    read_stats(store, &stats);
    write_lookups(rows, &stats);
    number(rows, "writes", stats.writes);
    number(rows, "writes_waited", store->waited_writes);
    number(rows, "flushes", stats.flushes);
    number(rows, "compactions", stats.compactions);
    real(rows, "write_amplification", stats.write_amplification);
    number(rows, "cache_hits", stats.cache.hits);
    number(rows, "cache_misses", stats.cache.misses);
    number(rows, "system_reads", stats.system_reads);
    number(rows, "damaged_files", stats.damaged_files);
}

/* ---- commands ---- */

static int reply_rows(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc,
                      void (*add)(struct rows *rows, struct bb_redis_store *store))
{
    struct rows rows = {.ctx = ctx};
    if (argc != 2)
        return RedisModule_WrongArity(ctx);
    struct bb_redis_store *store = bb_redis_store_key_any(ctx, argv[1]);
    if (store == NULL)
        return REDISMODULE_OK;
    bb_redis_reply_pairs_begin(ctx);
    add(&rows, store);
    bb_redis_reply_pairs_end(ctx, rows.count);
    return REDISMODULE_OK;
}

int bb_redis_info_command(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc)
{
    return reply_rows(ctx, argv, argc, write_info);
}

int bb_redis_stats_command(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc)
{
    return reply_rows(ctx, argv, argc, write_stats);
}
