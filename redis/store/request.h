/* A command that a thread of the pool executes, while its client is blocked.
 *
 *     server's thread   the command finds out that it may have to wait: bb_redis_request_run
 *     a thread          work
 *     server's thread   reply, release
 *
 * A blocked client's later commands wait, so its order is kept. Where a client must not be blocked
 * (MULTI, scripts, loading), all of it happens in the server's thread.
 *
 * Threads: the server's, except for work. */
#ifndef BB_REDIS_STORE_REQUEST_H
#define BB_REDIS_STORE_REQUEST_H

#include "redis/server/redis_module.h"
#include "redis/store/store.h"

struct bb_redis_request;

struct bb_redis_request_class {
    /* Uses only the request and the library, and leaves a failure in status and message. */
    void (*work)(struct bb_redis_request *request);
    int (*reply)(struct RedisModuleCtx *ctx, struct bb_redis_request *request);
    /* Releases the request's own parts; may be NULL. */
    void (*release)(struct bb_redis_request *request);
};

/* Embedded as the first member of a struct of RedisModule_Alloc, which the request owns. */
struct bb_redis_request {
    struct bb_redis_job job; /* must be first */
    const struct bb_redis_request_class *class;
    struct bb_redis_store *store; /* with a reference */
    struct bb_snapshot *snapshot; /* owned; NULL: none */
    struct RedisModuleString **argv;
    int argc;
    enum bb_status status;
    struct bb_error error; /* if the status is a failure */
    struct RedisModuleBlockedClient *client;
};

/* Fills a new request. The arguments are kept until it is released. */
void bb_redis_request_init(struct bb_redis_request *request,
                           const struct bb_redis_request_class *class, struct bb_redis_store *store,
                           struct RedisModuleString **argv, int argc);

/* Executes and releases the request. */
int bb_redis_request_run(struct RedisModuleCtx *ctx, struct bb_redis_request *request);

/* Records the result of a call of the library; a failure with its message. */
void bb_redis_request_end(struct bb_redis_request *request, enum bb_status status);

/* True while writes are paused: CLIENT PAUSE, a fail-over that was ordered, the end of the server.
 * Commands do not begin then, and a blocked one must not change data either: the server ends itself
 * when such a change is replicated. */
bool bb_redis_request_is_paused(void);

/* True if clients must not be blocked in this context. */
bool bb_redis_request_must_not_block(struct RedisModuleCtx *ctx);

#endif
