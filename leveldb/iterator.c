/* Iterators. If creation failed, or if the store was closed, an iterator is never valid and returns
 * an error (store.h). Some calls are undefined in LevelDB and harmless here: an invalid iterator
 * does not move, and its key and value are empty. */
#include "leveldb/error.h"
#include "leveldb/memory.h"
#include "leveldb/read_options.h"
#include "leveldb/store.h"
#include "leveldb/text.h"

struct leveldb_iterator_t {
    struct bb_leveldb_holder holder;
    struct bb_db_iter *iter; /* NULL: creation failed, or the store is closed */
    struct bb_error failure; /* if iter is NULL, the reason; otherwise of the last move */
};

static void let_go(struct bb_leveldb_holder *holder)
{
    leveldb_iterator_t *iterator = (leveldb_iterator_t *)holder;
    bb_db_iter_destroy(iterator->iter);
    iterator->iter = NULL;
    iterator->failure =
        bb_leveldb_error_make(BB_INVALID, "the store was closed while this iterator was open");
}

leveldb_iterator_t *leveldb_create_iterator(leveldb_t *db, const leveldb_readoptions_t *options)
{
    struct bb_get_options get;
    leveldb_iterator_t *iterator = bb_leveldb_alloc(sizeof(*iterator));
    if (iterator == NULL)
        return NULL;
    if (!bb_leveldb_read_options_resolve(options, &get))
        iterator->failure = bb_leveldb_read_options_failure();
    else if (bb_db_iter_create(db->db, &get, &iterator->iter) == BB_OK)
        bb_leveldb_store_add(db, &iterator->holder, let_go);
    else
        iterator->failure = *bb_error_last();
    return iterator;
}

void leveldb_iter_destroy(leveldb_iterator_t *iterator)
{
    if (iterator == NULL)
        return;
    bb_leveldb_store_remove(&iterator->holder);
    bb_leveldb_release(iterator);
}

uint8_t leveldb_iter_valid(const leveldb_iterator_t *iterator)
{
    return iterator->iter != NULL && bb_db_iter_valid(iterator->iter);
}

/* Copies the failure of a move. WHY now: the thread's next call may replace the message. */
static void note(leveldb_iterator_t *iterator)
{
    if (bb_db_iter_valid(iterator->iter))
        return;
    enum bb_status status = bb_db_iter_status(iterator->iter);
    if (status != BB_OK)
        iterator->failure = *bb_error_last();
    iterator->failure.status = status;
}

void leveldb_iter_seek_to_first(leveldb_iterator_t *iterator)
{
    if (iterator->iter == NULL)
        return;
    bb_db_iter_seek_first(iterator->iter);
    note(iterator);
}

void leveldb_iter_seek_to_last(leveldb_iterator_t *iterator)
{
    if (iterator->iter == NULL)
        return;
    bb_db_iter_seek_last(iterator->iter);
    note(iterator);
}

void leveldb_iter_seek(leveldb_iterator_t *iterator, const char *key, size_t klen)
{
    if (iterator->iter == NULL)
        return;
    bb_db_iter_seek(iterator->iter, (struct bb_bytes){(const uint8_t *)key, klen});
    note(iterator);
}

void leveldb_iter_next(leveldb_iterator_t *iterator)
{
    if (!leveldb_iter_valid(iterator))
        return;
    bb_db_iter_next(iterator->iter);
    note(iterator);
}

void leveldb_iter_prev(leveldb_iterator_t *iterator)
{
    if (!leveldb_iter_valid(iterator))
        return;
    bb_db_iter_prev(iterator->iter);
    note(iterator);
}

static const char *hand_out(struct bb_bytes bytes, size_t *ret_size)
{
    *ret_size = bytes.size;
    return bb_leveldb_text_of(bytes);
}

const char *leveldb_iter_key(const leveldb_iterator_t *iterator, size_t *klen)
{
    struct bb_bytes none = {0};
    return hand_out(leveldb_iter_valid(iterator) ? bb_db_iter_key(iterator->iter) : none, klen);
}

const char *leveldb_iter_value(const leveldb_iterator_t *iterator, size_t *vlen)
{
    struct bb_bytes none = {0};
    return hand_out(leveldb_iter_valid(iterator) ? bb_db_iter_value(iterator->iter) : none, vlen);
}

void leveldb_iter_get_error(const leveldb_iterator_t *iterator, char **errptr)
{
    bool is_usable = iterator->iter != NULL && bb_db_iter_valid(iterator->iter);
    if (!is_usable && iterator->failure.status != BB_OK)
        bb_leveldb_error_set(errptr, &iterator->failure);
}
