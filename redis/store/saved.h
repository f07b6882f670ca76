/* The states of stores that files of the server name, and whose directories are therefore kept.
 *
 * An RDB file names the state of each of its stores, and so does the base file of an AOF. The
 * directory of a state is kept until the next file of the same kind is complete. After a restart
 * the server loads one of the files, and takes the directories that it names.
 *
 * Threads: the server's. */
#ifndef BB_REDIS_STORE_SAVED_H
#define BB_REDIS_STORE_SAVED_H

#include "redis/store/root.h"

enum bb_redis_saved_kind {
    BB_REDIS_SAVED_BY_RDB = 1,
    BB_REDIS_SAVED_BY_AOF = 2,
};

/* Notes that files of these kinds (added) name the state. */
void bb_redis_saved_keep(const struct bb_redis_id *state, unsigned kinds);

/* A file of this kind is complete. It names the states that were kept with the kind since the call
 * of bb_redis_saved_begin; all others lose the kind, and directories without one are removed. */
void bb_redis_saved_begin(enum bb_redis_saved_kind kind);
void bb_redis_saved_end(void);

bool bb_redis_saved_is_kept(const struct bb_redis_id *state);
/* Whether any state is kept. */
bool bb_redis_saved_is_any(void);

/* Keeps the directory of a kept state for a child that will read it, even if no file names it any
 * more. Every hold is released; the directory is removed by the next
 * bb_redis_saved_end. */
void bb_redis_saved_hold(const struct bb_redis_id *state);
void bb_redis_saved_release(const struct bb_redis_id *state);

#endif
