/* Builds index files for existing tables. See bb/select.h.
 *
 * Each table is read once, in large pieces and bypassing the cache. Its index file is written, and
 * one record of the manifest replaces the previous one. Without indexes in the catalog, damaged
 * files of dropped indexes are removed. A table that a compaction has replaced in the meantime is
 * skipped, and the outputs of the compaction are checked afterwards: a compaction that started
 * before an index was created does not build it.
 */
#include "base/status.h"
#include "bb/select.h"
#include "kv/background/table_index.h"
#include "kv/indexes/index_build.h"
#include "kv/indexes/index_file.h"
#include "kv/indexes/store_catalog.h"
#include "kv/store/call.h"
#include "kv/store/current_view.h"
#include "kv/store/work.h"

struct materialization {
    struct bb_db *db;
    struct bb_materialize_options options;
    struct bb_view *view; /* with a reference: the tables to check */
    uint64_t table_count;
    uint64_t done;
    bool was_overtaken; /* tables of the view were replaced before they were done */
    bool reads_all;     /* existing index files are verified: in the first view only */
};

/* ---- checking ---- */

static bool has_all(const struct bb_skip_file *file, const struct bb_catalog *catalog)
{
    struct bb_skip_index_info info;
    bool has_all = true;
    for (size_t i = 0; i < catalog->index_count && has_all; i++)
        has_all = bb_index_file_has(file, catalog, &catalog->specs[i], &info);
    return has_all;
}

/* Reports an index file that the device cannot read. The call replaces it, and succeeds. */
static enum bb_status tell_unreadable(struct bb_db *db)
{
    struct bb_error failure = *bb_error_last();
    struct bb_event event = {.kind = BB_EVENT_DAMAGE, .level = -1, .message = failure.message};
    bb_store_event(db, &event);
    return BB_OK;
}

/* Checks that the table's index file has all indexes of the catalog. A file that is missing,
 * damaged or unreadable has no indexes: it is replaced, because its data is in the table. */
static enum bb_status look_at(const struct materialization *m, struct bb_table_file *table,
                              const struct bb_catalog *catalog, bool *ret_is_complete)
{
    struct bb_skip_file *file = NULL;
    struct bb_companion *index = bb_table_file_companion(table);
    enum bb_status status = index == NULL ? BB_NOT_FOUND : bb_index_file_open(index, &file);
    bool has_indexes = status == BB_OK && has_all(file, catalog);
    if (has_indexes)
        status = bb_index_file_check_place(index);
    if (has_indexes && status == BB_OK && m->reads_all)
        status = bb_skip_file_verify(file);
    *ret_is_complete = has_indexes && status == BB_OK;
    bb_companion_unref(index);
    if (status == BB_IO)
        return tell_unreadable(m->db);
    return bb_index_file_is_lost(status) ? BB_OK : status;
}

/* Gives the table a new index file, or none if the catalog has no indexes. */
static enum bb_status replace(struct materialization *m, struct bb_index_build *build,
                              struct bb_table_file *file)
{
    bool is_replaced = false;
    enum bb_status status = BB_OK;
    if (build->catalog != NULL)
        status = bb_table_index_install(build, file, &is_replaced);
    else if (bb_table_file_companion_number(file) != 0)
        status = bb_table_index_drop(m->db, file, &is_replaced);
    m->was_overtaken |= is_replaced;
    return status;
}

static enum bb_status do_table(struct materialization *m, struct bb_table_file *file)
{
    bool is_complete = false;
    struct bb_index_build build;
    struct bb_catalog *catalog = bb_store_catalog_ref(m->db);
    enum bb_status status = BB_OK;
    bb_index_build_init_with(&build, m->db, bb_work_file_system(m->db, BB_WORK_COMPACTION),
                             catalog);
    if (!m->options.rebuild)
        status = look_at(m, file, catalog, &is_complete);
    if (status == BB_OK && !is_complete)
        status = replace(m, &build, file);
    bb_index_build_deinit(&build);
    bb_catalog_unref(catalog);
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

/* Tables that replaced others were written during this call, and need no rebuild. */
static enum bb_status do_views(struct materialization *m)
{
    enum bb_status status = BB_OK;
    do {
        m->was_overtaken = false;
        m->view = bb_current_view_pin(m->db);
        status = do_tables(m);
        bb_current_view_unpin(m->db, m->view);
        m->options.rebuild = false;
        m->reads_all = false;
    } while (status == BB_OK && m->was_overtaken);
    return status;
}

enum bb_status bb_db_index_materialize(struct bb_db *db,
                                       const struct bb_materialize_options *options)
{
    struct materialization m = {.db = db, .reads_all = true};
    struct bb_error before; /* the replacement of a table is an expected failure */
    bb_error_save(&before);
    enum bb_status status = bb_call_begin_change(db, "building indexes");
    if (options != NULL)
        m.options = *options;
    if (status != BB_OK)
        return status;
    status = do_views(&m);
    bb_call_end(db);
    return bb_error_settle(status, &before);
}
