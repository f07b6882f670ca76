/* One store: the value of a key of type bbstore-1.
 *
 * The key has one reference, and each use in a thread of the pool another one. When the key and all
 * uses are gone, a thread of the pool closes the store and removes its directory.
 *
 * Only the server's thread writes, in the order of the server's commands, and to memory. The store
 * has no log, because the server has one: the AOF, or its replicas. The library's threads move the
 * data to tables.
 *
 * Threads: the server's, except for the functions marked otherwise. */
#ifndef BB_REDIS_STORE_STORE_H
#define BB_REDIS_STORE_STORE_H

#include <stdatomic.h>

#include "bb/db.h"
#include "redis/store/options.h"
#include "redis/store/pool.h"
#include "redis/store/root.h"

struct bb_redis_waiting_write;

struct bb_redis_store {
    _Atomic int references;
    struct bb_redis_id id;
    struct bb_redis_store_options options;
    struct bb_file_system *files; /* of db: unsynced.h */
    struct bb_db *db;             /* NULL: bb_redis_store_create_lost */
    struct bb_batch *batch;       /* for the current write; empty between writes */
    /* Counts changes of the contents. */
    uint64_t version;
    /* The contents at `state_version` are saved under this id, or will be. */
    struct bb_redis_id state;
    uint64_t state_version;
    /* An RDB file that the server itself wrote names the state, which has no directory yet. */
    bool is_named_by_rdb;
    /* A write that the server counts as done was not made, for example because of a full disk. */
    bool is_incomplete;
    /* Writes that wait for background work, in order: write.c. */
    struct bb_redis_waiting_write *waiting_first;
    struct bb_redis_waiting_write *waiting_last;
    uint64_t waited_writes;
    bool is_resuming; /* the first of them has left the list and is being executed */
    bool has_timer;   /* that will try to resume them */
    /* In the list of all stores; guarded by its lock. */
    struct bb_redis_store *next;
    struct bb_redis_store *previous;
    struct bb_redis_job closing;
};

/* Creates an empty store with a new id. It has one reference, which is for the key. Any thread, if
 * the root is open. */
BB_MUST_CHECK enum bb_status bb_redis_store_create(const struct bb_redis_store_options *options,
                                                   struct bb_redis_store **ret_store);
/* Creates a store with the contents of a closed one. That one is not changed, and the two share
 * table files. */
BB_MUST_CHECK enum bb_status bb_redis_store_adopt(const struct bb_redis_path *saved,
                                                  const struct bb_redis_store_options *options,
                                                  struct bb_redis_store **ret_store);
/* Creates a store with the present contents of this one, and its mark if it is incomplete. */
BB_MUST_CHECK enum bb_status bb_redis_store_copy(struct bb_redis_store *store,
                                                 struct bb_redis_store **ret_store);

/* Creates a store without a directory: the master has it, and this node could not create it. It is
 * incomplete, so commands refuse it. It has no batch either. */
struct bb_redis_store *bb_redis_store_create_lost(const struct bb_redis_store_options *options);

/* The store has a key now. */
void bb_redis_store_attach(struct bb_redis_store *store);
/* Drops the reference of the key. Any thread, such as the thread of UNLINK. NULL is allowed. */
void bb_redis_store_drop(struct bb_redis_store *store);
/* True when the drop of the last reference closes the store before it returns. This is so in
 * threads that free values for the server, which have the time. It is also so in the server's own
 * thread while the server is above maxmemory: it evicts keys until it is below, and must see the
 * memory of a store as free before it evicts the next key. */
bool bb_redis_store_must_close_now(void);
/* For uses while the store has a key. */
struct bb_redis_store *bb_redis_store_ref(struct bb_redis_store *store);
/* Any thread. */
void bb_redis_store_unref(struct bb_redis_store *store);

/* Applies the batch of the store, and empties it. */
BB_MUST_CHECK enum bb_status bb_redis_store_write(struct bb_redis_store *store);

/* Calls visit for each store that has a key. No store loses its key during the call. Any thread. */
void bb_redis_stores_visit(void (*visit)(void *context, struct bb_redis_store *store),
                           void *context);

/* Roughly the number of fields. The tables have as many as their keys minus two for each deletion;
 * the data in memory adds fields in proportion to its size. Without tables: the number of writes.
 * Any thread. */
uint64_t bb_redis_store_estimate(struct bb_redis_store *store);

/* Bytes of memory that the store uses. Any thread. */
uint64_t bb_redis_store_memory(struct bb_redis_store *store);

#endif
