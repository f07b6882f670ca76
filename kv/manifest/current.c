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
    char path[BB_PATH_SIZE_MAX];
    struct bb_buf contents = {0};
    bb_filename_path(directory, BB_FILE_CURRENT, 0, path);
    enum bb_status status = bb_file_read_whole(fs, path, CURRENT_SIZE_MAX, &contents);
    if (status == BB_TOO_LARGE)
        status = bb_fail(BB_CORRUPT, "%s: longer than %d bytes, expected the name of a manifest",
                         path, CURRENT_SIZE_MAX);
    if (status == BB_OK)
        status = decode_current(bb_buf_bytes(&contents), path, ret_number);
    bb_buf_deinit(&contents);
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
    return bb_file_close_after(file, status);
}

enum bb_status bb_current_publish(struct bb_file_system *fs, const char *directory, uint64_t number)
{
    char temporary[BB_PATH_SIZE_MAX];
    char current[BB_PATH_SIZE_MAX];
    bb_filename_path(directory, BB_FILE_TEMPORARY, number, temporary);
    bb_filename_path(directory, BB_FILE_CURRENT, 0, current);
    enum bb_status status = fs->ops->sync_directory(fs, directory); /* sync S3 */
    if (status == BB_OK)
        status = write_temporary(fs, temporary, number);
    if (status == BB_OK)
        status = fs->ops->rename(fs, temporary, current);
    if (status == BB_OK)
        status = fs->ops->sync_directory(fs, directory); /* sync S5 */
    return status;
}
