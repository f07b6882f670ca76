/* See filter_table_filter.h. */
#include "tools/filter/table_filter_report.h"

#include "base/bytes.h"

/* Sums over shards, each weighted by its share of absent keys. */
struct sums {
    double weight;
    double rate;
    double fingerprint_bits;
    double slots; /* bits of all columns */
    double set_slots;
};

static double weight_of(const struct bb_table_filter *filter, uint64_t shard)
{
    uint32_t part = 0;
    while (part + 1 < filter->part_count && filter->parts[part + 1].first_shard <= shard)
        part++;
    return (double)filter->parts[part].key_count / filter->parts[part].shard_count;
}

static void add_shard(const struct bb_table *table, double weight, struct bb_shard_entry entry,
                      const uint8_t *stored, struct sums *sums)
{
    struct bb_block_filter_info info = {0};
    size_t size = 0;
    bool is_possible = bb_block_filter_size(&table->table_filter_format, entry.descriptor, &size) &&
                       bb_block_filter_info(&table->table_filter_format, entry.descriptor,
                                            bb_bytes_of(stored + entry.offset, size), &info);
    sums->weight += weight;
    sums->rate += weight * (is_possible ? info.predicted_rate : 1);
    sums->fingerprint_bits += weight * info.bits_per_probe;
    double slots = (double)info.slots * info.bits_per_probe;
    sums->slots += slots;
    sums->set_slots += slots * info.fill;
}

static enum bb_status add_chunk(struct bb_table *table, const struct bb_table_filter *filter,
                                uint32_t chunk, struct bb_buf *stored, struct sums *sums)
{
    struct bb_read_stats stats = {0};
    uint64_t first = 0;
    uint32_t shards = bb_table_filter_chunk_shards(filter, chunk, &first);
    enum bb_status status = bb_table_load_filter_chunk(table, filter, chunk, &stats, stored);
    for (uint32_t i = 0; i < shards; i++) {
        double weight = weight_of(filter, first + i);
        if (status == BB_OK)
            add_shard(table, weight, bb_sharded_filter_find(stored->data, shards, i), stored->data,
                      sums);
        else
            add_shard(table, weight, (struct bb_shard_entry){0}, NULL, sums);
    }
    return status;
}

static enum bb_status add_chunks(struct bb_table *table, const struct bb_table_filter *filter,
                                 struct table_filter_report *ret_filter)
{
    struct bb_buf stored = {0};
    struct sums sums = {0};
    enum bb_status status = BB_OK;
    for (uint32_t i = 0; i < filter->chunk_count && status == BB_OK; i++) {
        status = add_chunk(table, filter, i, &stored, &sums);
        ret_filter->damaged_chunks += status == BB_CORRUPT;
        if (status == BB_CORRUPT)
            status = BB_OK;
    }
    bb_buf_deinit(&stored);
    ret_filter->predicted_rate = sums.rate / sums.weight;
    ret_filter->bits_per_probe = sums.fingerprint_bits / sums.weight;
    ret_filter->fill = sums.slots > 0 ? sums.set_slots / sums.slots : 0;
    return status;
}

static enum bb_status read_chunks(struct bb_table *table, struct table_filter_report *ret_filter)
{
    struct bb_table_filter *filter = NULL;
    struct bb_read_stats stats = {0};
    enum bb_status status = bb_table_load_filter(table, &stats, &filter);
    if (status != BB_OK)
        return status;
    ret_filter->part_count = filter->part_count;
    ret_filter->chunk_count = filter->chunk_count;
    ret_filter->shard_count = filter->shard_count;
    for (uint32_t i = 0; i < filter->part_count; i++)
        ret_filter->keys += filter->parts[i].key_count;
    status = add_chunks(table, filter, ret_filter);
    bb_table_filter_destroy(filter);
    return status;
}

enum bb_status table_filter_report_read(struct bb_table *table,
                                        struct table_filter_report *ret_filter)
{
    const struct bb_properties *p = &table->properties;
    struct table_filter_report filter = {
        .is_there = p->table_filter_rate != 1,
        .bits = 8 * p->table_filter_size,
        .target_rate = p->table_filter_rate,
        .predicted_rate = 1,
    };
    enum bb_status status = BB_OK;
    if (table->has_table_filter)
        status = read_chunks(table, &filter);
    filter.is_damaged = table->has_unusable_table_filter || status == BB_CORRUPT;
    if (status == BB_OK || status == BB_CORRUPT)
        *ret_filter = filter;
    return status == BB_CORRUPT ? BB_OK : status;
}
