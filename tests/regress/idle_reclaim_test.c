/* Goal: tables that only a lookup still reads are removed soon after it has finished, also without
 * other events in the store. Method: a lookup is held in a comparator while everything is
 * compacted, and continues when the store's thread has no work. (Found by reading: old views were
 * only checked at the next event, and kept their files until then.) */
#include "tests/support/store.h"

#include <stdatomic.h>
#include <time.h>

#include "base/sync.h"

/* Comparisons with one key stop here. */
struct gate {
    atomic_bool is_closed;
    atomic_bool is_waiting;
};

static void pause_briefly(void)
{
    struct timespec pause = {.tv_nsec = 1000000};
    (void)nanosleep(&pause, NULL);
}

static int compare_at_gate(void *context, struct bb_bytes a, struct bb_bytes b)
{
    struct gate *gate = context;
    struct bb_bytes held = bb_bytes_of_text("held");
    while ((bb_bytes_equal(a, held) || bb_bytes_equal(b, held)) && atomic_load(&gate->is_closed)) {
        atomic_store(&gate->is_waiting, true);
        pause_briefly();
    }
    return bb_bytes_compare(a, b);
}

static void look_up(void *argument)
{
    assert_int_equal(bb_db_get(argument, NULL, bb_bytes_of_text("held"), NULL), BB_NOT_FOUND);
}

static size_t count_tables(struct store *store)
{
    struct bb_file_system *fs = bb_file_memory_system(store->memory);
    struct bb_file_names names = {0};
    size_t count = 0;
    assert_ok(fs->ops->list(fs, STORE_PATH, &names));
    for (size_t i = 0; i < names.count; i++)
        count += strstr(names.names[i], ".bbt") != NULL;
    bb_file_names_deinit(&names);
    return count;
}

static void idle_reclaim__files_go_when_the_reader_has_left(void **state)
{
    (void)state;
    struct store store;
    struct gate gate = {.is_closed = true};
    struct bb_comparator comparator = {
        .name = "gate", .compare = compare_at_gate, .context = &gate};
    struct bb_thread thread;
    store_init(&store);
    store.options.comparator = &comparator;
    store.options.deterministic = false;
    store_open(&store);
    for (int i = 0; i < 3; i++) {
        store_put(&store, i % 2 == 0 ? "a" : "z", "1");
        assert_ok(bb_db_flush(store.db));
    }
    store_put(&store, "k", "1");
    assert_ok(bb_thread_create(&thread, look_up, store.db));
    while (!atomic_load(&gate.is_waiting))
        pause_briefly();
    assert_ok(bb_db_compact(store.db));
    assert_ok(bb_db_wait_idle(store.db));
    assert_true(count_tables(&store) > 1);
    atomic_store(&gate.is_closed, false);
    bb_thread_join(&thread);
    /* Within milliseconds; without reclaiming, never. */
    for (int i = 0; i < 20000 && count_tables(&store) > 1; i++)
        pause_briefly();
    assert_int_equal(count_tables(&store), 1);
    store_deinit(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(idle_reclaim__files_go_when_the_reader_has_left)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
