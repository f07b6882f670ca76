/* Unnamed tables that are newer than all named ones: an unreadable edit at the end of the manifest
 * has added them. See repair.h and kv/directory/unnamed.h.
 *
 * They become the newest runs of level 0, in the order of their sequences.
 */
#include "base/status.h"
#include "kv/repair/repair.h"

bool bb_repair_has_newer(const struct bb_repair *repair, uint64_t sequence)
{
    return bb_unnamed_first_above(&repair->unnamed, sequence) < repair->unnamed.count;
}

static enum bb_status take(struct bb_repair *repair, const struct bb_unnamed_table *unnamed,
                           const char *path)
{
    struct bb_table_options options;
    struct bb_table_verify_report report;
    struct bb_table *table = NULL;
    uint64_t number = 0;
    bb_repair_table_options(repair, 0, &options);
    enum bb_status status = bb_table_verify(path, &options, &report);
    if (status == BB_OK)
        status = bb_table_open(path, &options, &table);
    if (status == BB_OK)
        status = bb_repair_new_number(repair, &number);
    if (status == BB_OK)
        status = bb_repair_keep_table(repair, 0, 0, number, bb_table_meta(table));
    bb_table_close(table);
    if (status == BB_OK && !repair->how.dry_run)
        status = bb_repair_link_table(repair, unnamed->number, number);
    return status;
}

static enum bb_status judge(struct bb_repair *repair, const struct bb_unnamed_table *unnamed,
                            uint64_t known_sequence)
{
    const struct bb_directory_file *file = bb_repair_find(repair, BB_FILE_TABLE, unnamed->number);
    char path[BB_PATH_SIZE_MAX];
    enum bb_status status = BB_OK;
    bb_filename_path(repair->path, BB_FILE_TABLE, unnamed->number, path);
    if (unnamed->sequence_max > known_sequence)
        status = take(repair, unnamed, path);
    if (status != BB_OK && status != BB_CORRUPT)
        return status;
    if (status == BB_OK && unnamed->sequence_max > known_sequence) {
        bb_repair_tell(repair, "%s is taken: it is newer than all that the manifest names",
                       file->name);
        return BB_OK;
    }
    bb_repair_leave(repair, file,
                    status == BB_CORRUPT ? bb_error_last()->message
                                         : "the manifest does not name it");
    return BB_OK;
}

/* A flush that crashed has left a table with data that the kept logs have too. */
static uint64_t known_sequence_of(const struct bb_repair *repair)
{
    uint64_t in_tables = repair->edit.last_sequence;
    return repair->kept_sequence > in_tables ? repair->kept_sequence : in_tables;
}

enum bb_status bb_repair_newer(struct bb_repair *repair)
{
    const struct bb_unnamed *list = &repair->unnamed;
    uint64_t known_sequence = known_sequence_of(repair);
    enum bb_status status = BB_OK;
    for (size_t i = bb_unnamed_first_above(list, repair->state.last_sequence);
         i < list->count && status == BB_OK; i++)
        status = judge(repair, &list->tables[i], known_sequence);
    return status;
}
