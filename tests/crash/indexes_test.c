/* Goal: whenever the power fails while indexes are created, dropped, built by flushes, compactions,
 * ingests and recoveries, or after flushes that deferred them, materialized, rebuilt, or carried
 * into a checkpoint: the store opens and verifies, and so does the checkpoint; every index file
 * that the manifest names is intact; selections with and without indexes find the same records; and
 * after the next opening no unreferenced file remains. Also when a record of the manifest fails and
 * is in doubt. Method: a store with rows on a file system in memory; the power fails before each
 * call that changes something, in the strictest way and in random ones; then the same with single
 * calls on the manifest refused. Without sync S21 this test fails. */
#include "tests/support/indexed_store.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/status.h"
#include "tests/support/rng.h"

#define COPY_PATH  "/data/copy"
#define TABLE_PATH "/data/table"
#define DRAWN      2

struct crashing {
    uint64_t seed;
    uint64_t stride;
    uint64_t calls;
    uint64_t images;
    uint64_t indexed; /* images with a table that has an index file */
    uint64_t copies;  /* images in which the checkpoint could be opened */
    uint64_t durable; /* rows that may not be lost */
    /* The n-th call of this kind on the manifest fails; 0: none does. */
    enum bb_file_call refused_call;
    uint64_t refused;
    uint64_t manifest_calls;
};

/* ---- images ---- */

static void list_files(const char *directory, const struct bb_db_options *options)
{
    struct bb_file_names names = {0};
    assert_ok(options->file_system->ops->list(options->file_system, directory, &names));
    for (size_t i = 0; i < names.count; i++)
        print_message("%s\n", names.names[i]);
    bb_file_names_deinit(&names);
}

static void verify(const char *directory, const struct bb_db_options *options)
{
    struct bb_db_verify_report report;
    assert_ok(bb_db_verify(directory, options, &report));
    if (report.orphans != 0)
        list_files(directory, options);
    assert_int_equal(report.orphans, 0);
    assert_int_equal(indexed_count_files(options->file_system, directory, ".bbi"), report.indexes);
}

static bool has_attributes(struct bb_db *db)
{
    struct bb_schema *schema = NULL;
    assert_ok(bb_db_schema(db, &schema));
    size_t count = bb_schema_count(schema);
    bb_schema_destroy(schema);
    return count == 3;
}

static uint64_t count_rows(struct bb_db *db)
{
    uint64_t count = 0;
    assert_ok(bb_db_select_count(db, NULL, &count, NULL));
    return count;
}

static void check_content(struct crashing *crashing, struct bb_db *db)
{
    assert_true(count_rows(db) >= crashing->durable);
    if (!has_attributes(db))
        return;
    indexed_check(db);
    crashing->indexed += indexed_account(db, "status = 1", NULL).tables_indexed > 0;
}

static void write_more(struct bb_db *db)
{
    struct store store = {.db = db};
    indexed_put_rows(&store, 3, 2, 9);
    assert_ok(bb_db_flush(db));
    assert_ok(bb_db_index_materialize(db, NULL));
}

/* In its recovered state, and after more writes. */
static void check_store(struct crashing *crashing, const char *directory,
                        const struct bb_db_options *options)
{
    struct bb_db *db = NULL;
    assert_ok(bb_db_open(directory, options, &db));
    check_content(crashing, db);
    assert_ok(bb_db_close(db));
    verify(directory, options);
    assert_ok(bb_db_open(directory, options, &db));
    write_more(db);
    check_content(crashing, db);
    assert_ok(bb_db_close(db));
    verify(directory, options);
}

static void check_image(struct crashing *crashing, struct bb_file_memory *memory,
                        const struct bb_crash *crash)
{
    struct bb_file_memory *image = bb_file_memory_crash(memory, crash);
    struct bb_db_options options = store_options(image);
    struct bb_db *db = NULL;
    options.create_if_missing = false;
    check_store(crashing, STORE_PATH, &options);
    enum bb_status status = bb_db_open(COPY_PATH, &options, &db);
    if (status == BB_OK) {
        assert_ok(bb_db_close(db));
        check_store(crashing, COPY_PATH, &options);
        crashing->copies++;
    } else {
        assert_true(status == BB_NOT_FOUND || status == BB_CORRUPT);
    }
    bb_file_memory_destroy(image);
    crashing->images++;
}

static void make_images(struct crashing *crashing, struct bb_file_memory *memory)
{
    static const struct bb_crash fixed[] = {
        {.bytes = BB_CRASH_BYTES_NONE, .names = BB_CRASH_NAMES_NONE},
        {.bytes = BB_CRASH_BYTES_NONE, .names = BB_CRASH_NAMES_ALL},
        {.bytes = BB_CRASH_BYTES_ALL, .names = BB_CRASH_NAMES_ALL},
    };
    if ((++crashing->calls + crashing->seed) % crashing->stride != 0)
        return;
    for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
        check_image(crashing, memory, &fixed[i]);
    for (uint64_t i = 0; i < DRAWN; i++)
        check_image(crashing, memory,
                    &(struct bb_crash){.bytes = BB_CRASH_BYTES_ANY,
                                       .names = BB_CRASH_NAMES_ANY,
                                       .seed = crashing->seed + crashing->calls * 1000 + i});
}

static enum bb_status on_call(void *context, struct bb_file_memory *memory, uint64_t number,
                              enum bb_file_call call, const char *path)
{
    struct crashing *crashing = context;
    (void)number;
    struct bb_error failure = *bb_error_last();
    make_images(crashing, memory);
    (void)bb_error_restore(&failure);
    if (crashing->refused == 0 || call != crashing->refused_call ||
        strstr(path, "MANIFEST") == NULL || ++crashing->manifest_calls != crashing->refused)
        return BB_OK;
    return bb_fail(BB_IO, "%s of %s is refused", bb_file_call_name(call), path);
}

/* ---- workloads ---- */

/* In a run with a refused call one of them fails, and an index that was not created is missing. */
static void may_fail(const struct crashing *crashing, enum bb_status status)
{
    assert_true(status == BB_OK ||
                ((status == BB_IO || status == BB_NOT_FOUND) && crashing->refused > 0));
}

static void flush(struct crashing *crashing, struct store *store, uint64_t rows)
{
    enum bb_status status = bb_db_flush(store->db);
    may_fail(crashing, status);
    if (status == BB_OK)
        crashing->durable = rows;
}

static void build_table(struct store *store)
{
    struct bb_table_options options = {.file_system = store->options.file_system};
    struct bb_table_builder *builder = NULL;
    char key[16];
    char row[160];
    assert_ok(bb_table_builder_create(TABLE_PATH, &options, &builder));
    for (uint64_t n = 150; n < 250; n++) {
        snprintf(key, sizeof(key), "%08u", (unsigned)n);
        size_t size = indexed_row(n, 7, row);
        struct bb_entry entry = {
            .key = bb_bytes_of_text(key), .kind = BB_ENTRY_PUT, .value = bb_bytes_of(row, size)};
        assert_ok(bb_table_builder_add(builder, &entry));
    }
    assert_ok(bb_table_builder_finish(builder, NULL));
    bb_table_builder_destroy(builder);
}

/* Builds the files that flushes deferred. */
static void build_deferred(struct crashing *crashing, struct store *store)
{
    may_fail(crashing, bb_db_wait_idle(store->db));
}

/* A flush after a selection builds immediately. */
static void flush_wanted(struct crashing *crashing, struct store *store, uint64_t rows)
{
    (void)indexed_account(store->db, "status = 1", NULL);
    flush(crashing, store, rows);
}

/* Tables without indexes, then some indexes, tables with and without them. */
static void create_and_build(struct crashing *crashing, struct store *store)
{
    struct bb_db *db = store->db;
    indexed_put_rows(store, 0, 100, 1);
    flush(crashing, store, 100);
    may_fail(crashing, bb_db_index_create(db, "statuses", "set(status, values=100)"));
    may_fail(crashing, bb_db_index_create(db, "words", "tokens(text, rate=0.01)"));
    indexed_put_rows(store, 50, 100, 2);
    flush(crashing, store, 150);
    build_deferred(crashing, store);
    may_fail(crashing, bb_db_index_create(db, "pieces", "ngrams(text, n=3, rate=0.1)"));
    may_fail(crashing, bb_db_index_materialize(db, NULL));
    may_fail(crashing, bb_db_index_drop(db, "statuses"));
    may_fail(crashing, bb_db_index_create(db, "users", "values(user, rate=0.01)"));
    indexed_put_rows(store, 0, 50, 3);
    flush_wanted(crashing, store, 150);
    may_fail(crashing, bb_db_compact(db));
}

static void rebuild_and_bring_in(struct crashing *crashing, struct store *store)
{
    const char *path = TABLE_PATH;
    struct bb_db *db = store->db;
    struct bb_materialize_options again = {.rebuild = true};
    may_fail(crashing, bb_db_granule_set(db, 2 * BB_GRANULE_BYTES_MIN));
    may_fail(crashing, bb_db_index_materialize(db, &again));
    enum bb_status status = bb_db_ingest(db, &path, 1, NULL);
    may_fail(crashing, status);
    if (status == BB_OK)
        crashing->durable = 250;
    may_fail(crashing, bb_db_checkpoint(db, COPY_PATH));
    indexed_put_rows(store, 20, 10, 4);
}

/* The hook is set after the creation of the attributes, which does not involve index files. */
static void run(struct crashing *crashing, bool has_links)
{
    struct store store;
    store_init(&store);
    store_open(&store);
    indexed_create_attributes(&store);
    build_table(&store);
    assert_ok(bb_db_flush(store.db));
    bb_file_memory_set_links(store.memory, has_links);
    bb_file_memory_set_hook(store.memory, on_call, crashing);
    create_and_build(crashing, &store);
    rebuild_and_bring_in(crashing, &store);
    bb_file_memory_set_hook(store.memory, NULL, NULL);
    /* The process crashes: the recovery builds index files too. */
    store_kill(&store);
    store_close(&store);
    bb_file_memory_set_hook(store.memory, on_call, crashing);
    store_open(&store);
    indexed_put_rows(&store, 25, 10, 5);
    may_fail(crashing, bb_db_close(store.db));
    make_images(crashing, store.memory);
    bb_file_memory_set_hook(store.memory, NULL, NULL);
    store.db = NULL;
    store_open(&store);
    store_close(&store);
    verify(STORE_PATH, &store.options);
    bb_file_memory_destroy(store.memory);
}

static uint64_t stride(void)
{
    const char *text = getenv("BB_TEST_CRASH_STRIDE");
    uint64_t number = text == NULL ? 1 : strtoull(text, NULL, 10);
    return number == 0 ? 1 : number;
}

static void indexes__at_every_call(void **state)
{
    for (int has_links = 0; has_links < 2; has_links++) {
        struct crashing crashing = {.seed = *(uint64_t *)*state, .stride = stride()};
        run(&crashing, has_links != 0);
        print_message("%" PRIu64 " calls, %" PRIu64 " images: %" PRIu64
                      " with index files, %" PRIu64 " with a whole checkpoint\n",
                      crashing.calls, crashing.images, crashing.indexed, crashing.copies);
        assert_true(crashing.indexed * 2 > crashing.images);
        assert_true(crashing.copies > 0);
    }
}

/* A record in doubt: the files that it names, and the ones that it replaces, still exist. */
static void indexes__whose_record_is_in_doubt(void **state)
{
    static const enum bb_file_call calls[] = {BB_FILE_CALL_APPEND, BB_FILE_CALL_SYNC};
    for (size_t i = 0; i < 2; i++) {
        bool is_refused = true;
        for (uint64_t nth = 1; is_refused; nth++) {
            struct crashing crashing = {.seed = *(uint64_t *)*state,
                                        .stride = 29 * stride(),
                                        .refused_call = calls[i],
                                        .refused = nth};
            run(&crashing, true);
            is_refused = crashing.manifest_calls >= nth;
            assert_true(nth < 100);
            assert_true(is_refused || nth > 12);
        }
    }
}

int main(void)
{
    uint64_t seed = bb_rng_seed("indexes_test", 1);
    void *state = &seed;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(indexes__at_every_call, state),
        cmocka_unit_test_prestate(indexes__whose_record_is_in_doubt, state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
