/* Options of tables: defaults and ranges. Any thread. */
#include "sstable/build/table_options.h"

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
    if (options->filter_rate == 0)
        options->filter_rate = FILTER_RATE_DEFAULT;
    if (options->filter_granularity == 0)
        options->filter_granularity = 1;
    if (options->index_page_size_bytes == 0)
        options->index_page_size_bytes = BB_PAGE_SIZE_DEFAULT;
}

static enum bb_status resolve_filters(struct bb_table_options *options)
{
    double rate = options->filter_rate;
    if (rate != 1 && !(rate >= BB_FILTER_RATE_MIN && rate <= BB_FILTER_RATE_MAX))
        return bb_fail(BB_INVALID,
                       "option filter_rate is %g: %g ... %g, or 1 for none, are allowed", rate,
                       BB_FILTER_RATE_MIN, BB_FILTER_RATE_MAX);
    return bb_filter_split_resolve(&options->filter_kind, &options->table_filter_bits);
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
        status =
            check_range("read_mode", (uint64_t)options->read_mode, BB_READ_COPIES, BB_READ_CALLS);
    return status;
}

enum bb_status bb_table_options_resolve(const struct bb_table_options *options,
                                        struct bb_table_options *ret_options)
{
    struct bb_table_options resolved = options == NULL ? (struct bb_table_options){0} : *options;
    fill_defaults(&resolved);
    enum bb_status status = check_options(&resolved);
    if (status == BB_OK)
        status = resolve_filters(&resolved);
    if (status != BB_OK)
        return status;
    bool has_filters = resolved.filter_kind != BB_FILTER_NONE && resolved.filter_rate != 1;
    if (resolved.comparator != NULL && resolved.comparator->equates_different_bytes)
        has_filters = false;
    if (!has_filters) {
        resolved.filter_kind = BB_FILTER_NONE;
        resolved.filter_rate = 1;
        resolved.table_filter_bits = BB_TABLE_FILTER_NONE;
    }
    *ret_options = resolved;
    return BB_OK;
}
