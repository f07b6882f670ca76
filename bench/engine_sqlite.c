/* SQLite as a key-value store: one table without rowids, so that there is a single B-tree. */
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "bench/die.h"
#include "bench/engine.h"

#define PAGE_SIZE_BYTES 4096

struct store {
    sqlite3 *db;
    sqlite3_stmt *put;
    sqlite3_stmt *get;
    sqlite3_stmt *scan;
    sqlite3_stmt *seek;
    sqlite3_stmt *range;
    sqlite3_stmt *remove;
    struct bench_settings settings;
    unsigned transaction_puts;
};

static void must(struct store *store, int code)
{
    if (code != SQLITE_OK && code != SQLITE_DONE && code != SQLITE_ROW)
        bench_die("sqlite: %s", sqlite3_errmsg(store->db));
}

static void execute(struct store *store, const char *statement)
{
    must(store, sqlite3_exec(store->db, statement, NULL, NULL, NULL));
}

static void set_pragma(struct store *store, const char *name, long long value)
{
    char statement[128];
    snprintf(statement, sizeof(statement), "PRAGMA %s=%lld", name, value);
    execute(store, statement);
}

static sqlite3_stmt *prepare(struct store *store, const char *text)
{
    sqlite3_stmt *statement = NULL;
    must(store,
         sqlite3_prepare_v3(store->db, text, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL));
    return statement;
}

/* With one thread the store locks out other connections, which spares two fcntl calls per read. */
static bool is_shared(const struct store *store)
{
    return store->settings.thread_count > 1;
}

/* Waits for another connection's commit, which takes less than SQLite's shortest sleep. */
static int wait_for_other(void *context, int count)
{
    (void)context;
    (void)count;
    nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
    return 1;
}

static void prepare_all(struct store *store)
{
    store->put = prepare(store, "INSERT OR REPLACE INTO store VALUES(?1, ?2)");
    store->remove = prepare(store, "DELETE FROM store WHERE key = ?1");
    store->get = prepare(store, "SELECT value FROM store WHERE key = ?1");
    store->scan = prepare(store, "SELECT key, value FROM store ORDER BY key");
    store->seek =
        prepare(store, "SELECT key, value FROM store WHERE key >= ?1 ORDER BY key LIMIT ?2");
    store->range =
        prepare(store, "SELECT key, value FROM store WHERE key >= ?1 AND key < ?2 ORDER BY key");
}

static void *open_store(const struct bench_settings *settings)
{
    char path[PATH_MAX];
    struct store *store = bench_allocate(sizeof(*store));
    store->settings = *settings;
    if (snprintf(path, sizeof(path), "%s/store.sqlite", settings->directory) >= (int)sizeof(path))
        bench_die("sqlite: the path is too long");
    must(store,
         sqlite3_open_v2(path, &store->db,
                         SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL));
    sqlite3_busy_handler(store->db, wait_for_other, NULL);
    set_pragma(store, "page_size", PAGE_SIZE_BYTES);
    set_pragma(store, "cache_size", -(long long)(settings->cache_bytes / 1024));
    if (!is_shared(store))
        execute(store, "PRAGMA locking_mode=EXCLUSIVE");
    execute(store, "PRAGMA journal_mode=WAL");
    execute(store, "PRAGMA synchronous=OFF");
    set_pragma(store, "wal_autocheckpoint",
               (long long)(settings->write_buffer_bytes / PAGE_SIZE_BYTES));
    execute(store,
            "CREATE TABLE IF NOT EXISTS store(key BLOB PRIMARY KEY, value BLOB) WITHOUT ROWID");
    prepare_all(store);
    return store;
}

static void commit(void *memory)
{
    struct store *store = memory;
    if (store->transaction_puts != 0)
        execute(store, "COMMIT");
    store->transaction_puts = 0;
}

static void close_store(void *memory)
{
    struct store *store = memory;
    commit(store);
    sqlite3_finalize(store->put);
    sqlite3_finalize(store->get);
    sqlite3_finalize(store->scan);
    sqlite3_finalize(store->seek);
    sqlite3_finalize(store->range);
    sqlite3_finalize(store->remove);
    if (sqlite3_close(store->db) != SQLITE_OK)
        bench_die("sqlite: close failed");
    free(store);
}

/* Each thread has a separate connection. */
static void *attach(void *memory)
{
    return open_store(&((struct store *)memory)->settings);
}

static void bind(struct store *store, sqlite3_stmt *statement, int position, struct bb_bytes bytes)
{
    must(store, sqlite3_bind_blob(statement, position, bytes.data, (int)bytes.size, SQLITE_STATIC));
}

/* A statement that still reads would see an older state than the write must. */
static void begin_write(struct store *store)
{
    must(store, sqlite3_reset(store->get));
    if (store->transaction_puts == 0)
        execute(store, is_shared(store) ? "BEGIN IMMEDIATE" : "BEGIN");
}

static void end_write(struct store *store, sqlite3_stmt *statement)
{
    must(store, sqlite3_step(statement));
    must(store, sqlite3_reset(statement));
    if (++store->transaction_puts == BENCH_TRANSACTION_PUTS)
        commit(store);
}

static void put(void *memory, struct bb_bytes key, struct bb_bytes value)
{
    struct store *store = memory;
    begin_write(store);
    bind(store, store->put, 1, key);
    bind(store, store->put, 2, value);
    end_write(store, store->put);
}

static void remove_key(void *memory, struct bb_bytes key)
{
    struct store *store = memory;
    begin_write(store);
    bind(store, store->remove, 1, key);
    end_write(store, store->remove);
}

static struct bb_bytes column(sqlite3_stmt *statement, int position)
{
    return (struct bb_bytes){.data = sqlite3_column_blob(statement, position),
                             .size = (size_t)sqlite3_column_bytes(statement, position)};
}

/* The statement stays open until the next get, so that the value stays readable. */
static bool get(void *memory, struct bb_bytes key, struct bb_bytes *ret_value)
{
    struct store *store = memory;
    must(store, sqlite3_reset(store->get));
    bind(store, store->get, 1, key);
    int code = sqlite3_step(store->get);
    must(store, code);
    if (code != SQLITE_ROW)
        return false;
    *ret_value = column(store->get, 0);
    return true;
}

static void visit_rows(struct store *store, sqlite3_stmt *statement, struct bench_visitor *visitor)
{
    int code = 0;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW)
        visitor->visit(visitor, column(statement, 0), column(statement, 1));
    must(store, code);
    must(store, sqlite3_reset(statement));
}

static void scan(void *memory, struct bench_visitor *visitor)
{
    struct store *store = memory;
    visit_rows(store, store->scan, visitor);
}

static void seek(void *memory, struct bb_bytes key, uint64_t count_max,
                 struct bench_visitor *visitor)
{
    struct store *store = memory;
    bind(store, store->seek, 1, key);
    must(store, sqlite3_bind_int64(store->seek, 2, (sqlite3_int64)count_max));
    visit_rows(store, store->seek, visitor);
}

static void range(void *memory, struct bb_bytes low, struct bb_bytes high,
                  struct bench_visitor *visitor)
{
    struct store *store = memory;
    bind(store, store->range, 1, low);
    bind(store, store->range, 2, high);
    visit_rows(store, store->range, visitor);
}

static void compact(void *memory)
{
    struct store *store = memory;
    commit(store);
    must(store, sqlite3_reset(store->get));
    execute(store, "VACUUM");
    execute(store, "PRAGMA wal_checkpoint(TRUNCATE)");
}

const struct bench_engine bench_engine_sqlite = {
    .name = "sqlite",
    .version = SQLITE_VERSION,
    .options =
        "table (key BLOB PRIMARY KEY, value BLOB) WITHOUT ROWID; journal_mode WAL, synchronous "
        "OFF, locking_mode "
        "EXCLUSIVE, page_size 4096, cache_size as given, wal_autocheckpoint at the write buffer's "
        "size; transactions "
        "of 1000 puts; compaction: VACUUM and a truncating checkpoint; no checksums of pages",
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
    .detach = close_store,
    .compact = compact,
};
