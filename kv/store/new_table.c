/* See new_table.h. */
#include "kv/store/new_table.h"

#include "base/status.h"
#include "kv/manifest/filename.h"

enum bb_status bb_new_table_rename(struct bb_db *db, uint64_t number, uint64_t new_number)
{
    struct bb_buf from = {0};
    struct bb_buf to = {0};
    enum bb_status status = bb_filename_path(db->directory, BB_FILE_NEW_TABLE, number, &from);
    if (status == BB_OK)
        status = bb_filename_path(db->directory, BB_FILE_TABLE, new_number, &to);
    if (status == BB_OK)
        status =
            db->system->ops->rename(db->system, (const char *)from.data, (const char *)to.data);
    bb_buf_deinit(&from);
    bb_buf_deinit(&to);
    return status;
}

void bb_new_table_remove(struct bb_db *db, uint64_t number)
{
    struct bb_error failure = *bb_error_last();
    struct bb_buf path = {0};
    if (bb_filename_path(db->directory, BB_FILE_NEW_TABLE, number, &path) == BB_OK)
        (void)!db->system->ops->remove(db->system, (const char *)path.data);
    bb_buf_deinit(&path);
    if (failure.status != BB_OK)
        (void)bb_error_restore(&failure);
}
