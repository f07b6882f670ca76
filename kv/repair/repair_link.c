/* Hard links for repaired files. See repair.h. */
#include "base/status.h"
#include "kv/repair/repair.h"

static enum bb_status copy_file(struct bb_file_system *fs, const char *from, const char *to)
{
    enum bb_status status = bb_file_copy_synced(fs, from, to); /* sync S20 */
    if (status == BB_OK || status == BB_EXISTS)
        return status;
    struct bb_error failure = *bb_error_last();
    (void)!fs->ops->remove(fs, to);
    return bb_error_restore(&failure);
}

enum bb_status bb_repair_link_file(struct bb_file_system *fs, const char *from, const char *to)
{
    enum bb_status status = fs->ops->link(fs, from, to);
    return status == BB_UNSUPPORTED ? copy_file(fs, from, to) : status;
}

enum bb_status bb_repair_link_table(struct bb_repair *repair, uint64_t from, uint64_t to)
{
    char from_path[BB_PATH_SIZE_MAX];
    char to_path[BB_PATH_SIZE_MAX];
    bb_filename_path(repair->path, BB_FILE_TABLE, from, from_path);
    bb_filename_path(repair->path, BB_FILE_TABLE, to, to_path);
    return bb_repair_link_file(repair->fs, from_path, to_path);
}
