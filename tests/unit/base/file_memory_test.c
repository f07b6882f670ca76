/* Goal: the files in memory lose exactly the same in a crash as a disk may lose, and every possible
 * loss occurs. Method: small scripts of file operations and a crash of each kind; possible outcomes
 * are counted over random seeds, impossible ones end the test. */
#include "tests/support/assert_status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/status.h"
#include "base/sync.h"
#include "tests/support/file_memory.h"
#include "tests/support/rng.h"

static const struct bb_crash strict_crash = {.bytes = BB_CRASH_BYTES_NONE,
                                             .names = BB_CRASH_NAMES_NONE};

static struct bb_file_system *fs_of(struct bb_file_memory *memory)
{
    return bb_file_memory_system(memory);
}

static void write_file(struct bb_file_memory *memory, const char *path, const char *text, bool sync)
{
    struct bb_file *file = NULL;
    assert_ok(bb_file_create(fs_of(memory), path, &file));
    assert_ok(bb_file_append(file, bb_bytes_of_text(text)));
    if (sync)
        assert_ok(bb_file_sync(file));
    assert_ok(bb_file_close(file));
}

static void sync_directory(struct bb_file_memory *memory, const char *path)
{
    assert_ok(fs_of(memory)->ops->sync_directory(fs_of(memory), path));
}

static void rename_file(struct bb_file_memory *memory, const char *from, const char *to)
{
    assert_ok(fs_of(memory)->ops->rename(fs_of(memory), from, to));
}

static void remove_file(struct bb_file_memory *memory, const char *path)
{
    assert_ok(fs_of(memory)->ops->remove(fs_of(memory), path));
}

static void make_directory(struct bb_file_memory *memory, const char *path)
{
    assert_ok(fs_of(memory)->ops->make_directory(fs_of(memory), path));
}

/* The whole file as text, "(missing)" if it does not exist; valid until the next call. */
static const char *text_of(struct bb_file_memory *memory, const char *path)
{
    static char text[4096];
    size_t size = 0;
    const uint8_t *bytes = bb_file_memory_bytes(memory, path, &size);
    if (bytes == NULL)
        return "(missing)";
    assert_true(size < sizeof(text));
    memcpy(text, bytes, size);
    text[size] = '\0';
    return text;
}

static struct bb_file_memory *crash_and_destroy(struct bb_file_memory *memory,
                                                const struct bb_crash *crash)
{
    struct bb_file_memory *image = bb_file_memory_crash(memory, crash);
    bb_file_memory_destroy(memory);
    return image;
}

static void file_memory__strict_crash_keeps_what_was_synced(void **state)
{
    (void)state;
    struct bb_file_memory *memory = bb_file_memory_create(1);
    make_directory(memory, "/db");
    sync_directory(memory, "/");
    write_file(memory, "/db/synced", "bytes and name", true);
    write_file(memory, "/db/empty", "name, but no bytes", false);
    sync_directory(memory, "/db");
    write_file(memory, "/db/nameless", "bytes, but no name", true);
    assert_int_equal(bb_file_memory_pending_names(memory), 1);
    assert_int_equal(bb_file_memory_pending_bytes(memory), 18);

    memory = crash_and_destroy(memory, &strict_crash);
    assert_string_equal(text_of(memory, "/db/synced"), "bytes and name");
    assert_string_equal(text_of(memory, "/db/empty"), "");
    assert_string_equal(text_of(memory, "/db/nameless"), "(missing)");
    assert_int_equal(bb_file_memory_pending_names(memory), 0);
    assert_int_equal(bb_file_memory_pending_bytes(memory), 0);

    memory = crash_and_destroy(memory, &strict_crash); /* no unsynced data remains */
    assert_string_equal(text_of(memory, "/db/synced"), "bytes and name");
    bb_file_memory_destroy(memory);
}

static void file_memory__sync_of_a_file_is_not_one_of_its_directory(void **state)
{
    (void)state;
    struct bb_file_memory *memory = bb_file_memory_create(1);
    make_directory(memory, "/db");
    write_file(memory, "/db/a", "x", true);
    sync_directory(memory, "/db"); /* but not the root, which has the name of db */
    memory = crash_and_destroy(memory, &strict_crash);
    bool is_directory = false;
    uint64_t size = 0;
    assert_status(fs_of(memory)->ops->status(fs_of(memory), "/db", &is_directory, &size),
                  BB_NOT_FOUND);
    bb_file_memory_destroy(memory);
}

static void file_memory__unsynced_remove_comes_back(void **state)
{
    (void)state;
    struct bb_file_memory *memory = bb_file_memory_create(1);
    write_file(memory, "/a", "old", true);
    sync_directory(memory, "/");
    remove_file(memory, "/a");
    struct bb_file_memory *image = bb_file_memory_crash(memory, &strict_crash);
    assert_string_equal(text_of(image, "/a"), "old");
    bb_file_memory_destroy(image);

    sync_directory(memory, "/");
    memory = crash_and_destroy(memory, &strict_crash);
    assert_string_equal(text_of(memory, "/a"), "(missing)");
    bb_file_memory_destroy(memory);
}

static void file_memory__unsynced_rename_is_lost_alone(void **state)
{
    (void)state;
    struct bb_file_memory *memory = bb_file_memory_create(1);
    write_file(memory, "/CURRENT", "old", true);
    write_file(memory, "/tmp", "new", true);
    sync_directory(memory, "/");
    rename_file(memory, "/tmp", "/CURRENT");
    struct bb_file_memory *image = bb_file_memory_crash(memory, &strict_crash);
    assert_string_equal(text_of(image, "/CURRENT"), "old");
    assert_string_equal(text_of(image, "/tmp"), "new");
    bb_file_memory_destroy(image);

    sync_directory(memory, "/");
    memory = crash_and_destroy(memory, &strict_crash);
    assert_string_equal(text_of(memory, "/CURRENT"), "new");
    assert_string_equal(text_of(memory, "/tmp"), "(missing)");
    bb_file_memory_destroy(memory);
}

/* Renamed without a sync of its bytes: the new name shows an empty file, the old contents are gone.
 */
static void file_memory__rename_of_unsynced_bytes_loses_both(void **state)
{
    (void)state;
    struct bb_file_memory *memory = bb_file_memory_create(1);
    write_file(memory, "/CURRENT", "old", true);
    sync_directory(memory, "/");
    write_file(memory, "/tmp", "new", false);
    rename_file(memory, "/tmp", "/CURRENT");
    sync_directory(memory, "/");
    memory = crash_and_destroy(memory, &strict_crash);
    assert_string_equal(text_of(memory, "/CURRENT"), "");
    bb_file_memory_destroy(memory);
}

/* "create 1, rename tmp to CURRENT, remove 0": which of the 2^3 outcomes seeds and masks can give.
 */
static unsigned outcome_of(struct bb_file_memory *memory, const struct bb_crash *crash)
{
    struct bb_file_memory *image = bb_file_memory_crash(memory, crash);
    unsigned outcome = strcmp(text_of(image, "/1"), "one") == 0;
    bool renamed = strcmp(text_of(image, "/CURRENT"), "new") == 0;
    assert_string_equal(text_of(image, "/tmp"), renamed ? "(missing)" : "new"); /* atomic */
    assert_true(renamed || strcmp(text_of(image, "/CURRENT"), "old") == 0);
    outcome |= (unsigned)renamed << 1;
    outcome |= (unsigned)(strcmp(text_of(image, "/0"), "(missing)") == 0) << 2;
    bb_file_memory_destroy(image);
    return outcome;
}

static void file_memory__changes_of_names_survive_one_by_one(void **state)
{
    struct bb_rng *rng = *state;
    struct bb_file_memory *memory = bb_file_memory_create(1);
    write_file(memory, "/0", "zero", true);
    write_file(memory, "/CURRENT", "old", true);
    write_file(memory, "/tmp", "new", true);
    sync_directory(memory, "/");
    write_file(memory, "/1", "one", true);
    rename_file(memory, "/tmp", "/CURRENT");
    remove_file(memory, "/0");
    assert_int_equal(bb_file_memory_pending_names(memory), 3);

    for (unsigned mask = 0; mask < 8; mask++) {
        struct bb_crash crash = {.names = BB_CRASH_NAMES_MASK, .names_mask = mask};
        assert_int_equal(outcome_of(memory, &crash), mask);
    }
    unsigned seen[8] = {0};
    unsigned seen_prefix[8] = {0};
    for (int i = 0; i < 400; i++) {
        struct bb_crash crash = {.names = BB_CRASH_NAMES_SUBSET, .seed = bb_rng_next(rng)};
        seen[outcome_of(memory, &crash)]++;
        crash.names = BB_CRASH_NAMES_PREFIX;
        seen_prefix[outcome_of(memory, &crash)]++;
    }
    for (size_t i = 0; i < 8; i++) {
        bool is_prefix = i == 0 || i == 1 || i == 3 || i == 7;
        assert_true(seen[i] > 0);
        assert_int_equal(seen_prefix[i] > 0, is_prefix);
    }
    struct bb_crash all = {.names = BB_CRASH_NAMES_ALL};
    assert_int_equal(outcome_of(memory, &all), 7);
    bb_file_memory_destroy(memory);
}

/* tmp is created, renamed to A, and A to B: the later change cannot survive without the earlier
 * ones. */
static void file_memory__a_name_has_one_history(void **state)
{
    (void)state;
    struct bb_file_memory *memory = bb_file_memory_create(1);
    write_file(memory, "/tmp", "new", true);
    rename_file(memory, "/tmp", "/A");
    rename_file(memory, "/A", "/B");
    static const char *const places[4] = {NULL, "/tmp", "/A", "/B"};
    static const unsigned expected[8] = {0, 1, 2, 2,
                                         3, 3, 3, 3}; /* how many changes a mask makes */
    for (unsigned mask = 0; mask < 8; mask++) {
        struct bb_crash crash = {.names = BB_CRASH_NAMES_MASK, .names_mask = mask};
        struct bb_file_memory *image = bb_file_memory_crash(memory, &crash);
        for (unsigned i = 1; i < 4; i++)
            assert_string_equal(text_of(image, places[i]),
                                i == expected[mask] ? "new" : "(missing)");
        bb_file_memory_destroy(image);
    }
    bb_file_memory_destroy(memory);
}

static void file_memory__name_taken_again_is_another_file(void **state)
{
    (void)state;
    struct bb_file_memory *memory = bb_file_memory_create(1);
    write_file(memory, "/a", "first", true);
    sync_directory(memory, "/");
    remove_file(memory, "/a");
    write_file(memory, "/a", "second", true);
    struct bb_file_memory *image = bb_file_memory_crash(memory, &strict_crash);
    assert_string_equal(text_of(image, "/a"), "first");
    bb_file_memory_destroy(image);

    struct bb_crash only_create = {.names = BB_CRASH_NAMES_MASK, .names_mask = 2};
    memory = crash_and_destroy(memory, &only_create);
    assert_string_equal(text_of(memory, "/a"), "second");
    bb_file_memory_destroy(memory);
}

static void file_memory__clone_keeps_what_is_at_risk(void **state)
{
    (void)state;
    struct bb_file_memory *memory = bb_file_memory_create(1);
    struct bb_file *open = NULL;
    struct bb_file *lock = NULL;
    make_directory(memory, "/db");
    write_file(memory, "/db/a", "a", true);
    sync_directory(memory, "/");
    write_file(memory, "/b", "b", false);
    assert_ok(bb_file_open(fs_of(memory), "/b", &open));
    remove_file(memory, "/b"); /* exists only in the open file, and as a change */
    assert_ok(fs_of(memory)->ops->lock(fs_of(memory), "/LOCK", &lock));

    struct bb_file_memory *clone = bb_file_memory_clone(memory);
    assert_int_equal(bb_file_memory_open_files(memory), 2);
    assert_int_equal(bb_file_memory_open_files(clone), 0);
    assert_int_equal(bb_file_memory_pending_names(clone), bb_file_memory_pending_names(memory));
    assert_int_equal(bb_file_memory_pending_bytes(clone), bb_file_memory_pending_bytes(memory));
    assert_int_equal(bb_file_memory_calls(clone), bb_file_memory_calls(memory));
    struct bb_file *clone_lock = NULL;
    assert_ok(fs_of(clone)->ops->lock(fs_of(clone), "/LOCK", &clone_lock));
    assert_ok(fs_of(clone)->ops->unlock(fs_of(clone), clone_lock));

    sync_directory(clone, "/db"); /* the two go their own ways */
    write_file(clone, "/c", "c", true);
    assert_string_equal(text_of(memory, "/c"), "(missing)");
    clone = crash_and_destroy(clone, &strict_crash);
    assert_string_equal(text_of(clone, "/db/a"), "a");
    bb_file_memory_destroy(clone);

    assert_ok(bb_file_close(open));
    assert_ok(fs_of(memory)->ops->unlock(fs_of(memory), lock));
    memory = crash_and_destroy(memory, &strict_crash);
    assert_string_equal(text_of(memory, "/db/a"), "(missing)");
    bb_file_memory_destroy(memory);
}

/* A hook that records every call and permits only the first ones. */
struct script {
    struct bb_buf calls;
    uint64_t allowed;
    struct bb_file_memory *snapshot; /* taken before call number snapshot_at */
    uint64_t snapshot_at;
};

static enum bb_status follow(void *context, struct bb_file_memory *memory, uint64_t number,
                             enum bb_file_call call, const char *path)
{
    struct script *script = context;
    assert_ok(bb_buf_print(&script->calls, "%u %s %s\n", (unsigned)number, bb_file_call_name(call),
                           path));
    if (number == script->snapshot_at)
        script->snapshot = bb_file_memory_clone(memory);
    return number <= script->allowed ? BB_OK : bb_fail(BB_IO, "the power is off");
}

static enum bb_status run_script(struct bb_file_memory *memory)
{
    struct bb_file_system *fs = fs_of(memory);
    struct bb_file *file = NULL;
    enum bb_status status = bb_file_create(fs, "/tmp", &file);
    if (status == BB_OK)
        status = bb_file_append(file, bb_bytes_of_text("new"));
    if (status == BB_OK)
        status = bb_file_sync(file);
    enum bb_status close_status = bb_file_close(file);
    if (status == BB_OK)
        status = close_status;
    if (status == BB_OK)
        status = fs->ops->rename(fs, "/tmp", "/a");
    if (status == BB_OK)
        status = fs->ops->sync_directory(fs, "/");
    return status;
}

static void file_memory__hook_sees_every_change_and_may_stop_it(void **state)
{
    (void)state;
    for (uint64_t allowed = 0; allowed <= 5; allowed++) {
        struct bb_file_memory *memory = bb_file_memory_create(1);
        struct script script = {.allowed = allowed, .snapshot_at = 4};
        bb_file_memory_set_hook(memory, follow, &script);
        enum bb_status status = run_script(memory);
        bb_file_memory_set_hook(memory, NULL, NULL);
        if (allowed < 5)
            assert_message("the power is off");
        assert_int_equal(status, allowed < 5 ? BB_IO : BB_OK);
        assert_int_equal(bb_file_memory_calls(memory), allowed < 5 ? allowed + 1 : 5);
        assert_string_equal(text_of(memory, "/a"), allowed >= 4 ? "new" : "(missing)");
        assert_string_equal(text_of(memory, "/tmp"), allowed == 0   ? "(missing)"
                                                     : allowed == 1 ? ""
                                                     : allowed >= 4 ? "(missing)"
                                                                    : "new");
        if (allowed >= 4) {
            assert_string_equal(text_of(script.snapshot, "/tmp"), "new");
            assert_int_equal(bb_file_memory_pending_bytes(script.snapshot), 0);
            assert_int_equal(bb_file_memory_pending_names(script.snapshot), 1);
        }
        if (allowed == 5) {
            static const char expected[] =
                "1 create /tmp\n2 append /tmp\n3 sync /tmp\n4 rename /tmp\n"
                "5 sync_directory /\n";
            assert_true(bb_bytes_equal(bb_buf_bytes(&script.calls), bb_bytes_of_text(expected)));
        }
        if (script.snapshot != NULL)
            bb_file_memory_destroy(script.snapshot);
        bb_buf_deinit(&script.calls);
        bb_file_memory_destroy(memory);
    }
}

static void file_memory__failed_append_sticks(void **state)
{
    (void)state;
    struct bb_file_memory *memory = bb_file_memory_create(1);
    struct bb_file *file = NULL;
    struct script script = {.allowed = 1};
    bb_file_memory_set_hook(memory, follow, &script);
    assert_ok(bb_file_create(fs_of(memory), "/f", &file));
    assert_status(bb_file_append(file, bb_bytes_of_text("x")), BB_IO);
    script.allowed = 100;
    assert_status(bb_file_append(file, bb_bytes_of_text("x")), BB_IO);
    assert_message("an earlier append or sync of this file failed");
    assert_status(bb_file_sync(file), BB_IO);
    assert_ok(bb_file_close(file));
    bb_buf_deinit(&script.calls);
    bb_file_memory_destroy(memory);
}

static void file_memory__disk_gets_full_and_empty_again(void **state)
{
    (void)state;
    struct bb_file_memory *memory = bb_file_memory_create(1);
    struct bb_file_system *fs = fs_of(memory);
    struct bb_file *file = NULL;
    uint64_t space = 0;
    bb_file_memory_set_space(memory, 10);
    write_file(memory, "/a", "1234567", true);
    assert_ok(fs->ops->free_space(fs, "/", &space));
    assert_int_equal(space, 3);
    assert_ok(bb_file_create(fs, "/b", &file));
    assert_status(bb_file_append(file, bb_bytes_of_text("12345")), BB_NO_SPACE);
    assert_message("/b: write: No space left on device");
    assert_status(bb_file_append(file, bb_bytes_of_text("1")), BB_IO);
    assert_string_equal(text_of(memory, "/b"), "123");

    struct bb_file *reader = NULL;
    assert_ok(bb_file_open(fs, "/a", &reader));
    remove_file(memory, "/a");
    assert_ok(fs->ops->free_space(fs, "/", &space));
    assert_int_equal(space, 0); /* an open file keeps its space */
    assert_ok(bb_file_close(reader));
    assert_ok(fs->ops->free_space(fs, "/", &space));
    assert_int_equal(space, 7);
    assert_ok(bb_file_close(file));
    bb_file_memory_set_space(memory, 0);
    write_file(memory, "/c", "more than ten bytes", true);
    bb_file_memory_destroy(memory);
}

static void file_memory__seed_fixes_random_and_clock(void **state)
{
    (void)state;
    struct bb_file_memory *a = bb_file_memory_create(7);
    struct bb_file_memory *b = bb_file_memory_create(7);
    struct bb_file_memory *c = bb_file_memory_create(8);
    uint8_t bytes[3][16];
    assert_ok(fs_of(a)->ops->random(fs_of(a), bytes[0], 16));
    assert_ok(fs_of(b)->ops->random(fs_of(b), bytes[1], 16));
    assert_ok(fs_of(c)->ops->random(fs_of(c), bytes[2], 16));
    assert_memory_equal(bytes[0], bytes[1], 16);
    assert_memory_not_equal(bytes[0], bytes[2], 16);
    uint64_t time = fs_of(a)->ops->now(fs_of(a));
    assert_true(time == fs_of(b)->ops->now(fs_of(b)));
    assert_true(fs_of(a)->ops->now(fs_of(a)) > time);
    bb_file_memory_advance(a, UINT64_C(5000000000));
    assert_true(fs_of(a)->ops->now(fs_of(a)) > time + UINT64_C(5000000000));
    bb_file_memory_destroy(a);
    bb_file_memory_destroy(b);
    bb_file_memory_destroy(c);
}

static void file_memory__put_and_damage(void **state)
{
    (void)state;
    struct bb_file_memory *memory = bb_file_memory_create(1);
    size_t size = 0;
    bb_file_memory_put(memory, "/f", bb_bytes_of_text("abc"));
    bb_file_memory_put(memory, "/f", bb_bytes_of_text("xyz"));
    bb_file_memory_put(memory, "/empty", (struct bb_bytes){0});
    bb_file_memory_bytes(memory, "/f", &size)[1] ^= 0x01;
    memory = crash_and_destroy(memory, &strict_crash);
    assert_string_equal(text_of(memory, "/f"), "xxz");
    assert_string_equal(text_of(memory, "/empty"), "");
    assert_null(bb_file_memory_bytes(memory, "/", &size));
    bb_file_memory_destroy(memory);
}

static void file_memory__paths_are_walked(void **state)
{
    (void)state;
    struct bb_file_memory *memory = bb_file_memory_create(1);
    struct bb_file *file = NULL;
    make_directory(memory, "db");
    write_file(memory, "db//./a", "x", false);
    assert_string_equal(text_of(memory, "/db/a"), "x");
    assert_status(bb_file_open(fs_of(memory), "/db/../db/a", &file), BB_IO);
    assert_message("Invalid argument");
    assert_status(fs_of(memory)->ops->rename(fs_of(memory), "/db/a", "/a"),
                  BB_IO); /* the seam has one directory */
    assert_status(bb_file_open(fs_of(memory), "", &file), BB_NOT_FOUND);
    bb_file_memory_destroy(memory);
}

#define THREADS 4
#define FILES   200

struct worker {
    struct bb_file_memory *memory;
    unsigned number;
    enum bb_status status;
};

static void create_and_remove(void *argument)
{
    struct worker *worker = argument;
    struct bb_file_system *fs = fs_of(worker->memory);
    for (unsigned i = 0; i < FILES && worker->status == BB_OK; i++) {
        char path[32];
        struct bb_file *file = NULL;
        snprintf(path, sizeof(path), "/%u-%u", worker->number, i);
        worker->status = bb_file_create(fs, path, &file);
        if (worker->status == BB_OK)
            worker->status = bb_file_append(file, bb_bytes_of_text(path));
        if (worker->status == BB_OK)
            worker->status = bb_file_close(file);
        if (worker->status == BB_OK && i % 2 == 0)
            worker->status = fs->ops->remove(fs, path);
        if (worker->status == BB_OK && i % 16 == 0)
            worker->status = fs->ops->sync_directory(fs, "/");
    }
}

static void file_memory__many_threads(void **state)
{
    (void)state;
    struct bb_file_memory *memory = bb_file_memory_create(1);
    struct worker workers[THREADS];
    struct bb_thread threads[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.memory = memory, .number = i};
        assert_ok(bb_thread_create(&threads[i], create_and_remove, &workers[i]));
    }
    for (unsigned i = 0; i < THREADS; i++) {
        bb_thread_join(&threads[i]);
        assert_int_equal(workers[i].status, BB_OK);
    }
    struct bb_file_names list = {0};
    assert_ok(fs_of(memory)->ops->list(fs_of(memory), "/", &list));
    assert_int_equal(list.count, THREADS * FILES / 2);
    bb_file_names_deinit(&list);
    bb_file_memory_destroy(memory);
}

int main(void)
{
    struct bb_rng rng;
    bb_rng_init(&rng, bb_rng_seed("file_memory_test", 6));
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(file_memory__strict_crash_keeps_what_was_synced),
        cmocka_unit_test(file_memory__sync_of_a_file_is_not_one_of_its_directory),
        cmocka_unit_test(file_memory__unsynced_remove_comes_back),
        cmocka_unit_test(file_memory__unsynced_rename_is_lost_alone),
        cmocka_unit_test(file_memory__rename_of_unsynced_bytes_loses_both),
        cmocka_unit_test_prestate(file_memory__changes_of_names_survive_one_by_one, &rng),
        cmocka_unit_test(file_memory__a_name_has_one_history),
        cmocka_unit_test(file_memory__name_taken_again_is_another_file),
        cmocka_unit_test(file_memory__clone_keeps_what_is_at_risk),
        cmocka_unit_test(file_memory__hook_sees_every_change_and_may_stop_it),
        cmocka_unit_test(file_memory__failed_append_sticks),
        cmocka_unit_test(file_memory__disk_gets_full_and_empty_again),
        cmocka_unit_test(file_memory__seed_fixes_random_and_clock),
        cmocka_unit_test(file_memory__put_and_damage),
        cmocka_unit_test(file_memory__paths_are_walked),
        cmocka_unit_test(file_memory__many_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
