/* See index_build.h. */
#include "kv/indexes/index_build.h"

#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/array.h"
#include "base/status.h"
#include "kv/indexes/store_catalog.h"
#include "kv/manifest/filename.h"
#include "kv/store/call.h"
#include "kv/store/file_number.h"
#include "skip/member/spec.h"
#include "sstable/build/table_builder.h"

void bb_index_build_init_with(struct bb_index_build *build, struct bb_db *db,
                              struct bb_file_system *files, struct bb_catalog *catalog)
{
    *build = (struct bb_index_build){
        .db = db, .files = files, .creation_count = catalog->creation_count};
    if (catalog->index_count > 0)
        build->catalog = bb_catalog_ref(catalog);
}

void bb_index_build_init(struct bb_index_build *build, struct bb_db *db,
                         struct bb_file_system *files)
{
    struct bb_catalog *catalog = bb_store_catalog_ref(db);
    bb_index_build_init_with(build, db, files, catalog);
    bb_catalog_unref(catalog);
}

void bb_index_build_defer(struct bb_index_build *build)
{
    BB_DEBUG_ASSERT(build->builder == NULL && build->built_count == 0);
    bb_catalog_unref(build->catalog);
    build->catalog = NULL;
}

bool bb_index_build_is_outdated(const struct bb_index_build *build)
{
    struct bb_catalog *catalog = bb_store_catalog_ref(build->db);
    bool is_outdated = catalog->creation_count != build->creation_count;
    bb_catalog_unref(catalog);
    return is_outdated;
}

/* Removes an index file that no manifest names. */
static void remove_file(struct bb_index_build *build, uint64_t number)
{
    bb_filename_remove(build->db->system, build->db->directory, BB_FILE_INDEX, number);
}

/* Abandons the open file. */
static void abandon(struct bb_index_build *build)
{
    if (build->builder == NULL)
        return;
    bb_skip_builder_destroy(build->builder);
    build->builder = NULL;
    remove_file(build, build->open.number);
}

void bb_index_build_deinit(struct bb_index_build *build)
{
    abandon(build);
    for (size_t i = 0; i < build->built_count; i++)
        remove_file(build, build->built[i].number);
    bb_free(build->built);
    bb_catalog_unref(build->catalog);
    *build = (struct bb_index_build){0};
}

/* Leaves out the indexes that this program cannot build. Selections that need such an index read
 * the records of the table instead. */
static enum bb_status create_with_buildable(struct bb_index_build *build, const char *path,
                                            const struct bb_skip_options *options)
{
    const struct bb_catalog *catalog = build->catalog;
    struct bb_skip_spec *specs = bb_alloc_zeroed(catalog->index_count, sizeof(specs[0]));
    size_t count = 0;
    if (specs == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for building %zu indexes", catalog->index_count);
    for (size_t i = 0; i < catalog->index_count; i++)
        if (bb_spec_check_build(&catalog->specs[i]) == BB_OK)
            specs[count++] = catalog->specs[i];
    enum bb_status status =
        bb_skip_builder_create(path, options, catalog->schema, specs, count, &build->builder);
    bb_free(specs);
    return status;
}

static enum bb_status create_builder(struct bb_index_build *build, struct bb_bytes table_id)
{
    char path[BB_PATH_SIZE_MAX];
    struct bb_skip_options options = {.file_system = build->files, .secret = &build->db->secret};
    memcpy(options.id, table_id.data, sizeof(options.id));
    memcpy(build->open.table_id, table_id.data, sizeof(build->open.table_id));
    bb_filename_path(build->db->directory, BB_FILE_INDEX, build->open.number, path);
    return create_with_buildable(build, path, &options);
}

enum bb_status bb_index_build_begin(struct bb_index_build *build, struct bb_bytes table_id)
{
    if (build->catalog == NULL)
        return BB_OK;
    abandon(build);
    build->granule_begin = 0;
    build->granule_bytes = 0;
    build->block_bytes = 0;
    build->last_block = 0;
    enum bb_status status =
        bb_array_reserve(&build->built, build->built_count, &build->built_capacity,
                         sizeof(*build->built), "index files");
    if (status == BB_OK)
        status = bb_file_number_new(build->db, &build->open.number);
    return status == BB_OK ? create_builder(build, table_id) : status;
}

/* True when the granule is closer to its size now than after another block like the last one. */
bool bb_index_build_is_full(const struct bb_index_build *build)
{
    return build->granule_bytes + build->block_bytes / 2 >= build->catalog->granule_bytes;
}

/* At the first entry of a block: ends the granule before it if the granule is full. */
static enum bb_status end_full_granule(struct bb_index_build *build, uint64_t block_number)
{
    if (block_number == build->last_block)
        return BB_OK;
    bool ends = bb_index_build_is_full(build);
    enum bb_status status = BB_OK;
    for (; !ends && build->last_block < block_number && status == BB_OK; build->last_block++)
        status = bb_skip_builder_end_part(build->builder);
    build->last_block = block_number;
    build->block_bytes = 0;
    if (!ends || status != BB_OK)
        return status;
    status = bb_skip_builder_end_granule(build->builder, build->granule_begin);
    build->granule_begin = block_number;
    build->granule_bytes = 0;
    return status;
}

enum bb_status bb_index_build_end_granule(struct bb_index_build *build)
{
    if (build->builder == NULL)
        return BB_OK;
    enum bb_status status = bb_skip_builder_end_granule(build->builder, build->granule_begin);
    build->last_block++;
    build->granule_begin = build->last_block;
    build->granule_bytes = 0;
    build->block_bytes = 0;
    return status;
}

enum bb_status bb_index_build_add(struct bb_index_build *build, const struct bb_entry *entry,
                                  uint64_t block_number)
{
    if (build->builder == NULL)
        return BB_OK;
    enum bb_status status = end_full_granule(build, block_number);
    if (status != BB_OK || entry->kind != BB_ENTRY_PUT)
        return status;
    build->granule_bytes += entry->value.size;
    build->block_bytes += entry->value.size;
    return bb_skip_builder_add_record(build->builder, entry->key, entry->value);
}

enum bb_status bb_index_build_check(const struct bb_index_build *build, uint64_t block_number)
{
    if (block_number % BB_INDEX_BUILD_CHECK_BLOCKS != 0)
        return BB_OK;
    return build->yields ? bb_call_check_merging(build->db) : bb_call_check_open(build->db);
}

enum bb_status bb_index_build_finish(struct bb_index_build *build)
{
    if (build->builder == NULL)
        return BB_OK;
    enum bb_status status = bb_skip_builder_end_granule(build->builder, build->granule_begin);
    if (status == BB_OK)
        status = bb_skip_builder_finish(build->builder);
    if (status != BB_OK)
        return status;
    bb_skip_builder_destroy(build->builder);
    build->builder = NULL;
    build->built[build->built_count++] = build->open;
    return BB_OK;
}

/* ---- hooks ---- */

static enum bb_status observe(void *context, const struct bb_entry *entry, uint64_t block_number)
{
    return bb_index_build_add(context, entry, block_number);
}

static enum bb_status begin_output(void *context, struct bb_table_builder *builder)
{
    struct bb_index_build *build = context;
    struct bb_table_observer observer = {.add = observe, .context = build};
    if (build->catalog == NULL)
        return BB_OK;
    bb_table_builder_observe(builder, &observer);
    return bb_index_build_begin(build, bb_table_builder_id(builder));
}

static enum bb_status finish_output(void *context)
{
    return bb_index_build_finish(context);
}

struct bb_output_hooks bb_index_build_hooks(struct bb_index_build *build)
{
    return (struct bb_output_hooks){
        .begin = begin_output, .finish = finish_output, .context = build};
}

/* ---- results ---- */

static uint64_t number_for(const struct bb_index_build *build, const uint8_t *table_id)
{
    for (size_t i = 0; i < build->built_count; i++) {
        if (memcmp(build->built[i].table_id, table_id, sizeof(build->built[i].table_id)) == 0)
            return build->built[i].number;
    }
    return 0;
}

void bb_index_build_describe(const struct bb_index_build *build, struct bb_edit *edit)
{
    for (size_t i = 0; i < edit->added_count; i++)
        edit->added[i].index_number = number_for(build, edit->added[i].meta.table_id);
}

void bb_index_build_commit(struct bb_index_build *build)
{
    build->built_count = 0;
}
