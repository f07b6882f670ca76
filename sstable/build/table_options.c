/* Options of tables: defaults and ranges. Any thread. */
#include "sstable/build/table_options.h"

#include "base/bytes.h"
#include "base/comparator.h"
#include "base/status.h"
#include "sstable/filter/filter_split.h"
#include "sstable/format.h"

#define FILTER_RATE_DEFAULT 0.01

static enum bb_status check_range(const char *name, uint64_t value, uint64_t low, uint64_t high)
{
    if (value >= low && value <= high)
        return BB_OK;
    return bb_fail(BB_INVALID, "option %s is %llu: %llu ... %llu are allowed", name,
                   (unsigned long long)value, (unsigned long long)low, (unsigned long long)high);
}

static void fill_defaults(struct bb_table_options *options)
{
    if (options->block_size_bytes == 0)
        options->block_size_bytes = BB_BLOCK_SIZE_DEFAULT;
    if (options->restart_interval == 0)
        options->restart_interval = BB_RESTART_INTERVAL_DEFAULT;
    if (options->compression == BB_COMPRESSION_DEFAULT)
        options->compression = BB_COMPRESSION_LZ4;
    if (options->filter_kind == BB_FILTER_DEFAULT)
        options->filter_kind = BB_FILTER_RIBBON;
    if (options->filter_rate == 0)
        options->filter_rate = FILTER_RATE_DEFAULT;
    if (options->filter_granularity == 0)
        options->filter_granularity = 1;
    if (options->index_page_size_bytes == 0)
        options->index_page_size_bytes = BB_PAGE_SIZE_DEFAULT;
    if (options->table_filter_bits == BB_TABLE_FILTER_DEFAULT)
        options->table_filter_bits = options->filter_kind == BB_FILTER_RIBBON
                                         ? BB_TABLE_FILTER_BITS_DEFAULT
                                         : BB_TABLE_FILTER_NONE;
}

static enum bb_status check_filters(const struct bb_table_options *options)
{
    switch (options->filter_kind) {
    case BB_FILTER_NONE:
    case BB_FILTER_RIBBON:
    case BB_FILTER_BLOCKED_BLOOM:
    case BB_FILTER_BLOOM:
        break;
    default: {
        const char *name = bb_filter_kind_name(options->filter_kind);
        return bb_fail(BB_UNSUPPORTED, "tables cannot hold filters of kind %d (%s)",
                       (int)options->filter_kind, name == NULL ? "unknown" : name);
    }
    }
    double rate = options->filter_rate;
    if (rate != 1 && !(rate >= BB_FILTER_RATE_MIN && rate <= BB_FILTER_RATE_MAX))
        return bb_fail(BB_INVALID,
                       "option filter_rate is %g: %g ... %g, or 1 for none, are allowed", rate,
                       BB_FILTER_RATE_MIN, BB_FILTER_RATE_MAX);
    double slack = options->filter_slack;
    if (!(slack >= 0 && slack <= BB_FILTER_SLACK_MAX))
        return bb_fail(BB_INVALID, "option filter_slack is %g: 0 ... %g are allowed", slack,
                       BB_FILTER_SLACK_MAX);
    double bits = options->table_filter_bits;
    if (bits != BB_TABLE_FILTER_NONE && bits != BB_TABLE_FILTER_ALL &&
        !(bits >= BB_TABLE_FILTER_BITS_MIN && bits <= BB_TABLE_FILTER_BITS_MAX))
        return bb_fail(BB_INVALID,
                       "option table_filter_bits is %g: %g ... %g, BB_TABLE_FILTER_NONE and "
                       "BB_TABLE_FILTER_ALL are "
                       "allowed",
                       bits, BB_TABLE_FILTER_BITS_MIN, BB_TABLE_FILTER_BITS_MAX);
    return BB_OK;
}

static enum bb_status check_options(const struct bb_table_options *options)
{
    enum bb_status status = bb_comparator_check(options->comparator);
    if (status == BB_OK)
        status = check_range("block_size_bytes", options->block_size_bytes, BB_BLOCK_SIZE_MIN,
                             BB_BLOCK_SIZE_MAX);
    if (status == BB_OK)
        status =
            check_range("restart_interval", options->restart_interval, 1, BB_RESTART_INTERVAL_MAX);
    if (status == BB_OK)
        status = check_range("compression", (uint64_t)options->compression, BB_COMPRESSION_NONE,
                             BB_COMPRESSION_LZ4);
    if (status == BB_OK)
        status = check_range("index_page_size_bytes", options->index_page_size_bytes,
                             BB_PAGE_SIZE_MIN, BB_PAGE_SIZE_MAX);
    if (status == BB_OK)
        status = check_range("index_residency", (uint64_t)options->index_residency, BB_INDEX_PINNED,
                             BB_INDEX_CACHED);
    if (status == BB_OK && options->index_residency == BB_INDEX_CACHED && options->cache == NULL)
        status = bb_fail(BB_INVALID, "option index_residency needs a cache, but there is no cache");
    if (status == BB_OK)
        status = check_range("table_filter_residency", (uint64_t)options->table_filter_residency,
                             BB_TABLE_FILTER_PINNED, BB_TABLE_FILTER_UNUSED);
    if (status == BB_OK && options->table_filter_residency == BB_TABLE_FILTER_CACHED &&
        options->cache == NULL)
        status = bb_fail(BB_INVALID,
                         "option table_filter_residency needs a cache, but there is no cache");
    if (status == BB_OK)
        status = check_filters(options);
    return status;
}

enum bb_status bb_table_options_resolve(const struct bb_table_options *options,
                                        struct bb_table_options *ret_options)
{
    struct bb_table_options resolved = options == NULL ? (struct bb_table_options){0} : *options;
    fill_defaults(&resolved);
    enum bb_status status = check_options(&resolved);
    if (status != BB_OK)
        return status;
    bool has_filters = resolved.filter_kind != BB_FILTER_NONE && resolved.filter_rate != 1;
    if (resolved.comparator != NULL && resolved.comparator->equates_different_bytes)
        has_filters = false;
    if (!has_filters) {
        resolved.filter_kind = BB_FILTER_NONE;
        resolved.filter_rate = 1;
        resolved.table_filter_bits = BB_TABLE_FILTER_NONE;
        resolved.filter_slack = 0;
    }
    *ret_options = resolved;
    return BB_OK;
}
