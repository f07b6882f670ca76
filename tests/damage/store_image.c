/* See store_image.h. */
#include "tests/damage/store_image.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "tests/support/must_alloc.h"

static void must(bool is_done, const char *what, const char *path)
{
    if (is_done)
        return;
    fprintf(stderr, "store_image: %s ", what);
    perror(path);
    exit(2);
}

static bool ends_with(const char *name, const char *suffix)
{
    size_t size = strlen(name);
    return size > strlen(suffix) && strcmp(name + size - strlen(suffix), suffix) == 0;
}

static enum image_kind kind_of(const char *name)
{
    if (ends_with(name, ".bbt") || ends_with(name, ".ldb") || ends_with(name, ".sst"))
        return IMAGE_TABLE;
    if (ends_with(name, ".wal") || ends_with(name, ".log"))
        return IMAGE_LOG;
    if (strncmp(name, "MANIFEST-", 9) == 0)
        return IMAGE_MANIFEST;
    return strcmp(name, "CURRENT") == 0 ? IMAGE_CURRENT : IMAGE_OTHER;
}

const char *image_kind_name(enum image_kind kind)
{
    static const char *const names[] = {"table", "log", "manifest", "CURRENT", "other"};
    return names[kind];
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const struct image_file *)a)->name, ((const struct image_file *)b)->name);
}

static void sort(struct store_image *image)
{
    qsort(image->files, image->count, sizeof(image->files[0]), compare_names);
}

static void add(struct store_image *image, const char *name, const void *bytes, size_t size)
{
    must(image->count < STORE_IMAGE_FILES_MAX, "too many files:", name);
    struct image_file *file = &image->files[image->count++];
    *file = (struct image_file){
        .kind = kind_of(name), .bytes = bb_must_alloc_zeroed(size + 1), .size = size};
    snprintf(file->name, sizeof(file->name), "%s", name);
    if (size > 0)
        memcpy(file->bytes, bytes, size);
}

static void read_file(struct store_image *image, const char *path, const char *name)
{
    struct stat status;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0 && errno == ENOENT)
        return;
    must(descriptor >= 0 && fstat(descriptor, &status) == 0, "opening", path);
    uint8_t *bytes = bb_must_alloc_zeroed((size_t)status.st_size + 1);
    ssize_t size = pread(descriptor, bytes, (size_t)status.st_size, 0);
    must(size >= 0, "reading", path);
    add(image, name, bytes, (size_t)size);
    free(bytes);
    close(descriptor);
}

/* Calls `act` for every name but "." and "..". */
static void each_name(const char *directory, void *context,
                      void (*act)(void *context, const char *path, const char *name))
{
    char path[PATH_MAX];
    DIR *listing = opendir(directory);
    must(listing != NULL, "listing", directory);
    for (struct dirent *entry = readdir(listing); entry != NULL; entry = readdir(listing)) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        snprintf(path, sizeof(path), "%s/%s", directory, entry->d_name);
        act(context, path, entry->d_name);
    }
    closedir(listing);
}

/* Skips an engine's notes for people (LOG, LOG.old), so that only new notes are read. A
 * file may disappear while its process is running. */
static void read_entry(void *context, const char *path, const char *name)
{
    struct stat status;
    if (strncmp(name, "LOG", 3) != 0 && lstat(path, &status) == 0 && S_ISREG(status.st_mode))
        read_file(context, path, name);
}

void store_image_read(struct store_image *image, const char *directory)
{
    *image = (struct store_image){.count = 0};
    each_name(directory, image, read_entry);
    sort(image);
}

static void remove_entry(void *context, const char *path, const char *name)
{
    (void)context;
    (void)name;
    must(remove(path) == 0, "removing", path);
}

void store_image_write(const struct store_image *image, const char *directory)
{
    char path[PATH_MAX];
    (void)mkdir(directory, 0700);
    each_name(directory, NULL, remove_entry);
    for (size_t i = 0; i < image->count; i++) {
        const struct image_file *file = &image->files[i];
        snprintf(path, sizeof(path), "%s/%s", directory, file->name);
        int descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        must(descriptor >= 0, "creating", path);
        must(write(descriptor, file->bytes, file->size) == (ssize_t)file->size, "writing", path);
        close(descriptor);
    }
}

void store_image_take(struct store_image *image, struct bb_file_memory *memory,
                      const char *directory)
{
    struct bb_file_system *fs = bb_file_memory_system(memory);
    struct bb_file_names names = {0};
    char path[PATH_MAX];
    *image = (struct store_image){.count = 0};
    must(fs->ops->list(fs, directory, &names) == BB_OK, "listing", directory);
    for (size_t i = 0; i < names.count; i++) {
        size_t size = 0;
        snprintf(path, sizeof(path), "%s/%s", directory, names.names[i]);
        const uint8_t *bytes = bb_file_memory_bytes(memory, path, &size);
        add(image, names.names[i], bytes, size);
    }
    bb_file_names_deinit(&names);
    sort(image);
}

struct bb_file_memory *store_image_load(const struct store_image *image, const char *directory)
{
    char path[PATH_MAX];
    struct bb_file_memory *memory = bb_file_memory_create(1);
    struct bb_file_system *fs = bb_file_memory_system(memory);
    must(fs->ops->make_directory(fs, directory) == BB_OK, "making", directory);
    for (size_t i = 0; i < image->count; i++) {
        const struct image_file *file = &image->files[i];
        snprintf(path, sizeof(path), "%s/%s", directory, file->name);
        bb_file_memory_put(memory, path,
                           (struct bb_bytes){.data = file->bytes, .size = file->size});
    }
    return memory;
}

void store_image_copy(const struct store_image *from, struct store_image *ret_image)
{
    *ret_image = (struct store_image){.count = 0};
    for (size_t i = 0; i < from->count; i++)
        add(ret_image, from->files[i].name, from->files[i].bytes, from->files[i].size);
}

void store_image_deinit(struct store_image *image)
{
    for (size_t i = 0; i < image->count; i++)
        free(image->files[i].bytes);
    image->count = 0;
}

const struct image_file *store_image_find(const struct store_image *image, const char *name)
{
    for (size_t i = 0; i < image->count; i++) {
        if (strcmp(image->files[i].name, name) == 0)
            return &image->files[i];
    }
    return NULL;
}

uint64_t store_image_size(const struct store_image *image, enum image_kind kind)
{
    uint64_t size = 0;
    for (size_t i = 0; i < image->count; i++)
        size += image->files[i].kind == kind ? image->files[i].size : 0;
    return size;
}
