/* Goal: for any event while tables are copied, an ingest is complete, or has no effect and leaves
 * no file; readers of an earlier state do not see it; it keeps the limit on writing. Method: an
 * input that makes about twenty tables; the hook of the file system acts in the middle of them.
 * Failing calls: ingest_test. Power failures: tests/crash. */
#include "tests/support/store.h"

#include <sched.h>

#include "base/sync.h"
#include "kv/store/store.h"
#include "tests/support/rng.h"
#include "tests/support/step.h"
#include "tests/support/table_gate.h"

#define INPUT "/data/input"
#define KEYS  6000 /* more than are copied between two looks at whether the store is closed */
#define STEP  100  /* of every hundred keys one is in the store before */
#define OLD   0    /* as a version: these */
#define NONE  UINT64_MAX

static void print_key(char *key, size_t size, uint32_t number)
{
    snprintf(key, size, "k%06u", number);
}

/* 64 incompressible bytes. */
static struct bb_bytes value_of(uint32_t number, uint64_t version, uint8_t value[64])
{
    struct bb_rng rng;
    bb_rng_init(&rng, version * KEYS + number);
    bb_rng_bytes(&rng, value, 64);
    return bb_bytes_of(value, 64);
}

static void build(struct store *store, const char *path, uint64_t version)
{
    char key[16];
    uint8_t value[64];
    struct bb_table_builder *builder = NULL;
    struct bb_table_options options = {.file_system = bb_file_memory_system(store->memory)};
    assert_ok(bb_table_builder_create(path, &options, &builder));
    for (uint32_t i = 0; i < KEYS; i++) {
        print_key(key, sizeof(key), i);
        struct bb_entry entry = {.key = bb_bytes_of_text(key),
                                 .kind = BB_ENTRY_PUT,
                                 .value = value_of(i, version, value)};
        assert_ok(bb_table_builder_add(builder, &entry));
    }
    assert_ok(bb_table_builder_finish(builder, NULL));
    bb_table_builder_destroy(builder);
}

/* version: OLD: the input makes one table of level 0; NONE: it makes about twenty. */
static void begin(struct store *store, uint64_t version)
{
    char key[16];
    store_init(store);
    store->options.compression = BB_COMPRESSION_NONE;
    store_open(store);
    for (uint32_t i = 0; i < KEYS && version == OLD; i += STEP) {
        print_key(key, sizeof(key), i);
        store_put(store, key, "old");
    }
    assert_ok(bb_db_compact(store->db));
    build(store, INPUT, 1);
}

static enum bb_status ingest(struct bb_db *db)
{
    const char *path = INPUT;
    return bb_db_ingest(db, &path, 1, NULL);
}

static void check_iter(struct bb_db_iter *iter, uint64_t version)
{
    char key[16];
    uint8_t value[64];
    for (uint32_t i = 0; i < KEYS && version != NONE; i += version == OLD ? STEP : 1) {
        print_key(key, sizeof(key), i);
        struct bb_bytes expected =
            version == OLD ? bb_bytes_of_text("old") : value_of(i, version, value);
        assert_true(bb_db_iter_valid(iter));
        assert_true(bb_bytes_equal(bb_db_iter_key(iter), bb_bytes_of_text(key)));
        assert_true(bb_bytes_equal(bb_db_iter_value(iter), expected));
        bb_db_iter_next(iter);
    }
    assert_false(bb_db_iter_valid(iter));
    assert_ok(bb_db_iter_status(iter));
}

static void check_at(struct bb_db *db, const struct bb_snapshot *snapshot, uint64_t version)
{
    struct bb_get_options options = {.snapshot = snapshot};
    struct bb_db_iter *iter = NULL;
    assert_ok(bb_db_iter_create(db, &options, &iter));
    bb_db_iter_seek_first(iter);
    check_iter(iter, version);
    bb_db_iter_destroy(iter);
    enum bb_status status = bb_db_get(db, &options, bb_bytes_of_text("k000001"), NULL);
    assert_status(status, version == OLD || version == NONE ? BB_NOT_FOUND : BB_OK);
}

/* Now and at the next opening; no unneeded file remains. */
static void check(struct store *store, uint64_t version)
{
    check_at(store->db, NULL, version);
    store_close(store);
    assert_int_equal(store_verify(store).orphans, 0);
    store_open(store);
    check_at(store->db, NULL, version);
}

/* ---- readers ---- */

static void ingest_trouble__readers_of_before_see_nothing(void **state)
{
    (void)state;
    struct store store;
    struct bb_db_iter *fresh = NULL;
    struct bb_db_iter *midway = NULL;
    begin(&store, OLD);
    struct bb_snapshot *before = store_snapshot(&store);
    assert_ok(bb_db_iter_create(store.db, NULL, &fresh));
    assert_ok(bb_db_iter_create(store.db, NULL, &midway));
    bb_db_iter_seek_last(midway);
    assert_ok(ingest(store.db));
    for (int is_compacted = 0; is_compacted < 2; is_compacted++) {
        bb_db_iter_seek_first(fresh);
        check_iter(fresh, OLD);
        bb_db_iter_prev(midway);
        bb_db_iter_seek_first(midway);
        check_iter(midway, OLD);
        bb_db_iter_seek_last(midway);
        check_at(store.db, before, OLD);
        check_at(store.db, NULL, 1);
        assert_ok(bb_db_compact(store.db));
    }
    bb_db_iter_destroy(fresh);
    bb_db_iter_destroy(midway);
    bb_snapshot_release(store.db, before);
    check(&store, 1);
    store_deinit(&store);
}

/* ---- closing ---- */

struct call {
    struct bb_thread thread;
    struct bb_db *db;
    enum bb_status status;
};

static void ingest_in_thread(void *argument)
{
    struct call *call = argument;
    call->status = ingest(call->db);
}

static void close_in_thread(void *argument)
{
    struct call *call = argument;
    call->status = bb_db_close(call->db);
}

static void wait_for_closing(struct bb_db *db)
{
    bool is_closing = false;
    for (; !is_closing; (void)sched_yield()) {
        bb_mutex_lock(&db->mutex);
        is_closing = db->is_closing;
        bb_mutex_unlock(&db->mutex);
    }
}

/* Regression: all of the input was copied before the store was closed. */
static void ingest_trouble__closing_gives_it_up(void **state)
{
    (void)state;
    struct store store;
    struct table_gate gate;
    begin(&store, NONE);
    store_close(&store);
    store.options.deterministic = false;
    store_open(&store);
    table_gate_init(&gate, store.memory);
    struct call ingesting = {.db = store.db};
    struct call closing = {.db = store.db};
    assert_ok(bb_thread_create(&ingesting.thread, ingest_in_thread, &ingesting));
    table_gate_wait(&gate);
    assert_ok(bb_thread_create(&closing.thread, close_in_thread, &closing));
    wait_for_closing(store.db);
    uint64_t calls = bb_file_memory_calls(store.memory);
    table_gate_open(&gate);
    bb_thread_join(&ingesting.thread);
    bb_thread_join(&closing.thread);
    assert_int_equal(ingesting.status, BB_BUSY);
    assert_int_equal(closing.status, BB_OK);
    assert_true(bb_file_memory_calls(store.memory) > calls);
    table_gate_deinit(&gate);
    store.db = NULL;
    assert_int_equal(store_verify(&store).orphans, 0);
    store_open(&store);
    check_at(store.db, NULL, NONE);
    store_deinit(&store);
}

/* ---- the limit ---- */

#define LIMIT  (UINT64_C(128) << 10)
#define APPEND (UINT64_C(256) << 10) /* maximum size of one write to a table */

struct meter {
    uint64_t first_time;
    uint64_t first_bytes;
    uint64_t appends;
    double excess; /* bytes beyond the limit, at most */
};

static enum bb_status measure(void *context, struct bb_file_memory *memory, uint64_t number,
                              enum bb_file_call call, const char *path)
{
    struct meter *meter = context;
    struct bb_file_system *fs = bb_file_memory_system(memory);
    struct bb_file_counters counters = {.reads = 0};
    (void)number;
    if (call != BB_FILE_CALL_APPEND || strstr(path, ".bbt") == NULL)
        return BB_OK;
    fs->ops->counters(fs, &counters);
    if (meter->appends++ == 0) {
        meter->first_time = fs->ops->now(fs);
        meter->first_bytes = counters.append_bytes;
    }
    double seconds = (double)(fs->ops->now(fs) - meter->first_time) * 1e-9;
    double excess = (double)(counters.append_bytes - meter->first_bytes) - seconds * (double)LIMIT;
    meter->excess = excess > meter->excess ? excess : meter->excess;
    return BB_OK;
}

/* Only waiting advances the clock. */
static void ingest_trouble__writing_stays_below_its_limit(void **state)
{
    (void)state;
    struct store store;
    struct meter meter = {.appends = 0};
    begin(&store, NONE);
    store_close(&store);
    store.options.background_bytes_per_second = LIMIT;
    store_open(&store);
    bb_file_memory_set_hook(store.memory, measure, &meter);
    assert_ok(ingest(store.db));
    bb_file_memory_set_hook(store.memory, NULL, NULL);
    assert_true(meter.appends > 10);
    assert_true(meter.excess <= (double)APPEND);
    check(&store, 1);
    store_deinit(&store);
}

/* ---- inputs ---- */

/* Some places, including the last block of data: the input is refused, or the damage has no
 * effect. */
static void ingest_trouble__damaged_somewhere(void **state)
{
    (void)state;
    struct store store;
    size_t size = 0;
    uint32_t refused = 0;
    begin(&store, NONE);
    uint8_t *bytes = bb_file_memory_bytes(store.memory, INPUT, &size);
    for (size_t part = 1; part <= 24; part++) {
        size_t place = size - part * size / 50;
        bytes[place] ^= 0x10;
        enum bb_status status = ingest(store.db);
        bytes[place] ^= 0x10;
        assert_true(status == BB_OK || status == BB_CORRUPT);
        if (status == BB_OK)
            break; /* of filters: the store has it now */
        check_at(store.db, NULL, NONE);
        refused++;
    }
    assert_true(refused > 10);
    store_close(&store);
    assert_int_equal(store_verify(&store).orphans, 0);
    store_deinit(&store);
}

enum change { OVERWRITTEN, REPLACED, REMOVED, CHANGES };

struct changing {
    enum change change;
    uint32_t creates;
};

static void change_input(struct bb_file_memory *memory, enum change change)
{
    struct bb_file_system *fs = bb_file_memory_system(memory);
    size_t size = 0;
    uint8_t *bytes = bb_file_memory_bytes(memory, INPUT, &size);
    if (change == OVERWRITTEN)
        bytes[size * 3 / 4] ^= 1;
    else if (change == REPLACED)
        assert_ok(fs->ops->rename(fs, "/data/other", INPUT));
    else
        assert_ok(fs->ops->remove(fs, INPUT));
}

/* When the third table is begun. */
static enum bb_status change_on_call(void *context, struct bb_file_memory *memory, uint64_t number,
                                     enum bb_file_call call, const char *path)
{
    struct changing *changing = context;
    (void)number;
    if (call == BB_FILE_CALL_CREATE && strstr(path, ".bbt") != NULL && ++changing->creates == 3)
        change_input(memory, changing->change);
    return BB_OK;
}

struct flushing {
    struct bb_db *db;
    uint32_t creates;
    uint32_t renames; /* of tables: those for level 0 get their numbers late */
};

/* When the third table is begun, a table comes to level 0 that spans all of them. */
static enum bb_status flush_on_call(void *context, struct bb_file_memory *memory, uint64_t number,
                                    enum bb_file_call call, const char *path)
{
    struct flushing *flushing = context;
    char key[16];
    (void)memory;
    (void)number;
    bool is_table = strstr(path, ".bbt") != NULL;
    flushing->renames += call == BB_FILE_CALL_RENAME && is_table;
    if (call != BB_FILE_CALL_CREATE || !is_table || ++flushing->creates != 3)
        return BB_OK;
    for (uint32_t i = 0; i < KEYS; i += KEYS - 1) {
        print_key(key, sizeof(key), i);
        assert_ok(bb_db_put(flushing->db, NULL, bb_bytes_of_text(key), (struct bb_bytes){0}));
    }
    return bb_db_flush(flushing->db);
}

/* Regression: the tables were cut for the deepest level, and all of the about twenty went to level
 * 0 as separate runs: writes stopped until they were merged. */
static void ingest_trouble__one_run_where_many_were_planned(void **state)
{
    (void)state;
    struct store store;
    begin(&store, NONE);
    struct flushing flushing = {.db = store.db};
    bb_file_memory_set_hook(store.memory, flush_on_call, &flushing);
    assert_ok(ingest(store.db));
    bb_file_memory_set_hook(store.memory, NULL, NULL);
    assert_true(flushing.creates > 10);
    assert_int_equal(flushing.renames, 1);
    check(&store, 1);
    store_deinit(&store);
}

/* Under another name or none it is the same file, as long as it is open. */
static void ingest_trouble__an_input_that_changes(void **state)
{
    (void)state;
    for (enum change change = 0; change < CHANGES; change++) {
        struct store store;
        struct changing changing = {.change = change};
        begin(&store, NONE);
        build(&store, "/data/other", 2);
        bb_file_memory_set_hook(store.memory, change_on_call, &changing);
        enum bb_status status = ingest(store.db);
        bb_file_memory_set_hook(store.memory, NULL, NULL);
        assert_true(changing.creates >= 3);
        assert_int_equal(status, change == OVERWRITTEN ? BB_CORRUPT : BB_OK);
        check(&store, status == BB_OK ? 1 : NONE);
        store_deinit(&store);
    }
}

/* A table of the store itself restores values overwritten since. */
static void ingest_trouble__a_table_of_its_own(void **state)
{
    (void)state;
    struct store store;
    struct bb_db_table_list list = {0};
    store_init(&store);
    store_open(&store);
    store_put(&store, "a", "1");
    assert_ok(bb_db_flush(store.db));
    assert_ok(bb_db_tables(store.db, &list));
    assert_int_equal(list.count, 1);
    store_put(&store, "a", "2");
    store_put(&store, "b", "2");
    const char *paths[] = {list.tables[0].path, list.tables[0].path};
    assert_ok(bb_db_ingest(store.db, paths, 2, NULL));
    assert_content(&store, "a=1 b=2");
    assert_ok(bb_db_compact(store.db));
    assert_content(&store, "a=1 b=2");
    bb_db_table_list_deinit(&list);
    store_deinit(&store);
}

/* ---- a full disk ---- */

static void ingest_trouble__on_a_full_disk(void **state)
{
    (void)state;
    struct store store;
    uint32_t refused = 0;
    size_t size = 0;
    begin(&store, NONE);
    (void)bb_file_memory_bytes(store.memory, INPUT, &size);
    enum bb_status status = BB_NO_SPACE;
    for (uint64_t space = size; status != BB_OK; space += 40009) {
        bb_file_memory_set_space(store.memory, space);
        status = ingest(store.db);
        bb_file_memory_set_space(store.memory, 0);
        assert_true(status == BB_OK || status == BB_NO_SPACE);
        check_at(store.db, NULL, status == BB_OK ? 1 : NONE);
        refused += status != BB_OK;
    }
    assert_true(refused > 5);
    check(&store, 1);
    store_deinit(&store);
}

int main(void)
{
    const struct CMUnitTest threaded[] = {
        cmocka_unit_test(ingest_trouble__closing_gives_it_up),
    };
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ingest_trouble__readers_of_before_see_nothing),
        cmocka_unit_test(ingest_trouble__writing_stays_below_its_limit),
        cmocka_unit_test(ingest_trouble__damaged_somewhere),
        cmocka_unit_test(ingest_trouble__an_input_that_changes),
        cmocka_unit_test(ingest_trouble__one_run_where_many_were_planned),
        cmocka_unit_test(ingest_trouble__a_table_of_its_own),
        cmocka_unit_test(ingest_trouble__on_a_full_disk),
    };
    int failed = cmocka_run_group_tests(threaded, NULL, NULL);
    if (!bb_test_threads_only())
        failed += cmocka_run_group_tests(tests, NULL, NULL);
    return failed;
}
