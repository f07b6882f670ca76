/* See chain_rdb.h.
 *
 *     RDB    header: string | chunks: strings, up to the last shard     (fingerprint_coding.h)
 *
 * Saving runs in a forked child, or with the server stopped. A child that has no memory for a chunk
 * ends with a panic, so that no server mistakes an incomplete file for a whole one. */
#include "redis/filter/chain_rdb.h"

#include "redis/fingerprint/fingerprint_coding.h"

/* Calls the function with each chunk of the filter. */
static void for_chunks(const struct bb_fingerprint_chain *chain, void *context,
                       void (*visit)(void *context, struct bb_bytes chunk, uint64_t end))
{
    uint64_t total = bb_fingerprint_chain_totals(chain).shard_count;
    struct bb_buf chunk = {0};
    for (uint64_t at = 0; at < total;) {
        if (bb_fingerprint_coding_chunk(chain, at, BB_REDIS_CHAIN_CHUNK_SIZE, &chunk, &at) != BB_OK)
            RedisModule__Assert("memory for a chunk of a filter", __FILE__, __LINE__);
        visit(context, (struct bb_bytes){chunk.data, chunk.size}, at);
    }
    bb_buf_deinit(&chunk);
}

static void save_chunk(void *context, struct bb_bytes chunk, uint64_t end)
{
    (void)end;
    RedisModule_SaveStringBuffer(context, (const char *)chunk.data, chunk.size);
}

void bb_redis_chain_save(struct RedisModuleIO *rdb, const struct bb_fingerprint_chain *chain)
{
    uint8_t header[BB_FINGERPRINT_HEADER_SIZE];
    bb_fingerprint_coding_header(chain, header);
    RedisModule_SaveStringBuffer(rdb, (const char *)header, sizeof(header));
    for_chunks(chain, rdb, save_chunk);
}

static struct bb_fingerprint_chain *load_header(struct RedisModuleIO *rdb)
{
    struct bb_bytes bytes = {0};
    char *loaded = RedisModule_LoadStringBuffer(rdb, &bytes.size);
    struct bb_fingerprint_chain *chain = NULL;
    bytes.data = (const uint8_t *)loaded;
    if (!RedisModule_IsIOError(rdb) && loaded != NULL)
        chain = bb_fingerprint_coding_decode_header(bytes);
    RedisModule_Free(loaded);
    return chain;
}

/* Loads the chunk that begins with this shard. */
static bool load_chunk(struct RedisModuleIO *rdb, struct bb_fingerprint_chain *chain, uint64_t *at)
{
    struct bb_bytes bytes = {0};
    char *loaded = RedisModule_LoadStringBuffer(rdb, &bytes.size);
    uint64_t first = 0;
    uint64_t end = 0;
    bytes.data = (const uint8_t *)loaded;
    bool is_loaded = !RedisModule_IsIOError(rdb) && loaded != NULL &&
                     bb_fingerprint_coding_decode_chunk(chain, bytes, &first, &end) && first == *at;
    RedisModule_Free(loaded);
    if (is_loaded)
        *at = end;
    return is_loaded;
}

struct bb_fingerprint_chain *bb_redis_chain_load(struct RedisModuleIO *rdb)
{
    struct bb_fingerprint_chain *chain = load_header(rdb);
    uint64_t total = chain == NULL ? 0 : bb_fingerprint_chain_totals(chain).shard_count;
    uint64_t at = 0;
    while (at < total && load_chunk(rdb, chain, &at))
        continue;
    if (chain != NULL && at >= total)
        return chain;
    RedisModule_LogIOError(rdb, "warning",
                           "bloomblock: a filter cannot be loaded: its bytes are damaged at shard "
                           "%llu of %llu, or memory is short",
                           (unsigned long long)at, (unsigned long long)total);
    bb_fingerprint_chain_destroy(chain);
    return NULL;
}

struct rewrite {
    struct RedisModuleIO *aof;
    const char *command;
    struct RedisModuleString *key;
};

static void emit_chunk(void *context, struct bb_bytes chunk, uint64_t end)
{
    const struct rewrite *rewrite = context;
    RedisModule_EmitAOF(rewrite->aof, rewrite->command, "slb", rewrite->key, (long long)end + 1,
                        (const char *)chunk.data, chunk.size);
}

void bb_redis_chain_rewrite(struct RedisModuleIO *aof, const char *command,
                            struct RedisModuleString *key, const struct bb_fingerprint_chain *chain)
{
    struct rewrite rewrite = {aof, command, key};
    for_chunks(chain, &rewrite, emit_chunk);
}

static void add_to_digest(void *context, struct bb_bytes chunk, uint64_t end)
{
    (void)end;
    RedisModule_DigestAddStringBuffer(context, (const char *)chunk.data, chunk.size);
}

void bb_redis_chain_digest(struct RedisModuleDigest *digest,
                           const struct bb_fingerprint_chain *chain)
{
    uint8_t header[BB_FINGERPRINT_HEADER_SIZE];
    bb_fingerprint_coding_header(chain, header);
    RedisModule_DigestAddStringBuffer(digest, (const char *)header, sizeof(header));
    for_chunks(chain, digest, add_to_digest);
    RedisModule_DigestEndSequence(digest);
}

size_t bb_redis_chain_free_effort(const struct bb_fingerprint_chain *chain)
{
    return (size_t)bb_fingerprint_chain_totals(chain).shard_count;
}
