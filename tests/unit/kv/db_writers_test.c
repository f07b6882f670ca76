/* Goal: a thread does not wait for the writes of other threads after its write. Method: the test
 * leads the queue while writers enter, so that their order is known, and a gate holds the flush. */
#include "tests/support/store.h"

#include <sched.h>

#include "kv/write/commit.h"
#include "tests/support/table_gate.h"

static void set_up(struct store *store, struct table_gate *gate)
{
    store_init(store);
    store->options.deterministic = false;
    store_open(store);
    table_gate_init(gate, store->memory);
}

static void tear_down(struct store *store, struct table_gate *gate)
{
    store_close(store);
    table_gate_deinit(gate);
    store_deinit(store);
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

static void write_nothing(void *argument)
{
    struct writer *writer = argument;
    struct bb_batch *batch = NULL;
    assert_ok(bb_batch_create(&batch));
    writer->status = bb_db_write(writer->db, NULL, batch);
    bb_batch_destroy(batch);
}

/* Begins a write that enters after *newest, which becomes its commit. */
static void begin_with(struct writer *writer, void (*write)(void *writer),
                       struct bb_commit **newest)
{
    struct bb_commit *before = *newest;
    assert_ok(bb_thread_create(&writer->thread, write, writer));
    while ((*newest = before->next) == NULL)
        (void)sched_yield();
}

static void begin(struct writer *writer, struct bb_db *db, const char *key, struct bb_bytes value,
                  struct bb_commit **newest)
{
    *writer = (struct writer){.db = db, .key = bb_bytes_of_text(key), .value = value};
    begin_with(writer, write_value, newest);
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
    struct table_gate gate;
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
    table_gate_open(&gate);
    bb_thread_join(&large.thread);
    assert_int_equal(large.status, BB_OK);
    assert_get(&store, "small", "a value");
    tear_down(&store, &gate);
}

/* The only operation of a group need not be its leader's. */
static void db_writers__empty_batch_leads_a_put(void **state)
{
    (void)state;
    struct store store;
    struct table_gate gate;
    struct writer put;
    struct bb_commit first;
    struct bb_commit *newest = &first;
    set_up(&store, &gate);
    table_gate_open(&gate);
    struct writer empty = {.db = store.db};
    assert_ok(bb_commit_become_leader(store.db, &first));
    begin_with(&empty, write_nothing, &newest);
    begin(&put, store.db, "key", bb_bytes_of_text("a value"), &newest);
    bb_commit_release_leader(store.db, &first);
    bb_thread_join(&empty.thread);
    bb_thread_join(&put.thread);
    assert_int_equal(empty.status, BB_OK);
    assert_int_equal(put.status, BB_OK);
    assert_get(&store, "key", "a value");
    store_reopen(&store);
    assert_get(&store, "key", "a value");
    tear_down(&store, &gate);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(db_writers__leader_waits_for_no_space_of_others),
        cmocka_unit_test(db_writers__empty_batch_leads_a_put),
    };
    return cmocka_run_group_tests_name("db_writers", tests, NULL, NULL);
}
