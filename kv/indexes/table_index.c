/* See table_index.h. */
#include "kv/indexes/table_index.h"

#include "base/status.h"
#include "kv/background/install.h"
#include "sstable/table_blocks.h"

/* WHY a look at the store with each block: closing waits for whoever builds. */
static enum bb_status add_entry(void *context, const struct bb_entry *entry, uint64_t block_number)
{
    struct bb_index_build *build = context;
    enum bb_status status = BB_OK;
    if (block_number != build->last_block)
        status = bb_store_check_open(build->db);
    return status == BB_OK ? bb_index_build_add(build, entry, block_number) : status;
}

enum bb_status bb_table_index_build(struct bb_index_build *build, struct bb_table_file *file)
{
    struct bb_table *table = NULL;
    struct bb_table_blocks blocks;
    struct bb_table_observer observer = {.add = add_entry, .context = build};
    struct bb_bytes id = {.data = file->meta.table_id, .size = sizeof(file->meta.table_id)};
    enum bb_status status = bb_table_file_open(file, &table);
    if (status == BB_OK)
        status = bb_table_blocks_init(&blocks, table);
    if (status != BB_OK)
        return status;
    status = bb_index_build_begin(build, id);
    if (status == BB_OK)
        status = bb_table_blocks_show(&blocks, &observer);
    if (status == BB_OK)
        status = bb_index_build_finish(build);
    bb_table_blocks_deinit(&blocks);
    return status;
}
