/* See presence.h. */
#include "kv/store/presence.h"

#include "base/status.h"
#include "kv/manifest/filename.h"
#include "kv/manifest/manifest.h"

static enum bb_status find(struct bb_db *db, const char *path, bool *ret_is_there)
{
    bool is_directory = false;
    uint64_t size = 0;
    enum bb_status status = db->system->ops->status(db->system, path, &is_directory, &size);
    if (status != BB_OK && status != BB_NOT_FOUND)
        return status;
    *ret_is_there = status == BB_OK;
    return BB_OK;
}

static enum bb_status check_file(struct bb_db *db, enum bb_file_kind kind, uint64_t number)
{
    char path[BB_PATH_SIZE_MAX];
    bool is_there = true;
    bb_filename_path(db->directory, kind, number, path);
    enum bb_status status = find(db, path, &is_there);
    if (status == BB_OK && !is_there)
        status =
            bb_fail(BB_IO,
                    "%s: was removed while the store was open. Its data is lost when the process "
                    "ends. bb_db_verify lists the remaining data, bb_db_repair recovers that data",
                    path);
    return status;
}

enum bb_status bb_presence_find_log(struct bb_db *db, bool *ret_is_there)
{
    char path[BB_PATH_SIZE_MAX];
    *ret_is_there = true;
    if (db->active->log == NULL)
        return BB_OK;
    bb_filename_path(db->directory, BB_FILE_LOG, db->active->log_number, path);
    return find(db, path, ret_is_there);
}

enum bb_status bb_presence_check_log(struct bb_db *db)
{
    return db->active->log == NULL ? BB_OK : check_file(db, BB_FILE_LOG, db->active->log_number);
}

enum bb_status bb_presence_check(struct bb_db *db)
{
    if (db->manifest == NULL) /* read_only: no write was acknowledged */
        return BB_OK;
    enum bb_status status = check_file(db, BB_FILE_CURRENT, 0);
    return status == BB_OK ? check_file(db, BB_FILE_MANIFEST, bb_manifest_number(db->manifest))
                           : status;
}
