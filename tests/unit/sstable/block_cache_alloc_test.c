/* Goal: a cache without memory reports it and leaks nothing; a cache that cannot grow continues
 * with longer chains. Method: every allocation fails one by one. */
#include "tests/support/assert_status.h"

#include "sstable/block/block_cache.h"
#include "tests/support/alloc/alloc_fault.h"

/* Changes no order and counts nothing. */
static bool contains(struct bb_block_cache *cache, uint64_t owner, uint64_t offset)
{
    struct bb_cache_item *item = bb_block_cache_peek(cache, owner, offset);
    bb_block_cache_item_unref(item);
    return item != NULL;
}

static enum bb_status create_and_destroy(void *context)
{
    (void)context;
    struct bb_block_cache *cache = NULL;
    enum bb_status status = bb_block_cache_create(8 << 20, &cache);
    bb_block_cache_destroy(cache);
    return status;
}

static void block_cache__create_without_memory(void **state)
{
    (void)state;
    assert_true(bb_alloc_fault_sweep(create_and_destroy, NULL, false) > 2);
}

static void no_destroy(struct bb_cache_item *item)
{
    (void)item;
}

static void block_cache__growth_without_memory(void **state)
{
    (void)state;
    enum { COUNT = 1000 };
    static struct bb_cache_item items[COUNT];
    struct bb_block_cache *cache = NULL;
    assert_ok(bb_block_cache_create(100 << 10, &cache));
    bb_alloc_fault_arm(1, true);
    for (uint64_t i = 0; i < COUNT; i++) {
        bb_block_cache_item_init(&items[i], no_destroy, 1);
        bb_block_cache_item_unref(bb_block_cache_insert(cache, 1, i, &items[i]));
    }
    assert_true(bb_alloc_fault_failures() > 0);
    bb_alloc_fault_disarm();
    for (uint64_t i = 0; i < COUNT; i++)
        assert_true(contains(cache, 1, i));
    bb_block_cache_destroy(cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(block_cache__create_without_memory),
        cmocka_unit_test(block_cache__growth_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
