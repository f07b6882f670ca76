/* See plan_command.h. */
#include "redis/filter/plan_command.h"

#include "bb/filter.h"
#include "redis/command/arguments.h"
#include "redis/command/reply.h"

#define NAME_SIZE 32

/* Copies and terminates the name of a kind. No kind has a name of NAME_SIZE bytes, so a name that
 * is cut remains unknown. */
static void copy_name(const struct RedisModuleString *argument, char name[NAME_SIZE])
{
    struct bb_bytes bytes = bb_redis_arguments_bytes(argument);
    size_t size = bytes.size < NAME_SIZE - 1 ? bytes.size : NAME_SIZE - 1;
    __builtin_memcpy(name, bytes.data, size);
    name[size] = '\0';
}

static int reply_with(struct RedisModuleCtx *ctx, const struct bb_filter_plan *plan)
{
    bb_redis_reply_pairs(ctx, 3);
    RedisModule_ReplyWithSimpleString(ctx, "Size");
    RedisModule_ReplyWithLongLong(ctx, (long long)plan->size_bytes);
    RedisModule_ReplyWithSimpleString(ctx, "Bits per item");
    RedisModule_ReplyWithDouble(ctx, plan->bits_per_key);
    RedisModule_ReplyWithSimpleString(ctx, "Predicted rate");
    return RedisModule_ReplyWithDouble(ctx, plan->predicted_rate);
}

int bb_redis_plan_command(struct RedisModuleCtx *ctx, struct RedisModuleString **argv, int argc)
{
    char name[NAME_SIZE];
    long long capacity = 0;
    struct bb_filter_question question = {.key_count = 0};
    struct bb_filter_plan plan;
    struct bb_redis_arguments arguments = bb_redis_arguments_make(argv, argc, 2);
    if (!bb_redis_arguments_take_integer(&arguments, &capacity) || capacity < 1)
        return RedisModule_ReplyWithError(ctx, "ERR bad capacity");
    if (!bb_redis_arguments_take_double(&arguments, &question.target_rate))
        return RedisModule_ReplyWithError(ctx, "ERR bad error rate");
    copy_name(argv[1], name);
    question.key_count = (uint64_t)capacity;
    if (bb_filter_kind_find(name, BB_FILTER_KINDS_OF_SETS, &question.kind) != BB_OK ||
        bb_filter_plan(&question, &plan) != BB_OK)
        return bb_redis_reply_failure(ctx);
    return reply_with(ctx, &plan);
}
