/* WiredTiger in two settings: "wiredtiger" is an LSM tree with Bloom filters, "wiredtiger-btree" a
 * B-tree, its default.
 *
 * Its cache also holds the data of write buffers, so it has the size of the cache
 * and of three write buffers, which an LSM tree demands. The log is
 * written to the operating system at each commit, and not synced, as in the other engines. A
 * session and its cursor belong to one thread.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <wiredtiger.h>

#include "bench/die.h"
#include "bench/engine.h"

#define TABLE "table:store"

/* WiredTiger accepts no size outside these. */
#define CHUNK_BYTES_MIN (UINT64_C(512) << 10)
#define CHUNK_BYTES_MAX (UINT64_C(500) << 20)
/* It refuses a cache that has no space for these and some more. */
#define CHUNKS_IN_CACHE 3

struct store {
    WT_CONNECTION *connection;
    WT_SESSION *session;
    WT_CURSOR *cursor;
};

static void must(int code)
{
    if (code != 0)
        bench_die("wiredtiger: %s", wiredtiger_strerror(code));
}

static uint64_t chunk_bytes(const struct bench_settings *settings)
{
    uint64_t bytes = settings->write_buffer_bytes;
    return bytes < CHUNK_BYTES_MIN ? CHUNK_BYTES_MIN
                                   : (bytes > CHUNK_BYTES_MAX ? CHUNK_BYTES_MAX : bytes);
}

static void open_connection(struct store *store, const struct bench_settings *settings)
{
    char text[512];
    uint64_t cache_bytes =
        settings->cache_bytes + CHUNKS_IN_CACHE * chunk_bytes(settings) + (UINT64_C(1) << 20);
    snprintf(text, sizeof(text),
             "create,cache_size=%" PRIu64 ",log=(enabled=true,file_max=%" PRIu64 "),"
             "transaction_sync=(enabled=true,method=none),checkpoint=(log_size=%" PRIu64 "),"
             "extensions=[libwiredtiger_snappy.so]",
             cache_bytes, chunk_bytes(settings), 4 * chunk_bytes(settings));
    must(wiredtiger_open(settings->directory, NULL, text, &store->connection));
}

static void open_session(struct store *store)
{
    must(store->connection->open_session(store->connection, NULL, NULL, &store->session));
}

static void open_cursor(struct store *store)
{
    must(store->session->open_cursor(store->session, TABLE, NULL, NULL, &store->cursor));
}

static void *open_with(const struct bench_settings *settings, const char *kind)
{
    char text[256];
    struct store *store = bench_allocate(sizeof(*store));
    open_connection(store, settings);
    open_session(store);
    snprintf(text, sizeof(text),
             "key_format=u,value_format=u,leaf_page_max=4KB,block_compressor=snappy,%s", kind);
    must(store->session->create(store->session, TABLE, text));
    open_cursor(store);
    return store;
}

static void *open_lsm(const struct bench_settings *settings)
{
    char kind[128];
    snprintf(kind, sizeof(kind),
             "type=lsm,lsm=(chunk_size=%" PRIu64
             ",bloom_bit_count=10,bloom_hash_count=7,bloom_oldest=true)",
             chunk_bytes(settings));
    return open_with(settings, kind);
}

static void *open_btree(const struct bench_settings *settings)
{
    return open_with(settings, "type=file");
}

static void *attach(void *memory)
{
    struct store *handle = bench_allocate(sizeof(*handle));
    handle->connection = ((struct store *)memory)->connection;
    open_session(handle);
    open_cursor(handle);
    return handle;
}

static void detach(void *memory)
{
    struct store *handle = memory;
    must(handle->session->close(handle->session, NULL));
    free(handle);
}

static void close_store(void *memory)
{
    struct store *store = memory;
    must(store->connection->close(store->connection, NULL));
    free(store);
}

static WT_ITEM item_of(struct bb_bytes bytes)
{
    return (WT_ITEM){.data = bytes.data, .size = bytes.size};
}

static struct bb_bytes bytes_of(const WT_ITEM *item)
{
    return (struct bb_bytes){.data = item->data, .size = item->size};
}

/* Conflicts with a checkpoint or another session are retried, as its documentation demands. */
static void put(void *memory, struct bb_bytes key, struct bb_bytes value)
{
    WT_CURSOR *cursor = ((struct store *)memory)->cursor;
    WT_ITEM stored_key = item_of(key);
    WT_ITEM stored_value = item_of(value);
    int code = WT_ROLLBACK;
    while (code == WT_ROLLBACK) {
        cursor->set_key(cursor, &stored_key);
        cursor->set_value(cursor, &stored_value);
        code = cursor->insert(cursor);
    }
    must(code);
}

static void remove_key(void *memory, struct bb_bytes key)
{
    WT_CURSOR *cursor = ((struct store *)memory)->cursor;
    WT_ITEM wanted = item_of(key);
    int code = WT_ROLLBACK;
    while (code == WT_ROLLBACK) {
        cursor->set_key(cursor, &wanted);
        code = cursor->remove(cursor);
    }
    if (code != WT_NOTFOUND)
        must(code);
}

/* The cursor keeps its place until the next call, so that the value stays readable. */
static bool get(void *memory, struct bb_bytes key, struct bb_bytes *ret_value)
{
    WT_CURSOR *cursor = ((struct store *)memory)->cursor;
    WT_ITEM wanted = item_of(key);
    WT_ITEM found = {0};
    cursor->set_key(cursor, &wanted);
    int code = cursor->search(cursor);
    if (code == WT_NOTFOUND)
        return false;
    must(code);
    must(cursor->get_value(cursor, &found));
    *ret_value = bytes_of(&found);
    return true;
}

/* From the cursor's place, if code is 0. high: NULL: no bound. The cursors of this version have no
 * bounds, so the keys are compared. */
static void visit_entries(WT_CURSOR *cursor, int code, uint64_t count_max,
                          const struct bb_bytes *high, struct bench_visitor *visitor)
{
    for (uint64_t i = 0; i < count_max && code == 0; i++) {
        WT_ITEM key = {0};
        WT_ITEM value = {0};
        must(cursor->get_key(cursor, &key));
        if (high != NULL && !bench_is_below(bytes_of(&key), *high))
            break;
        must(cursor->get_value(cursor, &value));
        visitor->visit(visitor, bytes_of(&key), bytes_of(&value));
        code = i + 1 < count_max ? cursor->next(cursor) : WT_NOTFOUND;
    }
    if (code != WT_NOTFOUND)
        must(code);
    must(cursor->reset(cursor));
}

/* With a separate cursor, because a long scan rests while the store becomes idle. */
static void scan(void *memory, struct bench_visitor *visitor)
{
    struct store *store = memory;
    WT_CURSOR *cursor = NULL;
    must(store->session->open_cursor(store->session, TABLE, NULL, NULL, &cursor));
    visit_entries(cursor, cursor->next(cursor), UINT64_MAX, NULL, visitor);
    must(cursor->close(cursor));
}

/* 0 at the first key that is not below; otherwise the code of the cursor. */
static int move_to(WT_CURSOR *cursor, struct bb_bytes key)
{
    int order = 0;
    WT_ITEM wanted = item_of(key);
    cursor->set_key(cursor, &wanted);
    int code = cursor->search_near(cursor, &order);
    return code == 0 && order < 0 ? cursor->next(cursor) : code;
}

/* Its cursors are kept, as its documentation advises: a session caches them. */
static void seek(void *memory, struct bb_bytes key, uint64_t count_max,
                 struct bench_visitor *visitor)
{
    WT_CURSOR *cursor = ((struct store *)memory)->cursor;
    visit_entries(cursor, move_to(cursor, key), count_max, NULL, visitor);
}

static void range(void *memory, struct bb_bytes low, struct bb_bytes high,
                  struct bench_visitor *visitor)
{
    WT_CURSOR *cursor = ((struct store *)memory)->cursor;
    visit_entries(cursor, move_to(cursor, low), UINT64_MAX, &high, visitor);
}

/* A cursor with a place keeps pages in memory. */
static void wait_idle(void *memory)
{
    WT_CURSOR *cursor = ((struct store *)memory)->cursor;
    must(cursor->reset(cursor));
}

static void compact(void *memory)
{
    struct store *store = memory;
    must(store->cursor->close(store->cursor));
    must(store->session->checkpoint(store->session, NULL));
    must(store->session->compact(store->session, TABLE, "timeout=0"));
    open_cursor(store);
}

#define OPTIONS(kind_)                                                                             \
    kind_                                                                                          \
        "; cache_size: the cache and three write buffers as given, leaf_page_max 4 KiB, snappy; "  \
        "each put is a commit and one write(2) (transaction_sync=(enabled,method=none)), "         \
        "checkpoints after four write buffers of log; blocks verified by checksum if not "         \
        "compressed (default)"

const struct bench_engine bench_engine_wiredtiger = {
    .name = "wiredtiger",
    .version = BENCH_WIREDTIGER_VERSION,
    .options = OPTIONS("type lsm, chunk_size: the write buffer, bloom_bit_count 10, "
                       "bloom_hash_count 7, bloom_oldest"),
    .open = open_lsm,
    .close = close_store,
    .put = put,
    .remove = remove_key,
    .get = get,
    .scan = scan,
    .seek = seek,
    .range = range,
    .attach = attach,
    .detach = detach,
    .wait_idle = wait_idle,
    .compact = compact,
};

const struct bench_engine bench_engine_wiredtiger_btree = {
    .name = "wiredtiger-btree",
    .version = BENCH_WIREDTIGER_VERSION,
    .options = OPTIONS("type file (B-tree)"),
    .open = open_btree,
    .close = close_store,
    .put = put,
    .remove = remove_key,
    .get = get,
    .scan = scan,
    .seek = seek,
    .range = range,
    .attach = attach,
    .detach = detach,
    .wait_idle = wait_idle,
    .compact = compact,
};
