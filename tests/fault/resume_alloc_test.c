/* Goal: a store that waits for space, and finds no memory for a thread when the space is there,
 * refuses that write and accepts the next. Method: a store that filled its disk is opened, and then
 * gets space; one of the last allocations of its first write fails. */
#include "tests/support/store.h"

#include <stdlib.h>

#include "tests/support/alloc/alloc_fault.h"

#define SPACE      60000
#define VALUE_SIZE 900
#define LAST       40 /* allocations: more than those of the threads */

static enum bb_status put(struct store *store, int i)
{
    static const uint8_t value[VALUE_SIZE] = {0};
    return bb_db_put(store->db, NULL, bb_bytes_of(&i, sizeof(i)), bb_bytes_of(value, VALUE_SIZE));
}

/* Acknowledged writes. The store is closed without its last flush, and its disk is full. */
static int fill_up(struct store *store)
{
    int count = 0;
    store_open(store);
    bb_file_memory_set_space(store->memory, SPACE);
    while (put(store, count) == BB_OK)
        count++;
    store_die_on_full_disk(store, SPACE);
    return count;
}

static void assert_has(struct store *store, int count)
{
    for (int i = 0; i < count; i++)
        assert_ok(bb_db_get(store->db, NULL, bb_bytes_of(&i, sizeof(i)), NULL));
}

/* The first write with space, of which the n-th allocation fails; 0: none. Returns its number of
 * allocations. */
static uint64_t resume(uint64_t nth, enum bb_status *ret_status)
{
    struct store store;
    store_init(&store);
    store.options.compression = BB_COMPRESSION_NONE;
    store.options.deterministic = false;
    int count = fill_up(&store);
    store_open(&store);
    assert_has(&store, count);
    assert_status(bb_db_flush(store.db), BB_NO_SPACE);
    bb_file_memory_set_space(store.memory, 0);
    uint64_t before = bb_alloc_fault_requests();
    bb_alloc_fault_arm(nth == 0 ? UINT64_MAX : nth, false);
    *ret_status = put(&store, count);
    uint64_t allocations = bb_alloc_fault_requests() - before;
    bb_alloc_fault_disarm();
    assert_ok(put(&store, count));
    assert_has(&store, count + 1);
    store_deinit(&store);
    return allocations;
}

static void resume__without_memory_can_be_repeated(void **state)
{
    (void)state;
    enum bb_status status = BB_OK;
    int refused = 0;
    uint64_t allocations = resume(0, &status);
    assert_ok(status);
    assert_true(allocations > LAST);
    for (uint64_t nth = allocations - LAST; nth <= allocations; nth++) {
        (void)resume(nth, &status);
        assert_true(status == BB_OK || status == BB_NO_MEMORY);
        refused += status == BB_NO_MEMORY;
    }
    assert_true(refused > 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(resume__without_memory_can_be_repeated),
    };
    return cmocka_run_group_tests_name("resume", tests, NULL, NULL);
}
