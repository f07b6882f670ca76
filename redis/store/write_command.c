/* See write_command.h. */
#include "redis/store/write_command.h"

#include "redis/command/arguments.h"
#include "redis/command/key.h"
#include "redis/command/reply.h"
#include "redis/store/chunk.h"
#include "redis/store/creation.h"
#include "redis/store/store_key.h"
#include "redis/store/write.h"

static int reply_created(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc,
                         struct bb_redis_store *store, bool is_new, const void *context)
{
    (void)argc;
    (void)store;
    (void)context;
    if (!is_new)
        return RedisModule_ReplyWithError(ctx, "ERR the store exists");
    bb_redis_key_tell(ctx, argv[1], "bb.create");
    return bb_redis_reply_ok(ctx);
}

int bb_redis_create_command(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc)
{
    struct bb_redis_store_options options;
    struct bb_redis_store *store = NULL;
    struct bb_redis_arguments arguments = bb_redis_arguments_make(argv, argc, 2);
    bb_redis_store_options_init(&options);
    const char *mistake = bb_redis_store_options_parse(&arguments, &options);
    if (mistake != NULL)
        return RedisModule_ReplyWithError(ctx, mistake);
    switch (bb_redis_store_key_find(ctx, argv[1], REDISMODULE_READ | REDISMODULE_WRITE, &store)) {
    case BB_REDIS_STORE_KEY_OTHER:
        return bb_redis_reply_wrong_type(ctx);
    case BB_REDIS_STORE_KEY_FOUND:
        return reply_created(ctx, argv, argc, store, false, NULL);
    default:
        return bb_redis_creation_run(ctx, argv, argc, &options, reply_created, NULL);
    }
}

static enum bb_status fill_put(struct bb_batch *batch, struct RedisModuleString **argv, int argc)
{
    enum bb_status status = BB_OK;
    for (int i = 2; i + 1 < argc && status == BB_OK; i += 2)
        status = bb_batch_put(batch, bb_redis_arguments_bytes(argv[i]),
                              bb_redis_arguments_bytes(argv[i + 1]));
    return status;
}

int bb_redis_put_command(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc)
{
    static const struct bb_redis_write write = {
        .fill = fill_put, .group = 2, .creates_key = true, .event = "bb.put"};
    return bb_redis_write_run(ctx, argv, argc, &write);
}

static enum bb_status fill_del(struct bb_batch *batch, struct RedisModuleString **argv, int argc)
{
    enum bb_status status = BB_OK;
    for (int i = 2; i < argc && status == BB_OK; i++)
        status = bb_batch_delete(batch, bb_redis_arguments_bytes(argv[i]));
    return status;
}

int bb_redis_del_command(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc)
{
    static const struct bb_redis_write write = {.fill = fill_del, .event = "bb.del"};
    return bb_redis_write_run(ctx, argv, argc, &write);
}

static enum bb_status fill_delrange(struct bb_batch *batch, struct RedisModuleString **argv,
                                    int argc)
{
    (void)argc;
    return bb_batch_delete_range(batch, bb_redis_arguments_bytes(argv[2]),
                                 bb_redis_arguments_bytes(argv[3]));
}

int bb_redis_delrange_command(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc)
{
    static const struct bb_redis_write write = {.fill = fill_delrange, .event = "bb.delrange"};
    if (argc != 4)
        return RedisModule_WrongArity(ctx);
    return bb_redis_write_run(ctx, argv, argc, &write);
}

static enum bb_status fill_chunk(struct bb_batch *batch, struct RedisModuleString **argv, int argc)
{
    (void)argc;
    return bb_redis_chunk_read(bb_redis_arguments_bytes(argv[2]), NULL, batch);
}

int bb_redis_loadchunk_command(struct RedisModuleCtx *ctx, struct RedisModuleString **argv,
                               int argc)
{
    static const struct bb_redis_write write = {
        .fill = fill_chunk, .creates_key = true, .event = "bb.loadchunk"};
    if (argc != 3)
        return RedisModule_WrongArity(ctx);
    return bb_redis_write_run(ctx, argv, argc, &write);
}
