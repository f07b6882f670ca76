/* Hard links for repaired files. See repair.h. */
#include "base/status.h"
#include "kv/repair/repair.h"

static enum bb_status copy_open(struct bb_file_system *fs, struct bb_file *from, const char *to)
{
    struct bb_file *copy = NULL;
    enum bb_status status = bb_file_create(fs, to, &copy);
    if (status != BB_OK)
        return status;
    status = bb_file_copy_bytes(from, copy);
    if (status == BB_OK)
        status = bb_file_sync(copy); /* sync S20 */
    struct bb_error failure = *bb_error_last();
    enum bb_status closed = bb_file_close(copy);
    if (status == BB_OK && closed == BB_OK)
        return BB_OK;
    status = status == BB_OK ? closed : bb_error_restore(&failure);
    failure = *bb_error_last();
    (void)!fs->ops->remove(fs, to);
    return bb_error_restore(&failure);
}

static enum bb_status copy_file(struct bb_file_system *fs, const char *from, const char *to)
{
    struct bb_file *file = NULL;
    enum bb_status status = bb_file_open(fs, from, &file);
    if (status != BB_OK)
        return status;
    status = copy_open(fs, file, to);
    struct bb_error failure = *bb_error_last();
    enum bb_status closed = bb_file_close(file);
    return status == BB_OK ? closed : bb_error_restore(&failure);
}

enum bb_status bb_repair_link_file(struct bb_file_system *fs, const char *from, const char *to)
{
    enum bb_status status = fs->ops->link(fs, from, to);
    return status == BB_UNSUPPORTED ? copy_file(fs, from, to) : status;
}

enum bb_status bb_repair_link_table(struct bb_repair *repair, uint64_t from, uint64_t to)
{
    struct bb_buf from_path = {0};
    struct bb_buf to_path = {0};
    enum bb_status status = bb_filename_path(repair->path, BB_FILE_TABLE, from, &from_path);
    if (status == BB_OK)
        status = bb_filename_path(repair->path, BB_FILE_TABLE, to, &to_path);
    if (status == BB_OK)
        status = bb_repair_link_file(repair->fs, (const char *)from_path.data,
                                     (const char *)to_path.data);
    bb_buf_deinit(&from_path);
    bb_buf_deinit(&to_path);
    return status;
}
