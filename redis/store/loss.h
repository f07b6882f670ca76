/* Changes that the server counts as made, and that this node cannot make, for example because its
 * disk is full.
 *
 *     while the AOF is loaded   the server ends. The AOF has the data, for a start that can load it
 *     from the master           the store of the key is marked as incomplete, and refuses commands.
 *                               If there is no store, the key gets one without a directory. A full
 *                               sync replaces it
 *
 * RDB files need no such care: the server refuses a file of which it cannot load a store. The
 * functions are called after a failure of the library, the latest in this thread.
 *
 * Threads: the server's. */
#ifndef BB_REDIS_STORE_LOSS_H
#define BB_REDIS_STORE_LOSS_H

#include "bb/base.h"
#include "redis/server/redis_module.h"

/* Once, while the module is loaded. */
bool bb_redis_loss_init(struct RedisModuleCtx *ctx);

/* A command for this key cannot make its change: ends the server, or marks the store, as above.
 * Replies the failure. */
int bb_redis_loss_reply(struct RedisModuleCtx *ctx, struct RedisModuleString *name,
                        enum bb_status status);

/* The store of a command is incomplete. Replies that. If the command is the master's, the AOF has
 * it nevertheless: until this file is rewritten, a start loads the store completely. */
int bb_redis_loss_refuse(struct RedisModuleCtx *ctx);

/* For functions of the data type, which have no client. The first ends the server if it loads its
 * AOF. The second is true if the value must be made, with the mark: the server is a replica, and
 * RESTORE and COPY are its master's. On a replica that permits writes they may be a client's, who
 * then gets a marked store instead of an error. */
void bb_redis_loss_end(void);
bool bb_redis_loss_must_mark(void);

/* Whether the file being loaded is an AOF, or its base. */
bool bb_redis_loss_is_loading_aof(void);

#endif
