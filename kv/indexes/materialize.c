/* Index files for tables that are there already. See bb/select.h.
 *
 * Each table is read once, in large pieces and past the cache; its index file is written next to it, and
 * one record of the manifest puts it in the place of the one before. A table that a compaction has
 * replaced in the meantime is passed over, and its outputs are looked at afterwards: a compaction that
 * had begun before an index was created does not build it. */
#include "base/sized_struct.h"
#include "base/status.h"
#include "bb/select.h"
#include "kv/background/flush.h"
#include "kv/background/install.h"
#include "kv/indexes/index_build.h"
#include "kv/indexes/index_file.h"
#include "kv/indexes/store_catalog.h"
#include "kv/inherited.h"
#include "kv/read_only.h"
#include "kv/indexes/table_index.h"

struct materialization {
    struct bb_db *db;
    struct bb_materialize_options options;
    struct bb_view *view; /* with a reference: the tables to look at */
    uint64_t table_count;
    uint64_t done;
    bool was_overtaken; /* tables of the view were replaced before they were done */
    /* The table at hand. */
    struct bb_table_file *file; /* borrowed from the view */
    struct bb_index_build build;
    struct bb_companion *index; /* one reference */
    bool is_replaced;           /* a compaction has replaced the table */
};

/* ---- what is there ---- */

static bool has_all(const struct bb_skip_file *file, const struct bb_catalog *catalog)
{
    struct bb_skip_index_info info;
    bool has_all = true;
    for (size_t i = 0; i < catalog->index_count && has_all; i++)
        has_all = bb_index_file_has(file, catalog, &catalog->specs[i], &info);
    return has_all;
}

/* Has the table's index file all indexes of the catalog? One that is missing or damaged has none. */
static enum bb_status look_at(struct bb_table_file *table, const struct bb_catalog *catalog,
                              bool *ret_is_complete)
{
    struct bb_skip_file *file = NULL;
    struct bb_companion *index = bb_table_file_companion(table);
    enum bb_status status = index == NULL ? BB_NOT_FOUND : bb_index_file_open(index, &file);
    *ret_is_complete = status == BB_OK && has_all(file, catalog);
    bb_companion_unref(index);
    return bb_index_file_is_lost(status) ? BB_OK : status;
}

/* ---- installing ---- */

/* Where the table is by now. False: a compaction has replaced it. */
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
    struct materialization *m = context;
    int level = 0;
    uint64_t run = 0;
    m->is_replaced = !find_table(levels, m->file, &level, &run);
    if (m->is_replaced)
        return bb_fail(BB_NOT_FOUND, "%s: the table was replaced", m->db->directory);
    enum bb_status status = bb_edit_remove_table(edit, m->file->number);
    if (status == BB_OK)
        status = bb_edit_add_run_table(edit, level, run, m->file->number, &m->file->meta);
    if (status == BB_OK)
        bb_edit_set_index(edit, m->index->number);
    return status;
}

static void put_in_force(void *context)
{
    struct materialization *m = context;
    bb_table_file_set_companion(m->file, m->index);
    m->index = NULL;
}

/* From the record on the file is the manifest's, or in doubt (kv/orphans.h). */
static enum bb_status install(struct materialization *m)
{
    struct bb_edit edit;
    struct bb_placing placing = {.place = place, .placed = put_in_force, .context = m};
    bb_edit_init(&edit);
    enum bb_status status = bb_store_mend_manifest(m->db);
    if (status == BB_OK)
        status = bb_store_install_placed(m->db, &edit, &placing);
    if (edit.added_count > 0)
        bb_index_build_commit(&m->build);
    bb_edit_deinit(&edit);
    m->was_overtaken |= m->is_replaced;
    return m->is_replaced ? BB_OK : status;
}

static enum bb_status build_and_install(struct materialization *m)
{
    enum bb_status status = bb_table_index_build(&m->build, m->file);
    if (status == BB_OK)
        status = bb_index_file_create(m->db, m->build.built[0].number, m->file->meta.table_id,
                                      &m->index);
    if (status == BB_OK)
        status = install(m);
    bb_companion_unref(m->index);
    m->index = NULL;
    return status;
}

static enum bb_status do_table(struct materialization *m, struct bb_table_file *file)
{
    m->file = file;
    m->is_replaced = false;
    bool is_complete = false;
    enum bb_status status = BB_OK;
    bb_index_build_init(&m->build, m->db, bb_store_files_of(m->db, BB_WORK_COMPACTION));
    if (m->build.catalog == NULL)
        is_complete = true;
    else if (!m->options.rebuild)
        status = look_at(file, m->build.catalog, &is_complete);
    if (status == BB_OK && !is_complete)
        status = build_and_install(m);
    bb_index_build_deinit(&m->build);
    m->done++;
    if (status == BB_OK && m->options.progress != NULL &&
        !m->options.progress(m->options.progress_context, m->done, m->table_count))
        status = bb_fail(BB_BUSY, "building indexes was ended after %llu of %llu tables",
                         (unsigned long long)m->done, (unsigned long long)m->table_count);
    return status;
}

static enum bb_status do_tables(struct materialization *m)
{
    const struct bb_levels *levels = m->view->levels;
    enum bb_status status = BB_OK;
    for (int level = 0; level < BB_LEVEL_COUNT; level++)
        m->table_count += bb_levels_table_count(levels, level);
    for (int level = 0; level < BB_LEVEL_COUNT; level++) {
        for (size_t i = 0; i < bb_levels_table_count(levels, level) && status == BB_OK; i++)
            status = do_table(m, bb_levels_table(levels, level, i));
    }
    return status;
}

/* Tables that came in the place of others have been written since, and are not built anew. */
static enum bb_status do_views(struct materialization *m)
{
    enum bb_status status = BB_OK;
    do {
        m->was_overtaken = false;
        m->view = bb_store_pin_view(m->db);
        status = do_tables(m);
        bb_store_release_view(m->db, m->view);
        m->options.rebuild = false;
    } while (status == BB_OK && m->was_overtaken);
    return status;
}

static const struct bb_sized_struct materialize_struct = {"struct bb_materialize_options",
                                                          sizeof(struct bb_materialize_options),
                                                          sizeof(struct bb_materialize_options)};

enum bb_status bb_db_index_materialize(struct bb_db *db,
                                       const struct bb_materialize_options *options)
{
    struct materialization m = {.db = db, .options = {.struct_size = sizeof(m.options)}};
    enum bb_status status =
        options == NULL ? BB_OK : bb_sized_struct_copy(&materialize_struct, options, &m.options);
    if (status == BB_OK)
        status = bb_store_check_process(db);
    if (status == BB_OK)
        status = bb_read_only_check(db, "building indexes");
    if (status == BB_OK)
        status = bb_store_begin_call(db);
    if (status != BB_OK)
        return status;
    status = do_views(&m);
    bb_store_end_call(db);
    return status;
}
