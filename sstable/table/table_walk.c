/* The parts of an open table in file order. See the header. One thread. */
#include "sstable/table/table_walk.h"

#include "base/assert.h"
#include "sstable/block/stored_block.h"

void bb_table_walk_init(struct bb_table_walk *walk, struct bb_table *table)
{
    *walk = (struct bb_table_walk){.table = table};
    bb_block_iter_init(&walk->entries, table->comparator);
}

static void leave_block(struct bb_table_walk *walk)
{
    bb_block_iter_reset(&walk->entries, NULL, (struct bb_place){0});
    bb_block_unref(walk->block);
    walk->block = NULL;
}

void bb_table_walk_deinit(struct bb_table_walk *walk)
{
    leave_block(walk);
    bb_index_page_unref(walk->page);
    bb_block_iter_deinit(&walk->entries);
    bb_buf_deinit(&walk->fence_key);
}

/* Assembles the key of the fence before the current block. */
static enum bb_status read_fence(struct bb_table_walk *walk)
{
    const struct bb_fence_index *fences = &walk->page->fences;
    uint32_t ordinal = walk->ordinal;
    if (ordinal == 0) {
        fences = &walk->table->root.fences;
        ordinal = walk->page_index;
    }
    bb_buf_reset(&walk->fence_key);
    walk->has_fence = ordinal > 0;
    walk->fence_sequence = BB_SEQUENCE_MAX;
    if (ordinal == 0)
        return BB_OK;
    walk->fence_sequence = bb_fence_index_get(fences, ordinal - 1).sequence;
    return bb_fence_index_key(fences, ordinal - 1, &walk->fence_key);
}

static void read_group(struct bb_table_walk *walk)
{
    const struct bb_index_page *page = walk->page;
    walk->group = bb_index_page_group(page, walk->ordinal);
    uint64_t first = (uint64_t)walk->group * page->granularity;
    uint64_t left = page->block_count - first;
    walk->group_blocks = (uint32_t)(left < page->granularity ? left : page->granularity);
    walk->shard_count = 0;
    if (page->has_filters)
        (void)bb_index_page_group_shards(page, walk->group, &walk->shard_count);
}

static enum bb_status read_block_place(struct bb_table_walk *walk)
{
    walk->offset = bb_index_page_block_offset(walk->page, walk->ordinal);
    walk->stored_size = bb_index_page_block_size(walk->page, walk->ordinal);
    read_group(walk);
    return read_fence(walk);
}

/* A page that cannot be read counts as visited: its blocks are skipped. */
static enum bb_status next_page(struct bb_table_walk *walk)
{
    const struct bb_root *root = &walk->table->root;
    if (walk->is_started) {
        if (walk->page == NULL)
            walk->block_number += root->pages[walk->page_index].block_count;
        walk->page_index++;
    }
    bb_index_page_unref(walk->page);
    walk->page = NULL;
    walk->is_started = true;
    walk->ordinal = 0;
    if (walk->page_index == root->page_count)
        return BB_OK;
    return bb_table_page_load(walk->table, walk->page_index, &walk->stats, &walk->page);
}

enum bb_status bb_table_walk_next(struct bb_table_walk *walk, bool *ret_has_block)
{
    enum bb_status status = BB_OK;
    leave_block(walk);
    if (walk->is_started && walk->page_index == walk->table->root.page_count) {
        *ret_has_block = false;
        return BB_OK;
    }
    if (walk->page != NULL)
        walk->block_number++;
    if (walk->page != NULL && walk->ordinal + 1 < walk->page->block_count)
        walk->ordinal++;
    else
        status = next_page(walk);
    if (status != BB_OK)
        return status;
    *ret_has_block = walk->page != NULL;
    return walk->page == NULL ? BB_OK : read_block_place(walk);
}

enum bb_status bb_table_walk_load(struct bb_table_walk *walk)
{
    BB_ASSERT(walk->page != NULL);
    struct bb_table *table = walk->table;
    struct bb_place place = bb_table_place(table, walk->offset);
    struct bb_stored_block_info info = {0};
    leave_block(walk);
    enum bb_status status =
        bb_table_block_fetch(table, walk->offset, walk->stored_size, &walk->stats, &walk->block);
    if (status == BB_OK)
        status = bb_stored_block_info(walk->block->payload, walk->stored_size, place, &info);
    if (status == BB_OK)
        status = bb_stored_block_decode(&walk->block, walk->stored_size, table->comparator, place);
    if (status == BB_OK)
        status = bb_table_block_check_head(table, walk->page, walk->page_index, walk->ordinal,
                                           walk->block);
    if (status != BB_OK) {
        leave_block(walk);
        return status;
    }
    walk->compression = info.compression;
    walk->raw_size = info.raw_size;
    bb_block_iter_reset(&walk->entries, walk->block, place);
    bb_block_iter_seek_first(&walk->entries);
    return walk->entries.status;
}

bool bb_table_walk_filter(const struct bb_table_walk *walk, uint32_t shard,
                          struct bb_walk_filter *ret_filter)
{
    const struct bb_index_page *page = walk->page;
    BB_ASSERT(shard < walk->shard_count);
    uint32_t count = 0;
    uint32_t index = bb_index_page_group_shards(page, walk->group, &count) + shard;
    uint32_t offset = page->shard_offsets[index];
    ret_filter->descriptor = page->descriptors[index];
    ret_filter->payload =
        bb_bytes_of(page->filters + offset, page->shard_offsets[index + 1] - offset);
    return bb_block_filter_info(&walk->table->filter_format, ret_filter->descriptor,
                                ret_filter->payload, &ret_filter->info);
}

bool bb_table_walk_may_contain(const struct bb_table_walk *walk, struct bb_bytes key)
{
    const struct bb_table *table = walk->table;
    if (!walk->page->has_filters)
        return true;
    struct bb_block_filter_key filter_key =
        bb_block_filter_key(&table->filter_format, bb_hash_key(&table->secret, key));
    return bb_index_page_may_contain(walk->page, &table->filter_format, walk->ordinal, filter_key);
}
