/* The replies of SCANDUMP and the calls of LOADCHUNK: a filter in pieces that a client copies.
 *
 * Iterator 0 gives the header, with iterator 1. Iterator i > 0 gives the chunk from shard i - 1 on,
 * with the iterator of the next one; at the end 0 and no bytes. LOADCHUNK takes each pair. */
#ifndef BB_REDIS_FILTER_CHAIN_DUMP_H
#define BB_REDIS_FILTER_CHAIN_DUMP_H

#include "bb/base.h"
#include "redis/command/key.h"
#include "redis/fingerprint/fingerprint_chain.h"
#include "redis/server/redis_module.h"

/* The piece after the iterator, which is not 0. */
int bb_redis_chain_dump_reply(struct RedisModuleCtx *ctx, const struct bb_fingerprint_chain *chain,
                              long long iterator);

/* The header with iterator 1. */
int bb_redis_chain_dump_reply_header(struct RedisModuleCtx *ctx, struct bb_bytes header);

/* Loads a chunk. False, without a change: it is damaged or of another filter, or memory is
 * short. */
bool bb_redis_chain_dump_load(struct bb_fingerprint_chain *chain, struct bb_bytes chunk);

/* LOADCHUNK of a type of filters. */
struct bb_redis_chain_dump_load_class {
    const char *event;
    const char *iterator_error; /* the iterator is no number */
    /* Gives the error of loading a piece, or NULL. */
    const char *(*load_piece)(struct bb_redis_key *key, long long iterator, struct bb_bytes piece);
};
int bb_redis_chain_dump_load_command(struct RedisModuleCtx *ctx, struct RedisModuleString **argv,
                                     int argc, struct RedisModuleType *type,
                                     const struct bb_redis_chain_dump_load_class *class);

#endif
