/* Goal: when the power fails while a store is repaired, the store is unchanged or repaired, and a
 * second repair finishes; an acknowledged repair stays; and no durable byte is lost. Method: a
 * store with a damaged table, or without its CURRENT, or without any manifest, or with a damaged
 * log; the power fails before each call of its repair, in the strictest way and in random ones,
 * with links and with copies. Without sync S2, S3, S4, S5, S10 or S20 this test fails. */
#include "bb/db_files.h"
#include "tests/support/store.h"

#include <inttypes.h>

#include "base/buf.h"
#include "base/file.h"
#include "tests/support/rng.h"
#include "tests/support/step.h"

#define DRAWN 4
/* With few names at risk all outcomes are tested. */
#define EXHAUSTIVE_NAMES 4
#define CONTENT          "a=1 b=2 c=3 d=4 e=5"

enum harm { NO_CURRENT, NO_MANIFEST, NO_FOOTER, DAMAGED_LOG, HARMS };

struct mending {
    uint64_t seed;
    uint64_t calls;
    uint64_t images;
    uint64_t repaired; /* images that open immediately */
    uint64_t as_it_was;
    bool is_acknowledged;
    uint64_t table_size; /* of the file whose bytes must not go */
    const char *content; /* of the repaired store */
};

/* Some file has the bytes of the damaged one, or of its neighbour. */
static bool has_original(struct bb_file_system *fs, uint64_t size)
{
    struct bb_file_names names = {0};
    bool has = false;
    assert_ok(fs->ops->list(fs, STORE_PATH, &names));
    for (size_t i = 0; i < names.count; i++) {
        char path[128];
        bool is_directory = false;
        uint64_t found = 0;
        snprintf(path, sizeof(path), STORE_PATH "/%s", names.names[i]);
        assert_ok(fs->ops->status(fs, path, &is_directory, &found));
        has = has || found == size;
    }
    bb_file_names_deinit(&names);
    return has;
}

static void check_repaired(const struct bb_db_options *options, const char *content)
{
    struct bb_db *db = NULL;
    struct bb_db_verify_report report;
    assert_ok(bb_db_verify(STORE_PATH, options, &report));
    assert_ok(bb_db_open(STORE_PATH, options, &db));
    assert_content_at(db, NULL, content);
    assert_ok(bb_db_close(db));
    assert_ok(bb_db_verify(STORE_PATH, options, &report));
}

static void check_image(struct mending *mending, struct bb_file_memory *memory,
                        const struct bb_crash *crash)
{
    struct bb_file_memory *image = bb_file_memory_crash(memory, crash);
    struct bb_db_options options = store_options(image);
    struct bb_db_repair_report report = {0};
    options.create_if_missing = false;
    assert_true(has_original(options.file_system, mending->table_size));
    assert_ok(bb_db_repair(STORE_PATH, &options, NULL, &report));
    if (report.is_whole)
        mending->repaired++;
    else
        mending->as_it_was++;
    assert_false(mending->is_acknowledged && !report.is_whole);
    assert_true(has_original(options.file_system, mending->table_size));
    check_repaired(&options, mending->content);
    bb_file_memory_destroy(image);
    mending->images++;
}

static enum bb_status on_call(void *context, struct bb_file_memory *memory, uint64_t number,
                              enum bb_file_call call, const char *path)
{
    struct mending *mending = context;
    (void)number;
    (void)path;
    if (call == BB_FILE_CALL_READ_AT || call == BB_FILE_CALL_OPEN || call == BB_FILE_CALL_SIZE)
        return BB_OK; /* nothing changes between these and the next */
    if (++mending->calls % bb_test_step() != 0 && !mending->is_acknowledged)
        return BB_OK;
    check_image(mending, memory, &(struct bb_crash){0});
    check_image(mending, memory,
                &(struct bb_crash){.bytes = BB_CRASH_BYTES_ALL, .names = BB_CRASH_NAMES_ALL});
    size_t pending = bb_file_memory_pending_names(memory);
    uint64_t masks = pending <= EXHAUSTIVE_NAMES ? UINT64_C(1) << pending : 0;
    for (uint64_t mask = 0; mask < masks; mask++)
        check_image(mending, memory,
                    &(struct bb_crash){.names = BB_CRASH_NAMES_MASK, .names_mask = mask});
    for (uint64_t i = 0; i < DRAWN; i++)
        check_image(mending, memory,
                    &(struct bb_crash){.bytes = BB_CRASH_BYTES_ANY,
                                       .names = BB_CRASH_NAMES_ANY,
                                       .seed = mending->seed + mending->calls * 1000 + i});
    return BB_OK;
}

/* The first file whose name has that in it, as a path. */
static void find_file(struct bb_file_system *fs, const char *part, char path[128])
{
    struct bb_file_names names = {0};
    path[0] = 0;
    assert_ok(fs->ops->list(fs, STORE_PATH, &names));
    for (size_t i = 0; i < names.count && path[0] == 0; i++) {
        if (strstr(names.names[i], part) != NULL)
            snprintf(path, 128, STORE_PATH "/%s", names.names[i]);
    }
    bb_file_names_deinit(&names);
    assert_true(path[0] != 0);
}

static void overwrite(struct bb_file_memory *memory, const char *path, uint64_t size, size_t at)
{
    struct bb_buf bytes = {0};
    assert_ok(bb_file_read_whole(bb_file_memory_system(memory), path, SIZE_MAX, &bytes));
    assert_true(bytes.size == size && at < size);
    bytes.data[at] ^= 0x40;
    bb_file_memory_put(memory, path, (struct bb_bytes){bytes.data, bytes.size});
    bb_buf_deinit(&bytes);
}

static void do_harm(struct mending *mending, struct bb_file_memory *memory, enum harm harm)
{
    struct bb_file_system *fs = bb_file_memory_system(memory);
    char path[128];
    bool is_directory = false;
    find_file(fs, harm == DAMAGED_LOG ? ".wal" : ".bbt", path);
    assert_ok(fs->ops->status(fs, path, &is_directory, &mending->table_size));
    if (harm == NO_FOOTER)
        overwrite(memory, path, mending->table_size, (size_t)mending->table_size - 20);
    if (harm == DAMAGED_LOG)
        overwrite(memory, path, mending->table_size, 48 + 20);
    if (harm == NO_MANIFEST) {
        find_file(fs, "MANIFEST", path);
        assert_ok(fs->ops->remove(fs, path));
    }
    if (harm == NO_CURRENT)
        assert_ok(fs->ops->remove(fs, STORE_PATH "/CURRENT"));
    assert_ok(fs->ops->sync_directory(fs, STORE_PATH));
}

static void delete_range(struct store *store, const char *low, const char *high)
{
    assert_ok(bb_db_delete_range(store->db, NULL, bb_bytes_of_text(low), bb_bytes_of_text(high)));
}

/* Two tables in level 0, and a log of three records, the first of which is durable. For data of the
 * first table, a range in the second one hides x, and one in the log hides y. */
static void make(struct store *store)
{
    store_init(store);
    store_open(store);
    store_put(store, "a", "1");
    store_put(store, "x", "gone");
    store_put(store, "y", "gone");
    assert_ok(bb_db_flush(store->db));
    delete_range(store, "x", "y");
    store_put(store, "b", "2");
    store_put(store, "c", "3");
    assert_ok(bb_db_flush(store->db));
    store_put_synced(store, "d", "4");
    delete_range(store, "y", "z");
    store_put_synced(store, "e", "5");
    store_close(store);
}

static void run(uint64_t seed, enum harm harm, bool has_links)
{
    struct mending mending = {.seed = seed,
                              .content = harm == DAMAGED_LOG ? "a=1 b=2 c=3 e=5" : CONTENT};
    struct bb_db_repair_report report = {0};
    struct store store;
    make(&store);
    do_harm(&mending, store.memory, harm);
    bb_file_memory_set_links(store.memory, has_links);
    bb_file_memory_set_hook(store.memory, on_call, &mending);
    assert_ok(bb_db_repair(STORE_PATH, &store.options, NULL, &report));
    mending.is_acknowledged = true;
    on_call(&mending, store.memory, 0, BB_FILE_CALL_ANY, "");
    bb_file_memory_set_hook(store.memory, NULL, NULL);
    bb_file_memory_destroy(store.memory);
    assert_false(report.is_whole);
    print_message("%s: %" PRIu64 " calls, %" PRIu64 " images: %" PRIu64 " as it was, %" PRIu64
                  " repaired\n",
                  has_links ? "links" : "copies", mending.calls, mending.images, mending.as_it_was,
                  mending.repaired);
    assert_true(mending.as_it_was * bb_test_step() > mending.calls && mending.repaired > 0);
}

static void repair__at_every_call(void **state)
{
    uint64_t seed = *(uint64_t *)*state;
    for (int harm = 0; harm < HARMS; harm++) {
        run(seed, (enum harm)harm, true);
        run(seed, (enum harm)harm, false);
    }
}

int main(void)
{
    uint64_t seed = bb_rng_seed("repair_test", 1);
    void *state = &seed;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(repair__at_every_call, state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
