/* See unsynced.h. A file system and its files begin with a table of functions, so a changed copy of
 * the table changes them. */
#include "redis/store/unsynced.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "redis/store/root.h"
#include "redis/store/thread.h"

static struct bb_redis_lock lock = BB_REDIS_LOCK_INITIALIZER;
static bool has_tables;
static bool has_file_table;
static const struct bb_file_system_ops *system_files;
static struct bb_file_system_ops system_ops;
static struct bb_file_ops file_ops;

static enum bb_status sync_nothing(struct bb_file *file)
{
    (void)file;
    return BB_OK;
}

static enum bb_status sync_no_directory(struct bb_file_system *fs, const char *path)
{
    (void)fs;
    (void)path;
    return BB_OK;
}

static void change_file(struct bb_file *file)
{
    bb_redis_lock_enter(&lock);
    if (!has_file_table) {
        file_ops = *file->ops;
        file_ops.sync = sync_nothing;
        has_file_table = true;
    }
    bb_redis_lock_leave(&lock);
    file->ops = &file_ops;
}

static enum bb_status create_unsynced(struct bb_file_system *fs, const char *path,
                                      struct bb_file **ret_file)
{
    enum bb_status status = system_files->create(fs, path, ret_file);
    if (status == BB_OK)
        change_file(*ret_file);
    return status;
}

static void change_system(struct bb_file_system *fs)
{
    bb_redis_lock_enter(&lock);
    if (!has_tables) {
        system_files = fs->ops;
        system_ops = *fs->ops;
        system_ops.create = create_unsynced;
        system_ops.sync_directory = sync_no_directory;
        has_tables = true;
    }
    bb_redis_lock_leave(&lock);
    fs->ops = &system_ops;
}

enum bb_status bb_redis_unsynced_create(struct bb_file_system **ret_fs)
{
    enum bb_status status = bb_file_system_posix_create(ret_fs);
    if (status == BB_OK)
        change_system(*ret_fs);
    return status;
}

/* ---- saved states ---- */

static enum bb_status fail(const char *path, int error)
{
    char message[BB_REDIS_PATH_SIZE_MAX + 128];
    snprintf(message, sizeof(message), "%.4000s: sync: %s", path, strerror(error));
    return bb_error_set(error == ENOSPC || error == EDQUOT ? BB_NO_SPACE : BB_IO, message);
}

static enum bb_status sync_path(const char *path)
{
    int handle = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (handle < 0)
        return fail(path, errno);
    int error = fsync(handle) == 0 ? 0 : errno;
    (void)close(handle);
    return error == 0 ? BB_OK : fail(path, error);
}

static enum bb_status sync_files(const char *directory, const struct bb_file_names *names)
{
    enum bb_status status = BB_OK;
    for (size_t i = 0; i < names->count && status == BB_OK; i++) {
        struct bb_redis_path path = bb_redis_root_join(directory, names->names[i]);
        status = sync_path(path.text);
    }
    return status;
}

enum bb_status bb_redis_unsynced_settle(const char *directory)
{
    struct bb_file_names names = {0};
    const struct bb_redis_path parent = bb_redis_root_join(directory, "..");
    enum bb_status status = bb_redis_root_list(directory, &names);
    if (status == BB_OK)
        status = sync_files(directory, &names);
    if (status == BB_OK)
        status = sync_path(directory);
    if (status == BB_OK)
        status = sync_path(parent.text);
    bb_file_names_deinit(&names);
    return status;
}
