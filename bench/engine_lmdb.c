/* LMDB. It has no cache or write buffer: pages are mapped from the page cache. */
#include <limits.h>
#include <lmdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/die.h"
#include "bench/engine.h"

struct store {
    MDB_env *env;
    MDB_dbi dbi;
    MDB_txn *write; /* NULL: none open */
    unsigned write_puts;
    MDB_txn *read; /* kept, and renewed for each read */
    MDB_cursor *cursor;
    bool is_reading;
    struct bench_settings settings;
};

static void must(int code)
{
    if (code != MDB_SUCCESS)
        bench_die("lmdb: %s", mdb_strerror(code));
}

/* The kept read transaction, of the calling thread. */
static void open_reader(struct store *store)
{
    must(mdb_txn_begin(store->env, NULL, MDB_RDONLY, &store->read));
    must(mdb_cursor_open(store->read, store->dbi, &store->cursor));
    mdb_txn_reset(store->read);
    store->is_reading = false;
}

static void close_reader(struct store *store)
{
    mdb_cursor_close(store->cursor);
    mdb_txn_abort(store->read);
}

static void open_env(struct store *store)
{
    uint64_t map_bytes = store->settings.data_bytes * 8 + (UINT64_C(1) << 30);
    must(mdb_env_create(&store->env));
    must(mdb_env_set_mapsize(store->env, map_bytes));
    must(mdb_env_open(store->env, store->settings.directory,
                      MDB_NOSYNC | MDB_WRITEMAP | MDB_NORDAHEAD, 0600));
    MDB_txn *txn = NULL;
    must(mdb_txn_begin(store->env, NULL, 0, &txn));
    must(mdb_dbi_open(txn, NULL, 0, &store->dbi));
    must(mdb_txn_commit(txn));
    open_reader(store);
}

static void close_env(struct store *store)
{
    close_reader(store);
    mdb_env_close(store->env);
}

static void *open_store(const struct bench_settings *settings)
{
    struct store *store = calloc(1, sizeof(*store));
    if (store == NULL)
        bench_die("lmdb: no memory");
    store->settings = *settings;
    open_env(store);
    return store;
}

static void commit(void *memory)
{
    struct store *store = memory;
    if (store->write != NULL)
        must(mdb_txn_commit(store->write));
    store->write = NULL;
    store->write_puts = 0;
}

static void close_store(void *memory)
{
    struct store *store = memory;
    commit(store);
    close_env(store);
    free(store);
}

static MDB_val value_of(struct bb_bytes bytes)
{
    return (MDB_val){.mv_size = bytes.size, .mv_data = (void *)(uintptr_t)bytes.data};
}

static struct bb_bytes bytes_of(const MDB_val *value)
{
    return (struct bb_bytes){.data = value->mv_data, .size = value->mv_size};
}

/* Each read is a separate transaction that sees the newest state, made by renewing a kept one, as
 * its documentation advises. It ends with the next read, so that the value stays readable. */
static void end_reading(struct store *store)
{
    if (store->is_reading)
        mdb_txn_reset(store->read);
    store->is_reading = false;
}

static void *attach(void *memory)
{
    struct store *handle = bench_allocate(sizeof(*handle));
    *handle = *(struct store *)memory;
    handle->write = NULL;
    handle->write_puts = 0;
    open_reader(handle);
    return handle;
}

static void detach(void *memory)
{
    end_reading(memory);
    close_reader(memory);
    free(memory);
}

/* A read transaction that stays open would keep pages that the write replaces. */
static void begin_write(struct store *store)
{
    end_reading(store);
    if (store->write == NULL)
        must(mdb_txn_begin(store->env, NULL, 0, &store->write));
}

static void end_write(struct store *store)
{
    if (++store->write_puts == BENCH_TRANSACTION_PUTS)
        commit(store);
}

static void put(void *memory, struct bb_bytes key, struct bb_bytes value)
{
    struct store *store = memory;
    MDB_val stored_key = value_of(key);
    MDB_val stored_value = value_of(value);
    begin_write(store);
    must(mdb_put(store->write, store->dbi, &stored_key, &stored_value, 0));
    end_write(store);
}

static void remove_key(void *memory, struct bb_bytes key)
{
    struct store *store = memory;
    MDB_val wanted = value_of(key);
    begin_write(store);
    int code = mdb_del(store->write, store->dbi, &wanted, NULL);
    if (code != MDB_NOTFOUND)
        must(code);
    end_write(store);
}

static void begin_reading(struct store *store)
{
    end_reading(store);
    must(mdb_txn_renew(store->read));
    store->is_reading = true;
}

static bool get(void *memory, struct bb_bytes key, struct bb_bytes *ret_value)
{
    struct store *store = memory;
    MDB_val wanted = value_of(key);
    MDB_val found = {0};
    begin_reading(store);
    int code = mdb_get(store->read, store->dbi, &wanted, &found);
    if (code == MDB_NOTFOUND)
        return false;
    must(code);
    *ret_value = bytes_of(&found);
    return true;
}

/* high: NULL: no bound. */
static void visit_entries(struct store *store, MDB_val key, MDB_cursor_op first, uint64_t count_max,
                          const struct bb_bytes *high, struct bench_visitor *visitor)
{
    MDB_val value = {0};
    begin_reading(store);
    must(mdb_cursor_renew(store->read, store->cursor));
    int code = mdb_cursor_get(store->cursor, &key, &value, first);
    for (uint64_t i = 0; i < count_max && code == MDB_SUCCESS; i++) {
        if (high != NULL && !bench_is_below(bytes_of(&key), *high))
            break;
        visitor->visit(visitor, bytes_of(&key), bytes_of(&value));
        code = mdb_cursor_get(store->cursor, &key, &value, MDB_NEXT);
    }
    if (code != MDB_NOTFOUND)
        must(code);
}

static void scan(void *memory, struct bench_visitor *visitor)
{
    visit_entries(memory, (MDB_val){0}, MDB_FIRST, UINT64_MAX, NULL, visitor);
}

static void seek(void *memory, struct bb_bytes key, uint64_t count_max,
                 struct bench_visitor *visitor)
{
    visit_entries(memory, value_of(key), MDB_SET_RANGE, count_max, NULL, visitor);
}

static void range(void *memory, struct bb_bytes low, struct bb_bytes high,
                  struct bench_visitor *visitor)
{
    visit_entries(memory, value_of(low), MDB_SET_RANGE, UINT64_MAX, &high, visitor);
}

/* There is no compaction in place: a compacting copy takes the place of the original. */
static void compact(void *memory)
{
    struct store *store = memory;
    char folder[PATH_MAX];
    char from[PATH_MAX + 16];
    char to[PATH_MAX + 16];
    commit(store);
    end_reading(store); /* the copy reads in a transaction of this thread */
    if (snprintf(folder, sizeof(folder), "%s/compacted", store->settings.directory) >=
        (int)sizeof(folder))
        bench_die("lmdb: the path is too long");
    snprintf(from, sizeof(from), "%s/data.mdb", folder);
    snprintf(to, sizeof(to), "%s/data.mdb", store->settings.directory);
    if (mkdir(folder, 0700) != 0)
        bench_die("lmdb: mkdir %s failed", folder);
    must(mdb_env_copy2(store->env, folder, MDB_CP_COMPACT));
    close_env(store);
    if (rename(from, to) != 0 || rmdir(folder) != 0)
        bench_die("lmdb: rename %s failed", from);
    open_env(store);
}

const struct bench_engine bench_engine_lmdb = {
    .name = "lmdb",
    .version = BENCH_LMDB_VERSION,
    .options = "MDB_NOSYNC | MDB_WRITEMAP | MDB_NORDAHEAD; transactions of 1000 puts; a read "
               "transaction renewed for each "
               "get; no separate cache or write buffer; compaction: mdb_env_copy2 with "
               "MDB_CP_COMPACT; no checksums",
    .open = open_store,
    .close = close_store,
    .put = put,
    .remove = remove_key,
    .commit = commit,
    .get = get,
    .scan = scan,
    .seek = seek,
    .range = range,
    .attach = attach,
    .detach = detach,
    .compact = compact,
};
