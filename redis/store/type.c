/* See type.h. */
#include "redis/store/type.h"

#include <stdio.h>
#include <string.h>

#include "redis/store/chunk.h"
#include "redis/store/fork.h"
#include "redis/store/loss.h"
#include "redis/store/payload.h"
#include "redis/store/saved.h"
#include "redis/store/store_key.h"
#include "redis/store/unsynced.h"

#define NAME "bbstore-1" /* the server wants nine characters */

/* The server frees a value with an effort above 64 in a thread, if that is permitted. */
#define FREE_EFFORT 1024

/* ---- RDB ---- */

/* The server writes an RDB file itself: SAVE, or at its end. */
static bool is_saving;

static enum bb_status refuse_version(int version)
{
    char message[64];
    snprintf(message, sizeof(message), "a store of a newer version (%d)", version);
    return bb_error_set(BB_INVALID, message);
}

static void *load(struct RedisModuleIO *rdb, int version)
{
    struct bb_redis_store *store = NULL;
    enum bb_status status = version == BB_REDIS_PAYLOAD_VERSION ? bb_redis_payload_load(rdb, &store)
                                                                : refuse_version(version);
    if (status != BB_OK) {
        bb_redis_loss_end();
        RedisModule_LogIOError(rdb, "warning", "bloomblock: %s", bb_error_last()->message);
        return NULL;
    }
    bb_redis_store_attach(store);
    return store;
}

/* The state that an RDB file of the server itself names. Its directory exists already, or is made
 * from the store's when the server ends. */
static struct bb_redis_id name_state(struct bb_redis_store *store)
{
    bool is_kept = bb_redis_saved_is_kept(&store->state);
    store->is_named_by_rdb = false;
    if (is_kept && store->state_version == store->version) {
        bb_redis_saved_keep(&store->state, BB_REDIS_SAVED_BY_RDB);
    } else if (bb_redis_root_new_id(&store->state) == BB_OK) {
        store->state_version = store->version;
        store->is_named_by_rdb = true;
    } else {
        memset(&store->state, 0, sizeof(store->state));
    }
    return store->state;
}

static void save_present(struct RedisModuleIO *rdb, struct bb_redis_store *store)
{
    struct bb_redis_id state = {{0}};
    if (is_saving && store->db != NULL)
        state = name_state(store);
    if (bb_redis_payload_save(rdb, store, &state, store->db) != BB_OK)
        RedisModule_LogIOError(rdb, "warning",
                               "bloomblock: a store is not in the file, which cannot be loaded: %s",
                               bb_error_last()->message);
}

/* In a child: opens the saved state of the store. */
static struct bb_db *open_saved(const struct bb_redis_store *store, struct bb_redis_id *ret_state)
{
    struct bb_redis_path path = bb_redis_fork_await(store, ret_state);
    const struct bb_db_options options = {.read_only = true};
    struct bb_db *db = NULL;
    if (bb_db_open(path.text, &options, &db) != BB_OK)
        bb_redis_fork_fail(bb_error_last()->message);
    return db;
}

static void close_saved(struct bb_db *db)
{
    if (bb_db_close(db) != BB_OK)
        bb_redis_fork_fail(bb_error_last()->message);
}

static void save_in_child(struct RedisModuleIO *rdb, const struct bb_redis_store *store)
{
    struct bb_redis_id state;
    struct bb_db *db = open_saved(store, &state);
    if (bb_redis_payload_save(rdb, store, &state, db) != BB_OK)
        bb_redis_fork_fail(bb_error_last()->message);
    close_saved(db);
}

static void save(struct RedisModuleIO *rdb, void *value)
{
    struct bb_redis_store *store = value;
    if (bb_redis_fork_is_child() && store->db != NULL)
        save_in_child(rdb, store);
    else
        save_present(rdb, store);
}

/* ---- AOF without a preamble ---- */

struct rewriting {
    struct RedisModuleIO *aof;
    struct RedisModuleString *key;
};

static void emit_chunk(void *context, struct bb_bytes chunk)
{
    const struct rewriting *rewriting = context;
    RedisModule_EmitAOF(rewriting->aof, "BB.LOADCHUNK", "sb", rewriting->key,
                        (const char *)chunk.data, chunk.size);
}

static void emit_options(const struct rewriting *rewriting,
                         const struct bb_redis_store_options *options)
{
    struct bb_redis_store_words words;
    bb_redis_store_options_print(options, &words);
    RedisModule_EmitAOF(rewriting->aof, "BB.CREATE", "scccccccccc", rewriting->key, words.texts[0],
                        words.texts[1], words.texts[2], words.texts[3], words.texts[4],
                        words.texts[5], words.texts[6], words.texts[7], words.texts[8],
                        words.texts[9]);
}

static void rewrite(struct RedisModuleIO *aof, struct RedisModuleString *key, void *value)
{
    struct bb_redis_store *store = value;
    struct rewriting rewriting = {aof, key};
    const struct bb_redis_chunk_sink sink = {emit_chunk, &rewriting};
    struct bb_redis_id state;
    uint64_t count = 0;
    bool is_child = bb_redis_fork_is_child();
    if (store->is_incomplete && is_child)
        bb_redis_fork_fail("a store lost a write, which commands cannot express");
    struct bb_db *db = is_child ? open_saved(store, &state) : store->db;
    emit_options(&rewriting, &store->options);
    enum bb_status status = db == NULL ? BB_OK : bb_redis_chunks_write(db, &sink, &count);
    if (status != BB_OK && is_child)
        bb_redis_fork_fail(bb_error_last()->message);
    if (status != BB_OK)
        RedisModule_LogIOError(aof, "warning", "bloomblock: a store is not in the file: %s",
                               bb_error_last()->message);
    if (is_child)
        close_saved(db);
}

/* ---- the value ---- */

static void release(void *value)
{
    bb_redis_store_drop(value);
}

/* UNLINK and FLUSHALL ASYNC release stores in a thread of the server. Evictions do not: the server
 * would evict many keys before it sees the memory of the first. */
static size_t free_effort(struct RedisModuleString *key, const void *value)
{
    (void)key;
    (void)value;
    return bb_redis_store_must_close_now() ? 1 : FREE_EFFORT; /* 0 would mean: unknown, and large */
}

static size_t mem_usage(const void *value)
{
    return (size_t)bb_redis_store_memory((struct bb_redis_store *)value);
}

static void digest(struct RedisModuleDigest *digest, void *value)
{
    struct bb_redis_store *store = value;
    struct bb_db_iter *iter = NULL;
    if (store->db == NULL || bb_db_iter_create(store->db, NULL, &iter) != BB_OK)
        return;
    for (bb_db_iter_seek_first(iter); bb_db_iter_valid(iter); bb_db_iter_next(iter)) {
        struct bb_bytes field = bb_db_iter_key(iter);
        struct bb_bytes bytes = bb_db_iter_value(iter);
        RedisModule_DigestAddStringBuffer(digest, (const char *)field.data, field.size);
        RedisModule_DigestAddStringBuffer(digest, (const char *)bytes.data, bytes.size);
        RedisModule_DigestEndSequence(digest);
    }
    bb_db_iter_destroy(iter);
}

static void *copy(struct RedisModuleString *from, struct RedisModuleString *to, const void *value)
{
    struct bb_redis_store *store = (struct bb_redis_store *)value;
    struct bb_redis_store *made = NULL;
    (void)from;
    (void)to;
    if (bb_redis_store_copy(store, &made) != BB_OK) {
        bb_redis_loss_end();
        if (!bb_redis_loss_must_mark()) {
            RedisModule_Log(NULL, "warning", "bloomblock: a store cannot be copied: %s",
                            bb_error_last()->message);
            return NULL;
        }
        made = bb_redis_store_create_lost(&store->options);
    }
    bb_redis_store_attach(made);
    return made;
}

/* ---- events ---- */

static void on_persistence(struct RedisModuleCtx *ctx, struct RedisModuleEvent event, uint64_t part,
                           void *data)
{
    (void)ctx;
    (void)event;
    (void)data;
    if (bb_redis_fork_is_child()) {
        bb_redis_fork_note(part);
        return;
    }
    if (part == REDISMODULE_SUBEVENT_PERSISTENCE_SYNC_RDB_START)
        bb_redis_saved_begin(BB_REDIS_SAVED_BY_RDB);
    if (part == REDISMODULE_SUBEVENT_PERSISTENCE_ENDED && is_saving)
        bb_redis_saved_end();
    if (part != REDISMODULE_SUBEVENT_PERSISTENCE_SYNC_RDB_START)
        bb_redis_fork_note_save();
    is_saving = part == REDISMODULE_SUBEVENT_PERSISTENCE_SYNC_RDB_START;
}

/* The first timer: the server has loaded its data, if it has any. */
static void clean(struct RedisModuleCtx *ctx, void *data)
{
    (void)data;
    if (bb_redis_root_clean(bb_redis_saved_is_kept) != BB_OK)
        RedisModule_Log(ctx, "notice", "bloomblock: stores of an earlier server remain: %s",
                        bb_error_last()->message);
}

/* Closes a store when the server ends. If the RDB file just written names the store's state, its
 * directory becomes the directory of that state, which a load of the file finds. */
static void close_store(void *context, struct bb_redis_store *store)
{
    if (store->db == NULL)
        return;
    struct bb_redis_path path = bb_redis_root_store(&store->id);
    struct bb_redis_path saved = bb_redis_root_saved(&store->state);
    bool is_named = store->is_named_by_rdb && store->state_version == store->version;
    enum bb_status status = bb_db_close(store->db);
    if (status == BB_OK && is_named)
        status = bb_redis_unsynced_settle(path.text);
    if (status == BB_OK && is_named)
        status = bb_redis_root_rename(&path, &saved);
    if (status != BB_OK)
        RedisModule_Log(context, "warning", "bloomblock: %s: %s", path.text,
                        bb_error_last()->message);
}

static void on_shutdown(struct RedisModuleCtx *ctx, struct RedisModuleEvent event, uint64_t part,
                        void *data)
{
    (void)event;
    (void)part;
    (void)data;
    bb_redis_pool_stop();
    bb_redis_stores_visit(close_store, ctx);
    bb_redis_root_close();
}

static bool subscribe(struct RedisModuleCtx *ctx)
{
    const struct RedisModuleEvent persistence = {REDISMODULE_EVENT_PERSISTENCE, 1};
    const struct RedisModuleEvent shutdown = {REDISMODULE_EVENT_SHUTDOWN, 1};
    return RedisModule_SubscribeToServerEvent(ctx, persistence, on_persistence) == REDISMODULE_OK &&
           RedisModule_SubscribeToServerEvent(ctx, shutdown, on_shutdown) == REDISMODULE_OK;
}

bool bb_redis_type_register(struct RedisModuleCtx *ctx)
{
    const struct RedisModuleTypeMethods methods = {
        .version = REDISMODULE_TYPE_METHOD_VERSION,
        .rdb_load = load,
        .rdb_save = save,
        .aof_rewrite = rewrite,
        .mem_usage = mem_usage,
        .digest = digest,
        .free = release,
        .free_effort = free_effort,
        .copy = copy,
    };
    bb_redis_store_type = RedisModule_CreateDataType(ctx, NAME, BB_REDIS_PAYLOAD_VERSION, &methods);
    return bb_redis_store_type != NULL && bb_redis_fork_init(ctx) && bb_redis_loss_init(ctx) &&
           subscribe(ctx);
}

void bb_redis_type_begin(struct RedisModuleCtx *ctx)
{
    (void)RedisModule_CreateTimer(ctx, 0, clean, NULL);
}
