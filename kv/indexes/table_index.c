/* See table_index.h. */
#include "kv/indexes/table_index.h"

#include "base/status.h"
#include "kv/background/install.h"
#include "sstable/block/block_iter.h"
#include "sstable/table_blocks.h"

static enum bb_status add_block(struct bb_index_build *build, const struct bb_block *block,
                                struct bb_place place, uint64_t number)
{
    struct bb_block_iter iter;
    enum bb_status status = BB_OK;
    bb_block_iter_init(&iter, build->db->options.comparator);
    bb_block_iter_reset(&iter, block, place);
    bb_block_iter_seek_first(&iter);
    while (iter.is_valid && status == BB_OK) {
        status = bb_index_build_add(build, &iter.entry, number);
        if (status == BB_OK)
            bb_block_iter_next(&iter);
    }
    if (status == BB_OK)
        status = iter.status;
    bb_block_iter_deinit(&iter);
    return status;
}

static enum bb_status add_blocks(struct bb_index_build *build, struct bb_table_blocks *blocks)
{
    uint64_t count = bb_table_blocks_count(blocks);
    enum bb_status status = BB_OK;
    for (uint64_t number = 0; number < count && status == BB_OK; number++) {
        const struct bb_block *block = NULL;
        struct bb_place place = {0};
        status = bb_store_check_open(build->db);
        if (status == BB_OK)
            status = bb_table_blocks_load(blocks, number, count, &block, &place);
        if (status == BB_OK)
            status = add_block(build, block, place, number);
    }
    return status;
}

enum bb_status bb_table_index_build(struct bb_index_build *build, struct bb_table_file *file)
{
    struct bb_table *table = NULL;
    struct bb_table_blocks blocks;
    struct bb_bytes id = {.data = file->meta.table_id, .size = sizeof(file->meta.table_id)};
    enum bb_status status = bb_table_file_open(file, &table);
    if (status == BB_OK)
        status = bb_table_blocks_init(&blocks, table);
    if (status != BB_OK)
        return status;
    status = bb_index_build_begin(build, id);
    if (status == BB_OK)
        status = add_blocks(build, &blocks);
    if (status == BB_OK)
        status = bb_index_build_finish(build);
    bb_table_blocks_deinit(&blocks);
    return status;
}
