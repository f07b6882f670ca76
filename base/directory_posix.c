/* Directories of the operating system: names, listing, durability.
 *
 * Directories are followed over symbolic links, files are not: a link may put a store on another
 * disk, but a link that replaces one of our files was created by another program. SECURITY.md
 * describes this. */
#include "base/file_posix.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/array.h"
#include "base/status.h"

enum bb_status bb_posix_rename(struct bb_file_system *fs, const char *from, const char *to)
{
    enum bb_status status = bb_posix_check_process(fs, from);
    if (status != BB_OK)
        return status;
    struct bb_posix_place old = bb_posix_place_of(fs, from);
    struct bb_posix_place new = bb_posix_place_of(fs, to);
    return renameat(old.fd, old.name, new.fd, new.name) == 0 ? BB_OK
                                                             : bb_fail_errno(errno, "rename", from);
}

enum bb_status bb_posix_link(struct bb_file_system *fs, const char *from, const char *to)
{
    enum bb_status status = bb_posix_check_process(fs, from);
    if (status != BB_OK)
        return status;
    struct bb_posix_place old = bb_posix_place_of(fs, from);
    struct bb_posix_place new = bb_posix_place_of(fs, to);
    if (linkat(old.fd, old.name, new.fd, new.name, 0) == 0)
        return BB_OK;
    int error_number = errno;
    switch (error_number) {
    case EXDEV:
    case EPERM: /* also where the system forbids links to files of others */
    case EMLINK:
    case ENOSYS:
    case EOPNOTSUPP:
        return bb_fail(BB_UNSUPPORTED, "%s: link to %s: %s", to, from, strerror(error_number));
    default:
        return bb_fail_errno(error_number, "link", to);
    }
}

enum bb_status bb_posix_remove(struct bb_file_system *fs, const char *path)
{
    enum bb_status status = bb_posix_check_process(fs, path);
    if (status != BB_OK)
        return status;
    struct bb_posix_place place = bb_posix_place_of(fs, path);
    return unlinkat(place.fd, place.name, 0) == 0 ? BB_OK : bb_fail_errno(errno, "unlink", path);
}

/* WHY not over a locked directory: its name refers to it, so files for the new directory would be
 * created among the files of the locked one. */
enum bb_status bb_posix_make_directory(struct bb_file_system *fs, const char *path)
{
    enum bb_status status = bb_posix_check_process(fs, path);
    if (status != BB_OK)
        return status;
    if (bb_posix_place_of_directory(fs, path).fd != AT_FDCWD)
        return bb_fail(BB_EXISTS, "%s: is the directory of a store that is open", path);
    return mkdir(path, 0700) == 0 ? BB_OK : bb_fail_errno(errno, "mkdir", path);
}

static bool is_named(int fd, const char *path)
{
    struct stat opened;
    struct stat named;
    return fstat(fd, &opened) == 0 && stat(path, &named) == 0 && opened.st_dev == named.st_dev &&
           opened.st_ino == named.st_ino;
}

/* A locked directory can only be removed by its name: by then another one may have it. */
enum bb_status bb_posix_remove_directory(struct bb_file_system *fs, const char *path)
{
    enum bb_status status = bb_posix_check_process(fs, path);
    if (status != BB_OK)
        return status;
    struct bb_posix_place place = bb_posix_place_of_directory(fs, path);
    if (place.fd != AT_FDCWD && !is_named(place.fd, path))
        return bb_fail(BB_NOT_FOUND, "%s: rmdir: the directory was moved", path);
    return rmdir(path) == 0 ? BB_OK : bb_fail_errno(errno, "rmdir", path);
}

/* The growing list of names; the capacity is kept apart because the public struct has none. */
static enum bb_status add_name(struct bb_file_names *list, size_t *capacity, const char *name)
{
    enum bb_status status = bb_array_reserve(&list->names, list->count, capacity,
                                             sizeof(*list->names), "names of a directory");
    if (status != BB_OK)
        return status;
    char *copy = bb_strdup(name);
    if (copy == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for a name of a directory");
    list->names[list->count++] = copy;
    return BB_OK;
}

static enum bb_status read_names(DIR *stream, const char *directory, struct bb_file_names *list)
{
    size_t capacity = 0;
    for (;;) {
        errno = 0; /* the only way to tell the end from a failure */
        const struct dirent *entry = readdir(stream);
        if (entry == NULL)
            return errno == 0 ? BB_OK : bb_fail_errno(errno, "readdir", directory);
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        enum bb_status status = add_name(list, &capacity, entry->d_name);
        if (status != BB_OK)
            return status;
    }
}

static enum bb_status open_directory(struct bb_file_system *fs, const char *path, int *ret_fd)
{
    struct bb_posix_place place = bb_posix_place_of_directory(fs, path);
    int fd = openat(place.fd, place.name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return bb_fail_errno(errno, "open", path);
    *ret_fd = fd;
    return BB_OK;
}

enum bb_status bb_posix_list(struct bb_file_system *fs, const char *directory,
                             struct bb_file_names *ret_list)
{
    int fd = -1;
    enum bb_status status = open_directory(fs, directory, &fd);
    if (status != BB_OK)
        return status;
    DIR *stream = fdopendir(fd);
    if (stream == NULL) {
        status = bb_fail_errno(errno, "fdopendir", directory);
        (void)close(fd);
        return status;
    }

    struct bb_file_names list = {0};
    status = read_names(stream, directory, &list);
    (void)closedir(stream); /* only read from */
    if (status != BB_OK) {
        bb_file_names_deinit(&list);
        return status;
    }
    *ret_list = list;
    return BB_OK;
}

/* Whether the failure means that the directory may not be opened. */
static bool is_forbidden(struct bb_file_system *fs, const char *path)
{
    struct bb_posix_place place = bb_posix_place_of_directory(fs, path);
    return faccessat(place.fd, place.name, R_OK, 0) != 0 && (errno == EACCES || errno == EPERM);
}

enum bb_status bb_posix_sync_directory(struct bb_file_system *fs, const char *path)
{
    int fd = -1;
    enum bb_status status = bb_posix_check_process(fs, path);
    if (status != BB_OK)
        return status;
    status = open_directory(fs, path, &fd);
    if (status != BB_OK && is_forbidden(fs, path))
        return bb_fail(BB_READ_ONLY, "%s: there is no permission to open it, nor to sync it", path);
    if (status != BB_OK)
        return status;
    if (fsync(fd) != 0)
        status = bb_fail_errno(errno, "fsync", path);
    bb_posix_count(&bb_posix_of(fs)->directory_syncs, 1);
    (void)close(fd); /* fsync has reported all errors */
    return status;
}

enum bb_status bb_posix_status(struct bb_file_system *fs, const char *path, bool *ret_is_directory,
                               uint64_t *ret_size)
{
    struct bb_posix_place place = bb_posix_place_of_directory(fs, path);
    struct stat information;
    if (place.fd == AT_FDCWD)
        place = bb_posix_place_of(fs, path);
    int result = fstatat(place.fd, place.name, &information, 0);
    if (result != 0 && (errno == ENOENT || errno == ELOOP))
        result = fstatat(place.fd, place.name, &information,
                         AT_SYMLINK_NOFOLLOW); /* a dangling link also has a name */
    if (result != 0)
        return bb_fail_errno(errno, "stat", path);
    *ret_is_directory = S_ISDIR(information.st_mode);
    *ret_size = S_ISREG(information.st_mode) ? (uint64_t)information.st_size : 0;
    return BB_OK;
}

enum bb_status bb_posix_free_space(struct bb_file_system *fs, const char *path, uint64_t *ret_bytes)
{
    struct bb_posix_place place = bb_posix_place_of_directory(fs, path);
    struct statvfs information;
    if ((place.fd == AT_FDCWD ? statvfs(path, &information) : fstatvfs(place.fd, &information)) !=
        0)
        return bb_fail_errno(errno, "statvfs", path);
    /* f_bavail: the space available to us, without the part reserved for root. */
    *ret_bytes = (uint64_t)information.f_bavail * information.f_frsize;
    return BB_OK;
}
