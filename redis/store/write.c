/* See write.h. */
#include "redis/store/write.h"

#include "redis/command/key.h"
#include "redis/command/reply.h"
#include "redis/store/creation.h"
#include "redis/store/loss.h"
#include "redis/store/request.h"
#include "redis/store/store_key.h"

/* A blocked write is tried again after this time. */
#define RETRY_MS 2

/* A client whose write waits. */
struct bb_redis_waiting_write {
    struct RedisModuleBlockedClient *client;
    const struct bb_redis_write *write;
    struct bb_batch *batch;       /* owned: to find out when it can be written */
    struct bb_redis_store *store; /* with a reference */
    struct bb_redis_waiting_write *next;
};

/* ---- the write itself ---- */

static int write_now(struct RedisModuleCtx *ctx, struct RedisModuleString **argv,
                     struct bb_redis_store *store, const struct bb_redis_write *write)
{
    enum bb_status status = bb_redis_store_write(store);
    if (status != BB_OK)
        return bb_redis_loss_reply(ctx, argv[1], status);
    bb_redis_key_tell(ctx, argv[1], write->event);
    return bb_redis_reply_ok(ctx);
}

/* ---- waiting ---- */

static void resume_next(struct RedisModuleCtx *ctx, struct bb_redis_store *store);

/* Executes the command of a client that waited. */
static int execute_later(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc)
{
    struct bb_redis_waiting_write *waiting = RedisModule_GetBlockedClientPrivateData(ctx);
    struct bb_redis_store *store = NULL;
    if (bb_redis_request_is_paused())
        return bb_redis_store_key_reply_paused(ctx);
    if (bb_redis_store_key_find(ctx, argv[1], REDISMODULE_READ | REDISMODULE_WRITE, &store) !=
            BB_REDIS_STORE_KEY_FOUND ||
        store != waiting->store)
        return RedisModule_ReplyWithError(ctx,
                                          "TRYAGAIN the key was changed while the write waited");
    enum bb_status status = waiting->write->fill(store->batch, argv, argc);
    if (status != BB_OK) {
        bb_batch_reset(store->batch);
        return bb_redis_loss_reply(ctx, argv[1], status);
    }
    return write_now(ctx, argv, store, waiting->write);
}

static void release_later(struct RedisModuleCtx *ctx, void *data)
{
    struct bb_redis_waiting_write *waiting = data;
    struct bb_redis_store *store = waiting->store;
    bb_batch_destroy(waiting->batch);
    RedisModule_Free(waiting);
    store->is_resuming = false;
    resume_next(ctx, store);
    bb_redis_store_unref(store);
}

static void on_timer(struct RedisModuleCtx *ctx, void *data)
{
    struct bb_redis_store *store = data;
    store->has_timer = false;
    resume_next(ctx, store);
    bb_redis_store_unref(store);
}

static void set_timer(struct RedisModuleCtx *ctx, struct bb_redis_store *store)
{
    if (store->has_timer)
        return;
    store->has_timer = true;
    (void)RedisModule_CreateTimer(ctx, RETRY_MS, on_timer, bb_redis_store_ref(store));
}

/* Resumes the first waiting client if its write need not wait any more, and writes are not
 * paused. */
static void resume_next(struct RedisModuleCtx *ctx, struct bb_redis_store *store)
{
    struct bb_redis_waiting_write *first = store->waiting_first;
    if (first == NULL || store->is_resuming)
        return;
    if (bb_redis_request_is_paused() ||
        bb_db_write_check(store->db, first->batch) == BB_WOULD_WAIT) {
        set_timer(ctx, store);
        return;
    }
    store->waiting_first = first->next;
    if (first->next == NULL)
        store->waiting_last = NULL;
    store->is_resuming = true;
    (void)RedisModule_UnblockClient(first->client, first);
}

/* Moves the batch of the store to a client that waits. False: there is no memory for another
 * batch. */
static bool wait_for_turn(struct RedisModuleCtx *ctx, struct bb_redis_store *store,
                          const struct bb_redis_write *write)
{
    struct bb_batch *batch = NULL;
    if (bb_batch_create(&batch) != BB_OK)
        return false;
    struct bb_redis_waiting_write *waiting = RedisModule_Alloc(sizeof(*waiting));
    *waiting = (struct bb_redis_waiting_write){
        .client = RedisModule_BlockClient(ctx, execute_later, NULL, release_later, 0),
        .write = write,
        .batch = store->batch,
        .store = bb_redis_store_ref(store),
    };
    store->batch = batch;
    store->waited_writes++;
    if (store->waiting_last != NULL) {
        store->waiting_last->next = waiting;
        store->waiting_last = waiting;
        return true;
    }
    store->waiting_first = waiting;
    store->waiting_last = waiting;
    if (!store->is_resuming)
        set_timer(ctx, store);
    return true;
}

/* ---- commands ---- */

static int write_batch(struct RedisModuleCtx *ctx, struct RedisModuleString **argv,
                       struct bb_redis_store *store, const struct bb_redis_write *write)
{
    enum bb_status status = BB_OK;
    if (bb_redis_request_must_not_block(ctx))
        return write_now(ctx, argv, store, write);
    bool is_queued = store->waiting_first != NULL || store->is_resuming;
    status = is_queued ? BB_WOULD_WAIT : bb_db_write_check(store->db, store->batch);
    if (status == BB_WOULD_WAIT && wait_for_turn(ctx, store, write))
        return REDISMODULE_OK;
    if (status == BB_OK || status == BB_WOULD_WAIT)
        return write_now(ctx, argv, store, write);
    bb_batch_reset(store->batch);
    return bb_redis_loss_reply(ctx, argv[1], status);
}

static int fill_and_write(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc,
                          struct bb_redis_store *store, const struct bb_redis_write *write)
{
    if (store->is_incomplete)
        return bb_redis_loss_refuse(ctx);
    enum bb_status status = write->fill(store->batch, argv, argc);
    if (status == BB_OK)
        return write_batch(ctx, argv, store, write);
    bb_batch_reset(store->batch);
    return bb_redis_loss_reply(ctx, argv[1], status);
}

static int write_to_new(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc,
                        struct bb_redis_store *store, bool is_new, const void *context)
{
    (void)is_new;
    const struct bb_redis_write *write = context;
    if (store->is_incomplete)
        return bb_redis_loss_refuse(ctx);
    enum bb_status status = write->fill(store->batch, argv, argc);
    if (status == BB_OK)
        return write_now(ctx, argv, store, write);
    bb_batch_reset(store->batch);
    return bb_redis_loss_reply(ctx, argv[1], status);
}

/* Creates the key, unless the command fails: then it has no effect at all. */
static int create_and_write(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc,
                            const struct bb_redis_write *write)
{
    struct bb_redis_store_options options;
    struct bb_batch *batch = NULL;
    enum bb_status status = bb_batch_create(&batch);
    if (status == BB_OK)
        status = write->fill(batch, argv, argc);
    bb_batch_destroy(batch);
    if (status != BB_OK)
        return bb_redis_loss_reply(ctx, argv[1], status);
    bb_redis_store_options_init(&options);
    return bb_redis_creation_run(ctx, argv, argc, &options, write_to_new, write);
}

int bb_redis_write_run(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc,
                       const struct bb_redis_write *write)
{
    struct bb_redis_store *store = NULL;
    if (write->group > 0 && (argc - 2) % write->group != 0)
        return RedisModule_WrongArity(ctx);
    switch (bb_redis_store_key_find(ctx, argv[1], REDISMODULE_READ | REDISMODULE_WRITE, &store)) {
    case BB_REDIS_STORE_KEY_OTHER:
        return bb_redis_reply_wrong_type(ctx);
    case BB_REDIS_STORE_KEY_NONE:
        return write->creates_key ? create_and_write(ctx, argv, argc, write)
                                  : bb_redis_reply_ok(ctx);
    default:
        return fill_and_write(ctx, argv, argc, store, write);
    }
}
