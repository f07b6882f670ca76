/* Windows of the file system in memory: files that a program changes without a call. */
#include <errno.h>

#include "base/file_window.h"
#include "base/status.h"
#include "tests/support/file_memory_private.h"
#include "tests/support/must_alloc.h"

struct memory_window {
    struct bb_file_window base;
    struct bb_file_memory *memory;
    struct bb_memory_inode *inode;
};

static bool is_sound(const struct bb_file_window *base)
{
    (void)base;
    return true;
}

static void destroy(struct bb_file_window *base)
{
    struct memory_window *window = (struct memory_window *)base; /* base is the first member */
    struct bb_file_memory *memory = window->memory;
    bb_mutex_lock(&memory->mutex);
    window->inode->handles--;
    bb_memory_release(&memory->tree, window->inode);
    memory->open_files--;
    bb_mutex_unlock(&memory->mutex);
    free(window);
}

static const struct bb_file_window_ops window_ops = {.is_sound = is_sound, .destroy = destroy};

/* This is the only append to the file, so its bytes keep their address. */
static void fill_with_zeros(struct bb_memory_inode *inode, size_t size)
{
    inode->written = bb_must_alloc_zeroed(size);
    bb_memory_append(inode, inode->written, size);
}

/* With the mutex; errno value. */
static int make_window(struct bb_file_memory *memory, const char *path, size_t size,
                       struct memory_window *window)
{
    if (bb_memory_space_left(memory) < size)
        return ENOSPC;
    int error_number = bb_memory_make_at(memory, path, false, &window->inode);
    if (error_number != 0)
        return error_number;
    fill_with_zeros(window->inode, size);
    window->inode->handles++;
    bb_memory_acquire(window->inode);
    memory->open_files++;
    return 0;
}

static enum bb_status create_window(struct bb_file_system *fs, const char *path, size_t size,
                                    struct bb_file_window **ret_window)
{
    struct bb_file_memory *memory = (struct bb_file_memory *)fs; /* base is the first member */
    if (!memory->has_windows)
        return bb_fail(BB_UNSUPPORTED, "%s: no windows here", path);
    enum bb_status status = bb_memory_announce(memory, BB_FILE_CALL_CREATE, path);
    if (status != BB_OK)
        return status;
    struct memory_window *window = bb_must_alloc_zeroed(sizeof(*window));
    window->memory = memory;
    bb_mutex_lock(&memory->mutex);
    int error_number = make_window(memory, path, size, window);
    bb_mutex_unlock(&memory->mutex);
    if (error_number != 0) {
        free(window);
        return bb_fail_errno(error_number, "posix_fallocate", path);
    }
    window->base = (struct bb_file_window){.ops = &window_ops, .bytes = window->inode->bytes};
    *ret_window = &window->base;
    return BB_OK;
}

static struct bb_file_window_maker maker = {.create = create_window};
static struct bb_once offering = BB_ONCE_STATIC;

static void offer(void)
{
    bb_file_window_offer(&maker);
}

void bb_memory_offer_windows(const struct bb_file_system_ops *ops)
{
    maker.ops = ops;
    bb_once_run(&offering, offer);
}

void bb_file_memory_set_windows(struct bb_file_memory *memory, bool has_windows)
{
    bb_mutex_lock(&memory->mutex);
    memory->has_windows = has_windows;
    bb_mutex_unlock(&memory->mutex);
}

static void write_pages(struct bb_rng *rng, struct bb_memory_inode *inode)
{
    for (size_t page = 0; page < inode->size; page += BB_MEMORY_PAGE_SIZE) {
        if (bb_rng_one_in(rng, 2))
            memcpy(inode->written + page, inode->bytes + page, BB_MEMORY_PAGE_SIZE);
    }
}

void bb_file_memory_write_back(struct bb_file_memory *memory)
{
    bb_mutex_lock(&memory->mutex);
    for (size_t i = 0; i < memory->tree.count; i++) {
        if (memory->tree.inodes[i]->written != NULL)
            write_pages(&memory->rng, memory->tree.inodes[i]);
    }
    bb_mutex_unlock(&memory->mutex);
}
