/* Metadata of a table without opening it. Any thread. */
#include "sstable/meta/table_meta.h"

#include <inttypes.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/status.h"

void bb_table_meta_deinit(struct bb_table_meta *meta)
{
    if (meta == NULL)
        return;
    bb_buf_deinit(&meta->smallest);
    bb_buf_deinit(&meta->largest);
    *meta = (struct bb_table_meta){0};
}

enum bb_status bb_table_meta_copy(const struct bb_table_meta *meta, struct bb_table_meta *ret_copy)
{
    struct bb_table_meta copy = *meta;
    copy.smallest = (struct bb_buf){0};
    copy.largest = (struct bb_buf){0};
    enum bb_status status = bb_buf_assign(&copy.smallest, bb_buf_bytes(&meta->smallest));
    if (status == BB_OK)
        status = bb_buf_assign(&copy.largest, bb_buf_bytes(&meta->largest));
    if (status == BB_OK)
        *ret_copy = copy;
    else
        bb_table_meta_deinit(&copy);
    return status;
}

enum bb_status bb_table_meta_init(const struct bb_properties *properties, uint64_t file_size,
                                  struct bb_table_meta *ret_meta)
{
    struct bb_table_meta meta = {
        .file_size = file_size,
        .entry_count = properties->entry_count,
        .key_count = properties->key_count,
        .tombstone_count = properties->tombstone_count,
        .block_count = properties->block_count,
        .raw_bytes = properties->key_bytes + properties->value_bytes,
        .filter_bytes = properties->filter_size + properties->table_filter_size,
        .table_filter_bytes = properties->table_filter_size,
        .sequence_min = properties->sequence_min,
        .sequence_max = properties->sequence_max,
        .filter_rate = properties->filter_rate,
        .table_filter_rate = properties->table_filter_rate,
        .predicted_block_rate = properties->predicted_block_rate,
        .predicted_table_filter_rate = properties->predicted_table_filter_rate,
        .largest_is_exclusive = properties->largest_is_exclusive != 0,
        .range_tombstone_count = properties->range_tombstone_count,
        .tombstone_sequence_min = properties->tombstone_sequence_min,
        .smallest = properties->smallest, /* borrowed, until copied */
        .largest = properties->largest,
    };
    BB_ASSERT(properties->table_id.size == sizeof(meta.table_id));
    memcpy(meta.table_id, properties->table_id.data, sizeof(meta.table_id));
    return bb_table_meta_copy(&meta, ret_meta);
}

static enum bb_status check_counts(const char *path, const struct bb_table_meta *wanted,
                                   const struct bb_table_meta *found)
{
    const struct {
        const char *name;
        uint64_t wanted;
        uint64_t found;
    } counts[] = {
        {"bytes", wanted->file_size, found->file_size},
        {"entries", wanted->entry_count, found->entry_count},
        {"keys", wanted->key_count, found->key_count},
        {"tombstones", wanted->tombstone_count, found->tombstone_count},
        {"range tombstones", wanted->range_tombstone_count, found->range_tombstone_count},
        {"blocks", wanted->block_count, found->block_count},
        {"raw bytes", wanted->raw_bytes, found->raw_bytes},
        {"filter bytes", wanted->filter_bytes, found->filter_bytes},
        {"table filter bytes", wanted->table_filter_bytes, found->table_filter_bytes},
    };
    for (size_t i = 0; i < BB_ARRAY_LENGTH(counts); i++) {
        if (counts[i].wanted != counts[i].found)
            return bb_corrupt((struct bb_place){.file = path}, 0,
                              "the table has %" PRIu64 " %s, the manifest has %" PRIu64,
                              counts[i].found, counts[i].name, counts[i].wanted);
    }
    return BB_OK;
}

/* Tables older than the ages of tombstones have 0, in the manifest or in the table. */
static bool is_age_other(const struct bb_table_meta *wanted, const struct bb_table_meta *found)
{
    return wanted->tombstone_sequence_min != 0 && found->tombstone_sequence_min != 0 &&
           wanted->tombstone_sequence_min != found->tombstone_sequence_min;
}

/* Older tables have no prediction, in the manifest or in the table. */
static bool is_prediction_other(const struct bb_table_meta *wanted,
                                const struct bb_table_meta *found)
{
    bool is_known = wanted->predicted_block_rate != 0 && found->predicted_block_rate != 0;
    return is_known && (wanted->predicted_block_rate != found->predicted_block_rate ||
                        wanted->predicted_table_filter_rate != found->predicted_table_filter_rate);
}

enum bb_status bb_table_meta_check(const char *path, const struct bb_table_meta *wanted,
                                   const struct bb_table_meta *found)
{
    struct bb_place place = {.file = path};
    if (memcmp(wanted->table_id, found->table_id, sizeof(wanted->table_id)) != 0)
        return bb_corrupt(place, 0, "this is another table than the one the manifest names");
    enum bb_status status = check_counts(path, wanted, found);
    if (status != BB_OK)
        return status;
    if (wanted->sequence_min != found->sequence_min ||
        wanted->sequence_max != found->sequence_max || is_age_other(wanted, found))
        return bb_corrupt(
            place, 0,
            "sequences %" PRIu64 " to %" PRIu64 ", the manifest has %" PRIu64 " to %" PRIu64,
            found->sequence_min, found->sequence_max, wanted->sequence_min, wanted->sequence_max);
    if (wanted->filter_rate != found->filter_rate ||
        wanted->table_filter_rate != found->table_filter_rate)
        return bb_corrupt(place, 0, "filters of rate %.9g (%.9g), the manifest has %.9g (%.9g)",
                          found->filter_rate, found->table_filter_rate, wanted->filter_rate,
                          wanted->table_filter_rate);
    if (is_prediction_other(wanted, found))
        return bb_corrupt(place, 0,
                          "filters of predicted rate %.9g (%.9g), the manifest has %.9g (%.9g)",
                          found->predicted_block_rate, found->predicted_table_filter_rate,
                          wanted->predicted_block_rate, wanted->predicted_table_filter_rate);
    if (!bb_bytes_equal(bb_buf_bytes(&wanted->smallest), bb_buf_bytes(&found->smallest)) ||
        !bb_bytes_equal(bb_buf_bytes(&wanted->largest), bb_buf_bytes(&found->largest)) ||
        wanted->largest_is_exclusive != found->largest_is_exclusive)
        return bb_corrupt(place, 0, "the range of keys differs from the manifest's");
    return BB_OK;
}
