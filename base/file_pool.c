/* See file_pool.h.
 *
 * The word `state` of a file is the number of threads inside a read, and one bit that is set if the
 * descriptor is closed:
 *
 *     read     add 1; if the bit is clear, the descriptor stays open until 1 is subtracted again;
 *              if it is set, open the file under the mutex and clear the bit, keeping the 1
 *     evict    under the mutex, change 0 to the bit in one step: no thread is inside a read, and
 *              none can enter
 *
 * `inner` is written only by the holder of the mutex, after making sure that no thread is inside a
 * read. */
#include "base/file_pool.h"

#include <inttypes.h>
#include <stdatomic.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/file_forward.h"
#include "base/status.h"
#include "base/sync.h"

#define CLOSED (UINT32_C(1) << 31)

struct pooled_file {
    struct bb_file base;
    struct bb_file_pool *pool;
    _Atomic uint32_t state;
    _Atomic uint32_t is_recent; /* read since the clock's hand last passed */
    struct bb_file *inner;      /* owned while open */
    uint64_t size;
    struct pooled_file *next; /* ring of the open ones */
    struct pooled_file *previous;
    char path[];
};

struct bb_file_pool {
    struct bb_file_forward forward; /* the first member */
    uint32_t limit;
    bool is_shared;        /* others may remove files */
    struct bb_mutex mutex; /* guards the fields below */
    /* The next file to examine; NULL: no file is open. */
    struct pooled_file *hand;
    struct bb_file_pool_counters counters;
};

static struct pooled_file *file_of(struct bb_file *file)
{
    return (struct pooled_file *)file; /* base is the first member */
}

/* ---- the ring ---- */

/* Inserts the file just before the hand, so that it is examined last. */
static void link_open(struct bb_file_pool *pool, struct pooled_file *file)
{
    if (pool->hand == NULL) {
        file->next = file->previous = file;
        pool->hand = file;
    } else {
        file->next = pool->hand;
        file->previous = pool->hand->previous;
        file->previous->next = file;
        file->next->previous = file;
    }
    pool->counters.descriptors++;
    if (pool->counters.descriptors > pool->counters.descriptors_max)
        pool->counters.descriptors_max = pool->counters.descriptors;
}

static void unlink_open(struct bb_file_pool *pool, struct pooled_file *file)
{
    if (pool->hand == file)
        pool->hand = file->next == file ? NULL : file->next;
    file->next->previous = file->previous;
    file->previous->next = file->next;
    pool->counters.descriptors--;
}

/* The file was only read from, so a failure to close it means no lost data: it is dropped. */
static void close_inner(struct bb_file_pool *pool, struct pooled_file *file)
{
    struct bb_error before = *bb_error_last();
    unlink_open(pool, file);
    if (bb_file_close(file->inner) != BB_OK)
        bb_error_restore(&before);
    file->inner = NULL;
}

/* Two rounds, because in the first all files may be marked; and a third that ignores marks, because
 * readers continue to set them. */
static bool evict_one(struct bb_file_pool *pool)
{
    uint64_t count = pool->counters.descriptors;
    for (uint64_t i = 0; i < 3 * count; i++) {
        struct pooled_file *file = pool->hand;
        uint32_t idle = 0;
        pool->hand = file->next;
        if (atomic_exchange_explicit(&file->is_recent, 0, memory_order_relaxed) != 0 &&
            i < 2 * count)
            continue;
        if (!atomic_compare_exchange_strong_explicit(&file->state, &idle, CLOSED,
                                                     memory_order_acq_rel, memory_order_relaxed))
            continue;
        close_inner(pool, file);
        return true;
    }
    return false;
}

/* The process may lack descriptors for other reasons: close one of the pool's and retry. */
static enum bb_status open_inner(struct bb_file_pool *pool, const char *path,
                                 struct bb_file **ret_inner)
{
    while (pool->counters.descriptors >= pool->limit && evict_one(pool))
        continue;
    enum bb_status status = bb_file_open(pool->forward.inner, path, ret_inner);
    if (status == BB_IO && evict_one(pool))
        status = bb_file_open(pool->forward.inner, path, ret_inner);
    return status;
}

/* Not "not found": to a lookup that would mean that the key is absent. */
static enum bb_status fail_gone(const struct pooled_file *file)
{
    if (file->pool->is_shared)
        return bb_fail(BB_BUSY,
                       "%s: was removed by its writer, and its descriptor had been given up for "
                       "others",
                       file->path);
    return bb_fail(BB_IO, "%s: was removed while it was in use", file->path);
}

/* In a shared pool, checks first that the name still exists. For a removed file no other file may
 * lose its descriptor, because that file may have been removed too. */
static enum bb_status open_again(struct pooled_file *file, struct bb_file **ret_inner)
{
    struct bb_file_pool *pool = file->pool;
    bool is_directory = false;
    uint64_t size = 0;
    enum bb_status status = BB_OK;
    if (pool->is_shared)
        status =
            pool->forward.inner->ops->status(pool->forward.inner, file->path, &is_directory, &size);
    return status == BB_OK ? open_inner(pool, file->path, ret_inner) : status;
}

/* The bit is set, and the caller counts as inside. */
static enum bb_status reopen(struct pooled_file *file)
{
    struct bb_file_pool *pool = file->pool;
    struct bb_file *inner = NULL;
    uint64_t size = 0;
    enum bb_status status = open_again(file, &inner);
    if (status != BB_OK)
        return status == BB_NOT_FOUND ? fail_gone(file) : status;
    status = bb_file_size(inner, &size);
    if (status == BB_OK && size != file->size)
        status = bb_fail(BB_IO,
                         "%s: has %" PRIu64 " bytes, but had %" PRIu64
                         ": it was replaced while it was in use",
                         file->path, size, file->size);
    if (status != BB_OK)
        return bb_file_close_after(inner, status);
    file->inner = inner;
    link_open(pool, file);
    pool->counters.reopens++;
    atomic_fetch_and_explicit(&file->state, ~CLOSED, memory_order_release);
    return BB_OK;
}

/* ---- files ---- */

static void leave(struct pooled_file *file)
{
    atomic_fetch_sub_explicit(&file->state, 1, memory_order_release);
}

static enum bb_status enter(struct pooled_file *file)
{
    uint32_t before = atomic_fetch_add_explicit(&file->state, 1, memory_order_acquire);
    if (__builtin_expect((before & CLOSED) == 0, 1))
        return BB_OK;
    enum bb_status status = BB_OK;
    bb_mutex_lock(&file->pool->mutex);
    if ((atomic_load_explicit(&file->state, memory_order_acquire) & CLOSED) != 0)
        status = reopen(file);
    bb_mutex_unlock(&file->pool->mutex);
    if (status != BB_OK)
        leave(file);
    return status;
}

static enum bb_status read_at(struct bb_file *base, uint64_t offset, void *buffer, size_t size,
                              size_t *ret_size)
{
    struct pooled_file *file = file_of(base);
    enum bb_status status = enter(file);
    if (status != BB_OK)
        return status;
    status = bb_file_read_at(file->inner, offset, buffer, size, ret_size);
    atomic_store_explicit(&file->is_recent, 1, memory_order_relaxed);
    leave(file);
    return status;
}

static bool read_now(struct bb_file *base, uint64_t offset, void *buffer, size_t size)
{
    struct pooled_file *file = file_of(base);
    if (enter(file) != BB_OK) /* the later read reports the error */
        return false;
    bool is_read = bb_file_read_now(file->inner, offset, buffer, size);
    atomic_store_explicit(&file->is_recent, 1, memory_order_relaxed);
    leave(file);
    return is_read;
}

static void will_need(struct bb_file *base, uint64_t offset, uint64_t size)
{
    struct pooled_file *file = file_of(base);
    if (enter(file) != BB_OK)
        return;
    bb_file_will_need(file->inner, offset, size);
    leave(file);
}

/* The map needs no descriptor. */
static enum bb_status map_file(struct bb_file *base, uint64_t size, struct bb_file_map **ret_map)
{
    struct pooled_file *file = file_of(base);
    enum bb_status status = enter(file);
    if (status != BB_OK)
        return status;
    status = bb_file_map_create(file->inner, size, ret_map);
    leave(file);
    return status;
}

static enum bb_status append(struct bb_file *file, const void *data, size_t size)
{
    (void)data;
    (void)size;
    return bb_fail(BB_INVALID, "%s: append: opened for reading", file->path);
}

static enum bb_status sync_file(struct bb_file *file)
{
    return bb_fail(BB_INVALID, "%s: sync: opened for reading", file->path);
}

static enum bb_status size_of_file(struct bb_file *file, uint64_t *ret_size)
{
    *ret_size = file_of(file)->size;
    return BB_OK;
}

static enum bb_status close_file(struct bb_file *base)
{
    struct pooled_file *file = file_of(base);
    struct bb_file_pool *pool = file->pool;
    bb_mutex_lock(&pool->mutex);
    uint32_t state = atomic_load_explicit(&file->state, memory_order_acquire);
    BB_ASSERT((state & ~CLOSED) == 0); /* no thread is inside a read */
    if (state == 0)
        close_inner(pool, file);
    pool->counters.open_files--;
    bb_mutex_unlock(&pool->mutex);
    bb_free(file);
    return BB_OK;
}

static const struct bb_file_ops file_ops = {
    .read_at = read_at,
    .read_now = read_now,
    .will_need = will_need,
    .map = map_file,
    .append = append,
    .sync = sync_file,
    .size = size_of_file,
    .close = close_file,
};

static enum bb_status open_first(struct bb_file_pool *pool, struct pooled_file *file)
{
    enum bb_status status = open_inner(pool, file->path, &file->inner);
    if (status != BB_OK)
        return status;
    status = bb_file_size(file->inner, &file->size);
    if (status != BB_OK)
        return bb_file_close_after(file->inner, status);
    link_open(pool, file);
    pool->counters.open_files++;
    return BB_OK;
}

static enum bb_status open_for_reading(struct bb_file_system *fs, const char *path,
                                       struct bb_file **ret_file)
{
    /* forward is the first member, and base its first */
    struct bb_file_pool *pool = (struct bb_file_pool *)fs;
    size_t path_size = strlen(path) + 1;
    struct pooled_file *file = bb_alloc(sizeof(*file) + path_size);
    if (file == NULL)
        return bb_fail(BB_NO_MEMORY, "%s: no memory to open it", path);
    *file = (struct pooled_file){.base = {.ops = &file_ops, .path = file->path}, .pool = pool};
    memcpy(file->path, path, path_size);
    bb_mutex_lock(&pool->mutex);
    enum bb_status status = open_first(pool, file);
    bb_mutex_unlock(&pool->mutex);
    if (status == BB_OK)
        *ret_file = &file->base;
    else
        bb_free(file);
    return status;
}

/* ---- the pool ---- */

enum bb_status bb_file_pool_create(struct bb_file_system *fs, uint32_t limit,
                                   struct bb_file_pool **ret_pool)
{
    if (limit == 0)
        return bb_fail(BB_INVALID, "a pool of no descriptors");
    struct bb_file_pool *pool = bb_alloc_zeroed(1, sizeof(*pool));
    if (pool == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for a pool of descriptors");
    bb_file_forward_init(&pool->forward, fs);
    pool->forward.ops.open = open_for_reading;
    pool->limit = limit;
    bb_mutex_init(&pool->mutex);
    *ret_pool = pool;
    return BB_OK;
}

void bb_file_pool_share(struct bb_file_pool *pool)
{
    pool->is_shared = true;
}

void bb_file_pool_destroy(struct bb_file_pool *pool)
{
    if (pool == NULL)
        return;
    BB_ASSERT(pool->counters.open_files == 0);
    bb_mutex_deinit(&pool->mutex);
    bb_free(pool);
}

bool bb_file_pool_is_free(struct bb_file_pool *pool)
{
    return bb_mutex_is_free(&pool->mutex);
}

struct bb_file_system *bb_file_pool_system(struct bb_file_pool *pool)
{
    return &pool->forward.base;
}

void bb_file_pool_counters(struct bb_file_pool *pool, struct bb_file_pool_counters *ret_counters)
{
    bb_mutex_lock(&pool->mutex);
    *ret_counters = pool->counters;
    bb_mutex_unlock(&pool->mutex);
}
