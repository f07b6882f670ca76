/* See store.h. */
#include "redis/store/store.h"

#include <string.h>

#include "bb/db_files.h"
#include "redis/server/redis_module.h"
#include "redis/store/thread.h"
#include "redis/store/unsynced.h"

/* The list of all stores. */
static struct bb_redis_lock lock = BB_REDIS_LOCK_INITIALIZER;
static struct bb_redis_store *all;

void bb_redis_store_attach(struct bb_redis_store *store)
{
    bb_redis_lock_enter(&lock);
    store->next = all;
    if (all != NULL)
        all->previous = store;
    all = store;
    bb_redis_lock_leave(&lock);
}

static void remove_from_list(struct bb_redis_store *store)
{
    bb_redis_lock_enter(&lock);
    if (store->next != NULL)
        store->next->previous = store->previous;
    if (store->previous != NULL)
        store->previous->next = store->next;
    else
        all = store->next;
    bb_redis_lock_leave(&lock);
}

void bb_redis_stores_visit(void (*visit)(void *context, struct bb_redis_store *store),
                           void *context)
{
    bb_redis_lock_enter(&lock);
    for (struct bb_redis_store *store = all; store != NULL; store = store->next)
        visit(context, store);
    bb_redis_lock_leave(&lock);
}

/* ---- creation ---- */

static struct bb_redis_store *allocate(const struct bb_redis_store_options *options)
{
    struct bb_redis_store *store = RedisModule_Alloc(sizeof(*store));
    memset(store, 0, sizeof(*store));
    atomic_init(&store->references, 1);
    store->options = *options;
    return store;
}

static void release(struct bb_redis_store *store)
{
    bb_batch_destroy(store->batch);
    if (store->files != NULL)
        bb_file_system_posix_destroy(store->files);
    RedisModule_Free(store);
}

/* Opens the directory of the store, which may exist. */
static enum bb_status open_directory(struct bb_redis_store *store, bool is_new)
{
    struct bb_db_options options = bb_redis_store_options_db(&store->options);
    struct bb_redis_path path = bb_redis_root_store(&store->id);
    options.file_system = store->files;
    options.create_if_missing = is_new;
    options.error_if_exists = is_new;
    return bb_db_open(path.text, &options, &store->db);
}

/* Finishes a new store, with an empty directory or the directory that `fill` makes. */
static enum bb_status begin(const struct bb_redis_store_options *options,
                            enum bb_status (*fill)(void *context, const char *path), void *context,
                            struct bb_redis_store **ret_store)
{
    struct bb_redis_store *store = allocate(options);
    enum bb_status status = bb_redis_root_open();
    if (status == BB_OK)
        status = bb_redis_root_new_id(&store->id);
    if (status == BB_OK)
        status = bb_batch_create(&store->batch);
    if (status == BB_OK)
        status = bb_redis_unsynced_create(&store->files);
    struct bb_redis_path path = bb_redis_root_store(&store->id);
    if (status == BB_OK && fill != NULL)
        status = fill(context, path.text);
    if (status == BB_OK)
        status = open_directory(store, fill == NULL);
    if (status != BB_OK) {
        release(store);
        return status;
    }
    *ret_store = store;
    return BB_OK;
}

enum bb_status bb_redis_store_create(const struct bb_redis_store_options *options,
                                     struct bb_redis_store **ret_store)
{
    return begin(options, NULL, NULL, ret_store);
}

struct bb_redis_store *bb_redis_store_create_lost(const struct bb_redis_store_options *options)
{
    struct bb_redis_store *store = allocate(options);
    store->is_incomplete = true;
    return store;
}

/* ---- copies ---- */

static enum bb_status link_saved(void *context, const char *path)
{
    const struct bb_redis_path *saved = context;
    const struct bb_db_options options = {.wal_off = true};
    struct bb_db *db = NULL;
    enum bb_status status = bb_db_open(saved->text, &options, &db);
    if (status != BB_OK)
        return status;
    status = bb_db_checkpoint(db, path);
    enum bb_status closed = bb_db_close(db);
    return status == BB_OK ? closed : status;
}

enum bb_status bb_redis_store_adopt(const struct bb_redis_path *saved,
                                    const struct bb_redis_store_options *options,
                                    struct bb_redis_store **ret_store)
{
    struct bb_redis_path path = *saved;
    return begin(options, link_saved, &path, ret_store);
}

static enum bb_status copy_present(void *context, const char *path)
{
    struct bb_checkpoint *checkpoint = NULL;
    enum bb_status status = bb_checkpoint_create(context, &checkpoint);
    if (status == BB_OK)
        status = bb_checkpoint_write(checkpoint, path);
    bb_checkpoint_destroy(checkpoint);
    return status;
}

enum bb_status bb_redis_store_copy(struct bb_redis_store *store, struct bb_redis_store **ret_store)
{
    struct bb_redis_store *made = NULL;
    if (store->db == NULL) {
        *ret_store = bb_redis_store_create_lost(&store->options);
        return BB_OK;
    }
    enum bb_status status = begin(&store->options, copy_present, store->db, &made);
    if (status != BB_OK)
        return status;
    made->is_incomplete = store->is_incomplete;
    *ret_store = made;
    return BB_OK;
}

/* ---- references ---- */

struct bb_redis_store *bb_redis_store_ref(struct bb_redis_store *store)
{
    atomic_fetch_add(&store->references, 1);
    return store;
}

/* Closes a store that has no key, and removes its directory. The directory gets another name first,
 * so that the close cannot write the buffers to tables that would be removed next. If it cannot be
 * renamed, the close takes longer and has the same result. */
static void close_store(struct bb_redis_store *store)
{
    struct bb_redis_path path = bb_redis_root_store(&store->id);
    struct bb_redis_id other;
    if (store->db == NULL) {
        release(store);
        return;
    }
    if (bb_redis_root_new_id(&other) == BB_OK) {
        struct bb_redis_path moved = bb_redis_root_store(&other);
        if (bb_redis_root_rename(&path, &moved) == BB_OK)
            path = moved;
    }
    (void)!bb_db_close(store->db);
    release(store);
    bb_redis_root_remove(&path);
}

static void close_later(struct bb_redis_job *job)
{
    close_store((struct bb_redis_store *)((char *)job - offsetof(struct bb_redis_store, closing)));
}

static bool remove_reference(struct bb_redis_store *store)
{
    return atomic_fetch_sub(&store->references, 1) == 1;
}

static void give_to_pool(struct bb_redis_store *store)
{
    store->closing.run = close_later;
    bb_redis_pool_add(&store->closing);
}

void bb_redis_store_unref(struct bb_redis_store *store)
{
    if (remove_reference(store))
        give_to_pool(store);
}

bool bb_redis_store_must_close_now(void)
{
    return !bb_redis_thread_is_server() || RedisModule_GetUsedMemoryRatio() > 1;
}

void bb_redis_store_drop(struct bb_redis_store *store)
{
    if (store == NULL)
        return;
    remove_from_list(store);
    if (!remove_reference(store))
        return;
    if (bb_redis_store_must_close_now())
        close_store(store);
    else
        give_to_pool(store);
}

/* ---- use ---- */

enum bb_status bb_redis_store_write(struct bb_redis_store *store)
{
    enum bb_status status = bb_db_write(store->db, NULL, store->batch);
    bb_batch_reset(store->batch);
    store->version += status == BB_OK;
    return status;
}

uint64_t bb_redis_store_estimate(struct bb_redis_store *store)
{
    const struct bb_key_range all_fields = {.low = NULL};
    struct bb_db_stats stats;
    struct bb_range_size size = {0};
    uint64_t versions = 0;
    uint64_t deletions = 0;
    bb_db_stats(store->db, &stats);
    for (int level = 0; level < BB_LEVEL_COUNT; level++) {
        versions += stats.levels[level].key_count;
        deletions += stats.levels[level].tombstone_count * 2;
    }
    uint64_t fields = versions > deletions ? versions - deletions : 0;
    if (bb_db_approximate_sizes(store->db, &all_fields, 1, &size) != BB_OK)
        return fields;
    if (size.raw_bytes == 0)
        return stats.writes;
    return fields +
           (uint64_t)((double)fields * (double)size.memtable_bytes / (double)size.raw_bytes);
}

uint64_t bb_redis_store_memory(struct bb_redis_store *store)
{
    struct bb_db_stats stats;
    if (store->db == NULL)
        return sizeof(*store);
    bb_db_stats(store->db, &stats);
    return sizeof(*store) + stats.memtable_held_bytes + stats.table_memory_bytes +
           stats.cache.used_bytes;
}
