/* Regression: a store that waited for space lost acknowledged data if the first write with space
 * failed after the new manifest was current. The next write recovered again, from this manifest,
 * and did not show the tables that it names. Method: any one call of the first write with space
 * fails; then the store is written, closed and opened again. */
#include "tests/support/store.h"

#include <errno.h>

#include "tests/support/file_fault.h"

#define SPACE      60000
#define VALUE_SIZE 900

struct waiting {
    struct store store;
    struct bb_file_fault *fault;
    int count; /* acknowledged writes */
};

static enum bb_status put(struct waiting *waiting, int i, uint8_t version)
{
    uint8_t value[VALUE_SIZE] = {version};
    return bb_db_put(waiting->store.db, NULL, bb_bytes_of(&i, sizeof(i)),
                     bb_bytes_of(value, VALUE_SIZE));
}

static void assert_version(struct waiting *waiting, int i, uint8_t version)
{
    struct bb_buf value = {0};
    assert_ok(bb_db_get(waiting->store.db, NULL, bb_bytes_of(&i, sizeof(i)), &value));
    assert_int_equal(value.data[0], version);
    bb_buf_deinit(&value);
}

/* A full disk, from which the store is opened: it waits. Then there is space. */
static void waiting_init(struct waiting *waiting)
{
    store_init(&waiting->store);
    waiting->store.options.compression = BB_COMPRESSION_NONE;
    waiting->count = 0;
    store_open(&waiting->store);
    bb_file_memory_set_space(waiting->store.memory, SPACE);
    while (put(waiting, waiting->count, 1) == BB_OK)
        waiting->count++;
    store_die_on_full_disk(&waiting->store, SPACE);
    waiting->fault = bb_file_fault_create(waiting->store.options.file_system);
    waiting->store.options.file_system = bb_file_fault_system(waiting->fault);
    store_open(&waiting->store);
    assert_status(put(waiting, 0, 2), BB_NO_SPACE);
    bb_file_memory_set_space(waiting->store.memory, 0);
}

static void waiting_deinit(struct waiting *waiting)
{
    store_close(&waiting->store);
    waiting->store.options.file_system = bb_file_memory_system(waiting->store.memory);
    bb_file_fault_destroy(waiting->fault);
    store_deinit(&waiting->store);
}

/* Returns false when the write has fewer calls. *in_doubt counts stores that had to be reopened. */
static bool fail_call(uint64_t nth, int error_number, int *in_doubt)
{
    struct waiting waiting;
    waiting_init(&waiting);
    struct bb_file_fault_plan plan = {
        .call = BB_FILE_CALL_ANY, .nth = nth, .error_number = error_number};
    bb_file_fault_arm(waiting.fault, &plan);
    (void)!put(&waiting, waiting.count, 2);
    bool was_hit = bb_file_fault_hits(waiting.fault) > 0;
    bb_file_fault_disarm(waiting.fault);
    /* Either every write is refused, or the store has all data. */
    enum bb_status status = put(&waiting, 0, 2);
    assert_true(status == BB_OK || status == BB_READ_ONLY);
    for (int i = 0; i < waiting.count; i++)
        assert_version(&waiting, i, i == 0 && status == BB_OK ? 2 : 1);
    *in_doubt += status == BB_READ_ONLY;
    if (status == BB_READ_ONLY) {
        assert_status(put(&waiting, 0, 2), BB_READ_ONLY);
        assert_status(bb_db_compact(waiting.store.db), BB_READ_ONLY);
        store_close(&waiting.store);
        store_open(&waiting.store);
        assert_ok(put(&waiting, 0, 2));
    }
    assert_ok(bb_db_compact(waiting.store.db));
    store_close(&waiting.store);
    store_open(&waiting.store);
    for (int i = 0; i < waiting.count; i++)
        assert_version(&waiting, i, i == 0 ? 2 : 1);
    waiting_deinit(&waiting);
    return was_hit;
}

static void resume_in_doubt__keeps_all_data(void **state)
{
    (void)state;
    static const int errors[] = {EIO, ENOSPC};
    for (int i = 0; i < 2; i++) {
        int in_doubt = 0;
        uint64_t nth = 1;
        while (fail_call(nth, errors[i], &in_doubt))
            nth++;
        print_message("%d of %d failures left the state in doubt\n", in_doubt, (int)nth - 1);
        assert_true(nth > 20);
        assert_in_range(in_doubt, 1, 5);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(resume_in_doubt__keeps_all_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
