/* Goal: tables built elsewhere are added as one batch written at the end of the call: newer than
 * all earlier writes, older than all later ones, invisible to older snapshots, all or nothing.
 * Method: tables under other secrets and options, and stores of every shape; each call failing;
 * concurrent writers. Power failures: tests/crash; random combinations: tests/model. */
#include "tests/support/store.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/sync.h"
#include "tests/support/file_fault.h"
#include "tests/support/step.h"

/* "a=1 b=2 gone": puts and deletions, in order, at ascending sequences from `sequence` on. */
static void build_with(struct bb_file_system *fs, const char *path, const char *content,
                       const struct bb_comparator *comparator)
{
    char text[4096];
    struct bb_hash_secret secret;
    struct bb_table_builder *builder = NULL;
    bb_hash_secret_from_seed(strlen(content), &secret);
    struct bb_table_options options = {.file_system = fs,
                                       .comparator = comparator,
                                       .secret = &secret,
                                       .block_size_bytes = 64,
                                       .filter_kind = BB_FILTER_BLOOM};
    assert_ok(bb_table_builder_create(path, &options, &builder));
    snprintf(text, sizeof(text), "%s", content);
    char *rest = NULL;
    uint64_t sequence = 1000000;
    for (char *pair = strtok_r(text, " ", &rest); pair != NULL; pair = strtok_r(NULL, " ", &rest)) {
        char *value = strchr(pair, '=');
        if (value != NULL)
            *value++ = 0;
        struct bb_entry entry = {.key = bb_bytes_of_text(pair),
                                 .sequence = sequence--,
                                 .kind = value != NULL ? BB_ENTRY_PUT : BB_ENTRY_DELETE,
                                 .value = bb_bytes_of_text(value != NULL ? value : "")};
        assert_ok(bb_table_builder_add(builder, &entry));
    }
    assert_ok(bb_table_builder_finish(builder, NULL));
    bb_table_builder_destroy(builder);
}

static void build(struct store *store, const char *path, const char *content)
{
    build_with(bb_file_memory_system(store->memory), path, content, NULL);
}

static enum bb_status ingest(struct store *store, const char *first, const char *second)
{
    const char *paths[] = {first, second};
    return bb_db_ingest(store->db, paths, second == NULL ? 1 : 2, NULL);
}

static void begin(struct store *store)
{
    store_init(store);
    store_open(store);
}

/* ---- effects ---- */

static void ingest__is_one_batch_at_the_end(void **state)
{
    (void)state;
    struct store store;
    begin(&store);
    store_put(&store, "a", "old");
    store_put(&store, "gone", "x");
    assert_ok(bb_db_compact(store.db));
    store_put(&store, "b", "old");
    assert_ok(bb_db_flush(store.db));
    store_put(&store, "c", "old");
    struct bb_snapshot *before = store_snapshot(&store);
    build(&store, "/data/t", "a=1 b=2 c=3 d=4 gone");
    assert_ok(ingest(&store, "/data/t", NULL));
    struct bb_snapshot *after = store_snapshot(&store);
    assert_content(&store, "a=1 b=2 c=3 d=4");
    assert_content_at(store.db, before, "a=old b=old c=old gone=x");
    store_put(&store, "b", "new");
    store_delete(&store, "d");
    assert_content(&store, "a=1 b=new c=3");
    assert_content_at(store.db, after, "a=1 b=2 c=3 d=4");
    assert_ok(bb_db_compact(store.db));
    assert_content(&store, "a=1 b=new c=3");
    assert_content_at(store.db, before, "a=old b=old c=old gone=x");
    assert_content_at(store.db, after, "a=1 b=2 c=3 d=4");
    bb_snapshot_release(store.db, before);
    bb_snapshot_release(store.db, after);
    store_kill(&store);
    assert_content(&store, "a=1 b=new c=3");
    store_deinit(&store);
}

/* Reopened immediately, with later writes in the log and without. */
static void ingest__is_there_after_any_end(void **state)
{
    (void)state;
    for (int how = 0; how < 8; how++) {
        struct store store;
        store_init(&store);
        store.options.wal_off = how >= 6;
        store_open(&store);
        store_put(&store, "a", "old");
        build(&store, "/data/t", "a=1");
        assert_ok(ingest(&store, "/data/t", NULL));
        bool has_more = how % 2 == 1;
        if (has_more)
            store_put(&store, "b", "2");
        if (how / 2 == 0 || how >= 6)
            store_reopen(&store);
        else if (how / 2 == 1)
            store_kill(&store);
        else
            store_cut_power(&store);
        assert_get(&store, "a", "1");
        assert_get(&store, "b", has_more && how / 2 != 2 ? "2" : NULL);
        store_put(&store, "a", "3");
        store_reopen(&store);
        assert_get(&store, "a", "3");
        store_deinit(&store);
    }
}

static void ingest__of_several_the_last_one_wins(void **state)
{
    (void)state;
    struct store store;
    begin(&store);
    build(&store, "/data/t", "a=1 b=2 c=3");
    build(&store, "/data/u", "b=4 c d=5");
    assert_ok(ingest(&store, "/data/t", "/data/u"));
    assert_content(&store, "a=1 b=4 d=5");
    assert_ok(ingest(&store, "/data/u", "/data/t"));
    assert_content(&store, "a=1 b=2 c=3 d=5");
    assert_ok(ingest(&store, "/data/t", "/data/t"));
    assert_content(&store, "a=1 b=2 c=3 d=5");
    assert_ok(bb_db_ingest(store.db, NULL, 0, NULL));
    store_deinit(&store);
}

/* Of several versions in a table the newest counts; sequences are the table's own business. */
static void ingest__of_several_versions_the_newest_counts(void **state)
{
    (void)state;
    struct store store;
    struct bb_table_builder *builder = NULL;
    begin(&store);
    struct bb_table_options options = {.file_system = store.options.file_system};
    assert_ok(bb_table_builder_create("/data/t", &options, &builder));
    static const struct {
        const char *key;
        uint64_t sequence;
        enum bb_entry_kind kind;
        const char *value;
    } entries[] = {{"a", BB_SEQUENCE_MAX, BB_ENTRY_PUT, "1"},
                   {"a", 3, BB_ENTRY_DELETE, ""},
                   {"b", 9, BB_ENTRY_DELETE, ""},
                   {"b", 8, BB_ENTRY_PUT, "2"},
                   {"c", 0, BB_ENTRY_PUT, "3"}};
    for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
        assert_ok(bb_table_builder_add(
            builder, &(struct bb_entry){bb_bytes_of_text(entries[i].key), entries[i].sequence,
                                        entries[i].kind, bb_bytes_of_text(entries[i].value)}));
    assert_ok(bb_table_builder_finish(builder, NULL));
    bb_table_builder_destroy(builder);
    store_put(&store, "b", "old");
    assert_ok(ingest(&store, "/data/t", NULL));
    assert_content(&store, "a=1 c=3");
    store_deinit(&store);
}

static int level_of(struct store *store, const char *key)
{
    int found = -1;
    struct bb_db_table_list list = {0};
    struct bb_table_options options = {.file_system = store->options.file_system};
    assert_ok(bb_db_tables(store->db, &list));
    for (size_t i = list.count; i > 0; i--) {
        struct bb_table *table = NULL;
        assert_ok(bb_table_open(list.tables[i - 1].path, &options, &table));
        struct bb_buf smallest = bb_table_meta(table)->smallest;
        if (bb_bytes_equal(bb_bytes_of(smallest.data, smallest.size), bb_bytes_of_text(key)))
            found = list.tables[i - 1].level;
        bb_table_close(table);
    }
    bb_db_table_list_deinit(&list);
    return found;
}

/* Down to where something older is, and no further. */
static void ingest__goes_as_deep_as_it_may(void **state)
{
    (void)state;
    struct store store;
    begin(&store);
    build(&store, "/data/t", "a=1 c=2");
    assert_ok(ingest(&store, "/data/t", NULL));
    assert_int_equal(level_of(&store, "a"), 1);
    build(&store, "/data/u", "d=1 e=2");
    assert_ok(ingest(&store, "/data/u", NULL));
    assert_int_equal(level_of(&store, "d"), 1);
    /* Within the bounds of a table of level 1. */
    build(&store, "/data/v", "b=3");
    assert_ok(ingest(&store, "/data/v", NULL));
    assert_int_equal(level_of(&store, "b"), 0);
    /* Over data in memory, which is flushed to level 0: the ingest must be the newer run. */
    store_put(&store, "x", "old");
    build(&store, "/data/w", "x=new");
    assert_ok(ingest(&store, "/data/w", NULL));
    assert_content(&store, "a=1 b=3 c=2 d=1 e=2 x=new");
    store_put(&store, "x", "newer");
    assert_ok(bb_db_flush(store.db));
    assert_content(&store, "a=1 b=3 c=2 d=1 e=2 x=newer");
    store_deinit(&store);
}

/* More than one table: cut, in a level with enough space. The target is kept. */
static void ingest__of_much_data(void **state)
{
    (void)state;
    struct store store;
    char key[16];
    uint8_t value[100] = {0};
    begin(&store);
    for (uint32_t i = 0; i < 2000; i += 3) {
        snprintf(key, sizeof(key), "k%06u", i);
        assert_ok(bb_db_put(store.db, NULL, bb_bytes_of_text(key), bb_bytes_of_text("old")));
    }
    for (int part = 0; part < 4; part++) {
        char path[32];
        struct bb_table_builder *builder = NULL;
        struct bb_table_options options = {.file_system = store.options.file_system,
                                           .filter_rate = part == 0 ? 1 : 0.3};
        snprintf(path, sizeof(path), "/data/part%d", part);
        assert_ok(bb_table_builder_create(path, &options, &builder));
        for (uint32_t i = 0; i < 6000; i++) {
            memcpy(value, &i, sizeof(i));
            snprintf(key, sizeof(key), "k%06u", (uint32_t)part * 4500 + i);
            struct bb_entry entry = {.key = bb_bytes_of_text(key),
                                     .kind = BB_ENTRY_PUT,
                                     .value = bb_bytes_of(value, sizeof(value))};
            assert_ok(bb_table_builder_add(builder, &entry));
        }
        assert_ok(bb_table_builder_finish(builder, NULL));
        bb_table_builder_destroy(builder);
    }
    const char *paths[] = {"/data/part0", "/data/part1", "/data/part2", "/data/part3"};
    assert_ok(bb_db_ingest(store.db, paths, 4, &(struct bb_ingest_options){.verify = true}));
    struct bb_db_stats stats = store_stats(&store);
    assert_true(stats.expected_wasted_reads <= 1.1 * stats.target_wasted_reads);
    struct bb_buf found = {0};
    for (uint32_t i = 0; i < 19500; i++) {
        uint32_t part = i / 4500 > 3 ? 3 : i / 4500;
        uint32_t expected = i - part * 4500;
        snprintf(key, sizeof(key), "k%06u", i);
        assert_ok(bb_db_get(store.db, NULL, bb_bytes_of_text(key), &found));
        assert_int_equal(found.size, sizeof(value));
        assert_memory_equal(found.data, &expected, sizeof(expected));
    }
    bb_buf_deinit(&found);
    store_deinit(&store);
}

/* ---- refusals ---- */

static int compare_backward(void *context, struct bb_bytes a, struct bb_bytes b)
{
    (void)context;
    return -bb_bytes_compare(a, b);
}

static void ingest__refuses_what_is_no_table_of_its_order(void **state)
{
    (void)state;
    static const struct bb_comparator backward = {.name = "backward", .compare = compare_backward};
    struct store store;
    begin(&store);
    struct bb_file_system *fs = bb_file_memory_system(store.memory);
    store_put(&store, "a", "old");
    build(&store, "/data/good", "a=1 b=2");
    build_with(fs, "/data/backward", "b=1 a=2", &backward);
    bb_file_memory_put(store.memory, "/data/text", bb_bytes_of_text("hello"));
    uint64_t calls = bb_file_memory_calls(store.memory);
    assert_status(ingest(&store, "/data/good", "/data/backward"), BB_INVALID);
    assert_status(ingest(&store, "/data/good", "/data/text"), BB_CORRUPT);
    assert_status(ingest(&store, "/data/none", NULL), BB_NOT_FOUND);
    assert_int_equal(bb_file_memory_calls(store.memory), calls);
    assert_content(&store, "a=old");
    store_deinit(&store);
}

/* Over a deleted range, in memory and in tables: the ingest is newer. */
static void ingest__over_a_deleted_range(void **state)
{
    (void)state;
    for (int is_flushed = 0; is_flushed < 2; is_flushed++) {
        struct store store;
        begin(&store);
        store_put(&store, "a", "old");
        store_put(&store, "d", "old");
        assert_ok(bb_db_delete_range(store.db, NULL, bb_bytes_of_text("a"), bb_bytes_of_text("e")));
        if (is_flushed)
            assert_ok(bb_db_flush(store.db));
        build(&store, "/data/t", "b=1 c=2");
        assert_ok(ingest(&store, "/data/t", NULL));
        assert_content(&store, "b=1 c=2");
        store_reopen(&store);
        assert_content(&store, "b=1 c=2");
        assert_ok(bb_db_compact(store.db));
        assert_content(&store, "b=1 c=2");
        store_deinit(&store);
    }
}

/* Each byte of an input wrong, one by one: refused, or without effect; and no files remain. */
static void ingest__of_a_damaged_table(void **state)
{
    (void)state;
    struct store store;
    size_t size = 0;
    uint32_t refused = 0;
    begin(&store);
    build(&store, "/data/t", "a=1 b=2 c=3 d=4 e=5 f=6 g=7 h=8 i=9");
    uint8_t *bytes = bb_file_memory_bytes(store.memory, "/data/t", &size);
    for (size_t i = 0; i < size; i += 3) {
        bytes[i] ^= 1;
        enum bb_status status = ingest(&store, "/data/t", NULL);
        bytes[i] ^= 1;
        assert_true(status == BB_OK || status == BB_CORRUPT || status == BB_UNSUPPORTED);
        refused += status != BB_OK;
        if (status == BB_OK)
            assert_content(&store, "a=1 b=2 c=3 d=4 e=5 f=6 g=7 h=8 i=9");
    }
    assert_true(refused > 20);
    store_close(&store);
    assert_int_equal(store_verify(&store).orphans, 0);
    store_deinit(&store);
}

/* ---- each call fails ---- */

/* All or nothing, also for the next opening; old data stays; afterwards everything continues. */
static void ingest__that_fails(void **state)
{
    (void)state;
    for (int lasting = 0; lasting < 2; lasting++) {
        uint64_t hits = 1;
        uint64_t failures = 0;
        for (uint64_t nth = 1; hits > 0; nth++) {
            struct store store;
            begin(&store);
            store_put(&store, "a", "old");
            store_close(&store);
            struct bb_file_fault *fault = bb_file_fault_create(bb_file_memory_system(store.memory));
            store.options.file_system = bb_file_fault_system(fault);
            store_open(&store);
            store_put(&store, "b", "old");
            build_with(bb_file_memory_system(store.memory), "/data/t", "a=1 b=2 c=3", NULL);
            bb_file_fault_arm(fault, &(struct bb_file_fault_plan){.call = BB_FILE_CALL_ANY,
                                                                  .path_part = "/data",
                                                                  .nth = nth,
                                                                  .lasting = lasting});
            enum bb_status status = ingest(&store, "/data/t", NULL);
            hits = bb_file_fault_hits(fault);
            failures += status != BB_OK;
            assert_true(status == BB_OK || (hits > 0 && status == BB_IO));
            bb_file_fault_disarm(fault);
            bool is_in = status == BB_OK;
            assert_content(&store, is_in ? "a=1 b=2 c=3" : "a=old b=old");
            store_put(&store, "d", "4");
            assert_int_equal(bb_file_fault_writes_after_failure(fault), 0);
            assert_content(&store, is_in ? "a=1 b=2 c=3 d=4" : "a=old b=old d=4");
            store_close(&store);
            bb_file_fault_destroy(fault);
            store.options.file_system = bb_file_memory_system(store.memory);
            assert_int_equal(store_verify(&store).log_bytes_dropped, 0);
            store_open(&store);
            assert_content(&store, is_in ? "a=1 b=2 c=3 d=4" : "a=old b=old d=4");
            assert_ok(ingest(&store, "/data/t", NULL));
            assert_content(&store, "a=1 b=2 c=3 d=4");
            store_deinit(&store);
        }
        assert_true(failures > 20);
    }
}

/* A manifest in doubt after an earlier edit is repaired first. */
static void ingest__after_an_edit_in_doubt(void **state)
{
    (void)state;
    struct store store;
    store_init(&store);
    struct bb_file_fault *fault = bb_file_fault_create(bb_file_memory_system(store.memory));
    store.options.file_system = bb_file_fault_system(fault);
    store.options.deterministic = false; /* else the ingest's flush repairs it */
    store_open(&store);
    store_put(&store, "a", "old");
    assert_ok(bb_db_flush(store.db));
    build(&store, "/data/t", "a=1 b=2");
    /* Lasting: a compaction that is waited for is tried twice. */
    bb_file_fault_arm(
        fault, &(struct bb_file_fault_plan){
                   .call = BB_FILE_CALL_SYNC, .path_part = "MANIFEST", .nth = 1, .lasting = true});
    assert_status(bb_db_compact(store.db), BB_IO);
    assert_true(bb_file_fault_hits(fault) >= 2);
    bb_file_fault_disarm(fault);
    assert_ok(ingest(&store, "/data/t", NULL));
    assert_content(&store, "a=1 b=2");
    store_close(&store);
    bb_file_fault_destroy(fault);
    store.options.file_system = bb_file_memory_system(store.memory);
    store_open(&store);
    assert_content(&store, "a=1 b=2");
    store_deinit(&store);
}

/* ---- concurrent writers ---- */

#define KEYS 300

struct crowd {
    struct store *store;
    _Atomic bool is_over;
    _Atomic uint32_t ingested;
};

/* Each ingest sets all keys to one number, each batch to a different one. */
static void write_often(void *argument)
{
    struct crowd *crowd = argument;
    struct bb_batch *batch = NULL;
    if (bb_batch_create(&batch) != BB_OK)
        abort();
    for (uint32_t i = 0; !atomic_load(&crowd->is_over); i++) {
        char key[16];
        char value[16];
        bb_batch_reset(batch);
        snprintf(value, sizeof(value), "w%u", i);
        for (uint32_t k = 0; k < KEYS; k += 10) {
            snprintf(key, sizeof(key), "k%06u", k);
            if (bb_batch_put(batch, bb_bytes_of_text(key), bb_bytes_of_text(value)) != BB_OK)
                abort();
        }
        if (bb_db_write(crowd->store->db, NULL, batch) != BB_OK)
            abort();
        if (i % 50 == 0 && bb_db_compact(crowd->store->db) != BB_OK)
            abort();
    }
    bb_batch_destroy(batch);
}

static struct bb_buf get_at(struct bb_db *db, const struct bb_snapshot *snapshot, uint32_t k)
{
    char key[16];
    struct bb_buf value = {0};
    struct bb_get_options options = {.snapshot = snapshot};
    snprintf(key, sizeof(key), "k%06u", k);
    enum bb_status status = bb_db_get(db, &options, bb_bytes_of_text(key), &value);
    if (status != BB_OK && status != BB_NOT_FOUND)
        abort();
    return value;
}

static bool is_same(const struct bb_buf *a, const struct bb_buf *b)
{
    return bb_bytes_equal(bb_bytes_of(a->data, a->size), bb_bytes_of(b->data, b->size));
}

/* At a snapshot all keys of a batch agree, all of an ingest do, and neither changes. */
static void read_often(void *argument)
{
    struct crowd *crowd = argument;
    struct bb_db *db = crowd->store->db;
    while (!atomic_load(&crowd->is_over)) {
        struct bb_snapshot *snapshot = NULL;
        if (bb_snapshot_create(db, &snapshot) != BB_OK)
            abort();
        struct bb_buf first = get_at(db, snapshot, 0);
        struct bb_buf ingested = get_at(db, snapshot, 1);
        for (int round = 0; round < 2; round++) {
            for (uint32_t k = 0; k < KEYS; k++) {
                struct bb_buf value = get_at(db, snapshot, k);
                if (!is_same(&value, k % 10 == 0 ? &first : &ingested))
                    abort();
                bb_buf_deinit(&value);
            }
        }
        bb_buf_deinit(&first);
        bb_buf_deinit(&ingested);
        bb_snapshot_release(db, snapshot);
    }
}

static void build_number(struct store *store, const char *path, uint32_t number)
{
    char key[16];
    struct bb_table_builder *builder = NULL;
    struct bb_table_options options = {.file_system = store->options.file_system};
    assert_ok(bb_table_builder_create(path, &options, &builder));
    for (uint32_t k = 0; k < KEYS; k++) {
        char value[16];
        snprintf(key, sizeof(key), "k%06u", k);
        snprintf(value, sizeof(value), "i%u", number);
        struct bb_entry entry = {
            .key = bb_bytes_of_text(key), .kind = BB_ENTRY_PUT, .value = bb_bytes_of_text(value)};
        assert_ok(bb_table_builder_add(builder, &entry));
    }
    assert_ok(bb_table_builder_finish(builder, NULL));
    bb_table_builder_destroy(builder);
}

static void run_crowd(enum bb_compaction_style style)
{
    struct store store;
    store_init(&store);
    store.options.deterministic = false;
    store.options.compaction_style = style;
    store_open(&store);
    struct crowd crowd = {.store = &store};
    struct bb_thread writer;
    struct bb_thread reader;
    assert_ok(bb_thread_create(&writer, write_often, &crowd));
    assert_ok(bb_thread_create(&reader, read_often, &crowd));
    for (uint32_t i = 0; i < 40; i++) {
        char path[32];
        snprintf(path, sizeof(path), "/data/t%u", i);
        build_number(&store, path, i);
        assert_ok(ingest(&store, path, NULL));
        struct bb_buf value = get_at(store.db, NULL, 1);
        char expected[16];
        snprintf(expected, sizeof(expected), "i%u", i);
        assert_true(
            bb_bytes_equal(bb_bytes_of(value.data, value.size), bb_bytes_of_text(expected)));
        bb_buf_deinit(&value);
    }
    atomic_store(&crowd.is_over, true);
    bb_thread_join(&writer);
    bb_thread_join(&reader);
    assert_ok(bb_db_wait_idle(store.db));
    store_deinit(&store);
}

static void ingest__beside_writers_and_readers(void **state)
{
    (void)state;
    run_crowd(BB_COMPACTION_LEVELED);
    run_crowd(BB_COMPACTION_TIERED);
}

/* Regression: the record of an empty range stayed in the current log, below the sequence that the
 * manifest had from the tables, and the store could not be opened again. */
static void ingest__after_a_range_that_was_empty(void **state)
{
    (void)state;
    struct store store;
    begin(&store);
    store_put(&store, "a", "1");
    assert_ok(bb_db_flush(store.db));
    assert_ok(bb_db_delete_range(store.db, NULL, bb_bytes_of_text("m"), bb_bytes_of_text("m")));
    build(&store, "/data/t", "b=2");
    assert_ok(ingest(&store, "/data/t", NULL));
    store_put(&store, "c", "3");
    store_reopen(&store);
    assert_content(&store, "a=1 b=2 c=3");
    store_deinit(&store);
}

int main(void)
{
    const struct CMUnitTest threaded[] = {
        cmocka_unit_test(ingest__after_an_edit_in_doubt),
        cmocka_unit_test(ingest__beside_writers_and_readers),
    };
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ingest__is_one_batch_at_the_end),
        cmocka_unit_test(ingest__after_a_range_that_was_empty),
        cmocka_unit_test(ingest__is_there_after_any_end),
        cmocka_unit_test(ingest__of_several_the_last_one_wins),
        cmocka_unit_test(ingest__of_several_versions_the_newest_counts),
        cmocka_unit_test(ingest__goes_as_deep_as_it_may),
        cmocka_unit_test(ingest__of_much_data),
        cmocka_unit_test(ingest__refuses_what_is_no_table_of_its_order),
        cmocka_unit_test(ingest__over_a_deleted_range),
        cmocka_unit_test(ingest__of_a_damaged_table),
        cmocka_unit_test(ingest__that_fails),
    };
    int failed = cmocka_run_group_tests(threaded, NULL, NULL);
    if (!bb_test_threads_only())
        failed += cmocka_run_group_tests(tests, NULL, NULL);
    return failed;
}
