/* Growing filters in RDB files, AOF files and digests, for the types that have one. */
#ifndef BB_REDIS_FILTER_CHAIN_RDB_H
#define BB_REDIS_FILTER_CHAIN_RDB_H

#include "redis/fingerprint/fingerprint_chain.h"
#include "redis/server/redis_module.h"

/* Bytes of a chunk in RDB files and in replies. */
#define BB_REDIS_CHAIN_CHUNK_SIZE (256 * 1024)

void bb_redis_chain_save(struct RedisModuleIO *rdb, const struct bb_fingerprint_chain *chain);

/* NULL: the bytes are damaged, or there is no memory; the server's log has the reason. */
struct bb_fingerprint_chain *bb_redis_chain_load(struct RedisModuleIO *rdb);

/* Emits the calls of a command that takes a key, an iterator and a chunk. */
void bb_redis_chain_rewrite(struct RedisModuleIO *aof, const char *command,
                            struct RedisModuleString *key,
                            const struct bb_fingerprint_chain *chain);

void bb_redis_chain_digest(struct RedisModuleDigest *digest,
                           const struct bb_fingerprint_chain *chain);

/* The work to free it, in allocations. */
size_t bb_redis_chain_free_effort(const struct bb_fingerprint_chain *chain);

#endif
