/* See options.h. */
#include "kv/options.h"

#include <inttypes.h>

#include "base/assert.h"
#include "base/comparator.h"
#include "base/file.h"
#include "base/status.h"
#include "sstable/filter/filter_split.h"

#define KIB UINT64_C(1024)
#define MIB (KIB * 1024)
#define GIB (MIB * 1024)

#define TABLE_SIZE_MIN         (4 * KIB)
#define TABLE_SIZE_DEFAULT_MAX (8 * MIB)
#define SIZE_RATIO_LEVELED     10
#define SIZE_RATIO_TIERED      4
#define BUSY_FACTOR            3

struct range {
    const char *name;
    uint64_t fallback;
    uint64_t min;
    uint64_t max;
};

static enum bb_status resolve64(const struct range *range, uint64_t *value)
{
    if (*value == 0)
        *value = range->fallback;
    else if (*value < range->min || *value > range->max)
        return bb_fail(BB_INVALID, "option %s is %" PRIu64 ", allowed are %" PRIu64 " to %" PRIu64,
                       range->name, *value, range->min, range->max);
    return BB_OK;
}

static enum bb_status resolve32(const struct range *range, uint32_t *value)
{
    uint64_t wide = *value;
    enum bb_status status = resolve64(range, &wide);
    *value = (uint32_t)wide;
    return status;
}

static enum bb_status resolve_sizes(struct bb_db_options *o)
{
    struct {
        uint64_t *value;
        struct range range;
    } wide[] = {
        {&o->write_buffer_bytes, {"write_buffer_bytes", 64 * MIB, 64 * KIB, 16 * GIB}},
        {&o->cache_bytes, {"cache_bytes", 64 * MIB, 64 * KIB, 1024 * GIB}},
        {&o->table_size_bytes, {"table_size_bytes", 0, TABLE_SIZE_MIN, 64 * GIB}},
        {&o->level1_size_bytes, {"level1_size_bytes", 0, 4 * KIB, 1024 * GIB}},
        {&o->background_bytes_per_second, {"background_bytes_per_second", 0, 64 * KIB, 1024 * GIB}},
        {&o->scrub_interval_seconds, {"scrub_interval_seconds", 0, 1, 1000000000}},
    };
    struct {
        uint32_t *value;
        struct range range;
    } narrow[] = {
        {&o->open_tables_max, {"open_tables_max", 1000, 16, 1000000}},
        {&o->filter_granularity, {"filter_granularity", 1, 1, UINT32_MAX}},
        {&o->block_size_bytes, {"block_size_bytes", 4096, 64, 16 * MIB}},
        {&o->restart_interval, {"restart_interval", 20, 1, 1024}},
        {&o->level0_run_count_compact, {"level0_run_count_compact", 4, 1, 1000}},
        {&o->level0_run_count_busy, {"level0_run_count_busy", 0, 1, 9999}},
        {&o->level0_run_count_stop, {"level0_run_count_stop", 36, 2, 10000}},
        {&o->level_size_ratio, {"level_size_ratio", 0, 2, 100}},
        {&o->wal_buffer_bytes, {"wal_buffer_bytes", 0, 0, 1 * GIB}},
    };
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < BB_ARRAY_LENGTH(wide) && status == BB_OK; i++)
        status = resolve64(&wide[i].range, wide[i].value);
    for (size_t i = 0; i < BB_ARRAY_LENGTH(narrow) && status == BB_OK; i++)
        status = resolve32(&narrow[i].range, narrow[i].value);
    return status;
}

static enum bb_status resolve_absent_share(struct bb_db_options *o)
{
    if (o->absent_share == 0)
        o->absent_share = 1;
    if (o->absent_share > 0 && o->absent_share <= 1)
        return BB_OK;
    return bb_fail(BB_INVALID, "option absent_share is %g, must be above 0 and at most 1",
                   o->absent_share);
}

/* Resolves the storage of filters. */
static enum bb_status resolve_table_filter(struct bb_db_options *o)
{
    if (o->comparator != NULL && o->comparator->equates_different_bytes)
        o->filter_kind = BB_FILTER_NONE;
    enum bb_status status = bb_filter_split_resolve(&o->filter_kind, &o->table_filter_bits);
    /* These bits would never be used. */
    if (o->table_filter_off)
        o->table_filter_bits = BB_TABLE_FILTER_NONE;
    return status;
}

static const struct {
    const char *name;
    double fallback; /* 0: a value must be given */
    double min;
    double max;
} filter_units[] = {
    [BB_FILTER_WASTED_READS] = {"wasted reads", BB_TARGET_WASTED_READS_DEFAULT, 1e-6, 1},
    [BB_FILTER_BYTES] = {"bytes", 0, 1, 0x1p50},
    [BB_FILTER_BITS_PER_KEY] = {"bits per key", 0, 0.01, 100},
};

static enum bb_status resolve_amount(struct bb_filter_amount *amount)
{
    if ((size_t)amount->unit >= BB_ARRAY_LENGTH(filter_units))
        return bb_fail(BB_INVALID, "option filter_amount has the unit %d, allowed are %d to %d",
                       (int)amount->unit, (int)BB_FILTER_WASTED_READS, (int)BB_FILTER_BITS_PER_KEY);
    double min = filter_units[amount->unit].min;
    double max = filter_units[amount->unit].max;
    if (amount->value == 0)
        amount->value = filter_units[amount->unit].fallback;
    if (amount->value >= min && amount->value <= max)
        return BB_OK;
    return bb_fail(BB_INVALID, "option filter_amount is %.9g %s, allowed are %.9g to %.9g",
                   amount->value, filter_units[amount->unit].name, min, max);
}

/* Without filters an amount of them has no effect. */
static enum bb_status check_kind(const struct bb_db_options *o)
{
    const struct bb_filter_amount *amount = &o->filter_amount;
    if (o->filter_kind != BB_FILTER_NONE ||
        (amount->unit == BB_FILTER_WASTED_READS && amount->value == 0))
        return BB_OK;
    return bb_fail(BB_INVALID, "options filter_kind none and filter_amount are both given: without "
                               "filters it has no effect");
}

static enum bb_status resolve_filters(struct bb_db_options *o)
{
    enum bb_status status = check_kind(o);
    if (status == BB_OK)
        status = resolve_amount(&o->filter_amount);
    if (status == BB_OK)
        status = resolve_absent_share(o);
    if (status != BB_OK)
        return status;
    return resolve_table_filter(o);
}

static enum bb_status resolve_compression(enum bb_compression *value)
{
    if (*value == BB_COMPRESSION_DEFAULT)
        *value = BB_COMPRESSION_LZ4;
    if (*value == BB_COMPRESSION_NONE || *value == BB_COMPRESSION_LZ4)
        return BB_OK;
    return bb_fail(BB_INVALID, "option compression is %d, allowed are %d (none) and %d (LZ4)",
                   (int)*value, (int)BB_COMPRESSION_NONE, (int)BB_COMPRESSION_LZ4);
}

static enum bb_status check_read_only(const struct bb_db_options *o)
{
    if (o->read_only && (o->create_if_missing || o->error_if_exists))
        return bb_fail(BB_INVALID,
                       "options read_only and %s are both given: a store is not created by reading",
                       o->create_if_missing ? "create_if_missing" : "error_if_exists");
    return BB_OK;
}

static enum bb_status check_scrub(const struct bb_db_options *o)
{
    if (o->scrub_interval_seconds == 0 || !(o->read_only || o->deterministic))
        return BB_OK;
    return bb_fail(
        BB_INVALID,
        "options %s and scrub_interval_seconds are both given: there are no threads then, "
        "call bb_db_scrub",
        o->read_only ? "read_only" : "deterministic");
}

static enum bb_status check_recovery(const struct bb_db_options *o)
{
    if (o->recovery <= BB_RECOVERY_SALVAGE)
        return BB_OK;
    return bb_fail(BB_INVALID, "option recovery is %d, allowed are %d to %d", (int)o->recovery,
                   (int)BB_RECOVERY_SYNCED, (int)BB_RECOVERY_SALVAGE);
}

static enum bb_status resolve_style(struct bb_db_options *o)
{
    if (o->compaction_style == BB_COMPACTION_DEFAULT)
        o->compaction_style = BB_COMPACTION_LEVELED;
    if (o->compaction_style > BB_COMPACTION_LAZY_LEVELING)
        return bb_fail(BB_INVALID, "option compaction_style is %d, allowed are %d to %d",
                       (int)o->compaction_style, (int)BB_COMPACTION_LEVELED,
                       (int)BB_COMPACTION_LAZY_LEVELING);
    if (o->level_size_ratio == 0)
        o->level_size_ratio =
            o->compaction_style == BB_COMPACTION_LEVELED ? SIZE_RATIO_LEVELED : SIZE_RATIO_TIERED;
    return BB_OK;
}

static enum bb_status check_reading(const struct bb_db_options *o)
{
    if (o->index_residency != BB_INDEX_PINNED && o->index_residency != BB_INDEX_CACHED)
        return bb_fail(BB_INVALID,
                       "option index_residency is %d, allowed are %d (pinned) and %d (cached)",
                       (int)o->index_residency, (int)BB_INDEX_PINNED, (int)BB_INDEX_CACHED);
    if (o->read_mode > BB_READ_CALLS)
        return bb_fail(
            BB_INVALID,
            "option read_mode is %d, allowed are %d (copies), %d (mapped) and %d (calls)",
            (int)o->read_mode, (int)BB_READ_COPIES, (int)BB_READ_MAPPED, (int)BB_READ_CALLS);
    return BB_OK;
}

/* Level 1 has at least about eight tables, so that compactions move parts of it. */
static uint64_t default_table_size(const struct bb_db_options *o)
{
    uint64_t size = o->level1_size_bytes / 8;
    if (size > TABLE_SIZE_DEFAULT_MAX)
        return TABLE_SIZE_DEFAULT_MAX;
    return size < TABLE_SIZE_MIN ? TABLE_SIZE_MIN : size;
}

/* During a series of flushes three times as many runs are collected, within the limits for
 * writes. */
static enum bb_status resolve_level0(struct bb_db_options *o)
{
    uint32_t most = BUSY_FACTOR * o->level0_run_count_compact;
    if (o->level0_run_count_stop <= o->level0_run_count_compact)
        return bb_fail(BB_INVALID,
                       "option level0_run_count_stop is %" PRIu32
                       ", must be above level0_run_count_compact "
                       "(%" PRIu32 "): writes would wait forever",
                       o->level0_run_count_stop, o->level0_run_count_compact);
    if (o->level0_run_count_busy == 0)
        o->level0_run_count_busy =
            most < o->level0_run_count_stop ? most : o->level0_run_count_stop - 1;
    if (o->level0_run_count_busy < o->level0_run_count_compact)
        o->level0_run_count_busy = o->level0_run_count_compact;
    if (o->level0_run_count_busy < o->level0_run_count_stop)
        return BB_OK;
    return bb_fail(BB_INVALID,
                   "option level0_run_count_busy is %" PRIu32
                   ", must be below level0_run_count_stop (%" PRIu32 ")",
                   o->level0_run_count_busy, o->level0_run_count_stop);
}

enum bb_status bb_options_resolve(const struct bb_db_options *options,
                                  struct bb_db_options *ret_resolved)
{
    struct bb_db_options o = options == NULL ? (struct bb_db_options){0} : *options;
    enum bb_status status = bb_comparator_check(o.comparator);
    if (status == BB_OK)
        status = resolve_sizes(&o);
    if (status == BB_OK)
        status = resolve_filters(&o);
    if (status == BB_OK)
        status = resolve_compression(&o.compression);
    if (status == BB_OK)
        status = check_reading(&o);
    if (status == BB_OK)
        status = resolve_style(&o);
    if (status == BB_OK)
        status = check_read_only(&o);
    if (status == BB_OK)
        status = check_scrub(&o);
    if (status == BB_OK)
        status = check_recovery(&o);
    if (status == BB_OK)
        status = resolve_level0(&o);
    if (status != BB_OK)
        return status;
    if (o.level1_size_bytes == 0)
        o.level1_size_bytes = 4 * o.write_buffer_bytes;
    if (o.table_size_bytes == 0)
        o.table_size_bytes = default_table_size(&o);
    *ret_resolved = o;
    return BB_OK;
}

enum bb_status bb_options_resolve_stored(const struct bb_db_options *given,
                                         const struct bb_stored_options *stored,
                                         struct bb_db_options *ret_resolved,
                                         struct bb_stored_options *ret_merged)
{
    struct bb_db_options options = *given;
    struct bb_stored_options explicit_ones = bb_stored_options_of(given);
    struct bb_stored_options merged = bb_stored_options_merge(stored, &explicit_ones);
    bb_stored_options_fill(&merged, &options);
    enum bb_status status = bb_options_resolve(&options, ret_resolved);
    if (status == BB_OK)
        *ret_merged = merged;
    else if (!bb_stored_options_are_equal(&merged, &explicit_ones))
        status = bb_fail_context(status, "with the options that the store keeps");
    return status;
}

void bb_options_for_table(const struct bb_db_options *options, struct bb_file_system *file_system,
                          const struct bb_hash_secret *secret, struct bb_block_cache *block_cache,
                          struct bb_table_options *ret_table)
{
    *ret_table = (struct bb_table_options){
        .file_system = file_system,
        .comparator = options->comparator,
        .block_size_bytes = options->block_size_bytes,
        .restart_interval = options->restart_interval,
        .compression = options->compression,
        .filter_kind = options->filter_kind,
        .filter_granularity = options->filter_granularity,
        .table_filter_bits = options->table_filter_bits,
        .table_filter_off = options->table_filter_off,
        .secret = secret,
        .cache = block_cache,
        .index_residency = block_cache == NULL ? BB_INDEX_PINNED : options->index_residency,
        .read_mode = options->read_mode,
    };
}

/* Half of the process's limit. New files of the store and the program's files need the other half,
 * and tables do not give up descriptors for them. */
uint32_t bb_options_open_tables(const struct bb_db_options *options, struct bb_file_system *fs)
{
    if (fs->ops->open_files_max == NULL)
        return options->open_tables_max;
    uint64_t half = fs->ops->open_files_max(fs) / 2;
    if (half >= options->open_tables_max)
        return options->open_tables_max;
    return half == 0 ? 1 : (uint32_t)half;
}
