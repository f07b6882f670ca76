/* See commands.h. */
#include "redis/filter/commands.h"

#include "redis/command/command.h"
#include "redis/filter/bloom_commands.h"
#include "redis/filter/cuckoo_commands.h"
#include "redis/filter/item_hash.h"
#include "redis/filter/plan_command.h"
#include "redis/filter/ribbon_commands.h"
#include "redis/filter/sketch_commands.h"

static const struct bb_redis_command table[] = {
    {.name = "BB.FILTER.PLAN",
     .function = bb_redis_plan_command,
     .flags = "readonly fast",
     .syntax = "kind capacity:integer error_rate:double",
     .summary = "The size and the predicted rate of a filter that does not exist yet",
     .complexity = "O(1)"},
    {.name = NULL},
};

bool bb_redis_filter_register(struct RedisModuleCtx *ctx)
{
    struct bb_redis_filter_types types = {.bloom = NULL};
    bb_redis_item_hash_prepare();
    if (!bb_redis_commands_register(ctx, table) ||
        !bb_redis_bloom_commands_register(ctx, &types.bloom) ||
        !bb_redis_cuckoo_commands_register(ctx, &types.cuckoo))
        return false;
    return bb_redis_sketch_commands_register(ctx) && bb_redis_ribbon_commands_register(ctx, &types);
}
