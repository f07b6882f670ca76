/* Goal: if one allocation or one file call of a call to a closed store fails, the call reports that
 * or succeeds, and another call completes the work. Method: call_sweep.h, on stores that are killed
 * with a log, with damaged tables, logs and manifests. */
#include "tests/fault/call_sweep.h"

/* ---- calls of closed stores ---- */

static enum bb_status open_and_close(struct called_world *world)
{
    struct bb_db *db = NULL;
    enum bb_status status = bb_db_open(STORE_PATH, &world->store.options, &db);
    return status == BB_OK ? bb_db_close(db) : status;
}

static enum bb_status open_read_only(struct called_world *world)
{
    struct bb_db_options options = world->store.options;
    struct bb_db *db = NULL;
    options.read_only = true;
    options.create_if_missing = false;
    options.deterministic = false;
    enum bb_status status = bb_db_open(STORE_PATH, &options, &db);
    if (status == BB_OK)
        status = bb_db_refresh(db);
    if (db != NULL)
        assert_ok(bb_db_close(db));
    return status;
}

static enum bb_status verify(struct called_world *world)
{
    struct bb_db_verify_report report;
    return bb_db_verify(STORE_PATH, &world->store.options, &report);
}

static enum bb_status destroy(struct called_world *world)
{
    struct bb_db_destroy_report report;
    world->store.options.create_if_missing = false;
    enum bb_status status = bb_db_destroy(STORE_PATH, &world->store.options, &report);
    return status == BB_NOT_FOUND ? BB_OK : status; /* an earlier attempt completed it */
}

static enum bb_status repair(struct called_world *world)
{
    struct bb_db_repair_report report;
    return bb_db_repair(STORE_PATH, &world->store.options, NULL, &report);
}

static void flip_bit(struct bb_file_memory *memory, const char *path)
{
    size_t size = 0;
    uint8_t *bytes = bb_file_memory_bytes(memory, path, &size);
    bytes[size / 3] ^= 1;
}

/* Removes files with this part in their names, up to a number, or flips a bit in each. */
static void damage_files(struct bb_file_memory *memory, const char *part, size_t count,
                         bool is_removal)
{
    struct bb_file_names names = {0};
    struct bb_file_system *fs = bb_file_memory_system(memory);
    char path[64];
    assert_ok(fs->ops->list(fs, STORE_PATH, &names));
    for (size_t i = 0; i < names.count && count > 0; i++) {
        snprintf(path, sizeof(path), STORE_PATH "/%s", names.names[i]);
        if (strstr(path, part) == NULL)
            continue;
        if (is_removal)
            assert_ok(fs->ops->remove(fs, path));
        else
            flip_bit(memory, path);
        count--;
    }
    bb_file_names_deinit(&names);
}

/* The size of the last file with this ending, or 0. */
static size_t size_of(struct bb_file_memory *memory, const char *ending)
{
    struct bb_file_names names = {0};
    struct bb_file_system *fs = bb_file_memory_system(memory);
    char path[64];
    size_t size = 0;
    assert_ok(fs->ops->list(fs, STORE_PATH, &names));
    for (size_t i = 0; i < names.count; i++) {
        const char *found = strstr(names.names[i], ending);
        snprintf(path, sizeof(path), STORE_PATH "/%s", names.names[i]);
        if (found != NULL && strcmp(found, ending) == 0)
            (void)bb_file_memory_bytes(memory, path, &size);
    }
    bb_file_names_deinit(&names);
    return size;
}

static size_t log_size;

static void damage_log(struct bb_file_memory *memory)
{
    damage_files(memory, ".wal", 1, false);
    log_size = size_of(memory, ".wal");
}

static void damage_tables(struct bb_file_memory *memory)
{
    damage_files(memory, ".bbt", 3, false);
}

static void damage_manifest(struct bb_file_memory *memory)
{
    damage_files(memory, "CURRENT", 1, true);
    damage_files(memory, "MANIFEST", 1, false);
}

static void lose_manifest(struct bb_file_memory *memory)
{
    damage_files(memory, "CURRENT", 1, true);
    damage_files(memory, "MANIFEST", SIZE_MAX, true);
}

static enum bb_status open_in_time(struct called_world *world)
{
    struct bb_db_options options = world->store.options;
    struct bb_db *db = NULL;
    options.recovery = BB_RECOVERY_POINT_IN_TIME;
    enum bb_status status = bb_db_open(STORE_PATH, &options, &db);
    return status == BB_OK ? bb_db_close(db) : status;
}

/* All of the damaged log is kept. */
static void check_kept_log(struct called_world *world)
{
    assert_true(log_size > 100);
    assert_int_equal(size_of(world->store.memory, ".wal.damaged"), log_size);
}

static enum bb_status open_salvaged(struct called_world *world)
{
    struct bb_db_options options = world->store.options;
    struct bb_db *db = NULL;
    options.recovery = BB_RECOVERY_SALVAGE;
    enum bb_status status = bb_db_open(STORE_PATH, &options, &db);
    return status == BB_OK ? bb_db_close(db) : status;
}

static const struct called_scene closed[] = {
    {.name = "open and close", .call = open_and_close, .is_closed = true},
    {.name = "open read-only", .call = open_read_only, .is_closed = true},
    {.name = "verify", .call = verify, .is_closed = true},
    {.name = "destroy", .call = destroy, .is_closed = true, .may_lose = true},
    {.name = "repair tables", .call = repair, .damage = damage_tables, .is_closed = true},
    {.name = "repair a manifest", .call = repair, .damage = damage_manifest, .is_closed = true},
    {.name = "repair without one", .call = repair, .damage = lose_manifest, .is_closed = true},
    {.name = "open at a point in time",
     .call = open_in_time,
     .check = check_kept_log,
     .damage = damage_log,
     .is_closed = true},
    {.name = "salvage", .call = open_salvaged, .damage = damage_log, .is_closed = true},
};

static void closed_calls__without_memory_or_files(void **state)
{
    (void)state;
    sweep_all(closed, sizeof(closed) / sizeof(closed[0]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closed_calls__without_memory_or_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
