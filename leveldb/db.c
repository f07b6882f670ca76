/* Opening, writing and reading: each a call of <bb/db.h>, with LevelDB's arguments and errors. */
#include "leveldb/directory.h"
#include "leveldb/error.h"
#include "leveldb/memory.h"
#include "leveldb/options.h"
#include "leveldb/read_options.h"
#include "leveldb/store.h"
#include "leveldb/write_batch.h"
#include "leveldb/write_options.h"

static struct bb_bytes bytes_of(const char *data, size_t size)
{
    return (struct bb_bytes){(const uint8_t *)data, size};
}

/* ---- opening and closing ---- */

/* In LevelDB's words where programs know them by heart. */
static struct bb_error explain(const char *name, const struct bb_db_options *options,
                               enum bb_status status)
{
    if (status == BB_NOT_FOUND && !options->create_if_missing)
        return bb_leveldb_error_make(BB_INVALID, "%s: does not exist (create_if_missing is false)",
                                     name);
    if (status == BB_EXISTS && options->error_if_exists)
        return bb_leveldb_error_make(BB_INVALID, "%s: exists (error_if_exists is true)", name);
    if (status == BB_BUSY)
        return bb_leveldb_error_held(name);
    return *bb_error_last();
}

/* The name may live no longer than the program's call. */
static struct bb_error keep_order(leveldb_t *store, const struct bb_db_options *options)
{
    if (options->comparator == NULL)
        return (struct bb_error){.status = BB_OK};
    store->order_name = bb_leveldb_copy_text(store->order.name);
    store->order.name = store->order_name;
    if (store->order_name == NULL)
        return bb_leveldb_error_make(BB_NO_MEMORY, "no memory for the name of a comparator");
    return (struct bb_error){.status = BB_OK};
}

static struct bb_error open_store(leveldb_t *store, const leveldb_options_t *options,
                                  const char *name)
{
    struct bb_db_options resolved;
    struct bb_error error = bb_leveldb_directory_check(name);
    if (error.status != BB_OK)
        return error;
    bb_leveldb_options_resolve(options, &store->order, &resolved);
    resolved.on_event = bb_leveldb_work_listen;
    resolved.event_context = &store->work;
    error = keep_order(store, &resolved);
    if (error.status != BB_OK)
        return error;
    enum bb_status status = bb_db_open(name, &resolved, &store->db);
    return status == BB_OK ? error : explain(name, &resolved, status);
}

leveldb_t *leveldb_open(const leveldb_options_t *options, const char *name, char **errptr)
{
    leveldb_t *store = bb_leveldb_store_create();
    struct bb_error error = {.status = BB_OK};
    if (store == NULL)
        error = bb_leveldb_error_make(BB_NO_MEMORY, "no memory for a store");
    else
        error = open_store(store, options, name);
    if (error.status == BB_OK)
        return store;
    bb_leveldb_error_set(errptr, &error);
    if (store != NULL)
        bb_leveldb_store_unref(store);
    return NULL;
}

void leveldb_close(leveldb_t *db)
{
    if (db == NULL)
        return;
    if (bb_leveldb_store_is_inherited(db)) {
        (void)!bb_db_close(db->db);
        db->db = NULL;
        bb_leveldb_store_leave(db);
        return;
    }
    bb_leveldb_store_evict(db);
    /* A write or the next opening reports a failure; leveldb_close cannot. */
    (void)!bb_db_close(db->db);
    db->db = NULL;
    bb_leveldb_store_unref(db);
}

/* ---- writing ---- */

void leveldb_put(leveldb_t *db, const leveldb_writeoptions_t *options, const char *key,
                 size_t keylen, const char *val, size_t vallen, char **errptr)
{
    struct bb_write_options write = bb_leveldb_write_options_resolve(options);
    bb_leveldb_error_save(errptr,
                          bb_db_put(db->db, &write, bytes_of(key, keylen), bytes_of(val, vallen)));
}

void leveldb_delete(leveldb_t *db, const leveldb_writeoptions_t *options, const char *key,
                    size_t keylen, char **errptr)
{
    struct bb_write_options write = bb_leveldb_write_options_resolve(options);
    bb_leveldb_error_save(errptr, bb_db_delete(db->db, &write, bytes_of(key, keylen)));
}

void leveldb_write(leveldb_t *db, const leveldb_writeoptions_t *options,
                   leveldb_writebatch_t *batch, char **errptr)
{
    struct bb_write_options write = bb_leveldb_write_options_resolve(options);
    if (batch->failure.status != BB_OK)
        bb_leveldb_error_set(errptr, &batch->failure);
    else
        bb_leveldb_error_save(errptr, bb_db_write(db->db, &write, batch->batch));
}

/* ---- reading ---- */

/* The value as memory that the program owns. */
static char *take(struct bb_bytes value, size_t *vallen, char **errptr)
{
    char *copy = bb_leveldb_copy(value.data, value.size);
    if (copy != NULL) {
        *vallen = value.size;
        return copy;
    }
    struct bb_error error =
        bb_leveldb_error_make(BB_NO_MEMORY, "no memory for a value of %zu bytes", value.size);
    bb_leveldb_error_set(errptr, &error);
    return NULL;
}

char *leveldb_get(leveldb_t *db, const leveldb_readoptions_t *options, const char *key,
                  size_t keylen, size_t *vallen, char **errptr)
{
    struct bb_get_options get;
    struct bb_pinned value;
    *vallen = 0;
    if (!bb_leveldb_read_options_resolve(options, &get)) {
        struct bb_error error = bb_leveldb_read_options_failure();
        bb_leveldb_error_set(errptr, &error);
        return NULL;
    }
    enum bb_status status = bb_db_get_pinned(db->db, &get, bytes_of(key, keylen), &value);
    if (status == BB_NOT_FOUND || bb_leveldb_error_save(errptr, status))
        return NULL;
    char *copy = take(value.bytes, vallen, errptr);
    bb_pinned_release(&value);
    return copy;
}
