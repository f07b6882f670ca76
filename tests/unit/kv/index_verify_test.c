/* Goal: verification finds every index file that is missing, damaged, another table's, or wrong:
 * sound bytes that exclude a record of the table; and a repair of such a store keeps the rows, the
 * definitions and all sound index files. Method: stores of rows with all kinds of indexes on a file
 * system in memory, whose index files are removed, flipped, exchanged, replaced by directories, not
 * readable, and rebuilt from other records under the same id. */
#include "tests/support/indexed_store.h"

#include "base/buf.h"
#include "bb/skip.h"
#include "tests/support/file_fault.h"
#include "tests/support/rng.h"

#define ROWS 150

/* A row whose values no other one has. */
#define UNIQUE     78
#define UNIQUE_KEY "00000078"
#define UNIQUE_ROW "999,zebra,quagga okapi"

/* One table of ROWS rows, with all indexes, closed. */
static void make_store(struct store *store)
{
    store_init(store);
    store_open(store);
    indexed_create_attributes(store);
    indexed_create_indexes(store);
    indexed_put_rows(store, 0, UNIQUE, 1);
    store_put(store, UNIQUE_KEY, UNIQUE_ROW);
    indexed_put_rows(store, UNIQUE + 1, ROWS - UNIQUE - 1, 1);
    assert_ok(bb_db_flush(store->db));
    assert_ok(bb_db_wait_idle(store->db));
    store_close(store);
    struct bb_file_system *fs = bb_file_memory_system(store->memory);
    assert_int_equal(indexed_count_files(fs, STORE_PATH, ".bbi"), 1);
}

static void assert_verify(struct store *store, enum bb_status expected, const char *message)
{
    struct bb_db_verify_report report;
    assert_status(bb_db_verify(STORE_PATH, &store->options, &report), expected);
    if (expected != BB_OK)
        assert_message(message);
}

/* ---- wrong index files ---- */

/* The wrong information about the unique row. */
enum lie {
    LIE_NONE,
    LIE_VALUE,   /* it is as other rows are */
    LIE_NULL,    /* it has no status */
    LIE_STATE,   /* the row after it has no status, which other rows have */
    LIE_MISSING, /* it is not there */
    LIE_MORE,    /* it is there twice */
    LIE_PART,    /* the first block ends after the first row */
    LIE_COUNT,
};

static size_t lying_row(uint64_t n, enum lie lie, char row[160])
{
    if (n == UNIQUE + 1 && lie == LIE_STATE) {
        char whole[160];
        (void)indexed_row(n, 1, whole);
        return (size_t)snprintf(row, 160, "%s", strchr(whole, ','));
    }
    if (n != UNIQUE || lie == LIE_VALUE)
        return indexed_row(n, 1, row);
    return (size_t)snprintf(row, 160, "%s", lie == LIE_NULL ? UNIQUE_ROW + 3 : UNIQUE_ROW);
}

static int times_of(uint64_t n, enum lie lie)
{
    if (n != UNIQUE)
        return 1;
    return lie == LIE_MISSING ? 0 : lie == LIE_MORE ? 2 : 1;
}

static void add_rows(struct bb_skip_builder *builder, enum lie lie)
{
    char key[16];
    char row[160];
    for (uint64_t n = 0; n < ROWS; n++) {
        snprintf(key, sizeof(key), "%08u", (unsigned)n);
        struct bb_bytes value = bb_bytes_of(row, lying_row(n, lie, row));
        for (int i = 0; i < times_of(n, lie); i++)
            assert_ok(bb_skip_builder_add_record(builder, bb_bytes_of_text(key), value));
        if (n == 0 && lie == LIE_PART)
            assert_ok(bb_skip_builder_end_part(builder));
    }
    assert_ok(bb_skip_builder_end_granule(builder, 0));
}

/* The bytes of an index file with one index and one granule, with the id of another file. */
static void build_index(struct store *store, const char *spec, enum lie lie, const uint8_t *id,
                        struct bb_buf *ret_bytes)
{
    struct bb_file_system *fs = bb_file_memory_system(store->memory);
    struct bb_skip_options options = {.file_system = fs};
    struct bb_schema *schema = NULL;
    struct bb_skip_spec parsed;
    struct bb_skip_builder *builder = NULL;
    size_t size = 0;
    memcpy(options.id, id, sizeof(options.id));
    assert_ok(bb_schema_create(&schema));
    assert_ok(bb_schema_add(schema, "status u64 = csv(1)"));
    assert_ok(bb_schema_add(schema, "user bytes = csv(2)"));
    assert_ok(bb_schema_add(schema, "text bytes = csv(3)"));
    assert_ok(bb_skip_spec_parse(spec, schema, &parsed));
    assert_ok(bb_skip_builder_create("/data/index", &options, schema, &parsed, 1, &builder));
    add_rows(builder, lie);
    assert_ok(bb_skip_builder_finish(builder));
    bb_skip_builder_destroy(builder);
    bb_schema_destroy(schema);
    const uint8_t *bytes = bb_file_memory_bytes(store->memory, "/data/index", &size);
    assert_ok(bb_buf_assign(ret_bytes, bb_bytes_of(bytes, size)));
    assert_ok(fs->ops->remove(fs, "/data/index"));
}

/* The id is in the footer: docs/format-skip.md. */
static void replace_index(struct store *store, const char *spec, enum lie lie)
{
    char path[300];
    uint8_t id[BB_SKIP_ID_SIZE];
    size_t size = 0;
    struct bb_buf bytes = {0};
    indexed_path(store, ".bbi", 0, path);
    const uint8_t *before = bb_file_memory_bytes(store->memory, path, &size);
    memcpy(id, before + size - 64 + 20, sizeof(id));
    build_index(store, spec, lie, id, &bytes);
    bb_file_memory_put(store->memory, path, bb_buf_bytes(&bytes));
    bb_buf_deinit(&bytes);
}

static const char *const specs[] = {
    "min_max(status)",
    "min_max(user)",
    "set(status, values=100)",
    "set(user, values=1000)",
    "values(user, rate=0.00001)",
    "values(status, rate=0.00001)",
    "column(status)",
    "column(text)",
    "tokens(text, rate=0.00001)",
    "ngrams(text, n=3, rate=0.00001)",
};

static void index_verify__finds_every_lie(void **state)
{
    (void)state;
    struct store store;
    make_store(&store);
    for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
        replace_index(&store, specs[i], LIE_NONE);
        assert_verify(&store, BB_OK, NULL);
        for (enum lie lie = LIE_VALUE; lie < LIE_COUNT; lie++) {
            bool is_of_status = lie == LIE_NULL || lie == LIE_STATE;
            bool is_harmless = (is_of_status && strstr(specs[i], "status") == NULL) ||
                               (lie == LIE_PART && strstr(specs[i], "column") == NULL);
            replace_index(&store, specs[i], lie);
            assert_verify(&store, is_harmless ? BB_OK : BB_CORRUPT, "build the index file again");
        }
    }
    bb_file_memory_destroy(store.memory);
}

/* ---- damage ---- */

static void index_verify__finds_what_is_missing(void **state)
{
    (void)state;
    struct store store;
    char path[300];
    make_store(&store);
    struct bb_file_system *fs = bb_file_memory_system(store.memory);
    indexed_path(&store, ".bbi", 0, path);
    assert_ok(fs->ops->remove(fs, path));
    assert_verify(&store, BB_CORRUPT, "missing, and the manifest names it");
    bb_file_memory_destroy(store.memory);
}

static void index_verify__finds_every_flipped_byte(void **state)
{
    (void)state;
    struct store store;
    char path[300];
    size_t size = 0;
    make_store(&store);
    indexed_path(&store, ".bbi", 0, path);
    (void)bb_file_memory_bytes(store.memory, path, &size);
    for (size_t i = 0; i < size; i += i % 64 == 0 ? 1 : 7) {
        uint8_t *bytes = bb_file_memory_bytes(store.memory, path, &size);
        bytes[i] ^= 0x10;
        enum bb_status status = bb_db_verify(STORE_PATH, &store.options, NULL);
        /* The version is in the footer too. */
        assert_true(status == BB_CORRUPT || status == BB_UNSUPPORTED);
        bytes[i] ^= 0x10;
    }
    assert_verify(&store, BB_OK, NULL);
    bb_file_memory_destroy(store.memory);
}

/* It did so only for files that could not be opened, and called damaged segments complete. */
static void index_verify__materializing_replaces_damaged_files(void **state)
{
    (void)state;
    struct store store;
    char path[300];
    size_t size = 0;
    make_store(&store);
    for (size_t part = 1; part < 16; part++) {
        indexed_path(&store, ".bbi", 0, path);
        uint8_t *bytes = bb_file_memory_bytes(store.memory, path, &size);
        bytes[size * part / 16] ^= 0x10;
        assert_verify(&store, BB_CORRUPT, path);
        store_open(&store);
        assert_ok(bb_db_index_materialize(store.db, NULL));
        store_close(&store);
        assert_verify(&store, BB_OK, NULL);
    }
    bb_file_memory_destroy(store.memory);
}

/* Without indexes in the catalog it opened no file, and verification advised it again. */
static void index_verify__materializing_drops_damaged_files_of_dropped_indexes(void **state)
{
    static const char *const names[] = {"bounds", "statuses", "users", "words",
                                        "pieces", "column",   "text"};
    (void)state;
    struct store store;
    char path[300];
    size_t size = 0;
    make_store(&store);
    struct bb_file_system *fs = bb_file_memory_system(store.memory);
    store_open(&store);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        assert_ok(bb_db_index_drop(store.db, names[i]));
    assert_ok(bb_db_index_materialize(store.db, NULL));
    assert_int_equal(indexed_count_files(fs, STORE_PATH, ".bbi"), 1); /* a sound one stays */
    store_close(&store);
    indexed_path(&store, ".bbi", 0, path);
    bb_file_memory_bytes(store.memory, path, &size)[size / 2] ^= 0x10;
    assert_verify(&store, BB_CORRUPT, path);
    store_open(&store);
    assert_ok(bb_db_index_materialize(store.db, NULL));
    assert_int_equal(indexed_count_files(fs, STORE_PATH, ".bbi"), 0);
    assert_int_equal(indexed_account(store.db, "status = 1", NULL).damaged_indexes, 0);
    store_reopen(&store);
    indexed_check(store.db);
    store_close(&store);
    assert_int_equal(store_verify(&store).indexes, 0);
    bb_file_memory_destroy(store.memory);
}

/* With `rebuild` sound files of dropped indexes are removed as well. */
static void index_verify__rebuilding_no_indexes_leaves_no_file(void **state)
{
    (void)state;
    const struct bb_materialize_options rebuild = {.rebuild = true};
    struct store store;
    store_init(&store);
    store_open(&store);
    indexed_create_attributes(&store);
    assert_ok(bb_db_index_create(store.db, "words", "tokens(text)"));
    indexed_put_rows(&store, 0, ROWS, 1);
    assert_ok(bb_db_compact(store.db));
    assert_ok(bb_db_index_drop(store.db, "words"));
    assert_ok(bb_db_index_materialize(store.db, &rebuild));
    assert_ok(bb_db_index_materialize(store.db, &rebuild));
    struct bb_file_system *fs = bb_file_memory_system(store.memory);
    assert_int_equal(indexed_count_files(fs, STORE_PATH, ".bbi"), 0);
    assert_ok(bb_db_index_create(store.db, "words", "tokens(text)"));
    assert_ok(bb_db_index_materialize(store.db, NULL));
    store_close(&store);
    assert_int_equal(store_verify(&store).indexes, 1);
    bb_file_memory_destroy(store.memory);
}

/* The number of index files of tables that the list calls unreadable. */
static uint64_t count_unreadable(struct store *store)
{
    struct bb_db_index_list list;
    assert_ok(bb_db_index_list(store->db, &list));
    uint64_t count = list.indexes[0].tables_unreadable;
    bb_db_index_list_deinit(&list);
    return count;
}

/* It ended every command with BB_INVALID, and was never replaced. */
static void index_verify__a_directory_is_a_damaged_index_file(void **state)
{
    (void)state;
    struct store store;
    struct bb_db_verify_report report = {0};
    char path[300];
    make_store(&store);
    indexed_path(&store, ".bbi", 0, path);
    struct bb_file_system *fs = bb_file_memory_system(store.memory);
    assert_ok(fs->ops->remove(fs, path));
    assert_ok(fs->ops->make_directory(fs, path));
    assert_status(bb_db_verify(STORE_PATH, &store.options, &report), BB_CORRUPT);
    assert_message("is a directory");
    assert_int_equal(report.indexes_damaged, 1);
    store_open(&store);
    assert_status(bb_db_scrub(store.db, NULL, NULL), BB_CORRUPT);
    assert_int_equal(count_unreadable(&store), 1);
    assert_ok(bb_db_checkpoint(store.db, "/data/copy"));
    assert_ok(bb_db_index_materialize(store.db, NULL));
    indexed_check_all_built(store.db);
    store_close(&store);
    assert_int_equal(store_verify(&store).indexes, 1);
    assert_ok(bb_db_verify("/data/copy", &store.options, &report));
    bb_file_memory_destroy(store.memory);
}

/* ---- files that cannot be read ---- */

static void count_damage(void *context, const struct bb_event *event)
{
    *(uint64_t *)context += event->kind == BB_EVENT_DAMAGE;
}

/* A bad sector in one index file ended the verification and the materialization of all others. */
static void index_verify__an_unreadable_file_hides_no_missing_one(void **state)
{
    (void)state;
    struct store store;
    struct bb_db_verify_report report = {0};
    char path[300];
    char missing[300];
    uint64_t damages = 0;
    store_init(&store);
    store_open(&store);
    indexed_fill(&store);
    store_close(&store);
    struct bb_file_system *fs = bb_file_memory_system(store.memory);
    struct bb_file_fault *fault = bb_file_fault_create(fs);
    store.options.file_system = bb_file_fault_system(fault);
    store.options.on_event = count_damage;
    store.options.event_context = &damages;
    indexed_path(&store, ".bbi", 0, path);
    indexed_path(&store, ".bbi", 1, missing);
    assert_ok(fs->ops->remove(fs, missing));
    bb_file_fault_arm(
        fault, &(struct bb_file_fault_plan){
                   .call = BB_FILE_CALL_READ_AT, .path_part = path, .nth = 1, .lasting = true});
    assert_status(bb_db_verify(STORE_PATH, &store.options, &report), BB_IO);
    assert_true(report.indexes_damaged == 2 && damages == 2);
    store_open(&store);
    assert_int_equal(count_unreadable(&store), 2);
    assert_ok(bb_db_index_materialize(store.db, NULL));
    assert_int_equal(damages, 3);
    assert_int_equal(count_unreadable(&store), 0);
    indexed_check_all_built(store.db);
    store_close(&store);
    assert_ok(bb_db_verify(STORE_PATH, &store.options, &report));
    bb_file_fault_destroy(fault);
    bb_file_memory_destroy(store.memory);
}

static void index_verify__finds_another_tables(void **state)
{
    (void)state;
    struct store store;
    char path[300];
    size_t size = 0;
    struct bb_buf other = {0};
    store_init(&store);
    store_open(&store);
    indexed_fill(&store);
    store_close(&store);
    assert_verify(&store, BB_OK, NULL);
    indexed_path(&store, ".bbi", 0, path);
    const uint8_t *bytes = bb_file_memory_bytes(store.memory, path, &size);
    assert_ok(bb_buf_assign(&other, bb_bytes_of(bytes, size)));
    indexed_path(&store, ".bbi", 1, path);
    bb_file_memory_put(store.memory, path, bb_buf_bytes(&other));
    assert_verify(&store, BB_CORRUPT, "belongs to another table");
    bb_buf_deinit(&other);
    bb_file_memory_destroy(store.memory);
}

/* A file that nothing names is an orphan, and goes at the next opening. */
static void index_verify__counts_what_is_not_named(void **state)
{
    (void)state;
    struct store store;
    make_store(&store);
    bb_file_memory_put(store.memory, STORE_PATH "/000900.bbi", bb_bytes_of_text("something"));
    struct bb_db_verify_report report = store_verify(&store);
    assert_int_equal(report.orphans, 1);
    assert_int_equal(report.indexes, 1);
    store_open(&store);
    store_close(&store);
    assert_int_equal(store_verify(&store).orphans, 0);
    bb_file_memory_destroy(store.memory);
}

/* ---- repairs ---- */

/* A store with tables in levels, closed. */
static void make_levels(struct store *store)
{
    store_init(store);
    store_open(store);
    indexed_fill(store);
    store_close(store);
}

static void flip(struct store *store, const char *suffix, size_t n)
{
    char path[300];
    size_t size = 0;
    indexed_path(store, suffix, n, path);
    uint8_t *bytes = bb_file_memory_bytes(store->memory, path, &size);
    bytes[size / 3] ^= 1;
}

/* orphans: second names of tables, which the next opening removes. */
static struct bb_db_repair_report repair(struct store *store, uint64_t orphans)
{
    struct bb_db_repair_report report;
    assert_status(bb_db_verify(STORE_PATH, &store->options, NULL), BB_CORRUPT);
    assert_ok(bb_db_repair(STORE_PATH, &store->options, NULL, &report));
    assert_false(report.is_whole);
    struct bb_db_verify_report verified = store_verify(store);
    assert_int_equal(verified.orphans, orphans);
    assert_int_equal(verified.indexes, report.indexes_kept);
    return report;
}

/* The definitions exist, selections are right, and missing files are rebuilt. */
static void check_repaired(struct store *store, uint64_t indexed_tables)
{
    store_open(store);
    struct bb_select_account account = indexed_account(store->db, "user = 'nobody'", NULL);
    assert_int_equal(account.tables_indexed, indexed_tables);
    indexed_check(store->db);
    assert_ok(bb_db_index_materialize(store->db, NULL));
    indexed_check_all_built(store->db);
    store_close(store);
    assert_int_equal(store_verify(store).orphans, 0);
    bb_file_memory_destroy(store->memory);
}

static void index_verify__a_repair_drops_damaged_index_files(void **state)
{
    (void)state;
    struct store store;
    char path[300];
    make_levels(&store);
    uint64_t indexes = store_verify(&store).indexes;
    struct bb_file_system *fs = bb_file_memory_system(store.memory);
    flip(&store, ".bbi", 1);
    indexed_path(&store, ".bbi", 3, path);
    assert_ok(fs->ops->remove(fs, path));
    struct bb_db_repair_options dry = {.dry_run = true};
    struct bb_db_repair_report report;
    assert_ok(bb_db_repair(STORE_PATH, &store.options, &dry, &report));
    assert_int_equal(report.indexes_dropped, 2);
    assert_int_equal(report.indexes_kept, indexes - 2);
    assert_status(bb_db_verify(STORE_PATH, &store.options, NULL), BB_CORRUPT);
    report = repair(&store, 0);
    assert_int_equal(report.indexes_dropped, 2);
    assert_int_equal(report.indexes_kept, indexes - 2);
    assert_int_equal(report.tables_kept, indexes);
    assert_int_equal(report.entries_lost, 0);
    check_repaired(&store, indexes - 2);
}

/* The salvaged part of a table is another table, and the old one's index file is removed. */
static void index_verify__a_repair_drops_index_files_of_damaged_tables(void **state)
{
    (void)state;
    struct store store;
    make_levels(&store);
    uint64_t indexes = store_verify(&store).indexes;
    flip(&store, ".bbt", 2);
    struct bb_db_repair_report report = repair(&store, 0);
    assert_int_equal(report.tables_salvaged, 1);
    assert_int_equal(report.indexes_kept, indexes - 1);
    assert_int_equal(report.indexes_dropped, 0);
    check_repaired(&store, indexes - 1);
}

/* Level 0 above a table that is salvaged gets new numbers, and keeps its index files. */
static void index_verify__a_repair_renumbers_tables_with_index_files(void **state)
{
    (void)state;
    struct store store;
    store_init(&store);
    store_open(&store);
    indexed_create_attributes(&store);
    indexed_create_indexes(&store);
    for (uint64_t run = 0; run < 3; run++) {
        indexed_put_rows(&store, run * 30, 100, run);
        assert_ok(bb_db_flush(store.db));
        assert_ok(bb_db_wait_idle(store.db));
    }
    store_close(&store);
    assert_int_equal(store_verify(&store).indexes, 3);
    flip(&store, ".bbt", 0);
    struct bb_db_repair_report report = repair(&store, 2);
    assert_int_equal(report.tables_salvaged, 1);
    assert_int_equal(report.indexes_kept, 2);
    check_repaired(&store, 2);
}

/* Where no manifest can be read the definitions are lost: tables stay, index files go. */
static void index_verify__a_repair_without_a_manifest_drops_all(void **state)
{
    (void)state;
    struct store store;
    char path[300];
    make_levels(&store);
    struct bb_file_system *fs = bb_file_memory_system(store.memory);
    assert_ok(fs->ops->remove(fs, STORE_PATH "/CURRENT"));
    indexed_path(&store, "MANIFEST", 0, path);
    assert_ok(fs->ops->remove(fs, path));
    struct bb_db_repair_report report = repair(&store, 0);
    assert_int_equal(report.indexes_kept, 0);
    assert_int_equal(indexed_count_files(fs, STORE_PATH, ".bbi"), 0);
    store_open(&store);
    indexed_create_attributes(&store);
    indexed_check(store.db);
    store_close(&store);
    bb_file_memory_destroy(store.memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(index_verify__finds_every_lie),
        cmocka_unit_test(index_verify__finds_what_is_missing),
        cmocka_unit_test(index_verify__finds_every_flipped_byte),
        cmocka_unit_test(index_verify__materializing_replaces_damaged_files),
        cmocka_unit_test(index_verify__materializing_drops_damaged_files_of_dropped_indexes),
        cmocka_unit_test(index_verify__rebuilding_no_indexes_leaves_no_file),
        cmocka_unit_test(index_verify__a_directory_is_a_damaged_index_file),
        cmocka_unit_test(index_verify__an_unreadable_file_hides_no_missing_one),
        cmocka_unit_test(index_verify__finds_another_tables),
        cmocka_unit_test(index_verify__counts_what_is_not_named),
        cmocka_unit_test(index_verify__a_repair_drops_damaged_index_files),
        cmocka_unit_test(index_verify__a_repair_drops_index_files_of_damaged_tables),
        cmocka_unit_test(index_verify__a_repair_renumbers_tables_with_index_files),
        cmocka_unit_test(index_verify__a_repair_without_a_manifest_drops_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
