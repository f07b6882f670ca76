/* See index_check.h. */
#include "kv/indexes/index_check.h"

#include <inttypes.h>

#include "base/assert.h"
#include "base/status.h"
#include "bb/skip.h"
#include "kv/indexes/index_file.h"
#include "kv/manifest/filename.h"
#include "sstable/table/table_blocks.h"

struct check {
    const struct bb_edit_table *named;
    const struct bb_table_options *options;
    const char *path; /* of the index file */
    struct bb_skip_file *index;
    struct bb_table *table;
    struct bb_skip_proof *proof;
    size_t granule; /* of the current block */
};

/* ---- places ---- */

static uint64_t place_of(const struct bb_skip_file *index, size_t granule)
{
    struct bb_skip_granule_info info = {0};
    bb_skip_file_granule(index, granule, &info);
    return info.place;
}

/* As required by selections (kv/select/table_granules_choice.c). */
static enum bb_status check_places(const struct check *check)
{
    uint64_t block_count = check->named->meta.block_count;
    for (size_t i = 0; i < bb_skip_file_granule_count(check->index); i++) {
        uint64_t place = place_of(check->index, i);
        if (place >= block_count || (i > 0 && place <= place_of(check->index, i - 1)))
            return bb_corrupt((struct bb_place){.file = check->path}, 0,
                              "granule %zu begins at block %" PRIu64 ", and the table has %" PRIu64
                              " blocks",
                              i, place, block_count);
    }
    return BB_OK;
}

/* Blocks before the first granule belong to it. */
static void find_granule(struct check *check, uint64_t block)
{
    size_t count = bb_skip_file_granule_count(check->index);
    while (check->granule + 1 < count && place_of(check->index, check->granule + 1) <= block)
        check->granule++;
}

/* ---- records ---- */

static enum bb_status show_record(void *context, const struct bb_entry *entry,
                                  uint64_t block_number)
{
    struct check *check = context;
    if (entry->kind != BB_ENTRY_PUT)
        return BB_OK;
    if (bb_skip_file_granule_count(check->index) == 0)
        return bb_corrupt((struct bb_place){.file = check->path}, 0,
                          "it has no granules, and its table has records");
    find_granule(check, block_number);
    bb_skip_proof_set_part(check->proof, block_number - place_of(check->index, check->granule));
    return bb_skip_proof_add(check->proof, check->granule, entry->key, entry->value);
}

static enum bb_status show_table(struct check *check)
{
    struct bb_table_blocks blocks;
    struct bb_table_observer observer = {.add = show_record, .context = check};
    enum bb_status status = bb_skip_proof_create(check->index, NULL, &check->proof);
    if (status == BB_OK)
        status = bb_table_blocks_init(&blocks, check->table);
    if (status == BB_OK) {
        status = bb_table_blocks_show(&blocks, &observer);
        bb_table_blocks_deinit(&blocks);
    }
    if (status == BB_OK)
        status = bb_skip_proof_finish(check->proof);
    bb_skip_proof_destroy(check->proof);
    return status;
}

/* ---- files ---- */

static enum bb_status open_table(const char *directory, struct check *check)
{
    char path[BB_PATH_SIZE_MAX];
    bb_filename_path(directory, BB_FILE_TABLE, check->named->number, path);
    return bb_table_open(path, check->options, &check->table);
}

static enum bb_status open_index(struct check *check)
{
    struct bb_skip_file_options options = {.file_system = check->options->file_system,
                                           .id = check->named->meta.table_id};
    enum bb_status status = bb_index_file_open_path(check->path, &options, &check->index);
    if (status != BB_NOT_FOUND)
        return status;
    return bb_corrupt((struct bb_place){.file = check->path}, 0,
                      "missing, and the manifest names it for table %" PRIu64
                      ": selections read the whole table; rebuild it",
                      check->named->number);
}

enum bb_status bb_index_check(const char *directory, const struct bb_edit_table *table,
                              const struct bb_table_options *options)
{
    BB_DEBUG_ASSERT(table->index_number != 0);
    char path[BB_PATH_SIZE_MAX];
    struct check check = {.named = table, .options = options};
    bb_filename_path(directory, BB_FILE_INDEX, table->index_number, path);
    check.path = path;
    enum bb_status status = open_index(&check);
    if (status == BB_OK)
        status = bb_skip_file_verify(check.index);
    if (status == BB_OK)
        status = check_places(&check);
    if (status == BB_OK)
        status = open_table(directory, &check);
    if (status == BB_OK)
        status = show_table(&check);
    bb_table_close(check.table);
    bb_skip_file_close(check.index);
    return status;
}
