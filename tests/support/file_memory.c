/* A file system in memory: the calls of the seam over the tree. */
#include "tests/support/file_memory.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/status.h"
#include "tests/support/file_memory_private.h"
#include "tests/support/must_alloc.h"

#define CLOCK_START_NANOSECONDS UINT64_C(1000000000)
#define CLOCK_STEP_NANOSECONDS  UINT64_C(1000)

static struct bb_file_memory *memory_of(struct bb_file_system *fs)
{
    return (struct bb_file_memory *)fs; /* base is the first member */
}

enum bb_status bb_memory_announce(struct bb_file_memory *memory, enum bb_file_call call,
                                  const char *path)
{
    bb_mutex_lock(&memory->mutex);
    uint64_t number = ++memory->calls;
    bb_file_memory_hook *hook = memory->hook;
    void *context = memory->hook_context;
    bb_mutex_unlock(&memory->mutex);
    return hook == NULL ? BB_OK : hook(context, memory, number, call, path);
}

enum bb_status bb_memory_done(int error_number, const char *operation, const char *path)
{
    return error_number == 0 ? BB_OK : bb_fail_errno(error_number, operation, path);
}

static enum bb_status open_file(struct bb_file_system *fs, const char *path,
                                struct bb_file **ret_file)
{
    struct bb_file_memory *memory = memory_of(fs);
    struct bb_memory_inode *inode = NULL;
    bb_mutex_lock(&memory->mutex);
    int error_number = bb_memory_find(&memory->tree, path, &inode);
    bool is_directory = error_number == 0 && inode->is_directory;
    struct bb_memory_file *file = NULL;
    if (error_number == 0 && !is_directory)
        file = bb_memory_file_create(memory, inode, path, false);
    bb_mutex_unlock(&memory->mutex);
    if (is_directory)
        return bb_fail(BB_INVALID, "%s: is a directory, expected a regular file", path);
    if (file == NULL)
        return bb_fail_errno(error_number, "open", path);
    *ret_file = &file->base;
    return BB_OK;
}

int bb_memory_make_at(struct bb_file_memory *memory, const char *path, bool is_directory,
                      struct bb_memory_inode **ret_inode)
{
    struct bb_memory_inode *directory = NULL;
    char name[BB_MEMORY_NAME_SIZE_MAX + 1];
    int error_number = bb_memory_walk(&memory->tree, path, &directory, name);
    if (error_number != 0)
        return error_number;
    if (bb_memory_lookup(directory, name) != NULL)
        return EEXIST;
    *ret_inode = bb_memory_make(&memory->tree, directory, name, is_directory);
    return 0;
}

static enum bb_status create_file(struct bb_file_system *fs, const char *path,
                                  struct bb_file **ret_file)
{
    struct bb_file_memory *memory = memory_of(fs);
    enum bb_status status = bb_memory_announce(memory, BB_FILE_CALL_CREATE, path);
    if (status != BB_OK)
        return status;

    struct bb_memory_inode *inode = NULL;
    struct bb_memory_file *file = NULL;
    bb_mutex_lock(&memory->mutex);
    int error_number = bb_memory_make_at(memory, path, false, &inode);
    if (error_number == 0)
        file = bb_memory_file_create(memory, inode, path, true);
    bb_mutex_unlock(&memory->mutex);
    if (file == NULL)
        return bb_fail_errno(error_number, "open", path);
    *ret_file = &file->base;
    return BB_OK;
}

static int rename_locked(struct bb_file_memory *memory, const char *from, const char *to)
{
    struct bb_memory_inode *directory = NULL;
    struct bb_memory_inode *to_directory = NULL;
    char name[BB_MEMORY_NAME_SIZE_MAX + 1];
    char to_name[BB_MEMORY_NAME_SIZE_MAX + 1];
    int error_number = bb_memory_walk(&memory->tree, from, &directory, name);
    if (error_number == 0)
        error_number = bb_memory_walk(&memory->tree, to, &to_directory, to_name);
    if (error_number != 0)
        return error_number;

    const struct bb_memory_inode *inode = bb_memory_lookup(directory, name);
    const struct bb_memory_inode *replaced = bb_memory_lookup(to_directory, to_name);
    if (inode == NULL)
        return ENOENT;
    /* The seam is more limited than rename(2): files only, and inside one directory. */
    if (inode->is_directory || (replaced != NULL && replaced->is_directory))
        return EISDIR;
    if (directory != to_directory)
        return EXDEV;
    bb_memory_relink(&memory->tree, directory, name, to_name);
    return 0;
}

static enum bb_status rename_file(struct bb_file_system *fs, const char *from, const char *to)
{
    struct bb_file_memory *memory = memory_of(fs);
    enum bb_status status = bb_memory_announce(memory, BB_FILE_CALL_RENAME, from);
    if (status != BB_OK)
        return status;
    bb_mutex_lock(&memory->mutex);
    int error_number = rename_locked(memory, from, to);
    bb_mutex_unlock(&memory->mutex);
    return bb_memory_done(error_number, "rename", from);
}

static int link_locked(struct bb_file_memory *memory, const char *from, const char *to)
{
    struct bb_memory_inode *inode = NULL;
    struct bb_memory_inode *directory = NULL;
    char name[BB_MEMORY_NAME_SIZE_MAX + 1];
    int error_number = bb_memory_find(&memory->tree, from, &inode);
    if (error_number == 0)
        error_number = bb_memory_walk(&memory->tree, to, &directory, name);
    if (error_number != 0)
        return error_number;
    if (bb_memory_lookup(directory, name) != NULL)
        return EEXIST;
    if (inode->is_directory)
        return EPERM;
    bb_memory_link(&memory->tree, directory, name, inode);
    return 0;
}

static enum bb_status link_file(struct bb_file_system *fs, const char *from, const char *to)
{
    struct bb_file_memory *memory = memory_of(fs);
    enum bb_status status = bb_memory_announce(memory, BB_FILE_CALL_LINK, to);
    if (status != BB_OK)
        return status;
    bb_mutex_lock(&memory->mutex);
    int error_number = memory->has_links ? link_locked(memory, from, to) : EXDEV;
    bb_mutex_unlock(&memory->mutex);
    if (error_number == EPERM || error_number == EXDEV)
        return bb_fail(BB_UNSUPPORTED, "%s: link to %s: not possible here", to, from);
    return bb_memory_done(error_number, "link", to);
}

static int remove_locked(struct bb_file_memory *memory, const char *path, bool is_directory)
{
    struct bb_memory_inode *directory = NULL;
    char name[BB_MEMORY_NAME_SIZE_MAX + 1];
    int error_number = bb_memory_walk(&memory->tree, path, &directory, name);
    if (error_number != 0)
        return error_number;
    const struct bb_memory_inode *inode = bb_memory_lookup(directory, name);
    if (inode == NULL)
        return ENOENT;
    if (inode->is_directory != is_directory)
        return is_directory ? ENOTDIR : EISDIR;
    if (inode == memory->tree.root)
        return EBUSY;
    if (is_directory && inode->names.count > 0)
        return ENOTEMPTY;
    bb_memory_unlink(&memory->tree, directory, name);
    return 0;
}

static enum bb_status remove_file(struct bb_file_system *fs, const char *path)
{
    struct bb_file_memory *memory = memory_of(fs);
    enum bb_status status = bb_memory_announce(memory, BB_FILE_CALL_REMOVE, path);
    if (status != BB_OK)
        return status;
    bb_mutex_lock(&memory->mutex);
    int error_number = remove_locked(memory, path, false);
    bb_mutex_unlock(&memory->mutex);
    return bb_memory_done(error_number, "unlink", path);
}

static enum bb_status remove_directory(struct bb_file_system *fs, const char *path)
{
    struct bb_file_memory *memory = memory_of(fs);
    enum bb_status status = bb_memory_announce(memory, BB_FILE_CALL_REMOVE_DIRECTORY, path);
    if (status != BB_OK)
        return status;
    bb_mutex_lock(&memory->mutex);
    int error_number = remove_locked(memory, path, true);
    bb_mutex_unlock(&memory->mutex);
    return bb_memory_done(error_number, "rmdir", path);
}

static enum bb_status make_directory(struct bb_file_system *fs, const char *path)
{
    struct bb_file_memory *memory = memory_of(fs);
    enum bb_status status = bb_memory_announce(memory, BB_FILE_CALL_MAKE_DIRECTORY, path);
    if (status != BB_OK)
        return status;
    struct bb_memory_inode *inode = NULL;
    bb_mutex_lock(&memory->mutex);
    int error_number = bb_memory_make_at(memory, path, true, &inode);
    bb_mutex_unlock(&memory->mutex);
    return bb_memory_done(error_number, "mkdir", path);
}

static int find_directory(struct bb_file_memory *memory, const char *path,
                          struct bb_memory_inode **ret_inode)
{
    int error_number = bb_memory_find(&memory->tree, path, ret_inode);
    if (error_number == 0 && !(*ret_inode)->is_directory)
        return ENOTDIR;
    return error_number;
}

static enum bb_status list_directory(struct bb_file_system *fs, const char *directory,
                                     struct bb_file_names *ret_list)
{
    struct bb_file_memory *memory = memory_of(fs);
    struct bb_memory_inode *inode = NULL;
    enum bb_status status = BB_OK;
    bb_mutex_lock(&memory->mutex);
    int error_number = find_directory(memory, directory, &inode);
    if (error_number == 0)
        status = bb_memory_list(&inode->names, ret_list);
    bb_mutex_unlock(&memory->mutex);
    return error_number == 0 ? status : bb_fail_errno(error_number, "open", directory);
}

static enum bb_status sync_directory(struct bb_file_system *fs, const char *path)
{
    struct bb_file_memory *memory = memory_of(fs);
    enum bb_status status = bb_memory_announce(memory, BB_FILE_CALL_SYNC_DIRECTORY, path);
    if (status != BB_OK)
        return status;
    struct bb_memory_inode *inode = NULL;
    bb_mutex_lock(&memory->mutex);
    int error_number = find_directory(memory, path, &inode);
    if (error_number == 0) {
        bb_memory_sync_names(&memory->tree, inode);
        memory->counters.directory_syncs++;
    }
    bb_mutex_unlock(&memory->mutex);
    return bb_memory_done(error_number, "open", path);
}

static enum bb_status status_of(struct bb_file_system *fs, const char *path, bool *ret_is_directory,
                                uint64_t *ret_size)
{
    struct bb_file_memory *memory = memory_of(fs);
    struct bb_memory_inode *inode = NULL;
    bb_mutex_lock(&memory->mutex);
    int error_number = bb_memory_find(&memory->tree, path, &inode);
    if (error_number == 0) {
        *ret_is_directory = inode->is_directory;
        *ret_size = inode->size;
    }
    bb_mutex_unlock(&memory->mutex);
    return bb_memory_done(error_number, "stat", path);
}

/* The directory of a path; NULL if there is no such directory. */
static struct bb_memory_inode *find_directory_of(struct bb_file_memory *memory, const char *path)
{
    char directory[PATH_MAX];
    struct bb_memory_inode *inode = NULL;
    const char *slash = strrchr(path, '/');
    size_t size = slash == NULL ? 0 : (size_t)(slash - path);
    BB_ASSERT(size < sizeof(directory));
    memcpy(directory, path, size);
    directory[size] = 0;
    int error_number = bb_memory_find(&memory->tree, size == 0 ? "/" : directory, &inode);
    return error_number == 0 ? inode : NULL;
}

/* Takes the lock, makes its file when missing; errno value, EAGAIN when it is held. */
static int lock_locked(struct bb_file_memory *memory, const char *path,
                       struct bb_memory_file **ret_file)
{
    struct bb_memory_inode *inode = NULL;
    int error_number = bb_memory_find(&memory->tree, path, &inode);
    if (error_number == ENOENT)
        error_number = bb_memory_make_at(memory, path, false, &inode);
    if (error_number != 0)
        return error_number;
    if (inode->is_directory)
        return EISDIR;
    struct bb_memory_inode *directory = find_directory_of(memory, path);
    if (inode->is_locked || directory->shared_locks > 0)
        return EAGAIN;
    inode->is_locked = true;
    *ret_file = bb_memory_file_create(memory, inode, path, false);
    return 0;
}

/* The directory counts read-only users: the lock file may be missing. */
static int lock_shared_locked(struct bb_file_memory *memory, const char *path,
                              struct bb_memory_file **ret_file)
{
    struct bb_memory_inode *inode = NULL;
    struct bb_memory_inode *directory = find_directory_of(memory, path);
    int error_number = bb_memory_find(&memory->tree, path, &inode);
    if (directory == NULL)
        return ENOENT;
    if (error_number == 0 && inode->is_directory)
        return EISDIR;
    if (error_number == 0 && inode->is_locked)
        return EAGAIN;
    directory->shared_locks++;
    *ret_file = bb_memory_file_create(memory, directory, path, false);
    return 0;
}

static enum bb_status end_lock(int error_number, const char *path, struct bb_memory_file *file,
                               struct bb_file **ret_lock)
{
    if (error_number == EAGAIN)
        return bb_fail(BB_BUSY, "%s: already locked by this process (%ld)", path, (long)getpid());
    if (error_number == EISDIR)
        return bb_fail(BB_INVALID, "%s: is a directory, expected a regular file", path);
    if (error_number != 0)
        return bb_fail_errno(error_number, "open", path);
    *ret_lock = &file->base;
    return BB_OK;
}

static enum bb_status lock_file(struct bb_file_system *fs, const char *path,
                                struct bb_file **ret_lock)
{
    struct bb_file_memory *memory = memory_of(fs);
    enum bb_status status = bb_memory_announce(memory, BB_FILE_CALL_LOCK, path);
    if (status != BB_OK)
        return status;
    struct bb_memory_file *file = NULL;
    bb_mutex_lock(&memory->mutex);
    int error_number = lock_locked(memory, path, &file);
    bb_mutex_unlock(&memory->mutex);
    return end_lock(error_number, path, file, ret_lock);
}

static enum bb_status lock_file_shared(struct bb_file_system *fs, const char *path,
                                       struct bb_file **ret_lock)
{
    struct bb_file_memory *memory = memory_of(fs);
    struct bb_memory_file *file = NULL;
    bb_mutex_lock(&memory->mutex);
    int error_number = lock_shared_locked(memory, path, &file);
    bb_mutex_unlock(&memory->mutex);
    return end_lock(error_number, path, file, ret_lock);
}

static enum bb_status unlock_file(struct bb_file_system *fs, struct bb_file *base)
{
    struct bb_file_memory *memory = memory_of(fs);
    struct bb_memory_file *file = (struct bb_memory_file *)base; /* base is the first member */
    bb_mutex_lock(&memory->mutex);
    BB_ASSERT(file->memory == memory && (file->inode->is_locked || file->inode->shared_locks > 0));
    if (file->inode->is_directory)
        file->inode->shared_locks--;
    else
        file->inode->is_locked = false;
    bb_mutex_unlock(&memory->mutex);
    bb_memory_file_destroy(file);
    return BB_OK;
}

uint64_t bb_memory_space_left(const struct bb_file_memory *memory)
{
    if (memory->space == 0)
        return UINT64_C(1) << 40;
    uint64_t used = bb_memory_tree_used(&memory->tree);
    return used < memory->space ? memory->space - used : 0;
}

static enum bb_status free_space(struct bb_file_system *fs, const char *path, uint64_t *ret_bytes)
{
    struct bb_file_memory *memory = memory_of(fs);
    struct bb_memory_inode *inode = NULL;
    bb_mutex_lock(&memory->mutex);
    int error_number = bb_memory_find(&memory->tree, path, &inode);
    if (error_number == 0)
        *ret_bytes = bb_memory_space_left(memory);
    bb_mutex_unlock(&memory->mutex);
    return bb_memory_done(error_number, "statvfs", path);
}

static enum bb_status random_bytes(struct bb_file_system *fs, void *buffer, size_t size)
{
    struct bb_file_memory *memory = memory_of(fs);
    bb_mutex_lock(&memory->mutex);
    bb_rng_bytes(&memory->rng, buffer, size);
    bb_mutex_unlock(&memory->mutex);
    return BB_OK;
}

static uint64_t now(struct bb_file_system *fs)
{
    struct bb_file_memory *memory = memory_of(fs);
    bb_mutex_lock(&memory->mutex);
    uint64_t time = memory->clock += CLOCK_STEP_NANOSECONDS;
    bb_mutex_unlock(&memory->mutex);
    return time;
}

/* The clock advances, and other threads may run. */
static void sleep_for(struct bb_file_system *fs, uint64_t nanoseconds)
{
    bb_file_memory_advance(memory_of(fs), nanoseconds);
    (void)sched_yield();
}

static void counters(struct bb_file_system *fs, struct bb_file_counters *ret_counters)
{
    struct bb_file_memory *memory = memory_of(fs);
    bb_mutex_lock(&memory->mutex);
    *ret_counters = memory->counters;
    bb_mutex_unlock(&memory->mutex);
}

static const struct bb_file_system_ops file_system_ops = {
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
    .sleep = sleep_for,
    .counters = counters,
};

struct bb_file_memory *bb_file_memory_create_bare(void)
{
    struct bb_file_memory *memory = bb_must_alloc_zeroed(sizeof(*memory));
    memory->base.ops = &file_system_ops;
    memory->has_links = true;
    bb_memory_offer_windows(&file_system_ops);
    bb_mutex_init(&memory->mutex);
    return memory;
}

struct bb_file_memory *bb_file_memory_create(uint64_t seed)
{
    struct bb_file_memory *memory = bb_file_memory_create_bare();
    bb_memory_tree_init(&memory->tree);
    bb_rng_init(&memory->rng, seed);
    memory->clock = CLOCK_START_NANOSECONDS;
    return memory;
}

void bb_file_memory_destroy(struct bb_file_memory *memory)
{
    BB_ASSERT(memory->open_files == 0);
    bb_memory_tree_deinit(&memory->tree);
    bb_mutex_deinit(&memory->mutex);
    free(memory);
}
