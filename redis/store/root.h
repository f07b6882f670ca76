/* The directory with all stores of the server.
 *
 *     DIR/bb/BLOOMBLOCK              marks the directory as ours
 *     DIR/bb/LOCK                    held by the server
 *     DIR/bb/<32 digits>/            a store in use
 *     DIR/bb/<32 digits>.saved/      the state of a store in a save, under the id of the state
 *
 * DIR is the server's `dir` when the module is loaded, or the argument DIR of loadmodule. The
 * directory is created by the first store. Directories that no loaded data refers to remain from an
 * earlier process. They are removed after loading, also if no store was loaded.
 *
 * Threads: the server's, except for the functions marked otherwise. */
#ifndef BB_REDIS_STORE_ROOT_H
#define BB_REDIS_STORE_ROOT_H

#include "bb/file.h"

#define BB_REDIS_ID_SIZE       16
#define BB_REDIS_PATH_SIZE_MAX 4096

/* Of a store, or of a state of a store: random, so no two are equal. All zeros: none. */
struct bb_redis_id {
    uint8_t bytes[BB_REDIS_ID_SIZE];
};

struct bb_redis_path {
    char text[BB_REDIS_PATH_SIZE_MAX];
};

/* Before all others. given: the directory, NULL for the server's. working: the server's, in which a
 * relative name begins. Both are copied. False: the name is too long, or there is no memory. */
bool bb_redis_root_init(const char *working, const char *given);

/* Creates the directory if necessary, and locks it, at the first call. BB_BUSY: another server uses
 * it. BB_INVALID: it belongs to another program. */
BB_MUST_CHECK enum bb_status bb_redis_root_open(void);
/* Releases the lock; the directory remains. */
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
/* Renames a store. If it is open, it cannot write or open further tables afterwards. */
BB_MUST_CHECK enum bb_status bb_redis_root_rename(const struct bb_redis_path *from,
                                                  const struct bb_redis_path *to);
/* Removes a store that is not open, in a thread of the pool. */
void bb_redis_root_remove(const struct bb_redis_path *path);

/* Removes the directories of an earlier process, except those in use. It opens a root that is
 * already there. Later calls have no effect. A failure to open it, such as BB_BUSY, matters only to
 * a server with stores. */
BB_MUST_CHECK enum bb_status bb_redis_root_clean(bool (*is_in_use)(const struct bb_redis_id *id));

#endif
