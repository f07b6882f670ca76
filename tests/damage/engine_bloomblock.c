/* bloomblock on a file system in memory, in its default recovery mode and in strict. A seed
 * determines every byte of the stores. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "bb/db_files.h"
#include "tests/damage/builder.h"

#define DIRECTORY "/store"

static struct bb_file_memory *memory; /* of the loaded image, or of the store being built */
static struct store_image *half_compacted;
static uint64_t tables_left; /* to be created until the image of a compaction is taken */

struct store {
    struct bb_db *db;
    struct bb_db_recovery recovery;
    uint64_t events; /* that report a loss or a failure */
};

static void hear(void *context, const struct bb_event *event)
{
    struct store *store = context;
    store->events += event->kind == BB_EVENT_RECOVERY || event->kind == BB_EVENT_ERROR;
}

static struct bb_db_options options_of(struct store *store, enum bb_recovery recovery)
{
    return (struct bb_db_options){
        .create_if_missing = true,
        .file_system = bb_file_memory_system(memory),
        .write_buffer_bytes = 64 * 1024,
        .cache_bytes = 1024 * 1024,
        .table_size_bytes = 32 * 1024,
        .level1_size_bytes = 64 * 1024,
        .open_tables_max = 64,
        .deterministic = true,
        .recovery = recovery,
        .recovery_report = &store->recovery,
        .on_event = hear,
        .event_context = store,
    };
}

static void *open_as(enum bb_recovery recovery)
{
    struct store *store = calloc(1, sizeof(*store));
    struct bb_db_options options = options_of(store, recovery);
    if (bb_db_open(DIRECTORY, &options, &store->db) == BB_OK)
        return store;
    free(store);
    return NULL;
}

static void *open_synced(const char *directory)
{
    (void)directory;
    return open_as(BB_RECOVERY_SYNCED);
}

static void *open_strict(const char *directory)
{
    (void)directory;
    return open_as(BB_RECOVERY_STRICT);
}

/* After damage closing may fail. */
static void close_store(void *pointer)
{
    struct store *store = pointer;
    if (bb_db_close(store->db) == BB_BUSY)
        abort();
    free(store);
}

/* ---- building ---- */

static void must(enum bb_status status)
{
    if (status == BB_OK)
        return;
    fprintf(stderr, "bloomblock: %s\n", bb_error_last()->message);
    exit(2);
}

static void *build_open(const char *directory)
{
    void *store = open_synced(directory);
    if (store == NULL)
        must(bb_error_last()->status);
    return store;
}

static void build_write(void *pointer, uint32_t number, bool sync)
{
    struct store *store = pointer;
    struct bb_write_options options = {.sync = sync};
    char text[WRITES_KEY_MAX];
    uint8_t value[WRITES_VALUE_MAX];
    struct bb_bytes key = write_key_text(write_key(number), text);
    if (write_is_put(number))
        must(bb_db_put(store->db, &options, key, write_value(number, value)));
    else
        must(bb_db_delete(store->db, &options, key));
}

static void build_compact(void *pointer)
{
    struct store *store = pointer;
    must(bb_db_compact(store->db));
}

static enum bb_status on_create(void *context, struct bb_file_memory *of, uint64_t number,
                                enum bb_file_call call, const char *path)
{
    (void)context;
    (void)number;
    if (call == BB_FILE_CALL_CREATE && strstr(path, ".bbt") != NULL && tables_left > 0 &&
        --tables_left == 0)
        store_image_take(half_compacted, of, DIRECTORY);
    return BB_OK;
}

static bool compact_until(void *store, uint64_t tables, struct store_image *ret_image)
{
    half_compacted = ret_image;
    tables_left = tables;
    bb_file_memory_set_hook(memory, on_create, NULL);
    build_compact(store);
    bb_file_memory_set_hook(memory, NULL, NULL);
    return tables_left == 0;
}

static void build(enum store_end end, const char *directory, struct store_image *ret_image)
{
    static const struct builder builder = {build_open, build_write, build_compact, close_store};
    memory = bb_file_memory_create(1);
    void *store = builder_write_all(&builder, directory, end != STORE_KILLED_UNSYNCED);
    /* The flushed memory is the first; the merge then writes several. */
    if (end == STORE_HALF_COMPACTED && !compact_until(store, 3, ret_image))
        abort();
    if (end == STORE_KILLED_SYNCED || end == STORE_KILLED_UNSYNCED)
        store_image_take(ret_image, memory, DIRECTORY);
    close_store(store);
    if (end == STORE_CLOSED)
        store_image_take(ret_image, memory, DIRECTORY);
    bb_file_memory_destroy(memory);
    memory = NULL;
}

/* ---- under damage ---- */

static void load(const struct store_image *image, const char *directory)
{
    (void)directory;
    if (memory != NULL)
        bb_file_memory_destroy(memory);
    memory = store_image_load(image, DIRECTORY);
}

static uint32_t get(void *pointer, uint32_t key)
{
    struct store *store = pointer;
    char text[WRITES_KEY_MAX];
    struct bb_buf value = {0};
    uint32_t shown = WRITES_UNKNOWN;
    enum bb_status status = bb_db_get(store->db, NULL, write_key_text(key, text), &value);
    if (status == BB_NOT_FOUND)
        shown = WRITES_ABSENT;
    else if (status == BB_OK)
        shown = write_number_of(key, (struct bb_bytes){.data = value.data, .size = value.size});
    bb_buf_deinit(&value);
    return shown;
}

static bool scan_store(void *pointer, struct scan *scan)
{
    struct store *store = pointer;
    struct bb_db_iter *iter = NULL;
    if (bb_db_iter_create(store->db, NULL, &iter) != BB_OK)
        return false;
    for (bb_db_iter_seek_first(iter); bb_db_iter_valid(iter); bb_db_iter_next(iter))
        scan_add(scan, bb_db_iter_key(iter), bb_db_iter_value(iter));
    bool is_complete = bb_db_iter_status(iter) == BB_OK;
    bb_db_iter_destroy(iter);
    return is_complete;
}

static bool recovery_reports(const struct bb_db_recovery *recovery)
{
    return recovery->dropped_bytes > 0 || recovery->dropped_records > 0 ||
           recovery->dropped_manifest_bytes > 0 || recovery->files_set_aside > 0 ||
           recovery->zeroed_logs > 0 || recovery->is_damaged;
}

static bool has_reported(void *pointer, const char *directory)
{
    struct store *store = pointer;
    (void)directory;
    return store->events > 0 || recovery_reports(&store->recovery);
}

static bool verify_as(enum bb_recovery recovery)
{
    struct store store = {0};
    struct bb_db_options options = options_of(&store, recovery);
    struct bb_db_verify_report report;
    if (bb_db_verify(DIRECTORY, &options, &report) != BB_OK)
        return true;
    return report.log_bytes_dropped > 0 || store.events > 0 || recovery_reports(&store.recovery);
}

static bool verify_synced(const char *directory)
{
    (void)directory;
    return verify_as(BB_RECOVERY_SYNCED);
}

static bool verify_strict(const char *directory)
{
    (void)directory;
    return verify_as(BB_RECOVERY_STRICT);
}

const struct engine engine_bloomblock = {
    .name = "bloomblock",
    .build = build,
    .load = load,
    .open = open_synced,
    .close = close_store,
    .get = get,
    .scan = scan_store,
    .has_reported = has_reported,
    .verify = verify_synced,
    .is_ours = true,
};

const struct engine engine_bloomblock_strict = {
    .name = "bloomblock-strict",
    .build = build,
    .load = load,
    .open = open_strict,
    .close = close_store,
    .get = get,
    .scan = scan_store,
    .has_reported = has_reported,
    .verify = verify_strict,
    .is_strict = true,
    .is_ours = true,
};
