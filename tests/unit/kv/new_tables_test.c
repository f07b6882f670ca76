/* Goal: blocks of tables that were written since the store was opened are copied from their maps
 * the first time too, and blocks of other tables from the second time on. A merge lets the system
 * write its outputs before it syncs them. Method: a store in memory without a cache, and its
 * counters. */
#include "tests/support/store.h"

#define KEYS 2000

static struct bb_bytes key_of(uint32_t i, char key[16])
{
    snprintf(key, 16, "%08u", i);
    return bb_bytes_of_text(key);
}

static void fill(struct store *store)
{
    char key[16];
    store_init(store);
    store->options.cache_off = true;
    store_open(store);
    for (uint32_t i = 0; i < KEYS; i++)
        assert_ok(bb_db_put(store->db, NULL, key_of(i, key), bb_bytes_of_text("a value")));
    assert_ok(bb_db_compact(store->db));
}

/* Of the blocks that gets of some keys read: those without a call, in percent. */
static uint64_t mapped_share(struct store *store)
{
    char key[16];
    struct bb_read_stats reads = {0};
    struct bb_get_options options = {.stats = &reads};
    for (uint32_t i = 0; i < KEYS; i += KEYS / 10)
        assert_ok(bb_db_get(store->db, &options, key_of(i, key), NULL));
    assert_int_equal(reads.block_reads, 10);
    return 100 * reads.blocks_mapped / reads.block_reads;
}

static void new_tables__are_in_memory(void **state)
{
    (void)state;
    struct store store;
    fill(&store);
    assert_int_equal(mapped_share(&store), 100);
    store_reopen(&store);
    assert_true(mapped_share(&store) < 100);
    assert_int_equal(mapped_share(&store), 100);
    store_deinit(&store);
}

static void new_tables__are_read_with_calls_if_nothing_is_mapped(void **state)
{
    (void)state;
    struct store store;
    fill(&store);
    store.options.read_mode = BB_READ_CALLS;
    store_reopen(&store);
    store_put(&store, "z", "1"); /* otherwise there is nothing to compact */
    assert_ok(bb_db_compact(store.db));
    assert_int_equal(mapped_share(&store), 0);
    store_deinit(&store);
}

static void new_tables__are_written_before_they_are_synced(void **state)
{
    (void)state;
    struct store store;
    fill(&store);
    assert_true(bb_file_memory_write_backs(store.memory) > 0);
    store_deinit(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(new_tables__are_in_memory),
        cmocka_unit_test(new_tables__are_read_with_calls_if_nothing_is_mapped),
        cmocka_unit_test(new_tables__are_written_before_they_are_synced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
