/* Goal: flushes defer index files, so that loaded data is indexed once: compactions build them, and
 * the store builds the rest later, after the series of flushes, or when a call waits or selections
 * use indexes. Selections have the same results in the meantime; closing does not wait for the
 * builds; failures are reported, block nothing and are retried. Method: stores of rows with all
 * kinds of indexes on a file system in memory, whose created files are counted; calls of the file
 * system that fail; a store with threads whose clock is advanced. */
#include "tests/support/indexed_store.h"

#include <sched.h>
#include <stdatomic.h>

#include "base/status.h"
#include "base/sync.h"
#include "kv/store/pace.h"
#include "kv/store/store.h"

static void open_indexed(struct store *store)
{
    store_init(store);
    store->options.level0_run_count_compact = 3;
    store->options.level0_run_count_busy = 6;
    store_open(store);
    indexed_create_attributes(store);
    indexed_create_indexes(store);
}

static void flush_rows(struct store *store, uint64_t first, uint64_t round)
{
    indexed_put_rows(store, first, 100, round);
    assert_ok(bb_db_flush(store->db));
}

static size_t index_files(struct store *store)
{
    return indexed_count_files(bb_file_memory_system(store->memory), STORE_PATH, ".bbi");
}

static size_t tables(struct store *store)
{
    return indexed_count_files(bb_file_memory_system(store->memory), STORE_PATH, ".bbt");
}

static void assert_listed(struct bb_db *db, uint64_t built, uint64_t pending)
{
    struct bb_db_index_list list = {0};
    assert_ok(bb_db_index_list(db, &list));
    assert_true(list.count > 0);
    for (size_t i = 0; i < list.count; i++) {
        assert_int_equal(list.indexes[i].tables_built, built);
        assert_int_equal(list.indexes[i].tables_pending, pending);
    }
    bb_db_index_list_deinit(&list);
}

static void deferred_indexes__wait_for_somebody_who_waits(void **state)
{
    (void)state;
    struct store store;
    struct bb_db *reader = NULL;
    open_indexed(&store);
    flush_rows(&store, 0, 1);
    flush_rows(&store, 50, 2);
    assert_int_equal(index_files(&store), 0);
    assert_listed(store.db, 0, 2);
    struct bb_db_options options = store.options;
    options.create_if_missing = false;
    options.read_only = true;
    assert_ok(bb_db_open(STORE_PATH, &options, &reader));
    assert_listed(reader, 0, 2);
    indexed_check(reader);
    assert_ok(bb_db_wait_idle(store.db));
    assert_int_equal(index_files(&store), 2);
    assert_listed(store.db, 2, 0);
    indexed_check_all_built(store.db);
    assert_ok(bb_db_refresh(reader));
    indexed_check_all_built(reader);
    assert_ok(bb_db_close(reader));
    store_deinit(&store);
}

/* The store does not build indexes for tables older than the index, except in level 0. */
static void deferred_indexes__are_those_of_level_0(void **state)
{
    (void)state;
    struct store store;
    store_init(&store);
    store_open(&store);
    indexed_create_attributes(&store);
    indexed_put_rows(&store, 0, 100, 1);
    assert_ok(bb_db_compact(store.db));
    indexed_create_indexes(&store);
    assert_ok(bb_db_wait_idle(store.db));
    assert_listed(store.db, 0, 0);
    flush_rows(&store, 50, 2);
    assert_listed(store.db, 0, 1);
    assert_ok(bb_db_wait_idle(store.db));
    assert_listed(store.db, 1, 0);
    store_deinit(&store);
}

/* The store builds index files of all levels. */
static void deferred_indexes__of_compactions(void **state)
{
    (void)state;
    struct store store;
    store_init(&store);
    store.options.defer_index_files = true;
    store_open(&store);
    indexed_create_attributes(&store);
    indexed_create_indexes(&store);
    for (uint64_t i = 0; i < 5; i++)
        flush_rows(&store, 60 * i, i);
    assert_ok(bb_db_compact(store.db));
    assert_true(bb_levels_table_count(store.db->view->levels, 0) == 0 && tables(&store) > 0);
    assert_int_equal(index_files(&store), 0);
    assert_listed(store.db, 0, tables(&store));
    indexed_check(store.db);
    assert_ok(bb_db_wait_idle(store.db));
    assert_listed(store.db, tables(&store), 0);
    indexed_check_all_built(store.db);
    flush_rows(&store, 10, 9);
    assert_ok(bb_db_compact(store.db));
    assert_int_equal(index_files(&store), 0);
    store.options.defer_index_files = false;
    store_reopen(&store);
    assert_ok(bb_db_wait_idle(store.db));
    assert_listed(store.db, 0, 0);
    assert_ok(bb_db_index_materialize(store.db, NULL));
    assert_listed(store.db, tables(&store), 0);
    store_deinit(&store);
}

static enum bb_status count_created(void *context, struct bb_file_memory *memory, uint64_t number,
                                    enum bb_file_call call, const char *path)
{
    (void)memory;
    (void)number;
    *(uint64_t *)context += call == BB_FILE_CALL_CREATE && strstr(path, ".bbi") != NULL;
    return BB_OK;
}

/* Five flushes gather in level 0, the sixth has them merged. */
static void deferred_indexes__are_built_once_in_a_load(void **state)
{
    (void)state;
    struct store store;
    uint64_t created = 0;
    open_indexed(&store);
    bb_file_memory_set_hook(store.memory, count_created, &created);
    for (uint64_t i = 0; i < 6; i++)
        flush_rows(&store, 100 * i, 1);
    assert_int_equal(created, tables(&store));
    assert_int_equal(created, index_files(&store));
    assert_ok(bb_db_wait_idle(store.db));
    assert_int_equal(created, index_files(&store));
    bb_file_memory_set_hook(store.memory, NULL, NULL);
    indexed_check_all_built(store.db);
    store_deinit(&store);
}

static void deferred_indexes__are_wanted_by_selections(void **state)
{
    (void)state;
    struct store store;
    open_indexed(&store);
    flush_rows(&store, 0, 1);
    /* Neither uses an index. */
    (void)indexed_count(store.db, "status = 200", true);
    (void)indexed_count(store.db, NULL, false);
    flush_rows(&store, 100, 1);
    assert_listed(store.db, 0, 2);
    (void)indexed_count(store.db, "status = 200", false);
    /* The flush builds its file, and the worker builds the files of the tables before it. */
    flush_rows(&store, 200, 1);
    assert_listed(store.db, 3, 0);
    flush_rows(&store, 300, 1);
    assert_listed(store.db, 3, 1);
    store_deinit(&store);
}

static void deferred_indexes__outlive_a_close(void **state)
{
    (void)state;
    struct store store;
    open_indexed(&store);
    flush_rows(&store, 0, 1);
    store_reopen(&store);
    assert_listed(store.db, 0, 1);
    assert_ok(bb_db_wait_idle(store.db));
    assert_listed(store.db, 1, 0);
    store_deinit(&store);
}

/* ---- failures ---- */

struct refusal {
    enum bb_file_call call;
    const char *part; /* of the path */
    enum bb_status status;
    uint64_t met;
};

static enum bb_status refuse(void *context, struct bb_file_memory *memory, uint64_t number,
                             enum bb_file_call call, const char *path)
{
    struct refusal *refusal = context;
    (void)memory;
    (void)number;
    if (call != refusal->call || strstr(path, refusal->part) == NULL)
        return BB_OK;
    refusal->met++;
    return bb_fail(refusal->status, "%s of %s is refused", bb_file_call_name(call), path);
}

static void deferred_indexes__that_fail_are_told_and_made_up_for(void **state)
{
    static const struct refusal refusals[] = {
        {.call = BB_FILE_CALL_CREATE, .part = ".bbi", .status = BB_IO},
        {.call = BB_FILE_CALL_APPEND, .part = ".bbi", .status = BB_NO_SPACE},
        {.call = BB_FILE_CALL_SYNC, .part = ".bbi", .status = BB_IO},
        {.call = BB_FILE_CALL_SYNC_DIRECTORY, .part = STORE_PATH, .status = BB_IO},
        {.call = BB_FILE_CALL_SYNC, .part = "MANIFEST", .status = BB_IO},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        struct store store;
        struct refusal refusal = refusals[i];
        open_indexed(&store);
        flush_rows(&store, 0, 1);
        bb_file_memory_set_hook(store.memory, refuse, &refusal);
        assert_status(bb_db_wait_idle(store.db), refusal.status);
        bb_file_memory_set_hook(store.memory, NULL, NULL);
        assert_true(refusal.met > 0);
        assert_listed(store.db, 0, 1);
        indexed_check(store.db);
        flush_rows(&store, 50, 2);
        assert_ok(bb_db_wait_idle(store.db));
        assert_int_equal(index_files(&store), tables(&store));
        indexed_check_all_built(store.db);
        store_deinit(&store);
    }
}

/* Flushes and compactions of level 0 continue without it. */
static void deferred_indexes__that_fail_refuse_no_write(void **state)
{
    (void)state;
    struct store store;
    struct refusal refusal = {.call = BB_FILE_CALL_CREATE, .part = ".bbi", .status = BB_IO};
    open_indexed(&store);
    bb_file_memory_set_hook(store.memory, refuse, &refusal);
    for (uint64_t i = 0; i < 5; i++)
        flush_rows(&store, 100 * i, 1);
    assert_int_equal(refusal.met, 0);
    bb_file_memory_set_hook(store.memory, NULL, NULL);
    store_deinit(&store);
}

static void count_damage(void *context, const struct bb_event *event)
{
    *(uint64_t *)context += event->kind == BB_EVENT_DAMAGE;
}

/* Regression: the worker built the oldest table again and again, failed each time, and never
 * reached the others. */
static void deferred_indexes__pass_over_a_damaged_table(void **state)
{
    (void)state;
    struct store store;
    char path[300];
    size_t size = 0;
    uint64_t damaged = 0;
    store_init(&store);
    store.options.level0_run_count_compact = 4;
    store.options.on_event = count_damage;
    store.options.event_context = &damaged;
    store_open(&store);
    indexed_create_attributes(&store);
    indexed_create_indexes(&store);
    flush_rows(&store, 0, 1);
    flush_rows(&store, 200, 2);
    indexed_path(&store, ".bbt", 0, path);
    bb_file_memory_bytes(store.memory, path, &size)[40] ^= 1;
    assert_ok(bb_db_wait_idle(store.db));
    assert_ok(bb_db_wait_idle(store.db));
    assert_int_equal(index_files(&store), 1);
    assert_int_equal(damaged, 1);
    assert_listed(store.db, 1, 1);
    flush_rows(&store, 400, 3);
    assert_ok(bb_db_wait_idle(store.db));
    assert_listed(store.db, 2, 1);
    store_close(&store);
    bb_file_memory_destroy(store.memory);
}

/* ---- threads ---- */

static uint64_t pending(struct bb_db *db)
{
    struct bb_db_index_list list = {0};
    assert_ok(bb_db_index_list(db, &list));
    uint64_t count = list.indexes[0].tables_pending;
    bb_db_index_list_deinit(&list);
    return count;
}

/* The worker has all of it built. */
static void await_built(struct store *store)
{
    bb_mutex_lock(&store->db->mutex);
    for (;;) {
        bb_mutex_unlock(&store->db->mutex);
        uint64_t left = pending(store->db);
        bb_mutex_lock(&store->db->mutex);
        if (left == 0)
            break;
        (void)bb_condvar_wait_for(&store->db->work_is_done, &store->db->mutex, 10000000);
    }
    bb_mutex_unlock(&store->db->mutex);
}

static void open_threaded(struct store *store)
{
    store_init(store);
    store->options.deterministic = false;
    store->options.write_buffer_bytes = 1 << 20; /* only the test flushes */
    store_open(store);
    indexed_create_attributes(store);
    indexed_create_indexes(store);
}

static void deferred_indexes__are_built_when_flushes_cease(void **state)
{
    (void)state;
    struct store store;
    open_threaded(&store);
    flush_rows(&store, 0, 1);
    flush_rows(&store, 50, 2);
    bb_file_memory_advance(store.memory, 2 * BB_PACE_NANOSECONDS);
    bb_mutex_lock(&store.db->mutex);
    bb_condvar_signal(&store.db->workers[BB_WORK_COMPACTION].is_due);
    bb_mutex_unlock(&store.db->mutex);
    await_built(&store);
    indexed_check_all_built(store.db);
    store_deinit(&store);
}

static void deferred_indexes__are_built_after_a_selection(void **state)
{
    (void)state;
    struct store store;
    open_threaded(&store);
    flush_rows(&store, 0, 1);
    flush_rows(&store, 50, 2);
    (void)indexed_count(store.db, "status = 200", false);
    await_built(&store);
    indexed_check_all_built(store.db);
    store_deinit(&store);
}

/* Closing at any moment of the worker's build ends without an error, and leaves no files. */
static void deferred_indexes__do_not_keep_a_store_open(void **state)
{
    (void)state;
    struct store store;
    open_threaded(&store);
    for (uint64_t i = 0; i < 20; i++) {
        flush_rows(&store, 100 * i, i);
        (void)indexed_count(store.db, "status = 200", false);
        store_close(&store);
        struct bb_db_verify_report report = store_verify(&store);
        assert_int_equal(report.orphans, 0);
        store_open(&store);
    }
    assert_ok(bb_db_wait_idle(store.db));
    assert_int_equal(pending(store.db), 0);
    store_deinit(&store);
}

/* The disk is full for a flush as long as the worker's index file is there. */
struct contest {
    struct bb_db *db;
    char path[300];              /* of the worker's file, the first one */
    _Atomic bool has_index_file; /* the worker has created it */
    _Atomic bool is_synced;
    _Atomic bool is_removed;
    uint64_t refused;
};

static bool merges_yield(struct bb_db *db)
{
    bb_mutex_lock(&db->mutex);
    bool yields = db->yield_count > 0;
    bb_mutex_unlock(&db->mutex);
    return yields;
}

/* The build begins, and reads its table once the flush waits for it. */
static enum bb_status contend(void *context, struct bb_file_memory *memory, uint64_t number,
                              enum bb_file_call call, const char *path)
{
    struct contest *contest = context;
    (void)memory;
    (void)number;
    if (strstr(path, ".bbi") != NULL && call == BB_FILE_CALL_CREATE && !contest->has_index_file) {
        snprintf(contest->path, sizeof(contest->path), "%s", path);
        contest->has_index_file = true;
        while (!merges_yield(contest->db))
            (void)sched_yield();
    }
    if (contest->has_index_file && strcmp(path, contest->path) == 0) {
        contest->is_synced |= call == BB_FILE_CALL_SYNC;
        contest->is_removed |= call == BB_FILE_CALL_REMOVE;
    }
    if (strstr(path, ".bbt") == NULL || call != BB_FILE_CALL_APPEND || !contest->has_index_file ||
        contest->is_removed)
        return BB_OK;
    contest->refused++;
    return bb_fail(BB_NO_SPACE, "%s: the disk is full", path);
}

/* Regression: a flush without space waited for the whole build of an index file, which went on to
 * take the space. */
static void deferred_indexes__yield_to_a_flush_without_space(void **state)
{
    (void)state;
    struct store store;
    open_threaded(&store);
    indexed_put_rows(&store, 0, 1500, 1);
    assert_ok(bb_db_flush(store.db));
    struct contest contest = {.db = store.db};
    bb_file_memory_set_hook(store.memory, contend, &contest);
    (void)indexed_count(store.db, "status = 200", false);
    bb_mutex_lock(&store.db->mutex);
    bb_condvar_signal(&store.db->workers[BB_WORK_COMPACTION].is_due);
    bb_mutex_unlock(&store.db->mutex);
    while (!contest.has_index_file)
        (void)sched_yield();
    indexed_put_rows(&store, 1500, 10, 1);
    assert_ok(bb_db_flush(store.db));
    assert_int_equal(contest.refused, 1);
    assert_true(contest.is_removed);
    assert_false(contest.is_synced);
    await_built(&store);
    bb_file_memory_set_hook(store.memory, NULL, NULL);
    indexed_check_all_built(store.db);
    store_deinit(&store);
}

/* Holds a compaction or an ingest at its first call of a kind. */
struct held_compaction {
    struct store *store;
    enum bb_file_call call;
    const char *part;       /* of the path */
    char input[64];         /* of an ingest */
    _Atomic bool is_there;  /* it has come */
    _Atomic bool may_go_on; /* from there */
    struct bb_thread thread;
    enum bb_status status;
};

static enum bb_status hold_compaction(void *context, struct bb_file_memory *memory, uint64_t number,
                                      enum bb_file_call call, const char *path)
{
    struct held_compaction *held = context;
    (void)memory;
    (void)number;
    if (held->is_there || call != held->call || strstr(path, held->part) == NULL)
        return BB_OK;
    held->is_there = true;
    while (!held->may_go_on)
        (void)sched_yield();
    return BB_OK;
}

static void compact_in_thread(void *argument)
{
    struct held_compaction *held = argument;
    held->status = bb_db_compact(held->store->db);
}

/* While the compaction is held, indexes are created and, with is_built, built for its inputs. */
static void create_during_compaction(struct held_compaction *held, bool is_built)
{
    struct store store;
    store_init(&store);
    store.options.deterministic = false;
    store_open(&store);
    indexed_create_attributes(&store);
    flush_rows(&store, 0, 1);
    indexed_put_rows(&store, 50, 800, 2);
    assert_ok(bb_db_flush(store.db));
    held->store = &store;
    bb_file_memory_set_hook(store.memory, hold_compaction, held);
    assert_ok(bb_thread_create(&held->thread, compact_in_thread, held));
    while (!held->is_there)
        (void)sched_yield();
    indexed_create_indexes(&store);
    if (is_built)
        assert_ok(bb_db_index_materialize(store.db, NULL));
    held->may_go_on = true;
    bb_thread_join(&held->thread);
    assert_ok(held->status);
    bb_file_memory_set_hook(store.memory, NULL, NULL);
    assert_true(bb_levels_table_count(store.db->view->levels, 0) == 0);
    indexed_check_all_built(store.db);
    store_deinit(&store);
}

/* Regression: the compaction ended after the indexes of its inputs were built, and its outputs had
 * none until the next call of bb_db_index_materialize. */
static void deferred_indexes__created_during_a_compaction_are_in_its_outputs(void **state)
{
    static const struct held_compaction moments[] = {
        {.call = BB_FILE_CALL_CREATE, .part = ".bbt"},
        {.call = BB_FILE_CALL_APPEND, .part = ".bbt"},
        {.call = BB_FILE_CALL_SYNC, .part = ".bbt"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(moments) / sizeof(moments[0]); i++) {
        for (int is_built = 0; is_built < 2; is_built++) {
            struct held_compaction held = moments[i];
            create_during_compaction(&held, is_built != 0);
        }
    }
}

static void ingest_in_thread(void *argument)
{
    struct held_compaction *held = argument;
    const char *path = held->input;
    held->status = bb_db_ingest(held->store->db, &path, 1, NULL);
}

/* A table of another store, which is closed. */
static void make_input(struct store *store, char ret_path[64])
{
    struct store other = *store;
    struct bb_db_table_list list;
    assert_ok(bb_db_open("/data/other", &store->options, &other.db));
    indexed_put_rows(&other, 1000, 100, 3);
    assert_ok(bb_db_flush(other.db));
    assert_ok(bb_db_tables(other.db, &list));
    assert_int_equal(list.count, 1);
    snprintf(ret_path, 64, "%s", list.tables[0].path);
    assert_ok(bb_db_close(other.db));
    bb_db_table_list_deinit(&list);
}

/* Regression: an ingest that began before an index was created and ended after it was built left
 * tables without it until the next call of bb_db_index_materialize. */
static void deferred_indexes__created_during_an_ingest_are_in_its_tables(void **state)
{
    static const enum bb_file_call moments[] = {BB_FILE_CALL_CREATE, BB_FILE_CALL_SYNC};
    (void)state;
    for (size_t i = 0; i < sizeof(moments) / sizeof(moments[0]); i++) {
        struct store store;
        struct held_compaction held = {.store = &store, .call = moments[i], .part = ".bbt"};
        store_init(&store);
        store.options.deterministic = false;
        make_input(&store, held.input);
        store_open(&store);
        indexed_create_attributes(&store);
        flush_rows(&store, 0, 1);
        bb_file_memory_set_hook(store.memory, hold_compaction, &held);
        assert_ok(bb_thread_create(&held.thread, ingest_in_thread, &held));
        while (!held.is_there)
            (void)sched_yield();
        indexed_create_indexes(&store);
        assert_ok(bb_db_index_materialize(store.db, NULL));
        held.may_go_on = true;
        bb_thread_join(&held.thread);
        assert_ok(held.status);
        bb_file_memory_set_hook(store.memory, NULL, NULL);
        indexed_check_all_built(store.db);
        store_deinit(&store);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(deferred_indexes__wait_for_somebody_who_waits),
        cmocka_unit_test(deferred_indexes__are_those_of_level_0),
        cmocka_unit_test(deferred_indexes__of_compactions),
        cmocka_unit_test(deferred_indexes__are_built_once_in_a_load),
        cmocka_unit_test(deferred_indexes__are_wanted_by_selections),
        cmocka_unit_test(deferred_indexes__outlive_a_close),
        cmocka_unit_test(deferred_indexes__that_fail_are_told_and_made_up_for),
        cmocka_unit_test(deferred_indexes__that_fail_refuse_no_write),
        cmocka_unit_test(deferred_indexes__pass_over_a_damaged_table),
        cmocka_unit_test(deferred_indexes__are_built_when_flushes_cease),
        cmocka_unit_test(deferred_indexes__are_built_after_a_selection),
        cmocka_unit_test(deferred_indexes__do_not_keep_a_store_open),
        cmocka_unit_test(deferred_indexes__yield_to_a_flush_without_space),
        cmocka_unit_test(deferred_indexes__created_during_a_compaction_are_in_its_outputs),
        cmocka_unit_test(deferred_indexes__created_during_an_ingest_are_in_its_tables),
    };
    return cmocka_run_group_tests_name("deferred_indexes", tests, NULL, NULL);
}
