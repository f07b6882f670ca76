/* Goal: when the power fails while a store is removed, it is intact, or an opening finds no CURRENT
 * and refuses; a second removal finishes; and a store reported as removed stays removed. Method: a
 * store with a log, tables, temporaries and new files; the power fails before each call of its
 * removal, in the strictest way and in random ones. Without sync S14, S15, S16 or S19 this test
 * fails. */
#include "bb/db_files.h"
#include "tests/support/store.h"

#include <inttypes.h>
#include <stdlib.h>

#include "tests/support/rng.h"

#define DRAWN 6
/* With few names at risk all outcomes are tested. */
#define EXHAUSTIVE_NAMES 8
#define FOREIGN          "letter.txt"

struct removal {
    uint64_t seed;
    uint64_t calls;
    uint64_t images;
    uint64_t whole;
    uint64_t refused;
    bool is_acknowledged;
    bool has_foreign; /* a file that is not ours is in the directory, which stays */
};

static bool has_files(struct bb_file_system *fs)
{
    struct bb_file_names names = {0};
    size_t count = 0;
    enum bb_status status = fs->ops->list(fs, STORE_PATH, &names);
    assert_true(status == BB_OK || status == BB_NOT_FOUND);
    for (size_t i = 0; i < names.count; i++)
        count += strcmp(names.names[i], "LOCK") != 0 && strcmp(names.names[i], FOREIGN) != 0;
    bb_file_names_deinit(&names);
    return count > 0;
}

static enum bb_status is_there(struct bb_file_system *fs)
{
    bool is_directory = false;
    uint64_t size = 0;
    return fs->ops->status(fs, STORE_PATH, &is_directory, &size);
}

static bool has_file_like(struct bb_file_system *fs, const char *part)
{
    struct bb_file_names names = {0};
    bool has = false;
    if (fs->ops->list(fs, STORE_PATH, &names) != BB_OK)
        return false;
    for (size_t i = 0; i < names.count; i++)
        has = has || strstr(names.names[i], part) != NULL;
    bb_file_names_deinit(&names);
    return has;
}

static void check_opening(struct removal *removal, const struct bb_db_options *options)
{
    struct bb_db *db = NULL;
    bool has_data =
        has_file_like(options->file_system, ".bbt") || has_file_like(options->file_system, ".wal");
    enum bb_status status = bb_db_open(STORE_PATH, options, &db);
    if (status == BB_OK) {
        assert_content_at(db, NULL, "a=1 b=2 c=3");
        assert_ok(bb_db_close(db));
        removal->whole++;
        return;
    }
    assert_true(status == BB_CORRUPT || (status == BB_NOT_FOUND && !has_data));
    if (status == BB_CORRUPT)
        assert_message("has no CURRENT");
    removal->refused++;
}

static void check_image(struct removal *removal, struct bb_file_memory *memory,
                        const struct bb_crash *crash)
{
    struct bb_file_memory *image = bb_file_memory_crash(memory, crash);
    struct bb_db_options options = store_options(image);
    options.create_if_missing = false;
    if (removal->is_acknowledged)
        assert_false(has_files(options.file_system));
    if (removal->is_acknowledged && !removal->has_foreign)
        assert_status(is_there(options.file_system), BB_NOT_FOUND);
    check_opening(removal, &options);
    /* Where all is gone but the foreign file, it is another program's directory. */
    bool is_left = is_there(options.file_system) == BB_OK;
    if (has_files(options.file_system) || (is_left && !removal->has_foreign))
        assert_ok(bb_db_destroy(STORE_PATH, &options, NULL));
    assert_false(has_files(options.file_system));
    if (!removal->has_foreign)
        assert_status(is_there(options.file_system), BB_NOT_FOUND);
    bb_file_memory_destroy(image);
    removal->images++;
}

static enum bb_status on_call(void *context, struct bb_file_memory *memory, uint64_t number,
                              enum bb_file_call call, const char *path)
{
    struct removal *removal = context;
    (void)number;
    (void)call;
    (void)path;
    removal->calls++;
    check_image(removal, memory, &(struct bb_crash){0});
    check_image(removal, memory,
                &(struct bb_crash){.bytes = BB_CRASH_BYTES_ALL, .names = BB_CRASH_NAMES_ALL});
    size_t pending = bb_file_memory_pending_names(memory);
    uint64_t masks = pending <= EXHAUSTIVE_NAMES ? UINT64_C(1) << pending : 0;
    for (uint64_t mask = 0; mask < masks; mask++)
        check_image(removal, memory,
                    &(struct bb_crash){.names = BB_CRASH_NAMES_MASK, .names_mask = mask});
    for (uint64_t i = 0; i < DRAWN; i++)
        check_image(removal, memory,
                    &(struct bb_crash){.bytes = BB_CRASH_BYTES_ANY,
                                       .names = BB_CRASH_NAMES_ANY,
                                       .seed = removal->seed + removal->calls * 1000 + i});
    return BB_OK;
}

static void run(uint64_t seed, bool has_foreign)
{
    struct removal removal = {.seed = seed, .has_foreign = has_foreign};
    struct store store;
    store_init(&store);
    store_open(&store);
    store_put(&store, "a", "1");
    assert_ok(bb_db_compact(store.db));
    store_put(&store, "b", "2");
    assert_ok(bb_db_flush(store.db));
    store_put(&store, "c", "3");
    store_close(&store);
    /* Left by killed processes: their contents do not identify them. */
    bb_file_memory_put(store.memory, STORE_PATH "/000900.tmp", bb_bytes_of_text(""));
    bb_file_memory_put(store.memory, STORE_PATH "/000901.bbt", bb_bytes_of_text("half a"));
    if (has_foreign)
        bb_file_memory_put(store.memory, STORE_PATH "/" FOREIGN, bb_bytes_of_text("dear"));
    bb_file_memory_set_hook(store.memory, on_call, &removal);
    assert_ok(bb_db_destroy(STORE_PATH, &store.options, NULL));
    removal.is_acknowledged = true;
    on_call(&removal, store.memory, 0, BB_FILE_CALL_ANY, "");
    bb_file_memory_set_hook(store.memory, NULL, NULL);
    bb_file_memory_destroy(store.memory);
    print_message("%" PRIu64 " calls, %" PRIu64 " images: %" PRIu64 " whole, %" PRIu64 " refused\n",
                  removal.calls, removal.images, removal.whole, removal.refused);
    assert_true(removal.whole > 0 && removal.refused > removal.calls);
}

static void destroy__at_every_call(void **state)
{
    uint64_t seed = *(uint64_t *)*state;
    run(seed, false);
    run(seed, true);
}

int main(void)
{
    uint64_t seed = bb_rng_seed("destroy_test", 1);
    void *state = &seed;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(destroy__at_every_call, state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
