/* Saving in a child process of the server: BGSAVE, BGREWRITEAOF, full syncs.
 *
 *     before fork   every store that has changed gets a state id, and a bb_checkpoint that holds
 *                   its contents. This takes microseconds
 *     child born    a thread of the parent writes each checkpoint to DIR/bb/<state>.saved, and then
 *                   tells the child by a pipe. The server continues to change its stores. If the
 *                   fork failed, or its child saves nothing, the checkpoints are released
 *     child         waits for the directory of a store, and reads it. It touches no inherited store
 *     child's end   the directories that a complete file names are kept, the others are removed
 *
 * Redis 7.0 announces a fork to modules only afterwards, so pthread_atfork announces it. A store
 * that has not changed since its last state needs no new one: the child holds that one.
 *
 * Threads: the server's. */
#ifndef BB_REDIS_STORE_FORK_H
#define BB_REDIS_STORE_FORK_H

#include "redis/server/redis_module.h"
#include "redis/store/store.h"

/* Once, while the module is loaded. */
bool bb_redis_fork_init(struct RedisModuleCtx *ctx);

bool bb_redis_fork_is_child(void);

/* In the child: a part of the event PERSISTENCE, which the server fires there. */
void bb_redis_fork_note(uint64_t part);

/* The server itself has written an RDB file, or failed to. */
void bb_redis_fork_note_save(void);

/* In the child: waits until the state of the store is in a directory. Does not return if that
 * fails: the process ends, and the server reports that its save failed. */
struct bb_redis_path bb_redis_fork_await(const struct bb_redis_store *store,
                                         struct bb_redis_id *ret_state);

/* In the child: ends the process, so that the save fails. message: for the log. */
void bb_redis_fork_fail(const char *message) __attribute__((noreturn));

#endif
