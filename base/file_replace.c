/* Replaces the contents of a file atomically: at every moment it has the old or the new
 * contents. */
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/path.h"
#include "base/status.h"

/* path.<16 digits>.tmp, terminated: a name that no other writer takes. */
static enum bb_status temporary_name(struct bb_file_system *fs, const char *path,
                                     struct bb_buf *name)
{
    uint64_t number = 0;
    enum bb_status status = fs->ops->random(fs, &number, sizeof(number));
    if (status == BB_OK)
        status = bb_buf_print(name, "%s.%016llx.tmp", path, (unsigned long long)number);
    if (status == BB_OK)
        status = bb_buf_append(name, "", 1);
    return status;
}

static enum bb_status write_new(struct bb_file_system *fs, const char *path, struct bb_bytes bytes)
{
    struct bb_file *file = NULL;
    enum bb_status status = bb_file_create(fs, path, &file);
    if (status != BB_OK)
        return status;
    status = bb_file_append(file, bytes);
    if (status == BB_OK)
        status = bb_file_sync(file);
    return bb_file_close_after(file, status);
}

/* Writes the temporary file and moves it; after a failure it is removed. */
static enum bb_status write_and_move(struct bb_file_system *fs, const char *temporary,
                                     const char *path, struct bb_bytes bytes, bb_file_mover *move)
{
    enum bb_status status = write_new(fs, temporary, bytes);
    if (status == BB_EXISTS) /* another writer's file */
        return status;
    if (status == BB_OK)
        status = move(fs, temporary, path);
    if (status == BB_OK)
        return BB_OK;
    struct bb_error first = *bb_error_last();
    if (fs->ops->remove(fs, temporary) != BB_OK) /* it may not exist; the first failure counts */
        (void)bb_error_restore(&first);
    return status;
}

enum bb_status bb_file_replace_by(struct bb_file_system *fs, const char *path,
                                  struct bb_bytes bytes, bb_file_mover *move)
{
    struct bb_buf temporary = {0};
    enum bb_status status = temporary_name(fs, path, &temporary);
    if (status == BB_OK)
        status = write_and_move(fs, (const char *)temporary.data, path, bytes, move);
    if (status == BB_OK)
        status = bb_file_sync_parent(fs, path);
    bb_buf_deinit(&temporary);
    return status;
}

enum bb_status bb_file_replace(struct bb_file_system *fs, const char *path, struct bb_bytes bytes)
{
    return bb_file_replace_by(fs, path, bytes, fs->ops->rename);
}
