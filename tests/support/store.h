/* A store on a file system in memory, and short names for common operations. Keys and values of
 * these helpers are text. In a header, because the support library links no store. */
#ifndef BB_TESTS_SUPPORT_STORE_H
#define BB_TESTS_SUPPORT_STORE_H

#include "tests/support/assert_status.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/file.h"
#include "bb/db_files.h"
#include "tests/support/file_memory.h"

#define STORE_PATH "/data/store"

struct store {
    struct bb_file_memory *memory;
    struct bb_db_options options; /* for the next opening */
    struct bb_db *db;             /* NULL while it is closed */
};

/* Small write buffers, blocks and tables, so that little data makes all kinds of work; everything
 * on the caller's thread. */
static inline struct bb_db_options store_options(struct bb_file_memory *memory)
{
    return (struct bb_db_options){
        .create_if_missing = true,
        .file_system = bb_file_memory_system(memory),
        .write_buffer_bytes = 64 * 1024,
        .block_size_bytes = 512,
        .table_size_bytes = 16 * 1024,
        .level0_run_count_compact = 4,
        .level0_run_count_busy = 4,
        .level0_run_count_stop = 8,
        .level1_size_bytes = 64 * 1024,
        .level_size_ratio = 4,
        .open_tables_max = 16,
        .deterministic = true,
    };
}

static inline struct bb_file_memory *store_memory(uint64_t seed)
{
    struct bb_file_memory *memory = bb_file_memory_create(seed);
    struct bb_file_system *fs = bb_file_memory_system(memory);
    assert_ok(fs->ops->make_directory(fs, "/data"));
    assert_ok(fs->ops->sync_directory(fs, "/"));
    return memory;
}

/* A file system with the directory for the store, which is not made yet. */
static inline void store_init(struct store *store)
{
    *store = (struct store){.memory = store_memory(1)};
    store->options = store_options(store->memory);
}

static inline void store_open(struct store *store)
{
    assert_null(store->db);
    assert_ok(bb_db_open(STORE_PATH, &store->options, &store->db));
}

static inline void store_close(struct store *store)
{
    assert_ok(bb_db_close(store->db));
    store->db = NULL;
}

static inline void store_reopen(struct store *store)
{
    store_close(store);
    store_open(store);
}

/* Reads and checks the whole store, which must be closed. */
static inline struct bb_db_verify_report store_verify(struct store *store)
{
    struct bb_db_verify_report report = {0};
    assert_null(store->db);
    assert_ok(bb_db_verify(STORE_PATH, &store->options, &report));
    return report;
}

/* A flush ends before its worker has removed and closed the log, whose space counts until then. */
static inline void store_await_removal_of_logs(struct store *store)
{
    struct bb_file_system *fs = bb_file_memory_system(store->memory);
    size_t logs = 2;
    while (logs > 1 || bb_file_memory_has_removed(store->memory)) {
        struct bb_file_names names = {0};
        assert_ok(fs->ops->list(fs, STORE_PATH, &names));
        logs = 0;
        for (size_t i = 0; i < names.count; i++)
            logs += strstr(names.names[i], ".wal") != NULL;
        bb_file_names_deinit(&names);
    }
}

/* Closes, verifies and releases. */
static inline void store_deinit(struct store *store)
{
    if (store->db != NULL)
        store_close(store);
    (void)store_verify(store);
    bb_file_memory_destroy(store->memory);
}

/* The closed store continues on this disk, which it owns then. */
static inline void store_replace_disk(struct store *store, struct bb_file_memory *image)
{
    assert_null(store->db);
    bb_file_memory_destroy(store->memory);
    store->memory = image;
    store->options.file_system = bb_file_memory_system(image);
}

/* Simulates a crash of the process: only data given to the operating system survives. The store is
 * open again afterwards. */
static inline void store_kill(struct store *store)
{
    struct bb_file_memory *image = bb_file_memory_clone(store->memory);
    store_close(store);
    store_replace_disk(store, image);
    store_open(store);
}

/* The same on a full disk, with this space for everything (0: no limit). Closing the old store has
 * space. The store is closed afterwards. */
static inline void store_die_on_full_disk(struct store *store, uint64_t space)
{
    struct bb_file_memory *image = bb_file_memory_clone(store->memory);
    bb_file_memory_set_space(store->memory, 0);
    store_close(store);
    store_replace_disk(store, image);
    bb_file_memory_set_space(image, space);
}

/* The number of files whose names begin with the prefix. */
static inline size_t store_count_files(const struct store *store, const char *prefix)
{
    struct bb_file_system *fs = bb_file_memory_system(store->memory);
    struct bb_file_names names = {0};
    size_t count = 0;
    assert_ok(fs->ops->list(fs, STORE_PATH, &names));
    for (size_t i = 0; i < names.count; i++)
        count += strncmp(names.names[i], prefix, strlen(prefix)) == 0;
    bb_file_names_deinit(&names);
    return count;
}

/* Simulates a power failure that destroys all unsynced data. */
static inline void store_cut_power(struct store *store)
{
    struct bb_file_memory *image = bb_file_memory_crash(store->memory, &(struct bb_crash){0});
    store_close(store);
    store_replace_disk(store, image);
    store_open(store);
}

static inline void store_put(struct store *store, const char *key, const char *value)
{
    assert_ok(bb_db_put(store->db, NULL, bb_bytes_of_text(key), bb_bytes_of_text(value)));
}

static inline void store_put_synced(struct store *store, const char *key, const char *value)
{
    assert_ok(bb_db_put(store->db, &(struct bb_write_options){.sync = true}, bb_bytes_of_text(key),
                        bb_bytes_of_text(value)));
}

static inline void store_delete(struct store *store, const char *key)
{
    assert_ok(bb_db_delete(store->db, NULL, bb_bytes_of_text(key)));
}

static inline struct bb_snapshot *store_snapshot(struct store *store)
{
    struct bb_snapshot *snapshot = NULL;
    assert_ok(bb_snapshot_create(store->db, &snapshot));
    return snapshot;
}

static inline struct bb_db_stats store_stats(struct store *store)
{
    struct bb_db_stats stats;
    bb_db_stats(store->db, &stats);
    return stats;
}

/* value NULL: the key is absent. */
#define assert_get_at(db, snapshot, key, value)                                                    \
    store_assert_get((db), (snapshot), (key), (value), __FILE__, __LINE__)
#define assert_get(store, key, value) assert_get_at((store)->db, NULL, (key), (value))

static inline void store_assert_get(struct bb_db *db, const struct bb_snapshot *snapshot,
                                    const char *key, const char *value, const char *file, int line)
{
    struct bb_get_options options = {.snapshot = snapshot};
    struct bb_buf found = {0};
    enum bb_status status = bb_db_get(db, &options, bb_bytes_of_text(key), &found);
    if (value == NULL) {
        bb_assert_status(status, BB_NOT_FOUND, key, file, line);
    } else {
        bb_assert_status(status, BB_OK, key, file, line);
        if (!bb_bytes_equal(bb_bytes_of_text(value), (struct bb_bytes){found.data, found.size})) {
            print_error("%s is \"%.*s\", expected \"%s\"\n", key, (int)found.size,
                        (const char *)found.data, value);
            _fail(file, line);
        }
    }
    bb_buf_deinit(&found);
}

/* "key=value key=value ..." of everything, forward or backward. */
static inline void store_print(struct bb_db *db, const struct bb_snapshot *snapshot, bool backward,
                               char *text, size_t size)
{
    struct bb_get_options options = {.snapshot = snapshot};
    struct bb_db_iter *iter = NULL;
    size_t used = 0;
    text[0] = 0;
    assert_ok(bb_db_iter_create(db, &options, &iter));
    for (backward ? bb_db_iter_seek_last(iter) : bb_db_iter_seek_first(iter);
         bb_db_iter_valid(iter) && used < size;
         backward ? bb_db_iter_prev(iter) : bb_db_iter_next(iter)) {
        struct bb_bytes key = bb_db_iter_key(iter);
        struct bb_bytes value = bb_db_iter_value(iter);
        used += (size_t)snprintf(text + used, size - used, "%s%.*s=%.*s", used > 0 ? " " : "",
                                 (int)key.size, (const char *)key.data, (int)value.size,
                                 (const char *)value.data);
    }
    assert_true(used < size);
    assert_ok(bb_db_iter_status(iter));
    bb_db_iter_destroy(iter);
}

/* All keys and values, "a=1 b=2", as a scan and as gets show them. */
#define assert_content_at(db, snapshot, expected)                                                  \
    store_assert_content((db), (snapshot), (expected), __FILE__, __LINE__)
#define assert_content(store, expected) assert_content_at((store)->db, NULL, (expected))

static inline void store_assert_content(struct bb_db *db, const struct bb_snapshot *snapshot,
                                        const char *expected, const char *file, int line)
{
    static char text[64 * 1024];
    static char pairs[64 * 1024];
    store_print(db, snapshot, false, text, sizeof(text));
    if (strcmp(text, expected) != 0) {
        print_error("the store holds \"%s\",\n     expected \"%s\"\n", text, expected);
        _fail(file, line);
    }
    snprintf(pairs, sizeof(pairs), "%s", expected);
    char *rest = NULL;
    for (char *pair = strtok_r(pairs, " ", &rest); pair != NULL;
         pair = strtok_r(NULL, " ", &rest)) {
        char *value = strchr(pair, '=');
        *value++ = 0;
        store_assert_get(db, snapshot, pair, value, file, line);
    }
}

#endif
