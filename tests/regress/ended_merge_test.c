/* A flush that found no space asked whether a merge held it. If the merge had just ended, and so
 * had removed its outputs, the flush was refused although there was space (seen on a busy machine
 * by fault_full_disk_test). Method: the end of a merge is its counter. */
#include "tests/support/store.h"

#include "kv/store/store.h"
#include "tests/support/file_memory.h"

/* The space ends during the write of a table, and a merge ends at the same time, or none. */
struct shortage {
    struct bb_db *db;
    bool merge_ends;
    _Atomic bool has_begun;
};

static enum bb_status take_space(void *context, struct bb_file_memory *memory, uint64_t number,
                                 enum bb_file_call call, const char *path)
{
    struct shortage *shortage = context;
    (void)number;
    if (shortage->has_begun) {
        bb_file_memory_set_space(memory, 0);
    } else if (call == BB_FILE_CALL_APPEND && strstr(path, ".bbt") != NULL) {
        bb_file_memory_set_space(memory, 1);
        shortage->db->merge_ends += shortage->merge_ends;
        shortage->has_begun = true;
    }
    return BB_OK;
}

/* The number of the flush's attempt that failed, or 0. A failed one is repeated, perhaps too late
 * for the call. */
static uint64_t flush_with_shortage(bool merge_ends)
{
    struct store store;
    store_init(&store);
    store.options.deterministic = false;
    store_open(&store);
    store_put(&store, "key", "value");
    assert_ok(bb_db_wait_idle(store.db));
    struct shortage shortage = {.db = store.db, .merge_ends = merge_ends};
    bb_file_memory_set_hook(store.memory, take_space, &shortage);
    enum bb_status status = bb_db_flush(store.db);
    assert_true(shortage.has_begun);
    bb_file_memory_set_hook(store.memory, NULL, NULL);
    bb_file_memory_set_space(store.memory, 0);
    bb_mutex_lock(&store.db->mutex);
    uint64_t failed_attempt = store.db->workers[BB_WORK_FLUSH].failed_attempt;
    bb_mutex_unlock(&store.db->mutex);
    assert_true(status == BB_OK || failed_attempt != 0);
    assert_get(&store, "key", "value");
    store_deinit(&store);
    return failed_attempt;
}

static void ended_merge__gives_its_space_to_a_flush(void **state)
{
    (void)state;
    assert_int_equal(flush_with_shortage(true), 0);
    assert_int_not_equal(flush_with_shortage(false), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ended_merge__gives_its_space_to_a_flush),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
