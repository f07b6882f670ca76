/* The catalog and the index files of a repaired store. See repair.h.
 *
 *     sound, of a kept table     kept for any number of the table: it is bound to the table's id
 *     all others                 removed: they have no data that is not in their tables
 */
#include <inttypes.h>

#include "base/status.h"
#include "kv/indexes/catalog.h"
#include "kv/indexes/index_check.h"
#include "kv/repair/repair.h"

static void drop(struct bb_repair *repair, const struct bb_edit_table *table)
{
    bb_repair_tell(repair,
                   "the index file of table %" PRIu64 " is dropped, which costs reads until it is "
                   "built anew: %s",
                   table->number, bb_error_last()->message);
    repair->report.indexes_dropped++;
}

enum bb_status bb_repair_keep_index(struct bb_repair *repair, const struct bb_edit_table *table)
{
    struct bb_table_options options;
    if (table->index_number == 0)
        return BB_OK;
    bb_repair_table_options(repair, 0, &options);
    enum bb_status status = bb_index_check(repair->path, table, &options);
    if (status == BB_OK) {
        bb_edit_set_index(&repair->edit, table->index_number);
        repair->report.indexes_kept++;
        return BB_OK;
    }
    if (status != BB_CORRUPT)
        return status;
    drop(repair, table);
    return BB_OK;
}

enum bb_status bb_repair_catalog(struct bb_repair *repair)
{
    struct bb_catalog *catalog = NULL;
    struct bb_bytes bytes = bb_buf_bytes(&repair->state.catalog);
    if (bytes.size == 0)
        return BB_OK;
    enum bb_status status =
        bb_catalog_decode(bytes, (struct bb_place){.file = repair->path}, &catalog);
    if (status == BB_CORRUPT) {
        bb_repair_tell(repair, "attributes and indexes are no longer defined: %s",
                       bb_error_last()->message);
        return BB_OK;
    }
    if (status == BB_OK)
        status = bb_edit_set_catalog(&repair->edit, bytes);
    bb_catalog_unref(catalog);
    return status;
}

static bool is_kept(const struct bb_repair *repair, uint64_t index_number)
{
    for (size_t i = 0; i < repair->edit.added_count; i++) {
        if (repair->edit.added[i].index_number == index_number)
            return true;
    }
    return false;
}

bool bb_repair_is_spare_index(const struct bb_repair *repair, const struct bb_directory_file *file)
{
    return file->is.kind == BB_FILE_INDEX && !is_kept(repair, file->is.number);
}
