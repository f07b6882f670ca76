/* Lists a store's indexes and their sizes. See bb/select.h. */
#include "base/alloc.h"
#include "base/status.h"
#include "bb/select.h"
#include "kv/indexes/index_demand.h"
#include "kv/indexes/index_file.h"
#include "kv/indexes/store_catalog.h"
#include "kv/store/current_view.h"
#include "kv/store/inherited.h"

void bb_db_index_list_deinit(struct bb_db_index_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        bb_free(list->indexes[i].name);
        bb_free(list->indexes[i].spec);
        bb_free(list->indexes[i].definition);
    }
    bb_free(list->indexes);
    *list = (struct bb_db_index_list){0};
}

static enum bb_status describe(const struct bb_catalog *catalog, size_t index,
                               struct bb_db_index *described)
{
    struct bb_buf text = {0};
    const struct bb_skip_spec *spec = &catalog->specs[index];
    enum bb_status status = bb_skip_spec_print(spec, catalog->schema, &text);
    if (status == BB_OK)
        status = bb_buf_append(&text, "", 1);
    if (status == BB_OK) {
        described->name = bb_strdup(catalog->names[index]);
        described->spec = bb_strdup((const char *)text.data);
        described->definition = bb_strdup(bb_schema_definition(catalog->schema, spec->attribute));
    }
    bb_buf_deinit(&text);
    if (status != BB_OK)
        return status;
    bool is_whole =
        described->name != NULL && described->spec != NULL && described->definition != NULL;
    return is_whole ? BB_OK : bb_fail(BB_NO_MEMORY, "no memory for a list of indexes");
}

static enum bb_status describe_all(const struct bb_catalog *catalog, struct bb_db_index_list *list)
{
    enum bb_status status = BB_OK;
    list->indexes = bb_alloc_zeroed(catalog->index_count + 1, sizeof(*list->indexes));
    if (list->indexes == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for a list of %zu indexes", catalog->index_count);
    list->count = catalog->index_count;
    for (size_t i = 0; i < list->count && status == BB_OK; i++)
        status = describe(catalog, i, &list->indexes[i]);
    return status;
}

static void count_file(const struct bb_skip_file *file, const struct bb_catalog *catalog,
                       struct bb_db_index_list *list)
{
    struct bb_skip_index_info info;
    list->file_count++;
    list->file_bytes += bb_skip_file_size(file);
    for (size_t i = 0; i < list->count; i++) {
        if (!bb_index_file_has(file, catalog, &catalog->specs[i], &info)) {
            list->indexes[i].tables_of_other_words +=
                bb_index_file_has_other_words(file, catalog, &catalog->specs[i]);
            continue;
        }
        list->indexes[i].tables_built++;
        list->indexes[i].size_bytes += info.size_bytes;
        list->indexes[i].pairs += info.pair_count;
        list->indexes[i].granules += bb_skip_file_granule_count(file);
    }
}

/* The index file of a table is damaged, missing, of a newer version, or cannot be read. */
static void count_unreadable(struct bb_db_index_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        list->indexes[i].tables_unreadable++;
}

/* is_indexed: the store builds the index file if the table lacks one. */
static enum bb_status count_table(struct bb_table_file *table, bool is_indexed,
                                  const struct bb_catalog *catalog, struct bb_db_index_list *list)
{
    struct bb_skip_file *file = NULL;
    struct bb_companion *index = bb_table_file_companion(table);
    for (size_t i = 0; i < list->count; i++) {
        list->indexes[i].tables++;
        list->indexes[i].tables_pending += index == NULL && is_indexed;
    }
    enum bb_status status = index == NULL ? BB_NOT_FOUND : bb_index_file_open(index, &file);
    if (status == BB_OK)
        count_file(file, catalog, list);
    if (index != NULL && bb_index_file_is_unreadable(status))
        count_unreadable(list);
    bb_companion_unref(index);
    return bb_index_file_is_unreadable(status) ? BB_OK : status;
}

static enum bb_status count_tables(const struct bb_db *db, const struct bb_levels *levels,
                                   const struct bb_catalog *catalog, struct bb_db_index_list *list)
{
    enum bb_status status = BB_OK;
    for (int level = 0; level < BB_LEVEL_COUNT; level++) {
        for (size_t i = 0; i < bb_levels_table_count(levels, level) && status == BB_OK; i++)
            status = count_table(bb_levels_table(levels, level, i),
                                 bb_index_demand_has_level(db, level), catalog, list);
    }
    return status;
}

enum bb_status bb_db_index_list(struct bb_db *db, struct bb_db_index_list *ret_list)
{
    struct bb_db_index_list list = {0};
    struct bb_error before;
    enum bb_status status = bb_inherited_check(db);
    if (status != BB_OK)
        return status;
    bb_error_save(&before);
    struct bb_catalog *catalog = bb_store_catalog_ref(db);
    status = describe_all(catalog, &list);
    if (status == BB_OK) {
        struct bb_view *view = bb_current_view_pin(db);
        status = count_tables(db, view->levels, catalog, &list);
        bb_current_view_unpin(db, view);
    }
    bb_catalog_unref(catalog);
    if (status == BB_OK)
        *ret_list = list;
    else
        bb_db_index_list_deinit(&list);
    return bb_error_settle(status, &before);
}
