/* See chain_dump.h. */
#include "redis/filter/chain_dump.h"

#include "redis/command/arguments.h"
#include "redis/command/reply.h"
#include "redis/filter/chain_rdb.h"
#include "redis/fingerprint/fingerprint_coding.h"

static int reply_piece(struct RedisModuleCtx *ctx, uint64_t iterator, struct bb_bytes piece)
{
    RedisModule_ReplyWithArray(ctx, 2);
    RedisModule_ReplyWithLongLong(ctx, (long long)iterator);
    return RedisModule_ReplyWithStringBuffer(ctx, (const char *)piece.data, piece.size);
}

static int reply_end(struct RedisModuleCtx *ctx, const struct bb_redis_chain_dump_class *class)
{
    if (!class->ends_with_null)
        return reply_piece(ctx, 0, (struct bb_bytes){(const uint8_t *)"", 0});
    RedisModule_ReplyWithArray(ctx, 2);
    RedisModule_ReplyWithLongLong(ctx, 0);
    return RedisModule_ReplyWithNull(ctx);
}

static int reply_header(struct RedisModuleCtx *ctx, const void *value,
                        const struct bb_redis_chain_dump_class *class)
{
    uint8_t header[BB_REDIS_CHAIN_DUMP_HEADER_MAX];
    class->write_header(value, header);
    return reply_piece(ctx, 1, (struct bb_bytes){header, class->header_size});
}

static int reply_chunk(struct RedisModuleCtx *ctx, const struct bb_fingerprint_chain *chain,
                       uint64_t at)
{
    struct bb_buf chunk = {0};
    if (bb_fingerprint_coding_chunk(chain, at, BB_REDIS_CHAIN_CHUNK_SIZE, &chunk, &at) == BB_OK)
        reply_piece(ctx, at + 1, (struct bb_bytes){chunk.data, chunk.size});
    else
        bb_redis_reply_failure(ctx);
    bb_buf_deinit(&chunk);
    return REDISMODULE_OK;
}

/* The piece after the iterator. */
static int reply_next(struct RedisModuleCtx *ctx, const void *value, long long iterator,
                      const struct bb_redis_chain_dump_class *class)
{
    const struct bb_fingerprint_chain *chain = class->chain_of(value);
    struct bb_fingerprint_totals totals = bb_fingerprint_chain_totals(chain);
    if (iterator < 0 || (uint64_t)iterator > totals.shard_count ||
        (class->skips_empty && totals.count == 0))
        return reply_end(ctx, class);
    return iterator == 0 ? reply_header(ctx, value, class)
                         : reply_chunk(ctx, chain, (uint64_t)iterator - 1);
}

int bb_redis_chain_dump_command(struct RedisModuleCtx *ctx, struct RedisModuleString **argv,
                                int argc, struct RedisModuleType *type,
                                const struct bb_redis_chain_dump_class *class)
{
    long long iterator = 0;
    struct bb_redis_arguments arguments = bb_redis_arguments_make(argv, argc, 2);
    if (!bb_redis_arguments_take_integer(&arguments, &iterator))
        return RedisModule_ReplyWithError(ctx, class->iterator_error);
    struct bb_redis_key key = bb_redis_key_open(ctx, argv[1], type, REDISMODULE_READ);
    if (key.is_wrong_type)
        bb_redis_reply_wrong_type(ctx);
    else if (key.value == NULL)
        RedisModule_ReplyWithError(ctx, "ERR not found");
    else
        reply_next(ctx, key.value, iterator, class);
    bb_redis_key_close(&key);
    return REDISMODULE_OK;
}

/* Whether the chunk can be loaded: an empty filter of the same form takes it first. */
static bool is_sound(const struct bb_fingerprint_chain *chain, struct bb_bytes chunk)
{
    uint8_t header[BB_FINGERPRINT_HEADER_SIZE];
    uint64_t first = 0;
    uint64_t end = 0;
    bb_fingerprint_coding_header(chain, header);
    struct bb_fingerprint_chain *trial =
        bb_fingerprint_coding_decode_header((struct bb_bytes){header, sizeof(header)});
    bool is_loaded =
        trial != NULL && bb_fingerprint_coding_decode_chunk(trial, chunk, &first, &end);
    bb_fingerprint_chain_destroy(trial);
    return is_loaded;
}

bool bb_redis_chain_dump_load(struct bb_fingerprint_chain *chain, struct bb_bytes chunk)
{
    uint64_t first = 0;
    uint64_t end = 0;
    return is_sound(chain, chunk) && bb_fingerprint_coding_decode_chunk(chain, chunk, &first, &end);
}

int bb_redis_chain_dump_load_command(struct RedisModuleCtx *ctx, struct RedisModuleString **argv,
                                     int argc, struct RedisModuleType *type,
                                     const struct bb_redis_chain_dump_load_class *class)
{
    long long iterator = 0;
    struct bb_redis_arguments arguments = bb_redis_arguments_make(argv, argc, 2);
    if (!bb_redis_arguments_take_integer(&arguments, &iterator))
        return RedisModule_ReplyWithError(ctx, class->iterator_error);
    struct bb_redis_key key =
        bb_redis_key_open(ctx, argv[1], type, REDISMODULE_READ | REDISMODULE_WRITE);
    const char *error = key.is_wrong_type
                            ? REDISMODULE_ERRORMSG_WRONGTYPE
                            : class->load_piece(&key, iterator, bb_redis_arguments_bytes(argv[3]));
    if (error == NULL) {
        bb_redis_key_changed(&key, class->event);
        bb_redis_reply_ok(ctx);
    } else {
        RedisModule_ReplyWithError(ctx, error);
    }
    bb_redis_key_close(&key);
    return REDISMODULE_OK;
}
