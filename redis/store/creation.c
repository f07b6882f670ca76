/* See creation.h. */
#include "redis/store/creation.h"

#include <stdatomic.h>

#include "redis/command/reply.h"
#include "redis/store/loss.h"
#include "redis/store/request.h"
#include "redis/store/saved.h"
#include "redis/store/store_key.h"

/* The server's thread looks for finished stores this often. */
#define RETRY_MS 2

struct creation {
    struct bb_redis_job job; /* must be first */
    struct RedisModuleBlockedClient *client;
    struct bb_redis_store_options options;
    bb_redis_creation_next next;
    const void *context;
    struct bb_redis_store *store; /* owned until it has a key; NULL: the creation failed */
    struct bb_error error;
    _Atomic bool is_done; /* set by the thread of the pool */
};

/* Gives the key its store. */
static int continue_with(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc,
                         struct creation *creation)
{
    struct bb_redis_store *store = creation->store;
    creation->store = NULL;
    bb_redis_store_key_set(ctx, argv[1], store);
    /* During loading, the rest of the file may refer to directories of an earlier process. */
    if ((RedisModule_GetContextFlags(ctx) & REDISMODULE_CTX_FLAGS_LOADING) == 0)
        (void)!bb_redis_root_clean(bb_redis_saved_is_kept); /* it is open, so it cannot fail */
    return creation->next(ctx, argv, argc, store, true, creation->context);
}

static int fail(struct RedisModuleCtx *ctx, struct RedisModuleString *name,
                const struct creation *creation)
{
    bb_error_set(creation->error.status, creation->error.message);
    return bb_redis_loss_reply(ctx, name, creation->error.status);
}

static void create(struct creation *creation)
{
    if (bb_redis_store_create(&creation->options, &creation->store) != BB_OK)
        creation->error = *bb_error_last();
}

/* ---- with a blocked client ---- */

static int continue_later(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc)
{
    struct creation *creation = RedisModule_GetBlockedClientPrivateData(ctx);
    struct bb_redis_store *present = NULL;
    if (creation->store == NULL)
        return fail(ctx, argv[1], creation);
    if (bb_redis_request_is_paused())
        return bb_redis_store_key_reply_paused(ctx);
    if (!bb_redis_store_key_is_here(ctx, argv[1]))
        return RedisModule_ReplyWithError(ctx, "TRYAGAIN the slot was moved to another node");
    switch (bb_redis_store_key_find(ctx, argv[1], REDISMODULE_READ | REDISMODULE_WRITE, &present)) {
    case BB_REDIS_STORE_KEY_OTHER:
        return bb_redis_reply_wrong_type(ctx);
    case BB_REDIS_STORE_KEY_FOUND:
        return creation->next(ctx, argv, argc, present, false, creation->context);
    default:
        return continue_with(ctx, argv, argc, creation);
    }
}

static void release_later(struct RedisModuleCtx *ctx, void *data)
{
    struct creation *creation = data;
    (void)ctx;
    if (creation->store != NULL)
        bb_redis_store_unref(creation->store);
    RedisModule_Free(creation);
}

static void work(struct bb_redis_job *job)
{
    struct creation *creation = (struct creation *)job;
    create(creation);
    atomic_store(&creation->is_done, true);
}

/* Releases the client when its store exists, and not during a pause of writes. */
static void on_timer(struct RedisModuleCtx *ctx, void *data)
{
    struct creation *creation = data;
    if (atomic_load(&creation->is_done) && !bb_redis_request_is_paused())
        (void)RedisModule_UnblockClient(creation->client, creation);
    else
        (void)RedisModule_CreateTimer(ctx, RETRY_MS, on_timer, creation);
}

static int create_later(struct RedisModuleCtx *ctx, const struct creation *given)
{
    struct creation *creation = RedisModule_Alloc(sizeof(*creation));
    *creation = *given;
    creation->job.run = work;
    creation->client = RedisModule_BlockClient(ctx, continue_later, NULL, release_later, 0);
    (void)RedisModule_CreateTimer(ctx, RETRY_MS, on_timer, creation);
    bb_redis_pool_add(&creation->job);
    return REDISMODULE_OK;
}

int bb_redis_creation_run(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc,
                          const struct bb_redis_store_options *options, bb_redis_creation_next next,
                          const void *context)
{
    struct creation creation = {.options = *options, .next = next, .context = context};
    enum bb_status status = bb_redis_root_open();
    if (status != BB_OK)
        return bb_redis_loss_reply(ctx, argv[1], status);
    if (!bb_redis_request_must_not_block(ctx))
        return create_later(ctx, &creation);
    create(&creation);
    return creation.store == NULL ? fail(ctx, argv[1], &creation)
                                  : continue_with(ctx, argv, argc, &creation);
}
