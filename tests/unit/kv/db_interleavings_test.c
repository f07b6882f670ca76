/* Goal: rare interleavings of writers and the store's thread also keep all guarantees. Method: a
 * listener blocks the store's thread at a gate, so that each interleaving is held for as long as
 * the test needs it. */
#include "tests/support/store.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "base/sync.h"
#include "kv/store/current_view.h"
#include "tests/support/file_fault.h"

/* A gate that the store's thread waits at, inside of a listener. */
struct gate {
    struct bb_mutex mutex;
    struct bb_condvar changed;
    bool is_closed;
    bool is_waiting; /* a thread waits before it */
    struct bb_db *db;
};

static void gate_init(struct gate *gate)
{
    *gate = (struct gate){.is_closed = false};
    bb_mutex_init(&gate->mutex);
    bb_condvar_init(&gate->changed);
}

static void gate_deinit(struct gate *gate)
{
    bb_condvar_deinit(&gate->changed);
    bb_mutex_deinit(&gate->mutex);
}

static void gate_set(struct gate *gate, bool is_closed)
{
    bb_mutex_lock(&gate->mutex);
    gate->is_closed = is_closed;
    bb_condvar_broadcast(&gate->changed);
    bb_mutex_unlock(&gate->mutex);
}

static void gate_wait_for_somebody(struct gate *gate)
{
    bb_mutex_lock(&gate->mutex);
    while (!gate->is_waiting)
        bb_condvar_wait(&gate->changed, &gate->mutex);
    bb_mutex_unlock(&gate->mutex);
}

static void stop_at_gate(void *context, const struct bb_event *event)
{
    struct gate *gate = context;
    if (event->kind != BB_EVENT_FLUSH)
        return;
    bb_mutex_lock(&gate->mutex);
    gate->is_waiting = true;
    bb_condvar_broadcast(&gate->changed);
    while (gate->is_closed)
        bb_condvar_wait(&gate->changed, &gate->mutex);
    gate->is_waiting = false;
    bb_mutex_unlock(&gate->mutex);
}

struct asynchronous {
    struct bb_db *db;
    struct bb_thread thread;
    enum bb_status status;
    _Atomic bool is_done;
};

static void flush_asynchronously(void *argument)
{
    struct asynchronous *call = argument;
    call->status = bb_db_flush(call->db);
    call->is_done = true;
}

static void put_asynchronously(void *argument)
{
    struct asynchronous *call = argument;
    call->status = bb_db_put(call->db, NULL, bb_bytes_of_text("after"), bb_bytes_of_text("3"));
    call->is_done = true;
}

/* Yields to other threads; the conclusions of the test do not depend on their progress. */
static void linger(void)
{
    struct timespec pause = {.tv_nsec = 1000000};
    (void)nanosleep(&pause, NULL);
}

/* A log fails; a flush freezes its memtable, and the store's thread is busy elsewhere. Everything
 * acknowledged before that flush is done must survive the process. A record in the next log, after
 * sequences that the failed one may have lost, would not. */
static void db_interleavings__no_write_after_a_failed_log(void **state)
{
    (void)state;
    struct store store;
    struct gate gate;
    struct bb_file_fault *fault = NULL;
    store_init(&store);
    gate_init(&gate);
    fault = bb_file_fault_create(bb_file_memory_system(store.memory));
    store.options.file_system = bb_file_fault_system(fault);
    store.options.deterministic = false;
    store.options.on_event = stop_at_gate;
    store.options.event_context = &gate;
    store_open(&store);
    gate_set(&gate, true);
    struct asynchronous first = {.db = store.db};
    struct asynchronous flush = {.db = store.db};
    struct asynchronous put = {.db = store.db};
    store_put(&store, "before", "1");
    assert_ok(bb_thread_create(&first.thread, flush_asynchronously, &first));
    gate_wait_for_somebody(&gate);
    /* The store's thread is blocked. */
    store_put(&store, "acknowledged", "2");
    bb_file_fault_arm(fault, &(struct bb_file_fault_plan){.mode = BB_FILE_FAULT_ERROR,
                                                          .call = BB_FILE_CALL_APPEND,
                                                          .path_part = ".wal",
                                                          .nth = 1});
    assert_status(bb_db_put(store.db, NULL, bb_bytes_of_text("failed"), bb_bytes_of_text("x")),
                  BB_IO);
    bb_file_fault_disarm(fault);
    assert_ok(bb_thread_create(&flush.thread, flush_asynchronously, &flush));
    for (int i = 0; i < 50; i++)
        linger();
    assert_ok(bb_thread_create(&put.thread, put_asynchronously, &put));
    for (int i = 0; i < 200 && !put.is_done; i++)
        linger();
    /* The process crashes. */
    bool was_acknowledged = put.is_done;
    struct bb_file_memory *image = bb_file_memory_clone(store.memory);
    gate_set(&gate, false);
    bb_thread_join(&first.thread);
    bb_thread_join(&flush.thread);
    bb_thread_join(&put.thread);
    assert_int_equal(first.status, BB_OK);
    assert_int_equal(flush.status, BB_OK);
    assert_int_equal(put.status, BB_OK);
    assert_content(&store, "acknowledged=2 after=3 before=1");
    store_close(&store);
    bb_file_fault_destroy(fault);
    bb_file_memory_destroy(store.memory);
    store.memory = image;
    store.options = store_options(image);
    store_open(&store);
    assert_get(&store, "acknowledged", "2");
    if (was_acknowledged)
        assert_get(&store, "after", "3");
    store_deinit(&store);
    gate_deinit(&gate);
}

/* Buffered bytes of an older log are not lost before a newer one's. */
static void db_interleavings__buffered_logs_keep_their_order(void **state)
{
    (void)state;
    struct store store;
    struct gate gate;
    char value[1000];
    store_init(&store);
    gate_init(&gate);
    memset(value, 'v', sizeof(value));
    value[sizeof(value) - 1] = 0;
    store.options.deterministic = false;
    store.options.wal_buffer_bytes = 100;
    store.options.on_event = stop_at_gate;
    store.options.event_context = &gate;
    store_open(&store);
    gate_set(&gate, true);
    struct asynchronous first = {.db = store.db};
    struct asynchronous second = {.db = store.db};
    store_put(&store, "before", "1");
    assert_ok(bb_thread_create(&first.thread, flush_asynchronously, &first));
    gate_wait_for_somebody(&gate);
    store_put(&store, "held back", "2"); /* less than the buffer */
    uint64_t calls = bb_file_memory_calls(store.memory);
    assert_ok(bb_thread_create(&second.thread, flush_asynchronously, &second));
    while (bb_file_memory_calls(store.memory) < calls + 3) /* the next log: create, append, names */
        linger();
    store_put(&store, "large", value); /* more than the buffer: written through */
    struct bb_file_memory *image = bb_file_memory_clone(store.memory);
    gate_set(&gate, false);
    bb_thread_join(&first.thread);
    bb_thread_join(&second.thread);
    store_close(&store);
    bb_file_memory_destroy(store.memory);
    store.memory = image;
    store.options = store_options(image);
    store_open(&store);
    assert_get(&store, "before", "1");
    assert_get(&store, "held back", "2");
    assert_get(&store, "large", value);
    store_deinit(&store);
    gate_deinit(&gate);
}

/* Listeners are called without a lock held: they may ask the store. */
static void ask_store(void *context, const struct bb_event *event)
{
    struct gate *gate = context;
    struct bb_db_stats stats;
    (void)event;
    bb_mutex_lock(&gate->mutex);
    struct bb_db *db = gate->db;
    bb_mutex_unlock(&gate->mutex);
    if (db == NULL)
        return;
    bb_db_stats(db, &stats);
    if (bb_db_get(db, NULL, bb_bytes_of_text("a"), NULL) != BB_OK)
        abort();
    bb_mutex_lock(&gate->mutex); /* two threads call */
    gate->is_waiting = true;
    bb_mutex_unlock(&gate->mutex);
}

static void db_interleavings__listeners_may_ask_the_store(void **state)
{
    (void)state;
    for (int deterministic = 0; deterministic < 2; deterministic++) {
        struct store store;
        struct gate gate;
        store_init(&store);
        gate_init(&gate);
        store.options.deterministic = deterministic != 0;
        store.options.on_event = ask_store;
        store.options.event_context = &gate;
        store_open(&store);
        store_put(&store, "a", "1");
        bb_mutex_lock(&gate.mutex);
        gate.db = store.db;
        bb_mutex_unlock(&gate.mutex);
        assert_ok(bb_db_compact(store.db));
        store_put(&store, "a", "2");
        assert_ok(bb_db_compact(store.db));
        store_close(&store);
        assert_true(gate.is_waiting);
        store_deinit(&store);
        gate_deinit(&gate);
    }
}

static void build_table(struct store *store, const char *path, const char *key, const char *value)
{
    struct bb_table_builder *builder = NULL;
    struct bb_table_options options = {.file_system = bb_file_memory_system(store->memory)};
    struct bb_entry entry = {.key = bb_bytes_of_text(key),
                             .sequence = 1,
                             .kind = BB_ENTRY_PUT,
                             .value = bb_bytes_of_text(value)};
    assert_ok(bb_table_builder_create(path, &options, &builder));
    assert_ok(bb_table_builder_add(builder, &entry));
    assert_ok(bb_table_builder_finish(builder, NULL));
    bb_table_builder_destroy(builder);
}

/* A reader has the old view and reads the sequence only now: writes after the ingest are in the
 * memtable of both views, the ingested table only in the new one. */
static void db_interleavings__old_views_end_with_an_ingest(void **state)
{
    (void)state;
    const char *path = "/data/t";
    struct store store;
    store_init(&store);
    store_open(&store);
    build_table(&store, path, "a", "1");
    struct bb_view *retired = bb_current_view_pin(store.db);
    store_put(&store, "c", "0");
    assert_ok(bb_db_flush(store.db));
    struct bb_view *view = bb_current_view_pin(store.db);
    assert_ok(bb_db_ingest(store.db, &path, 1, NULL));
    store_put(&store, "b", "after");
    assert_ptr_equal(view->buffers[0], store.db->view->buffers[0]);
    assert_int_equal(bb_view_sequence(view, &store.db->last_sequence), 1);
    assert_int_equal(bb_view_sequence(retired, &store.db->last_sequence), 1);
    bb_current_view_unpin(store.db, retired);
    bb_current_view_unpin(store.db, view);
    assert_content(&store, "a=1 b=after c=0");
    store_deinit(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(db_interleavings__no_write_after_a_failed_log),
        cmocka_unit_test(db_interleavings__buffered_logs_keep_their_order),
        cmocka_unit_test(db_interleavings__listeners_may_ask_the_store),
        cmocka_unit_test(db_interleavings__old_views_end_with_an_ingest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
