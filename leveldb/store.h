/* An open store, and what a program has open on it: iterators and snapshots.
 *
 * bb_db_close refuses while any are open. LevelDB's close asks nobody, and programs close with
 * snapshots that they never release, and with iterators that a garbage collector destroys later. So
 * the store knows its holders:
 *
 *     leveldb_t -----> bb_db                leveldb_t        (no bb_db)
 *        |  ^                     close        ^  ^
 *        v  |                   ========>      |  |
 *      iterator <-> snapshot                iterator  snapshot      shells, until they are destroyed
 *
 * Closing makes each holder let go of what it holds in the bb_db, and then closes that. What is left
 * of a holder is a shell: it answers every question with an error, and may be destroyed whenever the
 * program likes, since it keeps the memory of the leveldb_t alive.
 *
 * In a child made by fork, which inherited the leveldb_t, the mutex may be held for ever, and the ring be
 * half changed: there neither is touched, and what is closed or destroyed gives back at most its own
 * memory.
 *
 * Threads: a holder may be destroyed while another thread closes. Anything else beside a close is the
 * program's mistake, as with LevelDB.
 */
#ifndef BB_LEVELDB_STORE_H
#define BB_LEVELDB_STORE_H

#include <leveldb/c.h>
#include <pthread.h>

#include "leveldb/work.h"

/* Embedded in what is open on a store. A zeroed one is held by no store. */
struct bb_leveldb_holder {
    struct bb_leveldb_holder *next; /* in the ring of the store; NULL: has let go */
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
    pthread_mutex_t mutex; /* of what follows */
    size_t references;     /* one of the program until it closes, and one of each holder */
    struct bb_leveldb_holder holders;
};

/* Did another process open it, of which this one is a child? */
bool bb_leveldb_store_is_inherited(const leveldb_t *store);

/* Nothing is open yet. NULL when there is no memory. */
leveldb_t *bb_leveldb_store_create(void);
void bb_leveldb_store_unref(leveldb_t *store);

/* The end of an inherited one: its memory goes when nothing is open on it and no thread was opening or
 * closing anything. */
void bb_leveldb_store_leave(leveldb_t *store);

/* REQUIRES: the store is open. let_go is called at most once, with the store's mutex held, when the
 * holder is released or the store is closed, whichever comes first. */
void bb_leveldb_store_add(leveldb_t *store, struct bb_leveldb_holder *holder,
                          void (*let_go)(struct bb_leveldb_holder *holder));
/* In a child made by fork the holder stays as it is. Afterwards the holder's memory may be released. */
void bb_leveldb_store_remove(struct bb_leveldb_holder *holder);
/* All holders let go. */
void bb_leveldb_store_evict(leveldb_t *store);

#endif
