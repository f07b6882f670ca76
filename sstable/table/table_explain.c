/* Explains one lookup: runs it in two steps, and reports the change of the statistics in each. */
#include "bb/table_explain.h"

#include "bloomblock/table/block_filter.h"
#include "sstable/table/read_options.h"
#include "sstable/table/table.h"
#include "sstable/table/table_lookup.h"

const char *bb_verdict_name(enum bb_verdict verdict)
{
    static const char *const names[] = {"not probed", "none", "negative", "maybe", "damaged"};
    return (size_t)verdict < sizeof(names) / sizeof(names[0]) ? names[verdict] : "unknown";
}

const char *bb_source_name(enum bb_source source)
{
    static const char *const names[] = {"not read", "memory", "file"};
    return (size_t)source < sizeof(names) / sizeof(names[0]) ? names[source] : "unknown";
}

static enum bb_source source_of(uint64_t requests, uint64_t reads)
{
    if (requests == 0)
        return BB_SOURCE_NOT_READ;
    return reads > 0 ? BB_SOURCE_FILE : BB_SOURCE_MEMORY;
}

/* The statistics count damaged filters of both kinds. A count above that of the block filter's
 * verdict is the damage of the table filter. */
static enum bb_verdict verdict_of_table_filter(const struct bb_table *table,
                                               const struct bb_read_options *options,
                                               const struct bb_table_explain *explain)
{
    if (options->ignore_filters || explain->visit == BB_VISIT_OUT_OF_BOUNDS)
        return BB_VERDICT_NOT_PROBED;
    if (!table->probes_table_filter && table->has_unusable_table_filter)
        return BB_VERDICT_DAMAGED;
    if (!table->probes_table_filter)
        return table->has_table_filter ? BB_VERDICT_NOT_PROBED : BB_VERDICT_NONE;
    if (explain->visit == BB_VISIT_TOMBSTONE && explain->page == BB_SOURCE_NOT_READ &&
        explain->stats.avoided_requests == 0) /* a range tombstone decided */
        return BB_VERDICT_NOT_PROBED;
    if (explain->page == BB_SOURCE_NOT_READ && explain->stats.avoided_requests > 0)
        return BB_VERDICT_NEGATIVE;
    uint64_t damage_of_filter = explain->filter.verdict == BB_VERDICT_DAMAGED;
    return explain->stats.damaged_filters > damage_of_filter ? BB_VERDICT_DAMAGED
                                                             : BB_VERDICT_MAYBE;
}

static void describe_table_filter(const struct bb_table *table,
                                  const struct bb_read_options *options,
                                  struct bb_table_explain *explain)
{
    struct bb_filter_explain *table_filter = &explain->table_filter;
    table_filter->verdict = verdict_of_table_filter(table, options, explain);
    if (table_filter->verdict == BB_VERDICT_NOT_PROBED || !table->probes_table_filter)
        return;
    table_filter->source = source_of(1, explain->stats.table_filter_reads);
    table_filter->kind = table->table_filter_format.kind;
    table_filter->size_bytes = table->meta.table_filter_bytes;
    table_filter->rate = table->meta.table_filter_rate;
}

/* Finds the shard of the block filter's group for the key. */
static void describe_filter_bits(const struct bb_table_lookup *lookup,
                                 const struct bb_index_page *page, struct bb_filter_explain *filter)
{
    const struct bb_block_filter_format *format = &lookup->table->filter_format;
    struct bb_block_filter_key key = bb_block_filter_key(format, lookup->table_hash);
    struct bb_block_filter_info info = {0};
    uint32_t count = 0;
    uint32_t group = bb_index_page_group(page, lookup->ordinal);
    uint32_t shard = bb_index_page_group_shards(page, group, &count);
    shard += bb_block_filter_shard(key, count);
    struct bb_bytes payload =
        bb_bytes_of(page->filters + page->shard_offsets[shard],
                    page->shard_offsets[shard + 1] - page->shard_offsets[shard]);
    if (page->descriptors[shard] == 0) {
        filter->verdict = BB_VERDICT_NONE;
        return;
    }
    if (!bb_block_filter_info(format, page->descriptors[shard], payload, &info))
        return;
    filter->kind = format->kind;
    filter->size_bytes = info.size_bytes;
    filter->rate = info.predicted_rate;
}

/* After a probe through the index page: describes the block and its filter. */
static void describe_page(const struct bb_table_lookup *lookup, const struct bb_index_page *page,
                          struct bb_table_explain *explain)
{
    struct bb_filter_explain *filter = &explain->filter;
    explain->block_size_bytes = bb_index_page_block_size(page, lookup->ordinal);
    if (lookup->question->options.ignore_filters)
        return;
    filter->source = explain->page;
    if (page->has_filters) {
        filter->verdict =
            explain->stats.avoided_requests > 0 ? BB_VERDICT_NEGATIVE : BB_VERDICT_MAYBE;
        describe_filter_bits(lookup, page, filter);
        return;
    }
    bool is_damaged = page->has_damaged_filters || lookup->table->has_unusable_filters;
    filter->verdict = is_damaged ? BB_VERDICT_DAMAGED : BB_VERDICT_NONE;
}

/* Describes the path of the lookup after begin. If its page was released, only when it is still in
 * memory. */
static void describe_path(const struct bb_table_lookup *lookup, struct bb_table_explain *explain)
{
    struct bb_table *table = lookup->table;
    uint32_t index = bb_root_find(&table->root, table->comparator, lookup->question->key,
                                  lookup->question->sequence);
    explain->page = source_of(explain->stats.page_requests, explain->stats.page_reads);
    if (explain->page == BB_SOURCE_NOT_READ)
        return;
    explain->page_number = index;
    explain->page_offset = table->root.pages[index].page_offset;
    explain->page_size_bytes = table->root.pages[index].page_size;
    explain->block_offset = lookup->block_offset;
    if (lookup->state != BB_LOOKUP_ENDED) {
        describe_page(lookup, lookup->page, explain);
        return;
    }
    explain->filter.verdict = BB_VERDICT_NEGATIVE;
    struct bb_index_page *page = bb_table_page_peek(table, index);
    if (page == NULL)
        return;
    describe_page(lookup, page, explain);
    bb_table_page_release(table, page);
}

static enum bb_status run(struct bb_table_lookup *lookup, struct bb_table_explain *explain)
{
    enum bb_status status = bb_table_lookup_begin(lookup);
    if (status != BB_OK)
        return status;
    bool has_ended = lookup->state == BB_LOOKUP_ENDED;
    explain->visit = has_ended ? lookup->visit : BB_VISIT_COUNT;
    describe_path(lookup, explain);
    describe_table_filter(lookup->table, &lookup->question->options, explain);
    explain->range_sequence = lookup->covering;
    if (!has_ended)
        status = bb_table_lookup_end(lookup);
    if (status != BB_OK)
        return status;
    explain->visit = lookup->visit;
    explain->sequence = lookup->found_sequence;
    explain->block = source_of(explain->stats.block_requests, explain->stats.block_reads);
    return BB_OK;
}

enum bb_status bb_table_explain(struct bb_table *table, const struct bb_read_options *options,
                                struct bb_bytes key, uint64_t key_hash, uint64_t sequence,
                                struct bb_read_stats *stats, struct bb_buf *value,
                                struct bb_table_explain *ret_explain)
{
    struct bb_table_explain explain = {0};
    struct bb_table_question question = {.key = key,
                                         .key_hash = key_hash,
                                         .sequence = sequence,
                                         .value = value,
                                         .options = bb_read_options_of(options)};
    struct bb_table_lookup lookup;
    bb_table_lookup_init(&lookup, table, &question, &explain.stats, BB_LOOKUP_NEW);
    enum bb_status status = run(&lookup, &explain);
    if (stats != NULL)
        *stats = explain.stats;
    if (status == BB_OK)
        *ret_explain = explain;
    return status;
}
