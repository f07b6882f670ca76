/* The root: the directory of all stores of the server.
 *
 *     DIR/bb/BLOOMBLOCK              marks the directory as ours
 *     DIR/bb/LOCK                    held by the server
 *     DIR/bb/<32 digits>/            a store in use
 *     DIR/bb/<32 digits>.saved/      the state of a store in a save, under the id of the state
 *
 * DIR is the argument DIR of loadmodule; by default, it is the server's `dir` when the module is
 * loaded. The first store creates the root. A directory to which no loaded data refers remains from
 * an earlier process. Such directories are removed after loading, even if no store was loaded.
 *
 * Threads: the server's, except for the functions marked otherwise. */
#ifndef BB_REDIS_STORE_ROOT_H
#define BB_REDIS_STORE_ROOT_H

#include "bb/file.h"

#define BB_REDIS_ID_SIZE       16
#define BB_REDIS_PATH_SIZE_MAX 4096

/* The id of a store, or of a state of a store. It is random, so no two are equal. Zeros: no id. */
struct bb_redis_id {
    uint8_t bytes[BB_REDIS_ID_SIZE];
};

struct bb_redis_path {
    char text[BB_REDIS_PATH_SIZE_MAX];
};

/* Must precede all other functions. given: DIR; NULL: the server's directory. working: the server's
 * directory, to which a relative `given` is appended. Both are copied. False: the path is too long,
 * or there is no memory. */
bool bb_redis_root_init(const char *working, const char *given);

/* Creates the root if necessary, and locks it, unless this process holds the lock. BB_BUSY: another
 * server uses the root. BB_INVALID: the directory belongs to another program. */
BB_MUST_CHECK enum bb_status bb_redis_root_open(void);
/* Releases the lock. The directory remains. */
void bb_redis_root_close(void);

BB_MUST_CHECK enum bb_status bb_redis_root_new_id(struct bb_redis_id *ret_id);
bool bb_redis_id_is_none(const struct bb_redis_id *id);
bool bb_redis_id_equals(const struct bb_redis_id *a, const struct bb_redis_id *b);

/* Any thread. */
struct bb_redis_path bb_redis_root_join(const char *directory, const char *name);
BB_MUST_CHECK enum bb_status bb_redis_root_list(const char *path, struct bb_file_names *ret_names);
struct bb_redis_path bb_redis_root_store(const struct bb_redis_id *id);
struct bb_redis_path bb_redis_root_saved(const struct bb_redis_id *state);
bool bb_redis_root_exists(const struct bb_redis_path *path);
/* Renames a store. If the store is open, it can no longer write, nor open further tables. */
BB_MUST_CHECK enum bb_status bb_redis_root_rename(const struct bb_redis_path *from,
                                                  const struct bb_redis_path *to);
/* Removes a store that is not open, in a thread of the pool. */
void bb_redis_root_remove(const struct bb_redis_path *path);

/* Opens the root if it exists, and removes the directories of earlier processes that are not in
 * use. Later calls have no effect. A failure to open the root, such as BB_BUSY, matters only to a
 * server with stores. */
BB_MUST_CHECK enum bb_status bb_redis_root_clean(bool (*is_in_use)(const struct bb_redis_id *id));

#endif
