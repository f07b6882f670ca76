/* Goal: a flush never waits for a merge, nor a merge for a flush, and tables planned at the same
 * time keep the filters' target. Method: a hook of the file system in memory holds the thread that
 * creates a certain table, for as long as the test needs it; listeners check the statistics after
 * every change. */
#include "tests/support/store.h"

#include <sched.h>
#include <stdlib.h>

#include "base/status.h"
#include "base/sync.h"
#include "kv/store/current_view.h"

#define HELD_MAX 16

/* Tables in the order of their creation: the hook holds some of them. */
struct stage {
    struct bb_mutex mutex;
    struct bb_condvar changed;
    bool is_held[HELD_MAX];
    bool is_there[HELD_MAX]; /* its creator has come */
    size_t created;
    size_t flushes;
    size_t compactions;
    double excess; /* the highest observed share of the target */
    struct bb_db *db;
};

static enum bb_status hold_table(void *context, struct bb_file_memory *memory, uint64_t number,
                                 enum bb_file_call call, const char *path)
{
    struct stage *stage = context;
    (void)memory;
    (void)number;
    if (call != BB_FILE_CALL_CREATE || strstr(path, ".bbt") == NULL)
        return BB_OK;
    bb_mutex_lock(&stage->mutex);
    size_t place = ++stage->created;
    if (place < HELD_MAX) {
        stage->is_there[place] = true;
        bb_condvar_broadcast(&stage->changed);
        while (stage->is_held[place])
            bb_condvar_wait(&stage->changed, &stage->mutex);
    }
    bb_mutex_unlock(&stage->mutex);
    return BB_OK;
}

static void look(void *context, const struct bb_event *event)
{
    struct stage *stage = context;
    struct bb_db_stats stats = {.gets = 0};
    bb_mutex_lock(&stage->mutex);
    struct bb_db *db = stage->db;
    stage->flushes += event->kind == BB_EVENT_FLUSH;
    stage->compactions += event->kind == BB_EVENT_COMPACTION;
    bb_condvar_broadcast(&stage->changed);
    bb_mutex_unlock(&stage->mutex);
    if (db == NULL)
        return;
    bb_db_stats(db, &stats);
    double share = stats.expected_wasted_reads / stats.target_wasted_reads;
    bb_mutex_lock(&stage->mutex);
    if (share > stage->excess)
        stage->excess = share;
    bb_mutex_unlock(&stage->mutex);
}

static void hold(struct stage *stage, size_t place, bool is_held)
{
    bb_mutex_lock(&stage->mutex);
    stage->is_held[place] = is_held;
    bb_condvar_broadcast(&stage->changed);
    bb_mutex_unlock(&stage->mutex);
}

static void wait_for_table(struct stage *stage, size_t place)
{
    bb_mutex_lock(&stage->mutex);
    while (!stage->is_there[place])
        bb_condvar_wait(&stage->changed, &stage->mutex);
    bb_mutex_unlock(&stage->mutex);
}

static void wait_for_compaction(struct stage *stage)
{
    bb_mutex_lock(&stage->mutex);
    while (stage->compactions == 0)
        bb_condvar_wait(&stage->changed, &stage->mutex);
    bb_mutex_unlock(&stage->mutex);
}

/* Until bb_db_close, called by another thread, has begun. */
static void wait_for_closing(struct bb_db *db)
{
    bool is_closing = false;
    for (; !is_closing; (void)sched_yield()) {
        bb_mutex_lock(&db->mutex);
        is_closing = db->is_closing;
        bb_mutex_unlock(&db->mutex);
    }
}

/* A store with threads that merges this many runs of level 0. */
static void set_up(struct store *store, struct stage *stage, uint32_t run_count)
{
    store_init(store);
    *stage = (struct stage){.excess = 0};
    bb_mutex_init(&stage->mutex);
    bb_condvar_init(&stage->changed);
    store->options.deterministic = false;
    store->options.level0_run_count_compact = run_count;
    store->options.level0_run_count_busy = run_count;
    store->options.level0_run_count_stop = 12;
    store->options.on_event = look;
    store->options.event_context = stage;
    store_open(store);
    bb_mutex_lock(&stage->mutex);
    stage->db = store->db;
    bb_mutex_unlock(&stage->mutex);
    bb_file_memory_set_hook(store->memory, hold_table, stage);
}

static void tear_down(struct store *store, struct stage *stage)
{
    store_close(store);
    bb_file_memory_set_hook(store->memory, NULL, NULL);
    store_deinit(store);
    bb_condvar_deinit(&stage->changed);
    bb_mutex_deinit(&stage->mutex);
}

static void put_run(struct store *store, uint32_t run, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        char key[32];
        snprintf(key, sizeof(key), "%06u", i * 97 + run);
        store_put(store, key, "a value");
    }
}

static void flush_run(struct store *store, uint32_t run, uint32_t count)
{
    put_run(store, run, count);
    assert_ok(bb_db_flush(store->db));
}

/* With one thread for both, this waits forever. */
static void db_background__flush_waits_for_no_merge(void **state)
{
    (void)state;
    struct store store;
    struct stage stage;
    set_up(&store, &stage, 2);
    hold(&stage, 3, true);
    flush_run(&store, 1, 10);
    flush_run(&store, 2, 10);
    wait_for_table(&stage, 3); /* the merge's */
    flush_run(&store, 3, 10);
    flush_run(&store, 4, 10);
    bb_mutex_lock(&stage.mutex);
    assert_int_equal(stage.compactions, 0);
    bb_mutex_unlock(&stage.mutex);
    hold(&stage, 3, false);
    assert_ok(bb_db_wait_idle(store.db));
    wait_for_compaction(&stage);
    assert_get(&store, "000001", "a value");
    assert_get(&store, "000004", "a value");
    tear_down(&store, &stage);
}

static void db_background__merge_waits_for_no_flush(void **state)
{
    (void)state;
    struct store store;
    struct stage stage;
    set_up(&store, &stage, 2);
    hold(&stage, 3, true);
    hold(&stage, 4, true);
    flush_run(&store, 1, 10);
    flush_run(&store, 2, 10);
    wait_for_table(&stage, 3); /* the merge's */
    put_run(&store, 3, 1500);  /* more than a write buffer */
    wait_for_table(&stage, 4); /* the flush's */
    hold(&stage, 3, false);
    wait_for_compaction(&stage);
    hold(&stage, 4, false);
    assert_ok(bb_db_wait_idle(store.db));
    assert_ok(bb_db_flush(store.db));
    assert_get(&store, "000002", "a value");
    assert_get(&store, "000003", "a value");
    tear_down(&store, &stage);
}

static void compact_asynchronously(void *argument)
{
    if (bb_db_compact(argument) != BB_OK)
        abort();
}

/* Each of the two is planned with the other included. Otherwise runs flushed during a compaction of
 * everything, which uses up the target, would take the share of its inputs. */
static void db_background__target_is_kept_beside_each_other(void **state)
{
    (void)state;
    struct store store;
    struct stage stage;
    struct bb_thread thread;
    set_up(&store, &stage, 8);
    hold(&stage, 3, true);
    flush_run(&store, 1, 300);
    flush_run(&store, 2, 300);
    assert_ok(bb_thread_create(&thread, compact_asynchronously, store.db));
    wait_for_table(&stage, 3); /* the compaction's */
    for (uint32_t run = 3; run < 7; run++)
        flush_run(&store, run, 300);
    hold(&stage, 3, false);
    bb_thread_join(&thread);
    assert_ok(bb_db_wait_idle(store.db));
    bb_mutex_lock(&stage.mutex);
    double excess = stage.excess;
    bb_mutex_unlock(&stage.mutex);
    if (excess > 1.1)
        fail_msg("%.3f of the target were in use", excess);
    tear_down(&store, &stage);
}

#define LIMIT   (UINT64_C(256) << 10)
#define MARKS   4096
#define APPEND  (UINT64_C(256) << 10) /* maximum size of one write to a table */
#define SECONDS 1e-9

/* Bytes that the file system has taken, before each append to a table. */
struct marks {
    uint64_t times[MARKS];
    uint64_t bytes[MARKS];
    size_t count;
};

static enum bb_status mark_append(void *context, struct bb_file_memory *memory, uint64_t number,
                                  enum bb_file_call call, const char *path)
{
    struct marks *marks = context;
    struct bb_file_system *fs = bb_file_memory_system(memory);
    struct bb_file_counters counters = {.reads = 0};
    (void)number;
    if (call != BB_FILE_CALL_APPEND || strstr(path, ".bbt") == NULL || marks->count == MARKS)
        return BB_OK;
    fs->ops->counters(fs, &counters);
    marks->times[marks->count] = fs->ops->now(fs);
    marks->bytes[marks->count++] = counters.append_bytes;
    return BB_OK;
}

/* Without a log nearly all writes are tables; sleeping advances the clock. */
static void db_background__writing_stays_below_its_limit(void **state)
{
    (void)state;
    struct store store;
    static struct marks marks;
    store_init(&store);
    store.options.background_bytes_per_second = LIMIT;
    store.options.wal_off = true;
    store_open(&store);
    bb_file_memory_set_hook(store.memory, mark_append, &marks);
    for (uint32_t run = 1; run < 20; run++)
        put_run(&store, run, 1000);
    assert_ok(bb_db_wait_idle(store.db));
    bb_file_memory_set_hook(store.memory, NULL, NULL);
    assert_true(store_stats(&store).compactions > 0);
    assert_true(marks.count > 20);
    for (size_t first = 0; first < marks.count; first++) {
        for (size_t last = first; last < marks.count; last++) {
            double seconds = (double)(marks.times[last] - marks.times[first]) * SECONDS;
            double bytes = (double)(marks.bytes[last] - marks.bytes[first]);
            /* One append of a flush, two of compactions, and the manifest's. */
            assert_true(bytes <= seconds * (double)LIMIT + 3 * APPEND + 65536);
        }
    }
    store_close(&store);
    store_deinit(&store);
}

/* ---- Closing during other calls ---- */

/* A call in a separate thread. */
struct call {
    struct bb_thread thread;
    struct bb_db *db;
    const char *key;
    enum bb_status status;
};

static void put_in_thread(void *argument)
{
    struct call *call = argument;
    call->status =
        bb_db_put(call->db, NULL, bb_bytes_of_text(call->key), bb_bytes_of_text("a value"));
}

static void close_in_thread(void *argument)
{
    struct call *call = argument;
    call->status = bb_db_close(call->db);
}

static void compact_in_thread(void *argument)
{
    struct call *call = argument;
    call->status = bb_db_compact(call->db);
}

static void begin_call(struct call *call, struct bb_db *db, const char *key, void (*run)(void *))
{
    *call = (struct call){.db = db, .key = key};
    assert_ok(bb_thread_create(&call->thread, run, call));
}

/* Waits until a commit is linked after *newest, which becomes that commit. NULL: until one
 * leads. */
static void wait_for_entry(struct bb_db *db, struct bb_commit **newest)
{
    struct bb_commit *before = *newest;
    while ((*newest = db->commits.newest) == before)
        (void)sched_yield();
    while (before != NULL && before->next != *newest)
        (void)sched_yield();
}

static enum bb_status hold_log(void *context, struct bb_file_memory *memory, uint64_t number,
                               enum bb_file_call call, const char *path)
{
    struct stage *stage = context;
    (void)memory;
    (void)number;
    if (call != BB_FILE_CALL_APPEND || strstr(path, ".wal") == NULL)
        return BB_OK;
    bb_mutex_lock(&stage->mutex);
    while (stage->is_held[0])
        bb_condvar_wait(&stage->changed, &stage->mutex);
    bb_mutex_unlock(&stage->mutex);
    return BB_OK;
}

static void db_background__close_drains_those_before_it(void **state)
{
    (void)state;
    static const char *keys[] = {"leads", "joins", "waits", "comes too late"};
    struct store store;
    struct stage stage;
    struct call puts[4];
    struct call closing;
    struct bb_commit *newest = NULL;
    set_up(&store, &stage, 2);
    bb_file_memory_set_hook(store.memory, hold_log, &stage);
    hold(&stage, 0, true);
    for (size_t i = 0; i < 3; i++) {
        begin_call(&puts[i], store.db, keys[i], put_in_thread);
        wait_for_entry(store.db, &newest);
    }
    begin_call(&closing, store.db, NULL, close_in_thread);
    wait_for_entry(store.db, &newest);
    begin_call(&puts[3], store.db, keys[3], put_in_thread);
    wait_for_entry(store.db, &newest);
    hold(&stage, 0, false);
    bb_thread_join(&closing.thread);
    assert_int_equal(closing.status, BB_OK);
    for (size_t i = 0; i < 4; i++) {
        bb_thread_join(&puts[i].thread);
        assert_int_equal(puts[i].status, i < 3 ? BB_OK : BB_BUSY);
    }
    stage.db = NULL;
    store.db = NULL;
    store_open(&store);
    for (size_t i = 0; i < 4; i++)
        assert_get(&store, keys[i], i < 3 ? "a value" : NULL);
    tear_down(&store, &stage);
}

static void db_background__close_gives_up_a_compaction(void **state)
{
    (void)state;
    struct store store;
    struct stage stage;
    struct call compacting;
    struct call closing;
    set_up(&store, &stage, 8);
    flush_run(&store, 1, 300);
    flush_run(&store, 2, 300);
    hold(&stage, 3, true);
    begin_call(&compacting, store.db, NULL, compact_in_thread);
    wait_for_table(&stage, 3);
    begin_call(&closing, store.db, NULL, close_in_thread);
    wait_for_closing(store.db);
    hold(&stage, 3, false);
    bb_thread_join(&compacting.thread);
    bb_thread_join(&closing.thread);
    assert_int_equal(closing.status, BB_OK);
    /* The merge may have been small enough to be done with its table. */
    assert_true(compacting.status == BB_BUSY || compacting.status == BB_OK);
    stage.db = NULL;
    store.db = NULL;
    store_open(&store);
    assert_get(&store, "000001", "a value");
    assert_get(&store, "000002", "a value");
    tear_down(&store, &stage);
}

static enum bb_status hold_directory(void *context, struct bb_file_memory *memory, uint64_t number,
                                     enum bb_file_call call, const char *path)
{
    struct stage *stage = context;
    (void)memory;
    (void)number;
    if (call != BB_FILE_CALL_MAKE_DIRECTORY || strcmp(path, "/data/checkpoint") != 0)
        return BB_OK;
    bb_mutex_lock(&stage->mutex);
    stage->is_there[1] = true;
    bb_condvar_broadcast(&stage->changed);
    while (stage->is_held[1])
        bb_condvar_wait(&stage->changed, &stage->mutex);
    bb_mutex_unlock(&stage->mutex);
    return BB_OK;
}

static void checkpoint_in_thread(void *argument)
{
    struct call *call = argument;
    call->status = bb_db_checkpoint(call->db, "/data/checkpoint");
}

/* A listener that has a view in hand, as for statistics, until the store is being closed. */
struct visitor {
    struct bb_db *db;
    _Atomic bool is_there;
    _Atomic bool is_over;
};

static void stay(void *context, const struct bb_event *event)
{
    struct visitor *visitor = context;
    bool is_closing = false;
    if (event->kind != BB_EVENT_FLUSH)
        return;
    struct bb_view *view = bb_current_view_pin(visitor->db);
    for (visitor->is_there = true; !is_closing && !visitor->is_over; (void)sched_yield()) {
        bb_mutex_lock(&visitor->db->mutex);
        is_closing = visitor->db->is_closing;
        bb_mutex_unlock(&visitor->db->mutex);
    }
    bb_current_view_unpin(visitor->db, view);
}

/* A flush returns before its event, and the reads of the event's listener use no iterator. */
static void db_background__close_is_not_refused_for_a_listener(void **state)
{
    (void)state;
    struct store store;
    struct visitor visitor = {.is_there = false};
    store_init(&store);
    store.options.deterministic = false;
    store.options.on_event = stay;
    store.options.event_context = &visitor;
    store_open(&store);
    visitor.db = store.db;
    store_put(&store, "a", "1");
    assert_ok(bb_db_flush(store.db));
    while (!visitor.is_there)
        (void)sched_yield();
    enum bb_status status = bb_db_close(store.db);
    visitor.is_over = true;
    assert_int_equal(status, BB_OK);
    store.db = NULL;
    store.options.on_event = NULL;
    store_open(&store);
    assert_content(&store, "a=1");
    store_deinit(&store);
}

/* Its flush is over, and it has no view yet: only the call count makes closing wait for it. */
static void db_background__close_waits_for_a_checkpoint(void **state)
{
    (void)state;
    struct store store;
    struct stage stage;
    struct call checkpoint;
    struct call closing;
    struct bb_db *copy = NULL;
    set_up(&store, &stage, 8);
    bb_file_memory_set_hook(store.memory, hold_directory, &stage);
    store_put(&store, "a", "1");
    hold(&stage, 1, true);
    begin_call(&checkpoint, store.db, NULL, checkpoint_in_thread);
    wait_for_table(&stage, 1);
    begin_call(&closing, store.db, NULL, close_in_thread);
    wait_for_closing(store.db);
    hold(&stage, 1, false);
    bb_thread_join(&checkpoint.thread);
    bb_thread_join(&closing.thread);
    assert_int_equal(checkpoint.status, BB_OK);
    assert_int_equal(closing.status, BB_OK);
    stage.db = NULL;
    store.db = NULL;
    assert_ok(bb_db_open("/data/checkpoint", &store.options, &copy));
    assert_content_at(copy, NULL, "a=1");
    assert_ok(bb_db_close(copy));
    store_open(&store);
    tear_down(&store, &stage);
}

/* ---- Work that closing leaves to the next opening ---- */

static void put_large(struct store *store, uint32_t count)
{
    static char value[65536];
    memset(value, 'v', sizeof(value) - 1);
    for (uint32_t i = 0; i < count; i++) {
        char key[32];
        snprintf(key, sizeof(key), "%06u", i);
        store_put(store, key, value);
    }
}

static uint64_t bytes_read(struct store *store)
{
    struct bb_file_system *fs = bb_file_memory_system(store->memory);
    struct bb_file_counters counters = {.reads = 0};
    fs->ops->counters(fs, &counters);
    return counters.read_bytes;
}

static void db_background__close_leaves_little_to_replay(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct store store;
        store_init(&store);
        store.options.deterministic = i == 0;
        store.options.write_buffer_bytes = 16 << 20;
        store_open(&store);
        put_large(&store, 100); /* 6 MiB */
        store_close(&store);
        uint64_t before = bytes_read(&store);
        store_open(&store);
        assert_true(bytes_read(&store) - before < 256 << 10);
        put_large(&store, 17); /* more than 1 MiB */
        store_close(&store);
        before = bytes_read(&store);
        store_open(&store);
        assert_true(bytes_read(&store) - before < 256 << 10);
        put_large(&store, 12); /* 3/4 MiB: is replayed */
        store_close(&store);
        before = bytes_read(&store);
        store_open(&store);
        assert_true(bytes_read(&store) - before > 768 << 10);
        store_close(&store);
        store_deinit(&store);
    }
}

static void db_background__close_without_space_loses_nothing(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct store store;
        store_init(&store);
        store.options.deterministic = i == 0;
        store.options.write_buffer_bytes = 16 << 20;
        store_open(&store);
        put_large(&store, 100);
        bb_file_memory_set_space(store.memory, 1);
        /* The manifest has no space for its last note either, which is reported. */
        assert_status(bb_db_close(store.db), BB_NO_SPACE);
        store.db = NULL;
        bb_file_memory_set_space(store.memory, 0);
        store_open(&store);
        struct bb_db_stats stats = store_stats(&store);
        assert_int_equal(stats.last_sequence, 100);
        store_close(&store);
        store_deinit(&store);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(db_background__flush_waits_for_no_merge),
        cmocka_unit_test(db_background__merge_waits_for_no_flush),
        cmocka_unit_test(db_background__target_is_kept_beside_each_other),
        cmocka_unit_test(db_background__writing_stays_below_its_limit),
        cmocka_unit_test(db_background__close_drains_those_before_it),
        cmocka_unit_test(db_background__close_gives_up_a_compaction),
        cmocka_unit_test(db_background__close_is_not_refused_for_a_listener),
        cmocka_unit_test(db_background__close_waits_for_a_checkpoint),
        cmocka_unit_test(db_background__close_leaves_little_to_replay),
        cmocka_unit_test(db_background__close_without_space_loses_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
