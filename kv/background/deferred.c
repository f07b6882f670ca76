/* See deferred.h. */
#include "kv/background/deferred.h"

#include "base/status.h"
#include "kv/background/table_index.h"
#include "kv/indexes/index_demand.h"
#include "kv/indexes/store_catalog.h"
#include "kv/store/current_view.h"
#include "kv/store/work.h"

static struct bb_table_file *find_table_in(const struct bb_levels *levels, int level)
{
    for (size_t i = bb_levels_table_count(levels, level); i > 0; i--) {
        struct bb_table_file *file = bb_levels_table(levels, level, i - 1);
        if (bb_table_file_companion_number(file) == 0 && !atomic_load(&file->is_unindexable))
            return file;
    }
    return NULL;
}

/* A table whose deferred index file can be built, of level 0 the oldest; borrowed from the levels.
 * NULL: not found. */
static struct bb_table_file *find_table(struct bb_db *db, const struct bb_levels *levels)
{
    struct bb_table_file *file = NULL;
    for (int level = 0; level < BB_LEVEL_COUNT && file == NULL; level++)
        if (bb_index_demand_has_level(db, level))
            file = find_table_in(levels, level);
    return file;
}

/* Reports a table that cannot be read, once. Selections read it without an index, and a compaction
 * or a scrub finds the same damage. */
static enum bb_status give_up(struct bb_db *db, struct bb_table_file *file)
{
    struct bb_error found = *bb_error_last();
    struct bb_event event = {.kind = BB_EVENT_DAMAGE, .level = -1, .message = found.message};
    atomic_store(&file->is_unindexable, true);
    bb_store_event(db, &event);
    return BB_OK;
}

/* When the store is closed, or a flush needs the space, the build ends, which is not a failure. */
static enum bb_status build_table(struct bb_db *db, struct bb_table_file *file, bool *ret_did)
{
    bool is_replaced = false;
    struct bb_index_build build;
    bb_index_build_init(&build, db, bb_work_file_system(db, BB_WORK_COMPACTION));
    build.yields = true;
    enum bb_status status = BB_OK;
    if (build.catalog != NULL)
        status = bb_table_index_install(&build, file, &is_replaced);
    *ret_did = status == BB_OK && build.catalog != NULL;
    bb_index_build_deinit(&build);
    if (status == BB_CORRUPT)
        status = give_up(db, file);
    return status == BB_BUSY ? BB_OK : status;
}

enum bb_status bb_deferred_build_some(struct bb_db *db, bool is_quiet, bool *ret_did)
{
    *ret_did = false;
    db->has_deferred = false;
    bool is_demanded = bb_index_demand_take_worker(db);
    if (!bb_store_catalog_has_indexes(db))
        return BB_OK;
    enum bb_status status = BB_OK;
    struct bb_levels *levels = bb_current_view_ref_levels(db);
    struct bb_table_file *file = find_table(db, levels);
    db->has_deferred = file != NULL;
    if (file != NULL && (is_quiet || is_demanded))
        status = build_table(db, file, ret_did);
    if (file != NULL && is_demanded)
        bb_index_demand_keep_worker(db);
    bb_levels_unref(levels);
    return status;
}
