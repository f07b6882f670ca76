/* The file system in memory of bb/file.h. Statuses and messages are the operating system's:
 * tests/unit/base/file_test.c compares them. */
#include "base/ram_system.h"

#include <errno.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/hash.h"
#include "base/status.h"

#define CLOCK_STEP_NANOSECONDS 1000

static const struct bb_file_system_ops system_ops;

static struct bb_ram_system *system_of(struct bb_file_system *fs)
{
    return (struct bb_ram_system *)fs; /* base is the first member */
}

/* The status of an errno value; 0 is BB_OK. */
static enum bb_status done(int error_number, const char *operation, const char *path)
{
    return error_number == 0 ? BB_OK : bb_fail_errno(error_number, operation, path);
}

/* ---- files ---- */

static int open_locked(struct bb_ram_system *system, const char *path,
                       struct bb_ram_file **ret_file)
{
    struct bb_ram_node *node = NULL;
    int error_number = bb_ram_tree_find(&system->tree, path, &node);
    if (error_number != 0)
        return error_number;
    if (node->is_directory)
        return EISDIR;
    *ret_file = bb_ram_file_create(system, node, path, false);
    return *ret_file != NULL ? 0 : ENOMEM;
}

/* Calls one of the functions that make a file, with the mutex. EAGAIN: its node is locked. */
static enum bb_status obtain(struct bb_file_system *fs, const char *path,
                             int (*make_file)(struct bb_ram_system *, const char *,
                                              struct bb_ram_file **),
                             struct bb_file **ret_file)
{
    struct bb_ram_system *system = system_of(fs);
    struct bb_ram_file *file = NULL;
    bb_mutex_lock(&system->mutex);
    int error_number = make_file(system, path, &file);
    bb_mutex_unlock(&system->mutex);
    if (error_number == EAGAIN)
        return bb_fail(BB_BUSY, "%s: already locked by this process", path);
    if (error_number == EISDIR)
        return bb_fail(BB_INVALID, "%s: is a directory, expected a regular file", path);
    if (error_number != 0)
        return bb_fail_errno(error_number, "open", path);
    *ret_file = &file->base;
    return BB_OK;
}

static enum bb_status open_file(struct bb_file_system *fs, const char *path,
                                struct bb_file **ret_file)
{
    return obtain(fs, path, open_locked, ret_file);
}

/* A new node under a free name. *ret_node is borrowed from the name. */
static int make(struct bb_ram_system *system, const char *path, bool is_directory,
                struct bb_ram_node **ret_node)
{
    struct bb_ram_node *directory = NULL;
    char *name = NULL;
    int error_number = bb_ram_tree_walk(&system->tree, path, &directory, &name);
    if (error_number != 0)
        return error_number;
    struct bb_ram_node *node = NULL;
    if (bb_ram_tree_lookup(&system->tree, directory, name) != NULL)
        error_number = EEXIST;
    else if ((node = bb_ram_tree_node_create(is_directory)) == NULL)
        error_number = ENOMEM;
    if (error_number == 0)
        error_number = bb_ram_tree_name_add(&system->tree.names, directory, name, node);
    *ret_node = node;
    bb_ram_tree_node_unref(node); /* the name has a reference */
    bb_free(name);
    return error_number;
}

static int create_locked(struct bb_ram_system *system, const char *path,
                         struct bb_ram_file **ret_file)
{
    struct bb_ram_node *node = NULL;
    int error_number = make(system, path, false, &node);
    if (error_number != 0)
        return error_number;
    *ret_file = bb_ram_file_create(system, node, path, true);
    return *ret_file != NULL ? 0 : ENOMEM;
}

static enum bb_status create_file(struct bb_file_system *fs, const char *path,
                                  struct bb_file **ret_file)
{
    return obtain(fs, path, create_locked, ret_file);
}

/* ---- names ---- */

/* A path's directory and last component, of which release frees the latter. */
struct place {
    struct bb_ram_node *directory;
    char *name;
    struct bb_ram_node *node; /* NULL: the name is free */
};

static int find_place(struct bb_ram_system *system, const char *path, struct place *ret_place)
{
    *ret_place = (struct place){0};
    int error_number =
        bb_ram_tree_walk(&system->tree, path, &ret_place->directory, &ret_place->name);
    if (error_number == 0)
        ret_place->node = bb_ram_tree_lookup(&system->tree, ret_place->directory, ret_place->name);
    return error_number;
}

static int rename_place(struct bb_ram_system *system, const struct place *from,
                        const struct place *to)
{
    if (from->node == NULL)
        return ENOENT;
    if (from->node->is_directory || (to->node != NULL && to->node->is_directory))
        return EISDIR;
    if (from->directory != to->directory)
        return EXDEV;
    if (from->node == to->node)
        return 0;
    struct bb_ram_names *names = &system->tree.names;
    /* First, because it may fail. The older one of two equal names is found first. */
    int error_number = bb_ram_tree_name_add(names, to->directory, to->name, from->node);
    if (error_number != 0)
        return error_number;
    if (to->node != NULL)
        bb_ram_tree_name_remove(names, to->directory, to->name);
    bb_ram_tree_name_remove(names, from->directory, from->name);
    return 0;
}

static int link_place(struct bb_ram_system *system, const struct place *from,
                      const struct place *to)
{
    if (from->node == NULL)
        return ENOENT;
    if (to->node != NULL)
        return EEXIST;
    if (from->node->is_directory)
        return EPERM;
    return bb_ram_tree_name_add(&system->tree.names, to->directory, to->name, from->node);
}

/* Calls a change of two places with the mutex. */
static int change_places(struct bb_ram_system *system, const char *from, const char *to,
                         int (*change)(struct bb_ram_system *, const struct place *,
                                       const struct place *))
{
    struct place of_from = {0};
    struct place of_to = {0};
    bb_mutex_lock(&system->mutex);
    int error_number = find_place(system, from, &of_from);
    if (error_number == 0)
        error_number = find_place(system, to, &of_to);
    if (error_number == 0)
        error_number = change(system, &of_from, &of_to);
    bb_mutex_unlock(&system->mutex);
    bb_free(of_from.name);
    bb_free(of_to.name);
    return error_number;
}

static enum bb_status rename_file(struct bb_file_system *fs, const char *from, const char *to)
{
    return done(change_places(system_of(fs), from, to, rename_place), "rename", from);
}

static enum bb_status link_file(struct bb_file_system *fs, const char *from, const char *to)
{
    int error_number = change_places(system_of(fs), from, to, link_place);
    if (error_number == EPERM)
        return bb_fail(BB_UNSUPPORTED, "%s: link to %s: not possible here", to, from);
    return done(error_number, "link", to);
}

static int remove_place(struct bb_ram_system *system, const struct place *place, bool is_directory)
{
    if (place->node == NULL)
        return ENOENT;
    if (place->node->is_directory != is_directory)
        return is_directory ? ENOTDIR : EISDIR;
    if (place->node == system->tree.root)
        return EBUSY;
    if (is_directory && bb_ram_tree_name_count(&system->tree.names, place->node) > 0)
        return ENOTEMPTY;
    bb_ram_tree_name_remove(&system->tree.names, place->directory, place->name);
    return 0;
}

static int remove_path(struct bb_ram_system *system, const char *path, bool is_directory)
{
    struct place place;
    bb_mutex_lock(&system->mutex);
    int error_number = find_place(system, path, &place);
    if (error_number == 0)
        error_number = remove_place(system, &place, is_directory);
    bb_mutex_unlock(&system->mutex);
    bb_free(place.name);
    return error_number;
}

static enum bb_status remove_file(struct bb_file_system *fs, const char *path)
{
    return done(remove_path(system_of(fs), path, false), "unlink", path);
}

static enum bb_status remove_directory(struct bb_file_system *fs, const char *path)
{
    return done(remove_path(system_of(fs), path, true), "rmdir", path);
}

static enum bb_status make_directory(struct bb_file_system *fs, const char *path)
{
    struct bb_ram_system *system = system_of(fs);
    struct bb_ram_node *node = NULL;
    bb_mutex_lock(&system->mutex);
    int error_number = make(system, path, true, &node);
    bb_mutex_unlock(&system->mutex);
    return done(error_number, "mkdir", path);
}

/* ---- directories ---- */

static int find_directory(struct bb_ram_system *system, const char *path,
                          struct bb_ram_node **ret_node)
{
    int error_number = bb_ram_tree_find(&system->tree, path, ret_node);
    return error_number == 0 && !(*ret_node)->is_directory ? ENOTDIR : error_number;
}

static int list_names(const struct bb_ram_names *names, const struct bb_ram_node *directory,
                      struct bb_file_names *list)
{
    size_t count = bb_ram_tree_name_count(names, directory);
    list->names = bb_alloc_zeroed(count, sizeof(*list->names));
    if (list->names == NULL)
        return ENOMEM;
    for (size_t i = 0; i < names->count; i++) {
        if (names->items[i].directory != directory)
            continue;
        list->names[list->count] = bb_strdup(names->items[i].name);
        if (list->names[list->count] == NULL)
            return ENOMEM;
        list->count++;
    }
    return 0;
}

static enum bb_status list_directory(struct bb_file_system *fs, const char *path,
                                     struct bb_file_names *ret_list)
{
    struct bb_ram_system *system = system_of(fs);
    struct bb_ram_node *node = NULL;
    struct bb_file_names list = {0};
    bb_mutex_lock(&system->mutex);
    int error_number = find_directory(system, path, &node);
    if (error_number == 0)
        error_number = list_names(&system->tree.names, node, &list);
    bb_mutex_unlock(&system->mutex);
    if (error_number != 0) {
        bb_file_names_deinit(&list);
        return bb_fail_errno(error_number, "open", path);
    }
    *ret_list = list;
    return BB_OK;
}

static enum bb_status sync_directory(struct bb_file_system *fs, const char *path)
{
    struct bb_ram_system *system = system_of(fs);
    struct bb_ram_node *node = NULL;
    bb_mutex_lock(&system->mutex);
    int error_number = find_directory(system, path, &node);
    if (error_number == 0)
        error_number = bb_ram_tree_names_sync(&system->tree, node);
    system->counters.directory_syncs += error_number == 0;
    bb_mutex_unlock(&system->mutex);
    return done(error_number, "open", path);
}

static enum bb_status status_of(struct bb_file_system *fs, const char *path, bool *ret_is_directory,
                                uint64_t *ret_size)
{
    struct bb_ram_system *system = system_of(fs);
    struct bb_ram_node *node = NULL;
    bb_mutex_lock(&system->mutex);
    int error_number = bb_ram_tree_find(&system->tree, path, &node);
    if (error_number == 0) {
        *ret_is_directory = node->is_directory;
        *ret_size = node->bytes.size;
    }
    bb_mutex_unlock(&system->mutex);
    return done(error_number, "stat", path);
}

/* ---- locks ---- */

static int lock_locked(struct bb_ram_system *system, const char *path,
                       struct bb_ram_file **ret_file)
{
    struct place place;
    int error_number = find_place(system, path, &place);
    if (error_number == 0 && place.node == NULL)
        error_number = make(system, path, false, &place.node);
    bb_free(place.name);
    if (error_number != 0)
        return error_number;
    if (place.node->is_directory)
        return EISDIR;
    if (place.node->is_locked || place.directory->shared_locks > 0)
        return EAGAIN;
    *ret_file = bb_ram_file_create(system, place.node, path, false);
    if (*ret_file == NULL)
        return ENOMEM;
    place.node->is_locked = true;
    return 0;
}

/* The directory counts the holders: the lock file may be missing. */
static int lock_shared_locked(struct bb_ram_system *system, const char *path,
                              struct bb_ram_file **ret_file)
{
    struct place place;
    int error_number = find_place(system, path, &place);
    bb_free(place.name);
    if (error_number != 0)
        return error_number;
    if (place.node != NULL && place.node->is_directory)
        return EISDIR;
    if (place.node != NULL && place.node->is_locked)
        return EAGAIN;
    *ret_file = bb_ram_file_create(system, place.directory, path, false);
    if (*ret_file == NULL)
        return ENOMEM;
    place.directory->shared_locks++;
    return 0;
}

static enum bb_status lock_file(struct bb_file_system *fs, const char *path,
                                struct bb_file **ret_lock)
{
    return obtain(fs, path, lock_locked, ret_lock);
}

static enum bb_status lock_file_shared(struct bb_file_system *fs, const char *path,
                                       struct bb_file **ret_lock)
{
    return obtain(fs, path, lock_shared_locked, ret_lock);
}

static enum bb_status unlock_file(struct bb_file_system *fs, struct bb_file *base)
{
    struct bb_ram_system *system = system_of(fs);
    struct bb_ram_file *file = (struct bb_ram_file *)base; /* base is the first member */
    bb_mutex_lock(&system->mutex);
    if (file->node->is_directory)
        file->node->shared_locks--;
    else
        file->node->is_locked = false;
    bb_mutex_unlock(&system->mutex);
    bb_ram_file_destroy(file);
    return BB_OK;
}

/* ---- the rest ---- */

static enum bb_status free_space(struct bb_file_system *fs, const char *path, uint64_t *ret_bytes)
{
    bool is_directory = false;
    uint64_t size = 0;
    enum bb_status status = status_of(fs, path, &is_directory, &size);
    if (status == BB_OK)
        *ret_bytes = UINT64_C(1) << 40;
    return status;
}

static enum bb_status random_bytes(struct bb_file_system *fs, void *buffer, size_t size)
{
    struct bb_ram_system *system = system_of(fs);
    uint8_t *bytes = buffer;
    bb_mutex_lock(&system->mutex);
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)(bb_hash_mix(++system->random) >> 56);
    bb_mutex_unlock(&system->mutex);
    return BB_OK;
}

static void advance(struct bb_file_system *fs, uint64_t nanoseconds)
{
    struct bb_ram_system *system = system_of(fs);
    bb_mutex_lock(&system->mutex);
    system->clock += nanoseconds;
    bb_mutex_unlock(&system->mutex);
}

static uint64_t now(struct bb_file_system *fs)
{
    struct bb_ram_system *system = system_of(fs);
    bb_mutex_lock(&system->mutex);
    uint64_t time = system->clock += CLOCK_STEP_NANOSECONDS;
    bb_mutex_unlock(&system->mutex);
    return time;
}

static void counters(struct bb_file_system *fs, struct bb_file_counters *ret_counters)
{
    struct bb_ram_system *system = system_of(fs);
    bb_mutex_lock(&system->mutex);
    *ret_counters = system->counters;
    bb_mutex_unlock(&system->mutex);
}

static const struct bb_file_system_ops system_ops = {
    .open = open_file,
    .create = create_file,
    .rename = rename_file,
    .link = link_file,
    .remove = remove_file,
    .list = list_directory,
    .make_directory = make_directory,
    .remove_directory = remove_directory,
    .sync_directory = sync_directory,
    .status = status_of,
    .lock = lock_file,
    .lock_shared = lock_file_shared,
    .unlock = unlock_file,
    .free_space = free_space,
    .random = random_bytes,
    .now = now,
    .sleep = advance,
    .counters = counters,
};

/* ---- creating ---- */

static struct bb_ram_system *create_bare(void)
{
    struct bb_ram_system *system = bb_alloc_zeroed(1, sizeof(*system));
    if (system == NULL) {
        (void)bb_fail(BB_NO_MEMORY, "no memory for a file system in memory");
        return NULL;
    }
    system->base.ops = &system_ops;
    bb_mutex_init(&system->mutex);
    return system;
}

static void destroy_bare(struct bb_ram_system *system)
{
    bb_mutex_deinit(&system->mutex);
    bb_free(system);
}

enum bb_status bb_file_system_memory_create(struct bb_file_system **ret_fs)
{
    struct bb_ram_system *system = create_bare();
    if (system == NULL)
        return BB_NO_MEMORY;
    enum bb_status status = bb_ram_tree_init(&system->tree);
    if (status == BB_OK)
        *ret_fs = &system->base;
    else
        destroy_bare(system);
    return status;
}

void bb_file_system_memory_destroy(struct bb_file_system *fs)
{
    if (fs == NULL)
        return;
    struct bb_ram_system *system = system_of(fs);
    BB_ASSERT(system->open_files == 0);
    bb_ram_tree_deinit(&system->tree);
    destroy_bare(system);
}

enum bb_status bb_file_system_power_failure(struct bb_file_system *fs,
                                            struct bb_file_system **ret_fs)
{
    if (fs->ops != &system_ops)
        return bb_fail(BB_INVALID, "the file system is not bb_file_system_memory_create's");
    struct bb_ram_system *system = system_of(fs);
    struct bb_ram_system *after = create_bare();
    if (after == NULL)
        return BB_NO_MEMORY;
    bb_mutex_lock(&system->mutex);
    enum bb_status status = bb_ram_tree_copy_durable(&system->tree, &after->tree);
    after->clock = system->clock;
    after->random = system->random;
    bb_mutex_unlock(&system->mutex);
    if (status == BB_OK)
        *ret_fs = &after->base;
    else
        destroy_bare(after);
    return status;
}
