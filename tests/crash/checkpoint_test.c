/* Goal: when the power fails while a checkpoint is made, its directory is missing, or an opening
 * finds no CURRENT in it, or it has all of the contents; a removal clears the rest; an acknowledged
 * one stays; and the store itself is intact. Method: a store with tables and a log; the power fails
 * before each call of its checkpoint, in the strictest way and in random ones, with links and with
 * copies. Without sync S17 or S18 this test fails. */
#include "bb/db_files.h"
#include "tests/support/store.h"

#include <inttypes.h>

#include "tests/support/rng.h"

#define COPY_PATH "/data/copies/new"
#define CONTENT   "a=1 b=2 c=3"
#define DRAWN     8

struct making {
    uint64_t seed;
    uint64_t calls;
    uint64_t images;
    uint64_t whole;
    uint64_t refused;
    uint64_t missing;
    bool is_acknowledged;
};

static void check_source(const struct bb_db_options *options)
{
    struct bb_db *db = NULL;
    assert_ok(bb_db_open(STORE_PATH, options, &db));
    assert_content_at(db, NULL, CONTENT);
    assert_ok(bb_db_close(db));
}

/* The rest of an interrupted attempt, if any, can be removed. */
static void clear(const struct bb_db_options *options)
{
    struct bb_file_system *fs = options->file_system;
    enum bb_status status = bb_db_destroy(COPY_PATH, options, NULL);
    if (status == BB_INVALID) /* only names that have no bytes yet, or no names */
        return;
    assert_ok(status);
    bool is_directory = false;
    uint64_t size = 0;
    assert_status(fs->ops->status(fs, COPY_PATH, &is_directory, &size), BB_NOT_FOUND);
}

static void check_image(struct making *making, struct bb_file_memory *memory,
                        const struct bb_crash *crash)
{
    struct bb_file_memory *image = bb_file_memory_crash(memory, crash);
    struct bb_db_options options = store_options(image);
    struct bb_file_system *fs = options.file_system;
    struct bb_db *db = NULL;
    bool is_directory = false;
    uint64_t size = 0;
    options.create_if_missing = false;
    bool is_there = fs->ops->status(fs, COPY_PATH, &is_directory, &size) == BB_OK;
    enum bb_status status = bb_db_open(COPY_PATH, &options, &db);
    if (status == BB_OK) {
        assert_content_at(db, NULL, CONTENT);
        assert_ok(bb_db_close(db));
        making->whole++;
    } else {
        assert_false(making->is_acknowledged);
        assert_true(status == BB_CORRUPT || status == BB_NOT_FOUND);
        if (status == BB_CORRUPT)
            assert_message("has no CURRENT");
        making->refused += is_there;
        making->missing += !is_there;
    }
    check_source(&options);
    if (is_there)
        clear(&options);
    check_source(&options);
    bb_file_memory_destroy(image);
    making->images++;
}

static enum bb_status on_call(void *context, struct bb_file_memory *memory, uint64_t number,
                              enum bb_file_call call, const char *path)
{
    struct making *making = context;
    (void)number;
    (void)call;
    (void)path;
    making->calls++;
    check_image(making, memory, &(struct bb_crash){0});
    check_image(making, memory,
                &(struct bb_crash){.bytes = BB_CRASH_BYTES_ALL, .names = BB_CRASH_NAMES_ALL});
    check_image(making, memory,
                &(struct bb_crash){.bytes = BB_CRASH_BYTES_NONE, .names = BB_CRASH_NAMES_ALL});
    for (uint64_t i = 0; i < DRAWN; i++)
        check_image(making, memory,
                    &(struct bb_crash){.bytes = BB_CRASH_BYTES_ANY,
                                       .names = BB_CRASH_NAMES_ANY,
                                       .seed = making->seed + making->calls * 1000 + i});
    return BB_OK;
}

static void run(uint64_t seed, bool has_links)
{
    struct making making = {.seed = seed};
    struct store store;
    store_init(&store);
    struct bb_file_system *fs = bb_file_memory_system(store.memory);
    assert_ok(fs->ops->make_directory(fs, "/data/copies"));
    assert_ok(fs->ops->sync_directory(fs, "/data"));
    bb_file_memory_set_links(store.memory, has_links);
    store_open(&store);
    store_put(&store, "a", "1");
    assert_ok(bb_db_compact(store.db));
    store_put(&store, "b", "2");
    assert_ok(bb_db_flush(store.db));
    store_put_synced(&store, "c", "3");
    bb_file_memory_set_hook(store.memory, on_call, &making);
    assert_ok(bb_db_checkpoint(store.db, COPY_PATH));
    making.is_acknowledged = true;
    on_call(&making, store.memory, 0, BB_FILE_CALL_ANY, "");
    bb_file_memory_set_hook(store.memory, NULL, NULL);
    store_close(&store);
    bb_file_memory_destroy(store.memory);
    print_message("%s: %" PRIu64 " calls, %" PRIu64 " images: %" PRIu64 " whole, %" PRIu64
                  " refused, %" PRIu64 " missing\n",
                  has_links ? "links" : "copies", making.calls, making.images, making.whole,
                  making.refused, making.missing);
    assert_true(making.whole > 0 && making.refused > making.calls && making.missing > 0);
}

static void checkpoint__at_every_call(void **state)
{
    uint64_t seed = *(uint64_t *)*state;
    run(seed, true);
    run(seed, false);
}

int main(void)
{
    uint64_t seed = bb_rng_seed("checkpoint_test", 1);
    void *state = &seed;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(checkpoint__at_every_call, state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
