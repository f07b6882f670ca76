/* See item_hash.h. */
#include "redis/filter/item_hash.h"

#include "redis/command/arguments.h"

#define SEED UINT64_C(0x6262726564697331) /* ON DISK */

static struct bb_hash_secret secret;

void bb_redis_item_hash_prepare(void)
{
    bb_hash_secret_from_seed(SEED, &secret);
}

uint64_t bb_redis_item_hash_bytes(struct bb_bytes item)
{
    return bb_hash_key(&secret, item);
}

uint64_t bb_redis_item_hash(const struct RedisModuleString *item)
{
    return bb_redis_item_hash_bytes(bb_redis_arguments_bytes(item));
}
