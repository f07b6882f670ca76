/* See place.h. */
#include "tools/import/place.h"

#include <string.h>

#include "base/bytes.h"
#include "base/path.h"
#include "base/status.h"

static const char *text_of(const struct bb_buf *path)
{
    return (const char *)path->data;
}

static enum bb_status make_name(const char *directory, const char *ending, struct bb_buf *ret_path)
{
    size_t size = strlen(directory);
    while (size > 1 && directory[size - 1] == '/')
        size--;
    enum bb_status status = bb_buf_assign(ret_path, bb_bytes_of(directory, size));
    return status == BB_OK ? bb_buf_append(ret_path, ending, strlen(ending) + 1) : status;
}

static enum bb_status check_free(struct import_place *place)
{
    struct bb_file_names names = {0};
    const char *path = text_of(&place->final);
    enum bb_status status = place->fs->ops->list(place->fs, path, &names);
    size_t count = names.count;
    bb_file_names_deinit(&names);
    if (status == BB_NOT_FOUND || (status == BB_OK && count == 0))
        return BB_OK;
    return status == BB_OK
               ? bb_fail(BB_EXISTS, "%s: exists already; an import makes a new store", path)
               : status;
}

/* An import that was killed leaves it. It may be a store of the user's: it is not removed here. */
static enum bb_status check_no_rest(struct import_place *place)
{
    bool is_directory = false;
    uint64_t size = 0;
    const char *path = import_place_path(place);
    enum bb_status status = place->fs->ops->status(place->fs, path, &is_directory, &size);
    if (status == BB_NOT_FOUND)
        return BB_OK;
    return status == BB_OK ? bb_fail(BB_EXISTS,
                                     "%s: exists, as after an import that was killed; `bloomblock "
                                     "destroy` removes it",
                                     path)
                           : status;
}

/* Replaces an empty directory by another one, as publishing does at the end: a link, a mount point
 * and "." cannot be replaced, and a late failure would waste the import. */
static enum bb_status check_replaceable(struct import_place *place)
{
    bool is_directory = false;
    uint64_t size = 0;
    struct bb_file_system *fs = place->fs;
    const char *path = text_of(&place->final);
    enum bb_status status = fs->ops->status(fs, path, &is_directory, &size);
    if (status == BB_NOT_FOUND)
        return BB_OK;
    if (status == BB_OK)
        status = fs->ops->make_directory(fs, import_place_path(place));
    if (status != BB_OK)
        return status;
    status = fs->ops->rename(fs, import_place_path(place), path);
    if (status == BB_OK)
        return BB_OK;
    struct bb_error failure = *bb_error_last();
    (void)!fs->ops->remove_directory(fs, import_place_path(place));
    return bb_fail(BB_INVALID,
                   "%s: cannot be replaced by the new store: name a directory that does not exist "
                   "(%s)",
                   path, failure.message);
}

enum bb_status import_place_init(struct import_place *place, const char *directory)
{
    *place = (struct import_place){0};
    enum bb_status status = bb_path_check_directory(directory, "the new store");
    if (status == BB_OK)
        status = bb_file_system_posix_create(&place->fs);
    if (status == BB_OK)
        status = make_name(directory, "", &place->final);
    if (status == BB_OK)
        status = make_name(directory, ".importing", &place->building);
    if (status == BB_OK)
        status = check_free(place);
    if (status == BB_OK)
        status = check_no_rest(place);
    return status == BB_OK ? check_replaceable(place) : status;
}

void import_place_deinit(struct import_place *place)
{
    bb_buf_deinit(&place->final);
    bb_buf_deinit(&place->building);
    if (place->fs != NULL)
        bb_file_system_posix_destroy(place->fs);
    *place = (struct import_place){0};
}

const char *import_place_path(const struct import_place *place)
{
    return text_of(&place->building);
}

enum bb_status import_place_publish(struct import_place *place)
{
    struct bb_file_system *fs = place->fs;
    enum bb_status status = fs->ops->rename(fs, text_of(&place->building), text_of(&place->final));
    place->is_published = status == BB_OK;
    if (status == BB_OK)
        status = bb_file_sync_parent(fs, text_of(&place->final));
    /* A parent that may not be opened cannot be synced. The store is complete under either name. */
    return status == BB_READ_ONLY ? BB_OK : status;
}
