/* Files of stores that are in use: the operating system's, without syncs.
 *
 * After a crash or a power failure, the directory of a store that was in use is not needed. The
 * server loads its RDB or AOF, takes the directories of saved states that they name, and removes
 * the others. So only saved states are made durable, once they are complete.
 *
 * Threads: any. */
#ifndef BB_REDIS_STORE_UNSYNCED_H
#define BB_REDIS_STORE_UNSYNCED_H

#include "bb/file.h"

/* Owned: bb_file_system_posix_destroy. */
BB_MUST_CHECK enum bb_status bb_redis_unsynced_create(struct bb_file_system **ret_fs);

/* Makes a directory, its files and its name durable. No file in it is being written. */
BB_MUST_CHECK enum bb_status bb_redis_unsynced_settle(const char *directory);

#endif
