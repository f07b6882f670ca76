/* SCANDUMP and LOADCHUNK: a client copies a filter in pieces.
 *
 * SCANDUMP with iterator 0 returns iterator 1 and the header. With iterator i > 0 it returns the
 * chunk that begins with shard i - 1, and the iterator of the next chunk. At the end it returns 0,
 * and no bytes or a null. The client passes each returned pair to LOADCHUNK. */
#ifndef BB_REDIS_FILTER_CHAIN_DUMP_H
#define BB_REDIS_FILTER_CHAIN_DUMP_H

#include "bb/base.h"
#include "redis/command/key.h"
#include "redis/fingerprint/fingerprint_chain.h"
#include "redis/server/redis_module.h"

#define BB_REDIS_CHAIN_DUMP_HEADER_MAX 64

/* SCANDUMP of a type of filters. */
struct bb_redis_chain_dump_class {
    const char *iterator_error; /* the reply if the iterator is not a number */
    bool ends_with_null;        /* the last reply has a null instead of no bytes */
    bool skips_empty;           /* a filter without items has no pieces */
    size_t header_size;         /* at most BB_REDIS_CHAIN_DUMP_HEADER_MAX */
    void (*write_header)(const void *value, uint8_t *header);
    const struct bb_fingerprint_chain *(*chain_of)(const void *value);
};
int bb_redis_chain_dump_command(struct RedisModuleCtx *ctx, struct RedisModuleString **argv,
                                int argc, struct RedisModuleType *type,
                                const struct bb_redis_chain_dump_class *class);

/* Loads a chunk. False: the chunk is damaged or belongs to another filter, and the filter is
 * unchanged. Or there is no memory, and some shards of the chunk may be loaded. */
bool bb_redis_chain_dump_load(struct bb_fingerprint_chain *chain, struct bb_bytes chunk);

/* LOADCHUNK of a type of filters. */
struct bb_redis_chain_dump_load_class {
    const char *event;          /* the keyspace event */
    const char *iterator_error; /* the reply if the iterator is not a number */
    /* Loads a piece. Returns the error, or NULL. */
    const char *(*load_piece)(struct bb_redis_key *key, long long iterator, struct bb_bytes piece);
};
int bb_redis_chain_dump_load_command(struct RedisModuleCtx *ctx, struct RedisModuleString **argv,
                                     int argc, struct RedisModuleType *type,
                                     const struct bb_redis_chain_dump_load_class *class);

#endif
