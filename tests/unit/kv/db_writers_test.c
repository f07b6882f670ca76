/* Goal: a thread does not wait for the writes of other threads after its write. Method: the test
 * leads the queue while writers enter, so that their order is known, and a hook of the file system
 * in memory holds the flush. */
#include "tests/support/store.h"

#include <sched.h>

#include "base/sync.h"
#include "kv/write/commit.h"

/* Threads that create a table wait while it is closed. */
struct gate {
    struct bb_mutex mutex;
    struct bb_condvar changed;
    bool is_closed;
};

static enum bb_status pass_gate(void *context, struct bb_file_memory *memory, uint64_t number,
                                enum bb_file_call call, const char *path)
{
    struct gate *gate = context;
    (void)memory;
    (void)number;
    if (call != BB_FILE_CALL_CREATE || strstr(path, ".bbt") == NULL)
        return BB_OK;
    bb_mutex_lock(&gate->mutex);
    while (gate->is_closed)
        bb_condvar_wait(&gate->changed, &gate->mutex);
    bb_mutex_unlock(&gate->mutex);
    return BB_OK;
}

static void open_gate(struct gate *gate)
{
    bb_mutex_lock(&gate->mutex);
    gate->is_closed = false;
    bb_condvar_broadcast(&gate->changed);
    bb_mutex_unlock(&gate->mutex);
}

static void set_up(struct store *store, struct gate *gate)
{
    *gate = (struct gate){.is_closed = true};
    bb_mutex_init(&gate->mutex);
    bb_condvar_init(&gate->changed);
    store_init(store);
    store->options.deterministic = false;
    store_open(store);
    bb_file_memory_set_hook(store->memory, pass_gate, gate);
}

static void tear_down(struct store *store, struct gate *gate)
{
    store_close(store);
    bb_file_memory_set_hook(store->memory, NULL, NULL);
    store_deinit(store);
    bb_condvar_deinit(&gate->changed);
    bb_mutex_deinit(&gate->mutex);
}

/* Too large for a group with another write, and for the rest of a memtable. */
static const uint8_t large_value[40000];

struct writer {
    struct bb_thread thread;
    struct bb_db *db;
    struct bb_bytes key, value;
    enum bb_status status;
};

static void write_value(void *argument)
{
    struct writer *writer = argument;
    writer->status = bb_db_put(writer->db, NULL, writer->key, writer->value);
}

/* Begins a write that enters after *newest, which becomes its commit. */
static void begin(struct writer *writer, struct bb_db *db, const char *key, struct bb_bytes value,
                  struct bb_commit **newest)
{
    struct bb_commit *before = *newest;
    *writer = (struct writer){.db = db, .key = bb_bytes_of_text(key), .value = value};
    assert_ok(bb_thread_create(&writer->thread, write_value, writer));
    while ((*newest = before->next) == NULL)
        (void)sched_yield();
}

/* Puts small values until a large one would wait for a flush. */
static void fill(struct store *store)
{
    struct bb_batch *batch = NULL;
    assert_ok(bb_batch_create(&batch));
    assert_ok(bb_batch_put(batch, bb_bytes_of_text("large"),
                           bb_bytes_of(large_value, sizeof(large_value))));
    for (uint32_t i = 0; bb_db_write_check(store->db, batch) == BB_OK; i++) {
        char key[32];
        snprintf(key, sizeof(key), "%06u", i);
        store_put(store, key, "a value");
    }
    assert_status(bb_db_write_check(store->db, batch), BB_WOULD_WAIT);
    bb_batch_destroy(batch);
}

static void db_writers__leader_waits_for_no_space_of_others(void **state)
{
    (void)state;
    struct store store;
    struct gate gate;
    struct writer small, large;
    struct bb_commit first;
    struct bb_commit *newest = &first;
    set_up(&store, &gate);
    uint64_t buffer = store.options.write_buffer_bytes;
    assert_in_range(sizeof(large_value), buffer / 4, buffer * 3 / 4);
    fill(&store);
    assert_ok(bb_commit_become_leader(store.db, &first));
    begin(&small, store.db, "small", bb_bytes_of_text("a value"), &newest);
    begin(&large, store.db, "large", bb_bytes_of(large_value, sizeof(large_value)), &newest);
    bb_commit_release_leader(store.db, &first);
    bb_thread_join(&small.thread); /* waits forever if it also leads the large write */
    assert_int_equal(small.status, BB_OK);
    open_gate(&gate);
    bb_thread_join(&large.thread);
    assert_int_equal(large.status, BB_OK);
    assert_get(&store, "small", "a value");
    tear_down(&store, &gate);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(db_writers__leader_waits_for_no_space_of_others),
    };
    return cmocka_run_group_tests_name("db_writers", tests, NULL, NULL);
}
