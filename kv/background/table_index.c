/* See table_index.h. */
#include "kv/background/table_index.h"

#include "base/assert.h"
#include "base/status.h"
#include "kv/background/edit_install.h"
#include "kv/indexes/index_file.h"
#include "kv/store/store.h"
#include "sstable/table/table_blocks.h"

static enum bb_status add_entry(void *context, const struct bb_entry *entry, uint64_t block_number)
{
    struct bb_index_build *build = context;
    enum bb_status status = BB_OK;
    if (block_number != build->last_block)
        status = bb_index_build_check(build, block_number);
    return status == BB_OK ? bb_index_build_add(build, entry, block_number) : status;
}

/* Builds the file, which becomes the last of build->built. It is synced, but not its directory
 * entry. */
static enum bb_status build_file(struct bb_index_build *build, struct bb_table_file *file)
{
    BB_DEBUG_ASSERT(build->catalog != NULL);
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

/* ---- installing ---- */

struct installation {
    struct bb_table_file *file;
    struct bb_companion *index; /* one reference, until it is installed; NULL: without one */
    bool is_replaced;
};

/* Finds the table's present place. False: a compaction has replaced it. */
static bool find_table(const struct bb_levels *levels, const struct bb_table_file *file,
                       int *ret_level, uint64_t *ret_run)
{
    for (size_t i = 0; i < levels->turn_count; i++) {
        const struct bb_run_turn *turn = &levels->turns[i];
        for (size_t j = 0; j < turn->run->count; j++) {
            if (turn->run->files[j] != file)
                continue;
            *ret_level = turn->level;
            *ret_run = turn->level == 0 ? 0 : turn->run->number;
            return true;
        }
    }
    return false;
}

static enum bb_status place(void *context, struct bb_levels *levels, struct bb_edit *edit)
{
    struct installation *installation = context;
    struct bb_table_file *file = installation->file;
    int level = 0;
    uint64_t run = 0;
    installation->is_replaced = !find_table(levels, file, &level, &run);
    if (installation->is_replaced)
        return bb_fail(BB_NOT_FOUND, "the table was replaced");
    enum bb_status status = bb_edit_remove_table(edit, file->number);
    if (status == BB_OK)
        status = bb_edit_add_table(edit, level, run, file->number, &file->meta);
    if (status == BB_OK)
        bb_edit_set_index(edit, installation->index == NULL ? 0 : installation->index->number);
    return status;
}

static void put_in_force(void *context)
{
    struct installation *installation = context;
    bb_table_file_set_companion(installation->file, installation->index);
    installation->index = NULL;
}

/* Once the record is written, the manifest owns the file, or it is in doubt
 * (kv/manifest/orphans.h). build: of the file; NULL without one. */
static enum bb_status install(struct bb_db *db, struct bb_index_build *build,
                              struct installation *installation)
{
    struct bb_edit edit = {0};
    struct bb_placing placing = {.place = place,
                                 .placed = put_in_force,
                                 .context = installation,
                                 .drops_index = installation->index == NULL};
    enum bb_status status = bb_edit_install_replace_manifest(db);
    if (status == BB_OK)
        status = bb_edit_install_placed(db, &edit, &placing);
    if (edit.added_count > 0 && build != NULL)
        bb_index_build_commit(build);
    bb_edit_deinit(&edit);
    return installation->is_replaced ? BB_OK : status;
}

enum bb_status bb_table_index_install(struct bb_index_build *build, struct bb_table_file *file,
                                      bool *ret_is_replaced)
{
    struct installation installation = {.file = file};
    enum bb_status status = build_file(build, file);
    if (status == BB_OK)
        status = bb_index_file_create(build->db, build->built[0].number, file->meta.table_id,
                                      &installation.index);
    if (status == BB_OK)
        status = install(build->db, build, &installation);
    bb_companion_unref(installation.index);
    *ret_is_replaced = installation.is_replaced;
    return status;
}

enum bb_status bb_table_index_drop(struct bb_db *db, struct bb_table_file *file,
                                   bool *ret_is_replaced)
{
    struct installation installation = {.file = file};
    enum bb_status status = install(db, NULL, &installation);
    *ret_is_replaced = installation.is_replaced;
    return status;
}
