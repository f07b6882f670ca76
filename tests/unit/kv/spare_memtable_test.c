/* Goal: one empty memtable of one capacity is kept, and no other. Method: takes and keeps of
 * memtables of two capacities. */
#include "kv/view/spare_memtable.h"

#include "kv/memtable/memtable.h"
#include "tests/support/assert_status.h"

#define CAPACITY 65536

static struct bb_memtable *memtable_of(uint64_t capacity)
{
    struct bb_memtable *memtable = NULL;
    assert_ok(bb_memtable_create(NULL, capacity, &memtable));
    return memtable;
}

static void spare_memtable__keeps_one_of_its_capacity(void **state)
{
    (void)state;
    struct bb_spare_memtable spare;
    struct bb_memtable *first = memtable_of(CAPACITY), *second = memtable_of(CAPACITY);
    struct bb_memtable *larger = memtable_of(2 * CAPACITY);
    bb_spare_memtable_init(&spare, bb_memtable_capacity(first));
    assert_null(bb_spare_memtable_take(&spare, bb_memtable_capacity(first)));
    assert_false(bb_spare_memtable_keep(&spare, larger));
    assert_true(bb_spare_memtable_keep(&spare, first));
    assert_false(bb_spare_memtable_keep(&spare, second));
    assert_null(bb_spare_memtable_take(&spare, bb_memtable_capacity(larger)));
    assert_ptr_equal(bb_spare_memtable_take(&spare, bb_memtable_capacity(first)), first);
    assert_null(bb_spare_memtable_take(&spare, bb_memtable_capacity(first)));
    assert_true(bb_spare_memtable_keep(&spare, second));
    bb_spare_memtable_deinit(&spare);
    bb_memtable_destroy(first);
    bb_memtable_destroy(larger);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spare_memtable__keeps_one_of_its_capacity),
    };
    return cmocka_run_group_tests_name("spare_memtable", tests, NULL, NULL);
}
