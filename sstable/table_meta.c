/* What is known of a table without opening it. Any thread. */
#include "sstable/table_meta.h"

#include "base/assert.h"

void bb_table_meta_deinit(struct bb_table_meta *meta)
{
    if (meta == NULL)
        return;
    bb_buf_deinit(&meta->smallest);
    bb_buf_deinit(&meta->largest);
    *meta = (struct bb_table_meta){0};
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
        .filter_bytes = properties->filter_size + properties->summary_size,
        .summary_bytes = properties->summary_size,
        .sequence_min = properties->sequence_min,
        .sequence_max = properties->sequence_max,
        .filter_rate = properties->filter_rate,
        .summary_rate = properties->summary_rate,
        .largest_is_exclusive = properties->largest_is_exclusive != 0,
        .range_tombstone_count = properties->range_tombstone_count,
        .tombstone_sequence_min = properties->tombstone_sequence_min,
    };
    BB_ASSERT(properties->table_id.size == sizeof(meta.table_id));
    memcpy(meta.table_id, properties->table_id.data, sizeof(meta.table_id));
    enum bb_status status = bb_buf_assign(&meta.smallest, bb_buf_bytes(&properties->smallest));
    if (status == BB_OK)
        status = bb_buf_assign(&meta.largest, bb_buf_bytes(&properties->largest));
    if (status != BB_OK)
        bb_table_meta_deinit(&meta);
    *ret_meta = meta;
    return status;
}
