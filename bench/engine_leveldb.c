/* LevelDB through its C API. */
#include <leveldb/c.h>
#include <stdlib.h>

#include "bench/die.h"
#include "bench/engine.h"

struct store {
    leveldb_t *db;
    leveldb_options_t *options;
    leveldb_cache_t *cache;
    leveldb_filterpolicy_t *filter;
    leveldb_readoptions_t *read;
    leveldb_writeoptions_t *write;
    char *value; /* of the last get */
};

static void must(const char *error)
{
    if (error != NULL)
        bench_die("leveldb: %s", error);
}

static void *open_store(const struct bench_settings *settings)
{
    struct store *store = calloc(1, sizeof(*store));
    if (store == NULL)
        bench_die("leveldb: no memory");
    store->cache = leveldb_cache_create_lru(settings->cache_bytes);
    store->filter = leveldb_filterpolicy_create_bloom(10);
    store->options = leveldb_options_create();
    leveldb_options_set_create_if_missing(store->options, 1);
    leveldb_options_set_write_buffer_size(store->options, settings->write_buffer_bytes);
    leveldb_options_set_cache(store->options, store->cache);
    leveldb_options_set_filter_policy(store->options, store->filter);
    store->read = leveldb_readoptions_create();
    store->write = leveldb_writeoptions_create();
    char *error = NULL;
    store->db = leveldb_open(store->options, settings->directory, &error);
    must(error);
    return store;
}

static void close_store(void *memory)
{
    struct store *store = memory;
    leveldb_free(store->value);
    leveldb_close(store->db);
    leveldb_readoptions_destroy(store->read);
    leveldb_writeoptions_destroy(store->write);
    leveldb_options_destroy(store->options);
    leveldb_filterpolicy_destroy(store->filter);
    leveldb_cache_destroy(store->cache);
    free(store);
}

static void *attach(void *memory)
{
    struct store *handle = bench_allocate(sizeof(*handle));
    *handle = *(struct store *)memory;
    handle->value = NULL;
    return handle;
}

static void detach(void *memory)
{
    struct store *handle = memory;
    leveldb_free(handle->value);
    free(handle);
}

static void put(void *memory, struct bb_bytes key, struct bb_bytes value)
{
    struct store *store = memory;
    char *error = NULL;
    leveldb_put(store->db, store->write, (const char *)key.data, key.size, (const char *)value.data,
                value.size, &error);
    must(error);
}

static void remove_key(void *memory, struct bb_bytes key)
{
    struct store *store = memory;
    char *error = NULL;
    leveldb_delete(store->db, store->write, (const char *)key.data, key.size, &error);
    must(error);
}

static bool get(void *memory, struct bb_bytes key, struct bb_bytes *ret_value)
{
    struct store *store = memory;
    char *error = NULL;
    size_t size = 0;
    leveldb_free(store->value);
    store->value =
        leveldb_get(store->db, store->read, (const char *)key.data, key.size, &size, &error);
    must(error);
    if (store->value == NULL)
        return false;
    *ret_value = (struct bb_bytes){.data = (const uint8_t *)store->value, .size = size};
    return true;
}

/* high: NULL: no bound. LevelDB's iterators have no bounds, so the keys are compared. */
static void visit_entries(leveldb_iterator_t *iter, uint64_t count_max, const struct bb_bytes *high,
                          struct bench_visitor *visitor)
{
    for (uint64_t i = 0; i < count_max && leveldb_iter_valid(iter); i++) {
        struct bb_bytes key = {0};
        struct bb_bytes value = {0};
        key.data = (const uint8_t *)leveldb_iter_key(iter, &key.size);
        if (high != NULL && !bench_is_below(key, *high))
            break;
        value.data = (const uint8_t *)leveldb_iter_value(iter, &value.size);
        visitor->visit(visitor, key, value);
        leveldb_iter_next(iter);
    }
    char *error = NULL;
    leveldb_iter_get_error(iter, &error);
    must(error);
}

static void scan(void *memory, struct bench_visitor *visitor)
{
    struct store *store = memory;
    leveldb_iterator_t *iter = leveldb_create_iterator(store->db, store->read);
    leveldb_iter_seek_to_first(iter);
    visit_entries(iter, UINT64_MAX, NULL, visitor);
    leveldb_iter_destroy(iter);
}

static void seek(void *memory, struct bb_bytes key, uint64_t count_max,
                 struct bench_visitor *visitor)
{
    struct store *store = memory;
    leveldb_iterator_t *iter = leveldb_create_iterator(store->db, store->read);
    leveldb_iter_seek(iter, (const char *)key.data, key.size);
    visit_entries(iter, count_max, NULL, visitor);
    leveldb_iter_destroy(iter);
}

static void range(void *memory, struct bb_bytes low, struct bb_bytes high,
                  struct bench_visitor *visitor)
{
    struct store *store = memory;
    leveldb_iterator_t *iter = leveldb_create_iterator(store->db, store->read);
    leveldb_iter_seek(iter, (const char *)low.data, low.size);
    visit_entries(iter, UINT64_MAX, &high, visitor);
    leveldb_iter_destroy(iter);
}

static void compact(void *memory)
{
    struct store *store = memory;
    leveldb_compact_range(store->db, NULL, 0, NULL, 0);
}

const struct bench_engine bench_engine_leveldb = {
    .name = "leveldb",
    .version = BENCH_LEVELDB_VERSION,
    .options = "write_buffer_size, LRU cache as given; filter_policy bloom(10); blocks of 4 KiB, "
               "Snappy, max_file_size "
               "2 MiB (defaults); sync off; verify_checksums off (its default), tables read by "
               "mmap (its default)",
    .open = open_store,
    .close = close_store,
    .put = put,
    .remove = remove_key,
    .get = get,
    .scan = scan,
    .seek = seek,
    .range = range,
    .attach = attach,
    .detach = detach,
    .compact = compact,
};
