/* See filter_summary.h. */
#include "tools/filter/filter_summary.h"

#include "base/buf.h"
#include "base/bytes.h"

/* Sums over shards, each weighted by its share of absent keys. */
struct sums {
    double weight;
    double rate;
    double rank;
    double slots; /* bits of all columns */
    double set_slots;
};

static double weight_of(const struct bb_summary *summary, uint64_t shard)
{
    uint32_t part = 0;
    while (part + 1 < summary->part_count && summary->parts[part + 1].first_shard <= shard)
        part++;
    return (double)summary->parts[part].key_count / summary->parts[part].shard_count;
}

static void add_shard(const struct bb_table *table, double weight, struct bb_shard_entry entry,
                      const uint8_t *stored, struct sums *sums)
{
    struct bb_block_filter_info info = {0};
    size_t size = 0;
    bool is_possible = bb_block_filter_size(&table->summary_format, entry.descriptor, &size) &&
                       bb_block_filter_info(&table->summary_format, entry.descriptor,
                                            bb_bytes_of(stored + entry.offset, size), &info);
    sums->weight += weight;
    sums->rate += weight * (is_possible ? info.predicted_rate : 1);
    sums->rank += weight * info.bits_per_probe;
    double slots = (double)info.slots * info.bits_per_probe;
    sums->slots += slots;
    sums->set_slots += slots * info.fill;
}

static enum bb_status add_chunk(struct bb_table *table, const struct bb_summary *summary,
                                uint32_t chunk, struct bb_buf *stored, struct sums *sums)
{
    struct bb_read_stats stats = {0};
    uint64_t first = 0;
    uint32_t shards = bb_summary_chunk_shards(summary, chunk, &first);
    enum bb_status status = bb_table_summary_chunk_load(table, summary, chunk, &stats, stored);
    for (uint32_t i = 0; i < shards; i++) {
        double weight = weight_of(summary, first + i);
        if (status == BB_OK)
            add_shard(table, weight, bb_sharded_filter_find(stored->data, shards, i), stored->data,
                      sums);
        else
            add_shard(table, weight, (struct bb_shard_entry){0}, NULL, sums);
    }
    return status;
}

static enum bb_status add_chunks(struct bb_table *table, const struct bb_summary *summary,
                                 struct filter_summary *ret_summary)
{
    struct bb_buf stored = {0};
    struct sums sums = {0};
    enum bb_status status = BB_OK;
    for (uint32_t i = 0; i < summary->chunk_count && status == BB_OK; i++) {
        status = add_chunk(table, summary, i, &stored, &sums);
        ret_summary->damaged_chunks += status == BB_CORRUPT;
        if (status == BB_CORRUPT)
            status = BB_OK;
    }
    bb_buf_deinit(&stored);
    ret_summary->predicted_rate = sums.rate / sums.weight;
    ret_summary->bits_per_probe = sums.rank / sums.weight;
    ret_summary->fill = sums.slots > 0 ? sums.set_slots / sums.slots : 0;
    return status;
}

static enum bb_status read_chunks(struct bb_table *table, struct filter_summary *ret_summary)
{
    struct bb_summary *summary = NULL;
    struct bb_read_stats stats = {0};
    enum bb_status status = bb_table_summary_load(table, &stats, &summary);
    if (status != BB_OK)
        return status;
    ret_summary->part_count = summary->part_count;
    ret_summary->chunk_count = summary->chunk_count;
    ret_summary->shard_count = summary->shard_count;
    for (uint32_t i = 0; i < summary->part_count; i++)
        ret_summary->keys += summary->parts[i].key_count;
    status = add_chunks(table, summary, ret_summary);
    bb_summary_destroy(summary);
    return status;
}

enum bb_status filter_summary_read(struct bb_table *table, struct filter_summary *ret_summary)
{
    const struct bb_properties *p = &table->properties;
    struct filter_summary summary = {
        .is_there = p->summary_rate != 1,
        .bits = 8 * p->summary_size,
        .target_rate = p->summary_rate,
        .predicted_rate = 1,
    };
    enum bb_status status = BB_OK;
    if (table->has_summary)
        status = read_chunks(table, &summary);
    summary.is_damaged = table->has_unusable_summary || status == BB_CORRUPT;
    if (status == BB_OK || status == BB_CORRUPT)
        *ret_summary = summary;
    return status == BB_CORRUPT ? BB_OK : status;
}
