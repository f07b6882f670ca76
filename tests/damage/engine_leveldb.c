/* LevelDB through its C API, with its defaults (and a Bloom filter of 10 bits), and with
 * paranoid_checks and verify_checksums. It has no verification. */
#include <leveldb/c.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/damage/builder.h"
#include "tests/damage/notes.h"

struct store {
    leveldb_t *db;
    leveldb_options_t *options;
    leveldb_filterpolicy_t *filter;
    leveldb_readoptions_t *read;
};

static void release(struct store *store)
{
    leveldb_readoptions_destroy(store->read);
    leveldb_options_destroy(store->options);
    leveldb_filterpolicy_destroy(store->filter);
    free(store);
}

static struct store *open_as(const char *directory, bool is_paranoid, char **ret_error)
{
    struct store *store = calloc(1, sizeof(*store));
    store->filter = leveldb_filterpolicy_create_bloom(10);
    store->options = leveldb_options_create();
    leveldb_options_set_create_if_missing(store->options, 1);
    leveldb_options_set_paranoid_checks(store->options, is_paranoid);
    leveldb_options_set_write_buffer_size(store->options, 64 * 1024);
    leveldb_options_set_filter_policy(store->options, store->filter);
    store->read = leveldb_readoptions_create();
    leveldb_readoptions_set_verify_checksums(store->read, is_paranoid);
    store->db = leveldb_open(store->options, directory, ret_error);
    return store;
}

static void *open_store(const char *directory, bool is_paranoid)
{
    char *error = NULL;
    struct store *store = open_as(directory, is_paranoid, &error);
    if (error == NULL)
        return store;
    leveldb_free(error);
    release(store);
    return NULL;
}

static void *open_default(const char *directory)
{
    return open_store(directory, false);
}

static void *open_paranoid(const char *directory)
{
    return open_store(directory, true);
}

static void close_store(void *pointer)
{
    struct store *store = pointer;
    leveldb_close(store->db);
    release(store);
}

/* ---- building ---- */

static void must(const char *error)
{
    if (error == NULL)
        return;
    fprintf(stderr, "leveldb: %s\n", error);
    exit(2);
}

static void *build_open(const char *directory)
{
    char *error = NULL;
    struct store *store = open_as(directory, false, &error);
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
    leveldb_writeoptions_t *options = leveldb_writeoptions_create();
    leveldb_writeoptions_set_sync(options, sync);
    if (write_is_put(number))
        leveldb_put(store->db, options, (const char *)key.data, key.size, (const char *)value.data,
                    value.size, &error);
    else
        leveldb_delete(store->db, options, (const char *)key.data, key.size, &error);
    must(error);
    leveldb_writeoptions_destroy(options);
}

static void build_compact(void *pointer)
{
    struct store *store = pointer;
    leveldb_compact_range(store->db, NULL, 0, NULL, 0);
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
        leveldb_get(store->db, store->read, (const char *)name.data, name.size, &size, &error);
    uint32_t shown = value == NULL
                         ? WRITES_ABSENT
                         : write_number_of(key, (struct bb_bytes){(uint8_t *)value, size});
    if (error != NULL)
        shown = WRITES_UNKNOWN;
    leveldb_free(value);
    leveldb_free(error);
    return shown;
}

static bool scan_store(void *pointer, struct scan *scan)
{
    struct store *store = pointer;
    char *error = NULL;
    leveldb_iterator_t *iter = leveldb_create_iterator(store->db, store->read);
    for (leveldb_iter_seek_to_first(iter); leveldb_iter_valid(iter); leveldb_iter_next(iter)) {
        struct bb_bytes key = {0};
        struct bb_bytes value = {0};
        key.data = (const uint8_t *)leveldb_iter_key(iter, &key.size);
        value.data = (const uint8_t *)leveldb_iter_value(iter, &value.size);
        scan_add(scan, key, value);
    }
    leveldb_iter_get_error(iter, &error);
    leveldb_iter_destroy(iter);
    bool is_complete = error == NULL;
    leveldb_free(error);
    return is_complete;
}

static bool has_reported(void *store, const char *directory)
{
    (void)store;
    return notes_report_loss(directory);
}

const struct engine engine_leveldb = {
    .name = "leveldb",
    .build = build,
    .load = store_image_write,
    .open = open_default,
    .close = close_store,
    .get = get,
    .scan = scan_store,
    .has_reported = has_reported,
};

const struct engine engine_leveldb_paranoid = {
    .name = "leveldb-paranoid",
    .build = build,
    .load = store_image_write,
    .open = open_paranoid,
    .close = close_store,
    .get = get,
    .scan = scan_store,
    .has_reported = has_reported,
};
