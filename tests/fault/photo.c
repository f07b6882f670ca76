/* See photo.h. */
#include "tests/fault/photo.h"

#include <stdio.h>

#include "base/bytes.h"
#include "tests/support/must_alloc.h"

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const struct photo_file *)a)->name, ((const struct photo_file *)b)->name);
}

static void take_file(struct photo *photo, struct bb_file_memory *memory, const char *directory,
                      const char *name)
{
    struct bb_file_system *fs = bb_file_memory_system(memory);
    struct photo_file *file = &photo->files[photo->count++];
    char path[512];
    uint64_t length = 0;
    size_t size = 0;
    snprintf(path, sizeof(path), "%s/%s", directory, name);
    *file = (struct photo_file){.name = bb_must_strdup(name)};
    if (fs->ops->status(fs, path, &file->is_directory, &length) != BB_OK)
        abort();
    const uint8_t *bytes = file->is_directory ? NULL : bb_file_memory_bytes(memory, path, &size);
    uint8_t *copy = bb_must_realloc(NULL, size);
    if (size > 0)
        memcpy(copy, bytes, size);
    file->bytes = bb_bytes_of(copy, size);
}

void photo_take(struct photo *photo, struct bb_file_memory *memory, const char *directory)
{
    struct bb_file_system *fs = bb_file_memory_system(memory);
    struct bb_file_names names = {0};
    *photo = (struct photo){.count = 0};
    if (fs->ops->list(fs, directory, &names) != BB_OK || names.count > PHOTO_FILES_MAX)
        abort();
    for (size_t i = 0; i < names.count; i++)
        take_file(photo, memory, directory, names.names[i]);
    bb_file_names_deinit(&names);
    qsort(photo->files, photo->count, sizeof(photo->files[0]), compare_names);
}

void photo_deinit(struct photo *photo)
{
    for (size_t i = 0; i < photo->count; i++) {
        free(photo->files[i].name);
        free((void *)(uintptr_t)photo->files[i].bytes.data);
    }
    photo->count = 0;
}

const struct photo_file *photo_find(const struct photo *photo, const char *name)
{
    for (size_t i = 0; i < photo->count; i++) {
        if (strcmp(photo->files[i].name, name) == 0)
            return &photo->files[i];
    }
    return NULL;
}

static const char *find_missing(const struct photo *in, const struct photo *from,
                                const char *except, const char *what)
{
    static _Thread_local char text[256];
    for (size_t i = 0; i < from->count; i++) {
        const char *name = from->files[i].name;
        if (strcmp(name, except) == 0 || photo_find(in, name) != NULL)
            continue;
        snprintf(text, sizeof(text), "%.200s %s", name, what);
        return text;
    }
    return NULL;
}

const char *photo_difference(const struct photo *before, const struct photo *after,
                             const char *except)
{
    static _Thread_local char text[256];
    const char *difference = find_missing(after, before, except, "is gone");
    if (difference == NULL)
        difference = find_missing(before, after, except, "is new");
    if (difference != NULL)
        return difference;
    for (size_t i = 0; i < before->count; i++) {
        const struct photo_file *file = &before->files[i];
        if (strcmp(file->name, except) == 0)
            continue;
        const struct photo_file *other = photo_find(after, file->name);
        if (file->is_directory == other->is_directory && bb_bytes_equal(file->bytes, other->bytes))
            continue;
        snprintf(text, sizeof(text), "%.200s has changed", file->name);
        return text;
    }
    return NULL;
}
