/* Goal: a stream with range tombstones that finds no memory is reported, and releases the stream
 * that it owns. Method: each allocation of its creation fails. */
#include "tests/support/assert_status.h"

#include "kv/memtable/memtable.h"
#include "kv/view/uncovered_iter.h"
#include "tests/support/alloc/alloc_fault.h"

static enum bb_status create(void *context)
{
    struct bb_iter *stream = NULL;
    struct bb_iter *iter = NULL;
    const struct bb_range_tombstone_cover cover = {0};
    enum bb_status status = bb_memtable_iter_create(context, &stream);
    if (status == BB_OK)
        status = bb_uncovered_iter_create(stream, NULL, &cover, &iter);
    assert_int_equal(iter != NULL, status == BB_OK);
    bb_iter_destroy(iter);
    return status;
}

static void uncovered_iter__without_memory(void **state)
{
    (void)state;
    struct bb_memtable *memtable = NULL;
    assert_ok(bb_memtable_create(NULL, 1 << 20, &memtable));
    assert_int_equal(bb_alloc_fault_sweep(create, memtable, false), 2);
    bb_memtable_destroy(memtable);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(uncovered_iter__without_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
