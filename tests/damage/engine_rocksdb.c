/* RocksDB through its C API, with its defaults (point-in-time recovery, paranoid_checks; and a
 * Bloom filter of 10 bits), and with recovery mode "absolute consistency". Its C API has no
 * verification. */
#include <rocksdb/c.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/damage/builder.h"
#include "tests/damage/notes.h"

#define ABSOLUTE_CONSISTENCY 1
#define POINT_IN_TIME        2

struct store {
    rocksdb_t *db;
    rocksdb_options_t *options;
    rocksdb_readoptions_t *read;
};

static void release(struct store *store)
{
    rocksdb_readoptions_destroy(store->read);
    rocksdb_options_destroy(store->options);
    free(store);
}

static struct store *open_as(const char *directory, int recovery, char **ret_error)
{
    struct store *store = calloc(1, sizeof(*store));
    rocksdb_block_based_table_options_t *table = rocksdb_block_based_options_create();
    rocksdb_block_based_options_set_filter_policy(table,
                                                  rocksdb_filterpolicy_create_bloom_full(10));
    store->options = rocksdb_options_create();
    rocksdb_options_set_create_if_missing(store->options, 1);
    rocksdb_options_set_write_buffer_size(store->options, 64 * 1024);
    rocksdb_options_set_wal_recovery_mode(store->options, recovery);
    rocksdb_options_set_block_based_table_factory(store->options, table);
    rocksdb_block_based_options_destroy(table);
    store->read = rocksdb_readoptions_create();
    store->db = rocksdb_open(store->options, directory, ret_error);
    return store;
}

static void *open_store(const char *directory, int recovery)
{
    char *error = NULL;
    struct store *store = open_as(directory, recovery, &error);
    if (error == NULL)
        return store;
    rocksdb_free(error);
    release(store);
    return NULL;
}

static void *open_default(const char *directory)
{
    return open_store(directory, POINT_IN_TIME);
}

static void *open_absolute(const char *directory)
{
    return open_store(directory, ABSOLUTE_CONSISTENCY);
}

static void close_store(void *pointer)
{
    struct store *store = pointer;
    rocksdb_close(store->db);
    release(store);
}

/* ---- building ---- */

static void must(const char *error)
{
    if (error == NULL)
        return;
    fprintf(stderr, "rocksdb: %s\n", error);
    exit(2);
}

static void *build_open(const char *directory)
{
    char *error = NULL;
    struct store *store = open_as(directory, POINT_IN_TIME, &error);
    must(error);
    return store;
}

static void build_write(void *pointer, uint32_t number, bool sync)
{
    struct store *store = pointer;
    char text[WRITES_KEY_MAX];
    uint8_t buffer[WRITES_VALUE_MAX];
    char *error = NULL;
    struct bb_bytes key = write_key_text(write_key(number), text);
    struct bb_bytes value = write_value(number, buffer);
    rocksdb_writeoptions_t *options = rocksdb_writeoptions_create();
    rocksdb_writeoptions_set_sync(options, sync);
    if (write_is_put(number))
        rocksdb_put(store->db, options, (const char *)key.data, key.size, (const char *)value.data,
                    value.size, &error);
    else
        rocksdb_delete(store->db, options, (const char *)key.data, key.size, &error);
    must(error);
    rocksdb_writeoptions_destroy(options);
}

static void build_compact(void *pointer)
{
    struct store *store = pointer;
    rocksdb_compact_range(store->db, NULL, 0, NULL, 0);
}

static void build(enum store_end end, const char *directory, struct store_image *ret_image)
{
    static const struct builder builder = {build_open, build_write, build_compact, close_store};
    builder_run_process(&builder, end, directory);
    store_image_read(ret_image, directory);
}

/* ---- under damage ---- */

static uint32_t get(void *pointer, uint32_t key)
{
    struct store *store = pointer;
    char text[WRITES_KEY_MAX];
    size_t size = 0;
    char *error = NULL;
    struct bb_bytes name = write_key_text(key, text);
    char *value =
        rocksdb_get(store->db, store->read, (const char *)name.data, name.size, &size, &error);
    uint32_t shown = value == NULL
                         ? WRITES_ABSENT
                         : write_number_of(key, (struct bb_bytes){(uint8_t *)value, size});
    if (error != NULL)
        shown = WRITES_UNKNOWN;
    rocksdb_free(value);
    rocksdb_free(error);
    return shown;
}

static bool scan_store(void *pointer, struct scan *scan)
{
    struct store *store = pointer;
    char *error = NULL;
    rocksdb_iterator_t *iter = rocksdb_create_iterator(store->db, store->read);
    for (rocksdb_iter_seek_to_first(iter); rocksdb_iter_valid(iter); rocksdb_iter_next(iter)) {
        struct bb_bytes key = {0};
        struct bb_bytes value = {0};
        key.data = (const uint8_t *)rocksdb_iter_key(iter, &key.size);
        value.data = (const uint8_t *)rocksdb_iter_value(iter, &value.size);
        scan_add(scan, key, value);
    }
    rocksdb_iter_get_error(iter, &error);
    rocksdb_iter_destroy(iter);
    bool is_complete = error == NULL;
    rocksdb_free(error);
    return is_complete;
}

static bool has_reported(void *store, const char *directory)
{
    (void)store;
    return notes_report_loss(directory);
}

const struct engine engine_rocksdb = {
    .name = "rocksdb",
    .build = build,
    .load = store_image_write,
    .open = open_default,
    .close = close_store,
    .get = get,
    .scan = scan_store,
    .has_reported = has_reported,
};

const struct engine engine_rocksdb_absolute = {
    .name = "rocksdb-absolute",
    .build = build,
    .load = store_image_write,
    .open = open_absolute,
    .close = close_store,
    .get = get,
    .scan = scan_store,
    .has_reported = has_reported,
};
