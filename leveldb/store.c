/* See store.h. */
#include "leveldb/store.h"

#include <unistd.h>

#include "leveldb/memory.h"

bool bb_leveldb_store_is_inherited(const leveldb_t *store)
{
    return store->process != (long)getpid();
}

leveldb_t *bb_leveldb_store_create(void)
{
    leveldb_t *store = bb_leveldb_alloc(sizeof(*store));
    if (store == NULL)
        return NULL;
    if (pthread_mutex_init(&store->mutex, NULL) != 0) {
        bb_leveldb_release(store);
        return NULL;
    }
    store->references = 1;
    store->process = (long)getpid();
    store->holders.next = &store->holders;
    store->holders.previous = &store->holders;
    return store;
}

void bb_leveldb_store_unref(leveldb_t *store)
{
    pthread_mutex_lock(&store->mutex);
    size_t left = --store->references;
    pthread_mutex_unlock(&store->mutex);
    if (left > 0)
        return;
    pthread_mutex_destroy(&store->mutex);
    bb_leveldb_release(store->order_name);
    bb_leveldb_release(store);
}

/* Does not destroy an inherited mutex: it belongs to the parent process. */
void bb_leveldb_store_leave(leveldb_t *store)
{
    if (pthread_mutex_trylock(&store->mutex) != 0)
        return;
    bool is_last = store->references == 1;
    pthread_mutex_unlock(&store->mutex);
    if (!is_last)
        return;
    bb_leveldb_release(store->order_name);
    bb_leveldb_release(store);
}

void bb_leveldb_store_add(leveldb_t *store, struct bb_leveldb_holder *holder,
                          void (*let_go)(struct bb_leveldb_holder *holder))
{
    holder->store = store;
    holder->let_go = let_go;
    pthread_mutex_lock(&store->mutex);
    store->references++;
    holder->next = &store->holders;
    holder->previous = store->holders.previous;
    holder->previous->next = holder;
    holder->next->previous = holder;
    pthread_mutex_unlock(&store->mutex);
}

/* REQUIRES: the store's mutex is held. */
static void evict(struct bb_leveldb_holder *holder)
{
    holder->let_go(holder);
    holder->previous->next = holder->next;
    holder->next->previous = holder->previous;
    holder->next = NULL;
}

void bb_leveldb_store_remove(struct bb_leveldb_holder *holder)
{
    leveldb_t *store = holder->store;
    if (store == NULL || bb_leveldb_store_is_inherited(store))
        return;
    pthread_mutex_lock(&store->mutex);
    if (holder->next != NULL)
        evict(holder);
    pthread_mutex_unlock(&store->mutex);
    bb_leveldb_store_unref(store);
}

void bb_leveldb_store_evict(leveldb_t *store)
{
    pthread_mutex_lock(&store->mutex);
    while (store->holders.next != &store->holders)
        evict(store->holders.next);
    pthread_mutex_unlock(&store->mutex);
}
