/* See filter_file.h. */
#include "tools/filter/filter_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/file.h"
#include "base/path.h"
#include "base/status.h"
#include "standalone/filter_file.h"

/* The magic of docs/format-filter-file.md, and of docs/filters.md for a bare envelope. */
#define FILE_MAGIC "BBFLFILE"
#define BARE_MAGIC "BBFILTER"
#define MAGIC_SIZE 8

/* The largest filter has about 2^32 keys of 40 bits each. */
#define SIZE_LIMIT (UINT64_C(1) << 40)

/* --- Names --- */

/* The target of the path after following links; the path itself if no file exists. Owned:
 * free(). */
static enum bb_status resolve(const char *path, char **ret_target)
{
    char *target = realpath(path, NULL);
    if (target == NULL && errno == ENOENT)
        target = strdup(path);
    if (target == NULL)
        return bb_fail_errno(errno, "resolve", path);
    *ret_target = target;
    return BB_OK;
}

/* --- Reading --- */

void filter_file_deinit(struct filter_file *file)
{
    bb_buf_deinit(&file->contents);
    *file = (struct filter_file){0};
}

enum bb_status filter_file_context(const struct filter_file *file, const char *path,
                                   enum bb_status status)
{
    if (status == BB_OK)
        return BB_OK;
    if (file->is_bare || status != BB_CORRUPT)
        return bb_fail_context(status, "%s", path);
    return bb_fail_context(status, "%s: from offset %d on", path, BB_FILTER_FILE_HEADER_SIZE);
}

static bool begins_with(struct bb_bytes bytes, const char *magic)
{
    return bytes.size >= MAGIC_SIZE && memcmp(bytes.data, magic, MAGIC_SIZE) == 0;
}

/* Reads the header, or all of a shorter file. */
static enum bb_status read_beginning(struct bb_file *file, uint8_t data[BB_FILTER_FILE_HEADER_SIZE],
                                     struct bb_bytes *ret_beginning, uint64_t *ret_file_size)
{
    enum bb_status status = bb_file_size(file, ret_file_size);
    size_t size = *ret_file_size < BB_FILTER_FILE_HEADER_SIZE ? (size_t)*ret_file_size
                                                              : BB_FILTER_FILE_HEADER_SIZE;
    *ret_beginning = bb_bytes_of(data, size);
    return status == BB_OK ? bb_file_read_exactly(file, 0, data, size) : status;
}

/* Files of other programs, and damaged ones, may be large: the first bytes identify them. */
static enum bb_status check_beginning(struct bb_file_system *fs, const char *target,
                                      const char *path)
{
    uint8_t data[BB_FILTER_FILE_HEADER_SIZE];
    struct bb_bytes bytes = {.data = data};
    uint64_t file_size = 0;
    struct bb_file *file = NULL;
    enum bb_status status = bb_file_open(fs, target, &file);
    if (status != BB_OK)
        return status;
    status = bb_file_close_after(file, read_beginning(file, data, &bytes, &file_size));
    if (status != BB_OK)
        return status;
    if (!begins_with(bytes, FILE_MAGIC) && !begins_with(bytes, BARE_MAGIC))
        return bb_corrupt((struct bb_place){.file = target}, 0,
                          "begins neither with " FILE_MAGIC
                          " as a filter's file nor with " BARE_MAGIC " as an envelope");
    status = bb_filter_file_check_beginning(bytes, file_size);
    return status == BB_OK ? BB_OK : bb_fail_context(status, "%s", path);
}

static enum bb_status read_contents(const char *path, struct bb_buf *contents)
{
    struct bb_file_system *fs = NULL;
    char *target = NULL;
    enum bb_status status = resolve(path, &target);
    if (status == BB_OK)
        status = bb_file_system_posix_create(&fs);
    if (status == BB_OK)
        status = check_beginning(fs, target, path);
    if (status == BB_OK)
        status = bb_file_read_whole(fs, target, SIZE_LIMIT, contents);
    if (status == BB_NOT_FOUND)
        status = bb_fail(BB_IO, "%s: no such file", path);
    bb_file_system_posix_destroy(fs);
    free(target);
    return status;
}

enum bb_status filter_file_read(const char *path, struct filter_file *ret_file)
{
    struct filter_file file = {0};
    enum bb_status status = read_contents(path, &file.contents);
    if (status != BB_OK)
        return status;
    struct bb_bytes bytes = bb_buf_bytes(&file.contents);
    file.is_bare = begins_with(bytes, BARE_MAGIC);
    if (file.is_bare)
        file.parts.envelope = bytes;
    else
        status = bb_filter_file_decode(bytes, &file.parts);
    if (status != BB_OK) {
        filter_file_deinit(&file);
        return bb_fail_context(status, "%s", path);
    }
    *ret_file = file;
    return BB_OK;
}

enum bb_status filter_file_view(const struct filter_file *file, const char *path,
                                struct bb_filter_view *view)
{
    return filter_file_context(file, path, bb_filter_view_init(view, file->parts.envelope));
}

enum bb_status filter_file_check_hash(const struct filter_file *file, const char *path)
{
    if (!file->is_bare)
        return BB_OK;
    return bb_fail(BB_INVALID,
                   "%s: is an envelope without the secret of its hashes: `filter info` describes "
                   "it, but keys cannot be probed",
                   path);
}

/* --- Writing --- */

static enum bb_status check_directory(const char *path)
{
    char directory[BB_PATH_SIZE_MAX];
    enum bb_status status = bb_path_check_file(path, "a filter file");
    if (status != BB_OK)
        return status;
    bb_path_parent(path, directory);
    if (access(directory, W_OK | X_OK) == 0)
        return BB_OK;
    /* BB_NOT_FOUND is another word for a missing input. */
    status = bb_fail_errno(errno, "write into", directory);
    return status == BB_NOT_FOUND ? bb_fail(BB_IO, "%s: its directory is missing", path) : status;
}

/* No file exists under the name. A write would replace a link whose target is missing. */
static enum bb_status check_new(const char *path)
{
    struct stat found;
    if (lstat(path, &found) == 0 && S_ISLNK(found.st_mode))
        return bb_fail(BB_INVALID, "%s: is a symbolic link to a missing file", path);
    return check_directory(path);
}

enum bb_status filter_file_check_target(const char *path, bool is_replacing)
{
    struct stat found;
    if (path[0] == '\0' || path[strlen(path) - 1] == '/')
        return bb_fail(BB_INVALID, "\"%s\" is no name of a file", path);
    if (stat(path, &found) != 0)
        return errno == ENOENT ? check_new(path) : bb_fail_errno(errno, "look at", path);
    if (!S_ISREG(found.st_mode))
        return bb_fail(BB_INVALID, "%s: exists and is not a regular file", path);
    if (!is_replacing)
        return bb_fail(BB_EXISTS, "%s: exists; --force replaces it", path);
    char *target = NULL;
    enum bb_status status = resolve(path, &target);
    if (status == BB_OK)
        status = check_directory(target);
    free(target);
    return status;
}

/* Gives a new file its name. A link never replaces a file. */
static enum bb_status move_new(struct bb_file_system *fs, const char *from, const char *to)
{
    if (link(from, to) == 0)
        return unlink(from) == 0 ? BB_OK : bb_fail_errno(errno, "unlink", from);
    if (errno != EPERM && errno != EOPNOTSUPP)
        return errno == EEXIST ? bb_fail(BB_EXISTS, "%s: exists; --force replaces it", to)
                               : bb_fail_errno(errno, "link", to);
    /* A file system without links: the moment between looking and renaming remains. */
    enum bb_status status = filter_file_check_target(to, false);
    return status == BB_OK ? fs->ops->rename(fs, from, to) : status;
}

enum bb_status filter_file_write(const char *path, const struct bb_filter_file *parts,
                                 bool is_replacing)
{
    struct bb_buf contents = {0};
    struct bb_file_system *fs = NULL;
    char *target = NULL;
    enum bb_status status = filter_file_check_target(path, is_replacing);
    if (status == BB_OK)
        status = resolve(path, &target);
    if (status == BB_OK)
        status = bb_filter_file_encode(parts, &contents);
    if (status == BB_OK)
        status = bb_file_system_posix_create(&fs);
    if (status == BB_OK)
        status = bb_file_replace_by(fs, target, bb_buf_bytes(&contents),
                                    is_replacing ? fs->ops->rename : move_new);
    bb_file_system_posix_destroy(fs);
    bb_buf_deinit(&contents);
    free(target);
    return status;
}

/* --- Lock --- */

/* Does the path still lead to the file of the descriptor? Another command may have replaced it
 * while this one waited for the lock of the old file. */
static bool is_current(int fd, const char *path)
{
    struct stat locked, named;
    return fstat(fd, &locked) == 0 && stat(path, &named) == 0 && locked.st_dev == named.st_dev &&
           locked.st_ino == named.st_ino;
}

enum bb_status filter_file_lock(const char *path, int *ret_lock)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return errno == ENOENT ? bb_fail(BB_IO, "%s: no such file", path)
                               : bb_fail_errno(errno, "open", path);
    if (flock(fd, LOCK_EX | LOCK_NB) == 0 && is_current(fd, path)) {
        *ret_lock = fd;
        return BB_OK;
    }
    close(fd);
    return bb_fail(BB_BUSY, "%s: another command is changing it", path);
}

void filter_file_unlock(int lock)
{
    if (lock >= 0)
        close(lock);
}
