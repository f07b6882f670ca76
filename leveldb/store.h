/* An open store, and the objects that a program has open on it: iterators and snapshots.
 *
 * bb_db_close fails while any are open. LevelDB's close does not check, and programs close with
 * snapshots that they never release, and with iterators that a garbage collector destroys later. So
 * the store has a list of its holders:
 *
 *     leveldb_t -----> bb_db                leveldb_t        (no bb_db)
 *        |  ^                     close        ^  ^
 *        v  |                   ========>      |  |
 *      iterator <-> snapshot                iterator  snapshot      shells, until destroyed
 *
 * Closing makes each holder release its object of the bb_db, and then closes that. The remaining
 * holder is a shell: every call on it fails, and it may be destroyed at any time, since it keeps
 * the memory of the leveldb_t.
 *
 * In a child made by fork, which inherited the leveldb_t, the mutex may be locked forever, and the
 * ring may be half changed. Neither is touched there: closing and destroying release at most their
 * own memory.
 *
 * Threads: a holder may be destroyed while another thread closes. Any other call concurrent with a
 * close is a bug of the program, as with LevelDB. */
#ifndef BB_LEVELDB_STORE_H
#define BB_LEVELDB_STORE_H

#include <leveldb/c.h>
#include <pthread.h>

#include "leveldb/work.h"

/* Embedded in objects that are open on a store. A zeroed holder belongs to no store. */
struct bb_leveldb_holder {
    struct bb_leveldb_holder *next; /* in the ring of the store; NULL: released */
    struct bb_leveldb_holder *previous;
    leveldb_t *store; /* with a reference */
    void (*let_go)(struct bb_leveldb_holder *holder);
};

struct leveldb_t {
    struct bb_db *db; /* NULL before it is open, and from closing on */
    struct bb_comparator order;
    char *order_name; /* owned; NULL: the store is ordered bytewise */
    struct bb_leveldb_work work;
    long process;          /* that opened it */
    pthread_mutex_t mutex; /* for the following fields */
    size_t references;     /* one of the program until it closes, and one of each holder */
    struct bb_leveldb_holder holders;
};

/* Did another process open it, of which this one is a child? */
bool bb_leveldb_store_is_inherited(const leveldb_t *store);

/* A store without open objects. NULL without memory. */
leveldb_t *bb_leveldb_store_create(void);
void bb_leveldb_store_unref(leveldb_t *store);

/* Ends an inherited store: its memory is released if no object is open on it and no thread was
 * opening or closing one at the fork. */
void bb_leveldb_store_leave(leveldb_t *store);

/* REQUIRES: the store is open. let_go is called at most once, with the store's mutex held, when the
 * holder is released or the store is closed. */
void bb_leveldb_store_add(leveldb_t *store, struct bb_leveldb_holder *holder,
                          void (*let_go)(struct bb_leveldb_holder *holder));
/* In a child made by fork the holder stays as it is. Afterwards the holder's memory may be
 * released. */
void bb_leveldb_store_remove(struct bb_leveldb_holder *holder);
/* Makes all holders release their objects. */
void bb_leveldb_store_evict(leveldb_t *store);

#endif
