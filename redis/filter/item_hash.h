/* The hash of an item. It is the same on every server, so that commands, saved filters and dumps
 * have the same effect everywhere. It has no secret key, so an attacker can choose items that
 * collide. */
#ifndef BB_REDIS_FILTER_ITEM_HASH_H
#define BB_REDIS_FILTER_ITEM_HASH_H

#include "bb/base.h"
#include "redis/server/redis_module.h"

/* Call once, when the module is loaded. */
void bb_redis_item_hash_prepare(void);

/* ON DISK: the hash never changes. It differs from bb_hash_xxh64, which chooses an item's partition
 * in a collection: with the same hash, all items of a partition would have similar hashes. */
uint64_t bb_redis_item_hash_bytes(struct bb_bytes item);
uint64_t bb_redis_item_hash(const struct RedisModuleString *item);

#endif
