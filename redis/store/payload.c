/* See payload.h. */
#include "redis/store/payload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "redis/store/chunk.h"
#include "redis/store/loss.h"
#include "redis/store/saved.h"

/* ---- saving ---- */

static void save_bytes(struct RedisModuleIO *rdb, const void *data, size_t size)
{
    RedisModule_SaveStringBuffer(rdb, data, size);
}

static void save_options(struct RedisModuleIO *rdb, const struct bb_redis_store_options *options)
{
    char value[32];
    int size = snprintf(value, sizeof(value), "%.17g", options->filters.value);
    RedisModule_SaveUnsigned(rdb, options->filters.unit);
    save_bytes(rdb, value, (size_t)size);
    RedisModule_SaveUnsigned(rdb, options->block_bytes);
    RedisModule_SaveUnsigned(rdb, options->compression);
    RedisModule_SaveUnsigned(rdb, options->buffer_bytes);
    RedisModule_SaveUnsigned(rdb, options->cache_bytes);
}

static void save_chunk(void *context, struct bb_bytes chunk)
{
    save_bytes(context, chunk.data, chunk.size);
}

enum bb_status bb_redis_payload_save(struct RedisModuleIO *rdb, const struct bb_redis_store *store,
                                     const struct bb_redis_id *state, struct bb_db *db)
{
    const struct bb_redis_chunk_sink sink = {save_chunk, rdb};
    uint64_t count = db == NULL ? 0 : UINT64_MAX;
    save_bytes(rdb, state->bytes, sizeof(state->bytes));
    save_options(rdb, &store->options);
    RedisModule_SaveUnsigned(rdb, store->is_incomplete);
    enum bb_status status = db == NULL ? BB_OK : bb_redis_chunks_write(db, &sink, &count);
    save_bytes(rdb, "", 0);
    RedisModule_SaveUnsigned(rdb, count);
    return status;
}

/* ---- loading ---- */

struct loading {
    struct RedisModuleIO *rdb;
    struct bb_redis_id state;
    struct bb_redis_store_options options;
    struct bb_redis_store *store;
    bool is_incomplete;
    bool only_checks; /* the chunks: the store has their contents, or the mark */
    struct bb_redis_chunk_order order;
};

static enum bb_status damaged(const char *reason)
{
    char message[128];
    snprintf(message, sizeof(message), "the payload of a store is damaged: %s", reason);
    return bb_error_set(BB_CORRUPT, message);
}

/* Reads a string of at most `capacity` bytes, and terminates it. */
static enum bb_status load_text(struct RedisModuleIO *rdb, char *buffer, size_t capacity,
                                size_t *ret_size)
{
    size_t size = 0;
    char *text = RedisModule_LoadStringBuffer(rdb, &size);
    if (text == NULL)
        return damaged("it ends early");
    bool fits = size <= capacity;
    if (fits) {
        memcpy(buffer, text, size);
        buffer[size] = '\0';
        *ret_size = size;
    }
    RedisModule_Free(text);
    return fits ? BB_OK : damaged("a string is too long");
}

static enum bb_status load_options(struct loading *loading)
{
    struct bb_redis_store_options *options = &loading->options;
    char value[33];
    size_t size = 0;
    uint64_t unit = RedisModule_LoadUnsigned(loading->rdb);
    enum bb_status status = load_text(loading->rdb, value, sizeof(value) - 1, &size);
    if (status != BB_OK)
        return status;
    if (unit > BB_FILTER_BITS_PER_KEY)
        return damaged("the unit of its filters is unknown");
    options->filters.unit = (enum bb_filter_unit)unit;
    options->filters.value = strtod(value, NULL);
    options->block_bytes = RedisModule_LoadUnsigned(loading->rdb);
    options->compression = RedisModule_LoadUnsigned(loading->rdb);
    options->buffer_bytes = RedisModule_LoadUnsigned(loading->rdb);
    options->cache_bytes = RedisModule_LoadUnsigned(loading->rdb);
    loading->is_incomplete = RedisModule_LoadUnsigned(loading->rdb) != 0;
    if (RedisModule_IsIOError(loading->rdb))
        return damaged("it ends early");
    return bb_redis_store_options_are_valid(options) ? BB_OK
                                                     : damaged("an option is out of its range");
}

static enum bb_status load_head(struct loading *loading)
{
    char state[BB_REDIS_ID_SIZE + 1];
    size_t size = 0;
    enum bb_status status = load_text(loading->rdb, state, BB_REDIS_ID_SIZE, &size);
    if (status == BB_OK && size != BB_REDIS_ID_SIZE)
        status = damaged("the id of its state is too short");
    if (status != BB_OK)
        return status;
    memcpy(loading->state.bytes, state, sizeof(loading->state.bytes));
    return load_options(loading);
}

/* Adopts the directory of the state, if there is one that can be opened. Otherwise the store is
 * built from the chunks, which have the same contents. */
static void adopt(struct loading *loading)
{
    struct bb_redis_path saved = bb_redis_root_saved(&loading->state);
    if (bb_redis_id_is_none(&loading->state) || bb_redis_root_open() != BB_OK ||
        !bb_redis_root_exists(&saved))
        return;
    if (bb_redis_store_adopt(&saved, &loading->options, &loading->store) != BB_OK) {
        RedisModule_LogIOError(loading->rdb, "warning",
                               "bloomblock: %s cannot be used, and the store is built from the "
                               "file: %s",
                               saved.text, bb_error_last()->message);
        return;
    }
    bb_redis_saved_keep(&loading->state, bb_redis_loss_is_loading_aof() ? BB_REDIS_SAVED_BY_AOF
                                                                        : BB_REDIS_SAVED_BY_RDB);
    loading->only_checks = true;
    loading->store->state = loading->state;
}

/* On a replica, a store that cannot be built is incomplete. The rest of its payload is read. */
static enum bb_status lose(struct loading *loading, enum bb_status status)
{
    if (status == BB_OK || !bb_redis_loss_must_mark())
        return status;
    if (loading->store == NULL)
        loading->store = bb_redis_store_create_lost(&loading->options);
    loading->is_incomplete = true;
    loading->only_checks = true;
    return BB_OK;
}

static enum bb_status take_chunk(struct loading *loading, struct bb_bytes chunk)
{
    struct bb_redis_store *store = loading->store;
    struct bb_batch *batch = loading->only_checks ? NULL : store->batch;
    enum bb_status status = bb_redis_chunk_read(chunk, &loading->order, batch);
    return status == BB_OK && batch != NULL ? lose(loading, bb_redis_store_write(store)) : status;
}

static enum bb_status load_chunks(struct loading *loading)
{
    for (;;) {
        size_t size = 0;
        char *chunk = RedisModule_LoadStringBuffer(loading->rdb, &size);
        if (chunk == NULL)
            return damaged("it ends early");
        enum bb_status status =
            size == 0 ? BB_OK : take_chunk(loading, (struct bb_bytes){(uint8_t *)chunk, size});
        RedisModule_Free(chunk);
        if (size == 0 || status != BB_OK)
            return status;
    }
}

static enum bb_status load_count(struct loading *loading)
{
    uint64_t count = RedisModule_LoadUnsigned(loading->rdb);
    if (RedisModule_IsIOError(loading->rdb))
        return damaged("it ends early");
    if (count == UINT64_MAX)
        return damaged("it was not saved completely; the log of that server has the reason");
    return count == loading->order.count ? BB_OK : damaged("its number of entries differs");
}

enum bb_status bb_redis_payload_load(struct RedisModuleIO *rdb, struct bb_redis_store **ret_store)
{
    struct loading loading = {.rdb = rdb};
    enum bb_status status = load_head(&loading);
    if (status == BB_OK)
        adopt(&loading);
    if (status == BB_OK && !loading.only_checks)
        status = lose(&loading, bb_redis_store_create(&loading.options, &loading.store));
    if (status == BB_OK)
        status = load_chunks(&loading);
    if (status == BB_OK)
        status = load_count(&loading);
    bb_redis_chunk_order_deinit(&loading.order);
    if (status != BB_OK) {
        if (loading.store != NULL)
            bb_redis_store_unref(loading.store);
        return status;
    }
    loading.store->is_incomplete = loading.is_incomplete;
    *ret_store = loading.store;
    return BB_OK;
}
