/* See current.h. docs/durability.md, "Publishing a manifest", defines the order of calls. */
#include "kv/manifest/current.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/status.h"
#include "kv/manifest/filename.h"

/* Longer than any valid contents. */
#define CURRENT_SIZE_MAX 64

static enum bb_status decode_current(struct bb_bytes contents, const char *path,
                                     uint64_t *ret_number)
{
    char found[4 * CURRENT_SIZE_MAX + 1];
    if (contents.size > 0 && contents.data[contents.size - 1] == '\n') {
        struct bb_filename name = bb_filename_decode(bb_bytes_of(contents.data, contents.size - 1));
        if (name.kind == BB_FILE_MANIFEST) {
            *ret_number = name.number;
            return BB_OK;
        }
    }
    return bb_corrupt((struct bb_place){.file = path}, 0,
                      "found \"%s\", expected exactly the name of a manifest and a newline",
                      bb_bytes_escape(contents, found, sizeof(found)));
}

enum bb_status bb_current_read(struct bb_file_system *fs, const char *directory,
                               uint64_t *ret_number)
{
    struct bb_buf path = {0};
    struct bb_buf contents = {0};
    enum bb_status status = bb_filename_path(directory, BB_FILE_CURRENT, 0, &path);
    if (status != BB_OK)
        return status;
    status = bb_file_read_whole(fs, (const char *)path.data, CURRENT_SIZE_MAX, &contents);
    if (status == BB_TOO_LARGE)
        status = bb_fail(BB_CORRUPT, "%s: longer than %d bytes, expected the name of a manifest",
                         (const char *)path.data, CURRENT_SIZE_MAX);
    if (status == BB_OK)
        status = decode_current(bb_buf_bytes(&contents), (const char *)path.data, ret_number);
    bb_buf_deinit(&contents);
    bb_buf_deinit(&path);
    return status;
}

static enum bb_status write_temporary(struct bb_file_system *fs, const char *path, uint64_t number)
{
    char name[BB_FILENAME_SIZE_MAX];
    char line[BB_FILENAME_SIZE_MAX + 1];
    struct bb_file *file = NULL;
    bb_filename_encode(BB_FILE_MANIFEST, number, name);
    snprintf(line, sizeof(line), "%s\n", name);
    enum bb_status status = bb_file_create(fs, path, &file);
    if (status != BB_OK)
        return status;
    status = bb_file_append(file, bb_bytes_of_text(line));
    if (status == BB_OK)
        status = bb_file_sync(file); /* sync S4 */
    if (status == BB_OK)
        return bb_file_close(file);
    struct bb_error first = *bb_error_last();
    enum bb_status closed = bb_file_close(file);
    return closed == BB_OK ? status : bb_error_restore(&first);
}

enum bb_status bb_current_publish(struct bb_file_system *fs, const char *directory, uint64_t number)
{
    struct bb_buf temporary = {0};
    struct bb_buf current = {0};
    enum bb_status status = bb_filename_path(directory, BB_FILE_TEMPORARY, number, &temporary);
    if (status == BB_OK)
        status = bb_filename_path(directory, BB_FILE_CURRENT, 0, &current);
    if (status == BB_OK)
        status = fs->ops->sync_directory(fs, directory); /* sync S3 */
    if (status == BB_OK)
        status = write_temporary(fs, (const char *)temporary.data, number);
    if (status == BB_OK)
        status = fs->ops->rename(fs, (const char *)temporary.data, (const char *)current.data);
    if (status == BB_OK)
        status = fs->ops->sync_directory(fs, directory); /* sync S5 */
    bb_buf_deinit(&temporary);
    bb_buf_deinit(&current);
    return status;
}
