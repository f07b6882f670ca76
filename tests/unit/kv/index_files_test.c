/* Goal: index files share their tables' lifetime: a read-only store uses the present ones and
 * removes none, failures in between are reported and leave no file, and a temporary failure is
 * forgotten. Method: stores of rows with all kinds of indexes on a file system in memory, with a
 * second opening, checkpoints, ingests and removals at the same time; single calls of the file
 * system that fail. */
#include "tests/support/indexed_store.h"

#include "base/status.h"
#include "skip/condition/words.h"

static void open_reader(struct store *store, struct bb_db **ret_reader)
{
    struct bb_db_options options = store->options;
    options.create_if_missing = false;
    options.read_only = true;
    assert_ok(bb_db_open(STORE_PATH, &options, ret_reader));
}

static enum bb_status count_call(void *context, struct bb_file_memory *memory, uint64_t number,
                                 enum bb_file_call call, const char *path)
{
    (void)memory;
    (void)number;
    (void)call;
    (void)path;
    ++*(uint64_t *)context;
    return BB_OK;
}

/* Changes nothing, and removes nothing. */
static void refresh(struct store *store, struct bb_db *reader)
{
    uint64_t changes = 0;
    bb_file_memory_set_hook(store->memory, count_call, &changes);
    assert_ok(bb_db_refresh(reader));
    bb_file_memory_set_hook(store->memory, NULL, NULL);
    assert_int_equal(changes, 0);
}

static void index_files__a_reader_sees_what_was_materialized(void **state)
{
    (void)state;
    struct store store;
    struct bb_db *reader = NULL;
    store_init(&store);
    store_open(&store);
    indexed_create_attributes(&store);
    indexed_put_rows(&store, 0, 2000, 1);
    assert_ok(bb_db_compact(store.db));
    open_reader(&store, &reader);
    indexed_create_indexes(&store);
    assert_ok(bb_db_index_materialize(store.db, NULL));
    assert_int_equal(indexed_account(reader, "user = 'x'", NULL).tables_indexed, 0);
    refresh(&store, reader);
    indexed_check_all_built(reader);
    /* Readers continue to use replaced files; the writer removes them. */
    struct bb_materialize_options again = {.rebuild = true};
    assert_ok(bb_db_index_materialize(store.db, &again));
    indexed_check_all_built(reader);
    refresh(&store, reader);
    indexed_check_all_built(reader);
    assert_ok(bb_db_close(reader));
    indexed_check_all_built(store.db);
    struct bb_file_system *fs = bb_file_memory_system(store.memory);
    assert_int_equal(indexed_count_files(fs, STORE_PATH, ".bbi"),
                     indexed_count_files(fs, STORE_PATH, ".bbt"));
    store_deinit(&store);
}

/* Compactions and openings remove the names of files that a reader has open. */
static void index_files__a_reader_keeps_what_compactions_replace(void **state)
{
    (void)state;
    struct store store;
    struct bb_db *reader = NULL;
    store_init(&store);
    store_open(&store);
    indexed_fill(&store);
    open_reader(&store, &reader);
    indexed_put_rows(&store, 0, 3000, 3);
    assert_ok(bb_db_compact(store.db));
    indexed_check_all_built(reader);
    refresh(&store, reader);
    indexed_check_all_built(reader);
    assert_ok(bb_db_close(reader));
    store_deinit(&store);
}

/* A reader that opened a store after the removal of a file counted it as damage. */
static void index_files__that_the_writer_replaced_are_no_damage_for_a_reader(void **state)
{
    (void)state;
    struct store store;
    struct bb_db *reader = NULL;
    char path[300];
    uint64_t count = 0;
    store_init(&store);
    store_open(&store);
    indexed_fill(&store);
    indexed_path(&store, ".bbi", 0, path);
    struct bb_file_system *fs = bb_file_memory_system(store.memory);
    assert_ok(fs->ops->remove(fs, path)); /* as by a writer while the reader opens the store */
    open_reader(&store, &reader);
    struct bb_select_account account = indexed_account(reader, "user = 'user3'", &count);
    assert_int_equal(count, indexed_count(reader, "user = 'user3'", true));
    assert_int_equal(account.tables_indexed, account.tables - 1);
    assert_int_equal(account.damaged_indexes, 0);
    store_reopen(&store);
    assert_int_equal(indexed_account(store.db, "user = 'user3'", NULL).damaged_indexes, 1);
    assert_ok(bb_db_index_materialize(store.db, NULL));
    assert_ok(bb_db_refresh(reader));
    indexed_check_all_built(reader);
    assert_ok(bb_db_close(reader));
    store_deinit(&store);
}

/* The open file hid that its name was gone: after the next opening it was missing. */
static void index_files__that_lost_their_names_are_materialized(void **state)
{
    (void)state;
    struct store store;
    char path[300];
    store_init(&store);
    store_open(&store);
    indexed_fill(&store);
    indexed_check_all_built(store.db); /* opens all files */
    indexed_path(&store, ".bbi", 0, path);
    struct bb_file_system *fs = bb_file_memory_system(store.memory);
    assert_ok(fs->ops->remove(fs, path));
    indexed_check_all_built(store.db);
    assert_ok(bb_db_index_materialize(store.db, NULL));
    indexed_path(&store, ".bbi", 0, path);
    bb_file_memory_put(store.memory, path, bb_bytes_of_text("short"));
    assert_ok(bb_db_index_materialize(store.db, NULL));
    store_close(&store);
    struct bb_db_verify_report report = store_verify(&store);
    assert_int_equal(report.indexes, report.tables);
    bb_file_memory_destroy(store.memory);
}

struct refusal {
    enum bb_file_call call;
    const char *part; /* of the path */
    uint32_t passed;  /* such calls before the failing one */
    enum bb_status status;
    bool is_met;
};

static enum bb_status refuse(void *context, struct bb_file_memory *memory, uint64_t number,
                             enum bb_file_call call, const char *path)
{
    struct refusal *refusal = context;
    (void)memory;
    (void)number;
    if (refusal->is_met || call != refusal->call || strstr(path, refusal->part) == NULL ||
        refusal->passed-- > 0)
        return BB_OK;
    refusal->is_met = true;
    return bb_fail(refusal->status, "%s of %s is refused", bb_file_call_name(call), path);
}

static void index_files__a_checkpoint_that_fails_leaves_no_copy(void **state)
{
    (void)state;
    struct store store;
    struct refusal refusal = {
        .call = BB_FILE_CALL_SYNC, .part = "/copy/", .passed = 1, .status = BB_IO};
    bool is_directory = false;
    uint64_t size = 0;
    store_init(&store);
    store_open(&store);
    indexed_create_attributes(&store);
    indexed_create_indexes(&store);
    indexed_put_rows(&store, 0, 100, 1);
    assert_ok(
        bb_db_flush(store.db)); /* one table: its copy is synced first, then the index file's */
    struct bb_file_system *fs = bb_file_memory_system(store.memory);
    assert_int_equal(indexed_count_files(fs, STORE_PATH, ".bbt"), 1);
    bb_file_memory_set_links(store.memory, false);
    bb_file_memory_set_hook(store.memory, refuse, &refusal);
    assert_status(bb_db_checkpoint(store.db, "/data/copy"), BB_IO);
    bb_file_memory_set_hook(store.memory, NULL, NULL);
    assert_true(refusal.is_met);
    assert_status(fs->ops->status(fs, "/data/copy", &is_directory, &size), BB_NOT_FOUND);
    store_deinit(&store);
}

/* If any call fails, with any status, the caller gets it, and the file is removed. */
static void index_files__materializing_that_fails_is_told(void **state)
{
    static const struct refusal refusals[] = {
        {.call = BB_FILE_CALL_CREATE, .part = ".bbi", .status = BB_NOT_FOUND},
        {.call = BB_FILE_CALL_APPEND, .part = ".bbi", .status = BB_NO_SPACE},
        {.call = BB_FILE_CALL_SYNC, .part = ".bbi", .status = BB_IO},
        {.call = BB_FILE_CALL_SYNC_DIRECTORY, .part = STORE_PATH, .status = BB_NOT_FOUND},
        {.call = BB_FILE_CALL_APPEND, .part = "MANIFEST", .status = BB_IO},
        {.call = BB_FILE_CALL_SYNC, .part = "MANIFEST", .status = BB_NOT_FOUND},
    };
    (void)state;
    struct store store;
    store_init(&store);
    store_open(&store);
    indexed_create_attributes(&store);
    indexed_put_rows(&store, 0, 100, 1);
    assert_ok(bb_db_flush(store.db));
    indexed_create_indexes(&store);
    struct bb_file_system *fs = bb_file_memory_system(store.memory);
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        struct refusal refusal = refusals[i];
        bb_file_memory_set_hook(store.memory, refuse, &refusal);
        assert_status(bb_db_index_materialize(store.db, NULL), refusal.status);
        bb_file_memory_set_hook(store.memory, NULL, NULL);
        assert_true(refusal.is_met);
        assert_int_equal(indexed_account(store.db, "status = 1", NULL).tables_indexed, 0);
    }
    assert_ok(bb_db_index_materialize(store.db, NULL));
    indexed_check_all_built(store.db);
    assert_int_equal(indexed_count_files(fs, STORE_PATH, ".bbi"), 1);
    store_deinit(&store);
}

static void index_files__are_removed_with_the_store(void **state)
{
    (void)state;
    struct store store;
    struct bb_db_destroy_report report;
    store_init(&store);
    store_open(&store);
    indexed_fill(&store);
    store_close(&store);
    assert_ok(bb_db_destroy(STORE_PATH, &store.options, &report));
    assert_true(report.directory_removed);
    assert_int_equal(report.foreign, 0);
    bb_file_memory_destroy(store.memory);
}

static void check_checkpoint(bool has_links)
{
    struct store store;
    struct store copy = {0};
    store_init(&store);
    store_open(&store);
    indexed_fill(&store);
    bb_file_memory_set_links(store.memory, has_links);
    assert_ok(bb_db_checkpoint(store.db, "/data/copy"));
    /* The original loses its tables and index files. */
    indexed_put_rows(&store, 0, 3000, 5);
    assert_ok(bb_db_compact(store.db));
    store_close(&store);
    struct bb_db_verify_report report;
    assert_ok(bb_db_verify("/data/copy", &store.options, &report));
    assert_int_equal(report.orphans, 0);
    assert_int_equal(report.indexes, report.tables);
    assert_ok(bb_db_open("/data/copy", &store.options, &copy.db));
    indexed_check_all_built(copy.db);
    /* It has the catalog too: its writes are indexed. */
    indexed_put_rows(&copy, 4000, 100, 1);
    assert_ok(bb_db_flush(copy.db));
    indexed_check_all_built(copy.db);
    assert_ok(bb_db_close(copy.db));
    store_deinit(&store);
}

static void index_files__are_in_checkpoints(void **state)
{
    (void)state;
    check_checkpoint(true);
    check_checkpoint(false);
}

static void build_table(struct store *store, const char *path)
{
    struct bb_table_options options = {.file_system = store->options.file_system};
    struct bb_table_builder *builder = NULL;
    char key[16];
    char row[160];
    assert_ok(bb_table_builder_create(path, &options, &builder));
    for (uint64_t n = 1000; n < 5000; n++) {
        snprintf(key, sizeof(key), "%08u", (unsigned)n);
        size_t size = indexed_row(n, 7, row);
        struct bb_entry entry = {
            .key = bb_bytes_of_text(key), .kind = BB_ENTRY_PUT, .value = bb_bytes_of(row, size)};
        assert_ok(bb_table_builder_add(builder, &entry));
    }
    assert_ok(bb_table_builder_finish(builder, NULL));
    bb_table_builder_destroy(builder);
}

static void index_files__are_built_by_an_ingest(void **state)
{
    (void)state;
    struct store store;
    const char *path = "/data/table";
    store_init(&store);
    store_open(&store);
    indexed_fill(&store);
    build_table(&store, path);
    assert_ok(bb_db_ingest(store.db, &path, 1, NULL));
    indexed_check_all_built(store.db);
    assert_int_equal(indexed_count(store.db, "has_token(text, 'round7')", false), 4000);
    store_reopen(&store);
    indexed_check_all_built(store.db);
    store_close(&store);
    struct bb_db_verify_report report = store_verify(&store);
    assert_int_equal(report.orphans, 0);
    assert_int_equal(report.indexes, report.tables);
    bb_file_memory_destroy(store.memory);
}

/* Words of Unicode: with and without their indexes the same rows; the proof of the files holds. */
static void index_files__of_words(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "has_word(text, 'round2')",
        "ihas_word(text, 'ROUND2')",
        "has_word(text, 'nowhere')",
        "NOT ihas_any_word(text, 'round1 x', 'Nowhere')",
        "text LIKE '% round2 %' OR user IS NULL",
        "ihas_word(text, 'nowhere') AND NOT user = 'x'",
    };
    struct store store;
    if (!bb_words_are_built())
        skip();
    store_init(&store);
    store_open(&store);
    indexed_create_attributes(&store);
    assert_ok(bb_db_index_create(store.db, "words", "tokens(text, tokenizer=unicode)"));
    assert_ok(bb_db_index_create(store.db, "folded",
                                 "text(text, tokenizer=unicode, fold=unicode, counts=yes)"));
    indexed_put_rows(&store, 0, 3000, 1);
    indexed_put_rows(&store, 2000, 3000, 2);
    assert_ok(bb_db_compact(store.db));
    store_reopen(&store);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        assert_int_equal(indexed_count(store.db, texts[i], false),
                         indexed_count(store.db, texts[i], true));
    struct bb_select_account account = indexed_account(store.db, texts[2], NULL);
    assert_true(account.granules_excluded > 0 && account.granules_read == 0);
    store_close(&store);
    struct bb_db_verify_report report = store_verify(&store);
    assert_int_equal(report.indexes, report.tables);
    bb_file_memory_destroy(store.memory);
}

/* A store with an index that this build cannot make stays usable: others may add it. */
static void index_files__a_build_without_words_refuses_them(void **state)
{
    (void)state;
    struct store store;
    if (bb_words_are_built())
        skip();
    store_init(&store);
    store_open(&store);
    indexed_create_attributes(&store);
    assert_status(bb_db_index_create(store.db, "words", "tokens(text, tokenizer=unicode)"),
                  BB_UNSUPPORTED);
    assert_message("libunistring-dev");
    assert_ok(bb_db_index_create(store.db, "words", "tokens(text)"));
    store_close(&store);
    bb_file_memory_destroy(store.memory);
}

/* A selection that is repeated reads its index files from their maps. */
static void index_files__are_read_by_calls_once(void **state)
{
    (void)state;
    static const char *const conditions[] = {"user = 'user7'", "status = 250 AND text LIKE '%d1%'",
                                             "has_token(text, 'word3')"};
    struct store store;
    store_init(&store);
    store_open(&store);
    indexed_fill(&store);
    for (size_t i = 0; i < sizeof(conditions) / sizeof(conditions[0]); i++) {
        uint64_t first_count = 0;
        uint64_t count = 0;
        struct bb_select_account first = indexed_account(store.db, conditions[i], &first_count);
        struct bb_select_account account = indexed_account(store.db, conditions[i], &count);
        assert_true((i > 0 || first.index_reads > 0) && first_count > 0);
        assert_int_equal(account.index_reads, 0);
        assert_int_equal(account.index_read_bytes, 0);
        assert_int_equal(account.granules_excluded, first.granules_excluded);
        assert_int_equal(count, first_count);
    }
    store_deinit(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(index_files__a_reader_sees_what_was_materialized),
        cmocka_unit_test(index_files__a_reader_keeps_what_compactions_replace),
        cmocka_unit_test(index_files__that_the_writer_replaced_are_no_damage_for_a_reader),
        cmocka_unit_test(index_files__that_lost_their_names_are_materialized),
        cmocka_unit_test(index_files__a_checkpoint_that_fails_leaves_no_copy),
        cmocka_unit_test(index_files__materializing_that_fails_is_told),
        cmocka_unit_test(index_files__are_removed_with_the_store),
        cmocka_unit_test(index_files__are_in_checkpoints),
        cmocka_unit_test(index_files__are_built_by_an_ingest),
        cmocka_unit_test(index_files__are_read_by_calls_once),
        cmocka_unit_test(index_files__of_words),
        cmocka_unit_test(index_files__a_build_without_words_refuses_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
