/* RocksDB through its C API, in two settings.
 *
 * Both follow its tuning guide ("Setup Options and Basic Tuning"): dynamic level sizes, full Bloom
 * filters of 10 bits, LZ4, newest table format, bytes_per_sync of 1 MiB. "rocksdb" has blocks of 4
 * KiB, and index and filters outside the block cache: its defaults, and the same as LevelDB and
 * bloomblock. "rocksdb-guide" has the guide's blocks of 16 KiB, and index and filters in the cache,
 * pinned for level 0.
 */
#include <rocksdb/c.h>
#include <stdlib.h>
#include <time.h>

#include "bench/die.h"
#include "bench/engine.h"

/* The newest that 7.8 writes. */
#define FORMAT_VERSION 5

struct store {
    rocksdb_t *db;
    rocksdb_options_t *options;
    rocksdb_block_based_table_options_t *table;
    rocksdb_cache_t *cache;
    rocksdb_readoptions_t *read;
    rocksdb_writeoptions_t *write;
    rocksdb_column_family_handle_t *family;          /* all keys: get_many needs its name */
    rocksdb_readoptions_t *bounded;                  /* of a handle: an iterator's bounds */
    rocksdb_pinnableslice_t *value;                  /* of the last get */
    rocksdb_pinnableslice_t *values[BENCH_MANY_MAX]; /* of the last get_many */
};

static void must(const char *error)
{
    if (error != NULL)
        bench_die("rocksdb: %s", error);
}

static void set_table_options(struct store *store, const struct bench_settings *settings,
                              bool is_guide)
{
    store->cache = rocksdb_cache_create_lru(settings->cache_bytes);
    store->table = rocksdb_block_based_options_create();
    rocksdb_block_based_options_set_block_cache(store->table, store->cache);
    /* Owned by the table options. */
    rocksdb_block_based_options_set_filter_policy(store->table,
                                                  rocksdb_filterpolicy_create_bloom_full(10));
    rocksdb_block_based_options_set_format_version(store->table, FORMAT_VERSION);
    rocksdb_block_based_options_set_block_size(store->table, is_guide ? 16 * 1024 : 4 * 1024);
    rocksdb_block_based_options_set_cache_index_and_filter_blocks(store->table, is_guide);
    rocksdb_block_based_options_set_pin_l0_filter_and_index_blocks_in_cache(store->table, is_guide);
}

static void set_options(struct store *store, const struct bench_settings *settings)
{
    store->options = rocksdb_options_create();
    rocksdb_options_set_create_if_missing(store->options, 1);
    rocksdb_options_set_write_buffer_size(store->options, settings->write_buffer_bytes);
    rocksdb_options_set_compression(store->options, rocksdb_lz4_compression);
    rocksdb_options_set_level_compaction_dynamic_level_bytes(store->options, 1);
    rocksdb_options_set_max_background_jobs(store->options, 2);
    rocksdb_options_set_bytes_per_sync(store->options, 1024 * 1024);
    rocksdb_options_set_block_based_table_factory(store->options, store->table);
    store->read = rocksdb_readoptions_create();
    store->write = rocksdb_writeoptions_create();
}

static void *open_with(const struct bench_settings *settings, bool is_guide)
{
    struct store *store = calloc(1, sizeof(*store));
    if (store == NULL)
        bench_die("rocksdb: no memory");
    set_table_options(store, settings, is_guide);
    set_options(store, settings);
    char *error = NULL;
    store->db = rocksdb_open_column_families(
        store->options, settings->directory, 1, (const char *const[]){"default"},
        (const rocksdb_options_t *const[]){store->options}, &store->family, &error);
    must(error);
    store->bounded = rocksdb_readoptions_create();
    return store;
}

static void *open_store(const struct bench_settings *settings)
{
    return open_with(settings, false);
}

static void *open_guide(const struct bench_settings *settings)
{
    return open_with(settings, true);
}

static void release_value(struct store *store)
{
    if (store->value != NULL)
        rocksdb_pinnableslice_destroy(store->value);
    store->value = NULL;
}

static void release_values(struct store *store)
{
    for (size_t i = 0; i < BENCH_MANY_MAX && store->values[i] != NULL; i++) {
        rocksdb_pinnableslice_destroy(store->values[i]);
        store->values[i] = NULL;
    }
}

static void *attach(void *memory)
{
    struct store *handle = bench_allocate(sizeof(*handle));
    *handle = *(struct store *)memory;
    handle->value = NULL;
    for (size_t i = 0; i < BENCH_MANY_MAX; i++)
        handle->values[i] = NULL;
    handle->bounded = rocksdb_readoptions_create();
    return handle;
}

static void release_handle(struct store *store)
{
    release_value(store);
    release_values(store);
    rocksdb_readoptions_destroy(store->bounded);
}

static void detach(void *memory)
{
    release_handle(memory);
    free(memory);
}

static void close_store(void *memory)
{
    struct store *store = memory;
    release_handle(store);
    rocksdb_column_family_handle_destroy(store->family);
    rocksdb_close(store->db);
    rocksdb_readoptions_destroy(store->read);
    rocksdb_writeoptions_destroy(store->write);
    rocksdb_options_destroy(store->options);
    rocksdb_block_based_options_destroy(store->table);
    rocksdb_cache_destroy(store->cache);
    free(store);
}

static void put(void *memory, struct bb_bytes key, struct bb_bytes value)
{
    struct store *store = memory;
    char *error = NULL;
    rocksdb_put(store->db, store->write, (const char *)key.data, key.size, (const char *)value.data,
                value.size, &error);
    must(error);
}

static void remove_key(void *memory, struct bb_bytes key)
{
    struct store *store = memory;
    char *error = NULL;
    rocksdb_delete(store->db, store->write, (const char *)key.data, key.size, &error);
    must(error);
}

/* The pinned form of get copies nothing and is the fastest that the C API has. */
static bool get(void *memory, struct bb_bytes key, struct bb_bytes *ret_value)
{
    struct store *store = memory;
    char *error = NULL;
    release_value(store);
    store->value =
        rocksdb_get_pinned(store->db, store->read, (const char *)key.data, key.size, &error);
    must(error);
    if (store->value == NULL)
        return false;
    ret_value->data = (const uint8_t *)rocksdb_pinnableslice_value(store->value, &ret_value->size);
    return true;
}

/* The form that reads in batches and copies nothing. */
static void get_many(void *memory, const struct bb_bytes *keys, size_t count,
                     struct bb_bytes *ret_values)
{
    struct store *store = memory;
    const char *data[BENCH_MANY_MAX];
    size_t sizes[BENCH_MANY_MAX];
    rocksdb_pinnableslice_t *found[BENCH_MANY_MAX];
    char *errors[BENCH_MANY_MAX];
    size_t found_count = 0;
    release_values(store);
    for (size_t i = 0; i < count; i++) {
        data[i] = (const char *)keys[i].data;
        sizes[i] = keys[i].size;
    }
    rocksdb_batched_multi_get_cf(store->db, store->read, store->family, count, data, sizes, found,
                                 errors, false);
    for (size_t i = 0; i < count; i++) {
        must(errors[i]);
        ret_values[i] = (struct bb_bytes){0};
        if (found[i] == NULL)
            continue;
        store->values[found_count++] = found[i];
        ret_values[i].data =
            (const uint8_t *)rocksdb_pinnableslice_value(found[i], &ret_values[i].size);
    }
}

static void visit_entries(rocksdb_iterator_t *iter, uint64_t count_max,
                          struct bench_visitor *visitor)
{
    for (uint64_t i = 0; i < count_max && rocksdb_iter_valid(iter); i++) {
        struct bb_bytes key = {0};
        struct bb_bytes value = {0};
        key.data = (const uint8_t *)rocksdb_iter_key(iter, &key.size);
        value.data = (const uint8_t *)rocksdb_iter_value(iter, &value.size);
        visitor->visit(visitor, key, value);
        rocksdb_iter_next(iter);
    }
    char *error = NULL;
    rocksdb_iter_get_error(iter, &error);
    must(error);
}

static void scan(void *memory, struct bench_visitor *visitor)
{
    struct store *store = memory;
    rocksdb_iterator_t *iter = rocksdb_create_iterator(store->db, store->read);
    rocksdb_iter_seek_to_first(iter);
    visit_entries(iter, UINT64_MAX, visitor);
    rocksdb_iter_destroy(iter);
}

static void seek(void *memory, struct bb_bytes key, uint64_t count_max,
                 struct bench_visitor *visitor)
{
    struct store *store = memory;
    rocksdb_iterator_t *iter = rocksdb_create_iterator(store->db, store->read);
    rocksdb_iter_seek(iter, (const char *)key.data, key.size);
    visit_entries(iter, count_max, visitor);
    rocksdb_iter_destroy(iter);
}

static void range(void *memory, struct bb_bytes low, struct bb_bytes high,
                  struct bench_visitor *visitor)
{
    struct store *store = memory;
    rocksdb_readoptions_set_iterate_lower_bound(store->bounded, (const char *)low.data, low.size);
    rocksdb_readoptions_set_iterate_upper_bound(store->bounded, (const char *)high.data, high.size);
    rocksdb_iterator_t *iter = rocksdb_create_iterator(store->db, store->bounded);
    rocksdb_iter_seek_to_first(iter);
    visit_entries(iter, UINT64_MAX, visitor);
    rocksdb_iter_destroy(iter);
}

static bool is_busy(struct store *store)
{
    static const char *const properties[] = {
        "rocksdb.num-running-compactions", "rocksdb.num-running-flushes",
        "rocksdb.compaction-pending", "rocksdb.mem-table-flush-pending"};
    for (size_t i = 0; i < sizeof(properties) / sizeof(properties[0]); i++) {
        uint64_t value = 0;
        if (rocksdb_property_int(store->db, properties[i], &value) != 0)
            bench_die("rocksdb: no property %s", properties[i]);
        if (value != 0)
            return true;
    }
    return false;
}

static void wait_idle(void *memory)
{
    while (is_busy(memory))
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

static void compact(void *memory)
{
    struct store *store = memory;
    rocksdb_compact_range(store->db, NULL, 0, NULL, 0);
}

#define COMMON_OPTIONS                                                                             \
    "write_buffer_size, LRU cache as given; filter bloom_full(10), format_version 5, LZ4, "        \
    "level_compaction_dynamic_level_bytes, max_background_jobs 2, bytes_per_sync 1 MiB, "          \
    "target_file_size 64 MiB "                                                                     \
    "(default); each put is a commit and one write(2), no sync; checksums verified (default); "    \
    "get_pinned; "

const struct bench_engine bench_engine_rocksdb = {
    .name = "rocksdb",
    .version = BENCH_ROCKSDB_VERSION,
    .options = COMMON_OPTIONS "blocks of 4 KiB, index and filters outside the cache (defaults)",
    .open = open_store,
    .close = close_store,
    .put = put,
    .remove = remove_key,
    .get = get,
    .get_many = get_many,
    .scan = scan,
    .seek = seek,
    .range = range,
    .attach = attach,
    .detach = detach,
    .wait_idle = wait_idle,
    .compact = compact,
};

const struct bench_engine bench_engine_rocksdb_guide = {
    .name = "rocksdb-guide",
    .version = BENCH_ROCKSDB_VERSION,
    .options = COMMON_OPTIONS
    "blocks of 16 KiB, cache_index_and_filter_blocks, pin_l0_filter_and_index_blocks_in_cache",
    .open = open_guide,
    .close = close_store,
    .put = put,
    .remove = remove_key,
    .get = get,
    .get_many = get_many,
    .scan = scan,
    .seek = seek,
    .range = range,
    .attach = attach,
    .detach = detach,
    .wait_idle = wait_idle,
    .compact = compact,
};
