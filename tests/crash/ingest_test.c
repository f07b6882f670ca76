/* Goal: when the power fails during an ingest, the store has all of the tables or none, with all
 * earlier and later durable data; also when the record that names them failed and is in doubt. It
 * opens, continues and verifies. Method: a store with tables and a log; the power fails before each
 * call of an ingest and of the later writes, in the strictest way and in random ones; then the same
 * with each call on the manifest refused. */
#include "bb/db_files.h"
#include "tests/support/store.h"

#include <inttypes.h>

#include "base/status.h"
#include "tests/support/rng.h"
#include "tests/support/step.h"

#define BEFORE  "a=1 b=2 c=3"
#define AFTER   "a=4 c=3 d=5"
#define DRAWN   4
#define REFUSED 12

struct ingesting {
    uint64_t seed;
    uint64_t calls;
    uint64_t images;
    uint64_t without;
    uint64_t with;
    bool is_begun;  /* the tables may be there */
    bool must_have; /* they were acknowledged */
    bool is_later;  /* the later synced write was acknowledged */
    /* The n-th call of this kind on the manifest fails; 0: none does. */
    enum bb_file_call refused_call;
    uint64_t refused;
    uint64_t manifest_calls;
};

static void check_goes_on(struct bb_db_options *options, const char *content)
{
    struct bb_db *db = NULL;
    char expected[96];
    snprintf(expected, sizeof(expected), "%s z=9", content);
    assert_ok(bb_db_open(STORE_PATH, options, &db));
    assert_content_at(db, NULL, content);
    assert_ok(bb_db_put(db, NULL, bb_bytes_of_text("z"), bb_bytes_of_text("9")));
    assert_ok(bb_db_close(db));
    struct bb_db_verify_report report;
    assert_ok(bb_db_verify(STORE_PATH, options, &report));
    assert_int_equal(report.orphans, 0);
    assert_ok(bb_db_open(STORE_PATH, options, &db));
    assert_content_at(db, NULL, expected);
    assert_ok(bb_db_close(db));
}

static void check_image(struct ingesting *ingesting, struct bb_file_memory *memory,
                        const struct bb_crash *crash)
{
    struct bb_file_memory *image = bb_file_memory_crash(memory, crash);
    struct bb_db_options options = store_options(image);
    struct bb_db *db = NULL;
    char content[64];
    options.create_if_missing = false;
    assert_ok(bb_db_open(STORE_PATH, &options, &db));
    bool has_tables = bb_db_get(db, NULL, bb_bytes_of_text("d"), NULL) == BB_OK;
    bool has_later = bb_db_get(db, NULL, bb_bytes_of_text("e"), NULL) == BB_OK;
    assert_ok(bb_db_close(db));
    assert_true(has_tables ? ingesting->is_begun : !ingesting->must_have);
    assert_true(has_later || !ingesting->is_later);
    snprintf(content, sizeof(content), "%s%s", has_tables ? AFTER : BEFORE,
             has_later ? " e=6" : "");
    check_goes_on(&options, content);
    bb_file_memory_destroy(image);
    ingesting->images++;
    ingesting->with += has_tables;
    ingesting->without += !has_tables;
}

/* A verification finds no damage, and an opening keeps no table aside. */
static void check_is_sound(const struct bb_db_options *options)
{
    struct bb_db_recovery recovery;
    struct bb_db_options verifying = *options;
    verifying.recovery_report = &recovery;
    assert_ok(bb_db_verify(STORE_PATH, &verifying, NULL));
    assert_int_equal(recovery.files_set_aside, 0);
    assert_false(recovery.is_damaged);
}

/* The process crashes, and the data that the next one finds is not durable yet, including the
 * record that names the tables, which has a sequence without a log. A synced write of the next
 * process survives the power failure. */
static void check_death(const struct ingesting *ingesting, struct bb_file_memory *memory)
{
    struct bb_file_memory *image = bb_file_memory_clone(memory);
    struct bb_db_options options = store_options(image);
    struct bb_db *db = NULL;
    options.create_if_missing = false;
    /* Regression: a kill between a record of the manifest and its mark was taken for damage, since
     * the tables of the ingest existed. */
    if (ingesting->refused == 0)
        check_is_sound(&options);
    assert_ok(bb_db_open(STORE_PATH, &options, &db));
    assert_ok(bb_db_put(db, &(struct bb_write_options){.sync = true}, bb_bytes_of_text("y"),
                        bb_bytes_of_text("8")));
    struct bb_file_memory *second = bb_file_memory_crash(image, &(struct bb_crash){0});
    assert_ok(bb_db_close(db));
    options.file_system = bb_file_memory_system(second);
    assert_ok(bb_db_open(STORE_PATH, &options, &db));
    assert_ok(bb_db_get(db, NULL, bb_bytes_of_text("y"), NULL));
    assert_ok(bb_db_close(db));
    bb_file_memory_destroy(second);
    bb_file_memory_destroy(image);
}

static void make_images(struct ingesting *ingesting, struct bb_file_memory *memory)
{
    if (++ingesting->calls % bb_test_step() != 0)
        return;
    check_death(ingesting, memory);
    check_image(ingesting, memory, &(struct bb_crash){0});
    check_image(ingesting, memory,
                &(struct bb_crash){.bytes = BB_CRASH_BYTES_ALL, .names = BB_CRASH_NAMES_ALL});
    check_image(ingesting, memory,
                &(struct bb_crash){.bytes = BB_CRASH_BYTES_NONE, .names = BB_CRASH_NAMES_ALL});
    for (uint64_t i = 0; i < DRAWN; i++)
        check_image(ingesting, memory,
                    &(struct bb_crash){.bytes = BB_CRASH_BYTES_ANY,
                                       .names = BB_CRASH_NAMES_ANY,
                                       .seed = ingesting->seed + ingesting->calls * 1000 + i});
}

static enum bb_status on_call(void *context, struct bb_file_memory *memory, uint64_t number,
                              enum bb_file_call call, const char *path)
{
    struct ingesting *ingesting = context;
    (void)number;
    make_images(ingesting, memory);
    if (call != ingesting->refused_call || strstr(path, "MANIFEST") == NULL)
        return BB_OK;
    ingesting->manifest_calls++;
    return ingesting->manifest_calls == ingesting->refused
               ? bb_fail(BB_IO, "%s of %s is refused", bb_file_call_name(call), path)
               : BB_OK;
}

static void build(struct store *store)
{
    static const char *const content[][2] = {{"a", "4"}, {"d", "5"}};
    struct bb_table_options options = {.file_system = store->options.file_system};
    struct bb_table_builder *builder = NULL;
    assert_ok(bb_table_builder_create("/data/table", &options, &builder));
    for (size_t i = 0; i < 2; i++) {
        struct bb_entry entry = {.key = bb_bytes_of_text(content[i][0]),
                                 .kind = BB_ENTRY_PUT,
                                 .value = bb_bytes_of_text(content[i][1])};
        assert_ok(bb_table_builder_add(builder, &entry));
    }
    assert_ok(bb_table_builder_add_range_tombstone(builder, bb_bytes_of_text("b"),
                                                   bb_bytes_of_text("c"), 0));
    assert_ok(bb_table_builder_finish(builder, NULL));
    bb_table_builder_destroy(builder);
}

static void begin(struct store *store)
{
    store_init(store);
    store_open(store);
    store_put(store, "a", "1");
    assert_ok(bb_db_compact(store->db));
    store_put(store, "b", "2");
    assert_ok(bb_db_flush(store->db));
    store_put_synced(store, "c", "3");
    build(store);
}

/* Gives whether the refused call was come to. */
static bool run(struct ingesting *ingesting)
{
    struct store store;
    const char *path = "/data/table";
    begin(&store);
    bb_file_memory_set_hook(store.memory, on_call, ingesting);
    ingesting->is_begun = true;
    enum bb_status status = bb_db_ingest(store.db, &path, 1, NULL);
    bool is_refused = ingesting->refused > 0 && ingesting->manifest_calls >= ingesting->refused;
    assert_true(status == BB_OK || is_refused);
    ingesting->must_have = status == BB_OK;
    assert_get(&store, "a", status == BB_OK ? "4" : "1");
    /* A commit after a failure decides: data missing now never reappears. */
    store_put_synced(&store, "e", "6");
    ingesting->is_later = true;
    ingesting->is_begun = status == BB_OK;
    make_images(ingesting, store.memory);
    bb_file_memory_set_hook(store.memory, NULL, NULL);
    assert_content(&store, status == BB_OK ? AFTER " e=6" : BEFORE " e=6");
    store_deinit(&store);
    return is_refused;
}

static void ingest__at_every_call(void **state)
{
    struct ingesting ingesting = {.seed = *(uint64_t *)*state};
    run(&ingesting);
    print_message("%" PRIu64 " calls, %" PRIu64 " images: %" PRIu64 " with the tables, %" PRIu64
                  " without\n",
                  ingesting.calls, ingesting.images, ingesting.with, ingesting.without);
    size_t step = bb_test_step();
    assert_true(ingesting.with * step > 20 && ingesting.without * step > 50);
}

static void ingest__whose_record_is_in_doubt(void **state)
{
    static const enum bb_file_call calls[] = {BB_FILE_CALL_APPEND, BB_FILE_CALL_SYNC};
    for (size_t i = 0; i < 2; i++) {
        bool is_refused = true;
        for (uint64_t nth = 1; is_refused; nth++) {
            struct ingesting ingesting = {
                .seed = *(uint64_t *)*state, .refused_call = calls[i], .refused = nth};
            is_refused = run(&ingesting);
            assert_true(nth < REFUSED);
            assert_true(is_refused || nth > 2);
        }
    }
}

int main(void)
{
    uint64_t seed = bb_rng_seed("ingest_test", 1);
    void *state = &seed;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(ingest__at_every_call, state),
        cmocka_unit_test_prestate(ingest__whose_record_is_in_doubt, state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
