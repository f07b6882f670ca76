/* Goal: approximate sizes keep the bounds in include/bb/db.h: whole tables exactly, ends to the
 * block and page, adjacent ranges add up, memtables to a few percent; and no data block is read.
 * Method: a store with several levels, random ranges, compared with the table list and the data. */
#include "tests/support/store.h"

#include "tests/support/file_fault.h"
#include "tests/support/rng.h"

#define KEYS       4000
#define VALUE_SIZE 60
/* Of the options below: a block may be longer by an entry, a page by a block's fence and filter. */
#define BLOCK_MAX 700
#define PAGE_MAX  4600

static struct bb_bytes key_of(uint32_t i, char key[16])
{
    snprintf(key, 16, "key%08u", i);
    return bb_bytes_of_text(key);
}

static void fill(struct store *store, uint32_t rounds)
{
    char key[16];
    uint8_t value[VALUE_SIZE];
    struct bb_rng rng;
    bb_rng_init(&rng, 7);
    for (uint32_t i = 0; i < rounds * KEYS; i++) {
        bb_rng_bytes(&rng, value, sizeof(value));
        assert_ok(bb_db_put(store->db, NULL, key_of((uint32_t)(i * 7919ULL % KEYS), key),
                            bb_bytes_of(value, sizeof(value))));
    }
}

static struct bb_range_size size_of(struct store *store, const struct bb_bytes *low,
                                    const struct bb_bytes *high)
{
    struct bb_key_range range = {.low = low, .high = high};
    struct bb_range_size size = {.raw_bytes = 1};
    assert_ok(bb_db_approximate_sizes(store->db, &range, 1, &size));
    return size;
}

static uint64_t run_count(struct store *store)
{
    struct bb_db_stats stats = store_stats(store);
    uint64_t runs = 0;
    for (int level = 0; level < BB_LEVEL_COUNT; level++)
        runs += stats.levels[level].run_count;
    return runs;
}

static void range_size__of_everything_is_exact(void **state)
{
    (void)state;
    struct store store;
    store_init(&store);
    store_open(&store);
    struct bb_range_size empty = size_of(&store, NULL, NULL);
    assert_int_equal(empty.file_bytes + empty.raw_bytes + empty.memtable_bytes, 0);
    fill(&store, 3);
    struct bb_range_size size = size_of(&store, NULL, NULL);
    struct bb_db_table_list list;
    uint64_t bytes = 0;
    assert_ok(bb_db_tables(store.db, &list));
    for (size_t i = 0; i < list.count; i++)
        bytes += list.tables[i].file_size;
    bb_db_table_list_deinit(&list);
    assert_int_equal(size.file_bytes, bytes);
    assert_true(size.memtable_bytes > 0);
    assert_ok(bb_db_compact(store.db));
    size = size_of(&store, NULL, NULL);
    assert_int_equal(size.raw_bytes, KEYS * (11 + VALUE_SIZE));
    assert_int_equal(size.memtable_bytes, 0);
    store_deinit(&store);
}

/* Cut at random places, the parts add up to the whole; and no data block is read. */
static void range_size__parts_add_up(void **state)
{
    (void)state;
    struct store store;
    struct bb_rng rng;
    store_init(&store);
    store_open(&store);
    fill(&store, 3);
    bb_rng_init(&rng, bb_rng_seed("range_size__parts_add_up", 1));
    bb_db_clear_cache(store.db);
    struct bb_read_stats before = store_stats(&store).scan_reads;
    for (int round = 0; round < 200; round++) {
        char texts[3][16];
        uint32_t a = (uint32_t)bb_rng_below(&rng, KEYS);
        uint32_t b = a + (uint32_t)bb_rng_below(&rng, KEYS - a);
        struct bb_bytes low = key_of(a, texts[0]);
        struct bb_bytes high = key_of(b, texts[1]);
        struct bb_key_range ranges[] = {{NULL, &low}, {&low, &high}, {&high, NULL}, {NULL, NULL}};
        struct bb_range_size sizes[4];
        assert_ok(bb_db_approximate_sizes(store.db, ranges, 4, sizes));
        assert_int_equal(sizes[0].file_bytes + sizes[1].file_bytes + sizes[2].file_bytes,
                         sizes[3].file_bytes);
        assert_int_equal(sizes[0].raw_bytes + sizes[1].raw_bytes + sizes[2].raw_bytes,
                         sizes[3].raw_bytes);
        uint64_t parts =
            sizes[0].memtable_bytes + sizes[1].memtable_bytes + sizes[2].memtable_bytes;
        assert_true(parts + 2 >= sizes[3].memtable_bytes && parts <= sizes[3].memtable_bytes + 2);
    }
    struct bb_read_stats after = store_stats(&store).scan_reads;
    assert_int_equal(after.block_requests, before.block_requests);
    assert_true(after.page_requests > before.page_requests);
    store_deinit(&store);
}

/* One run of equal entries: the size is the range's share, up to a block and a page at each end. */
static void range_size__is_within_its_bound(void **state)
{
    (void)state;
    for (int is_cached = 0; is_cached < 2; is_cached++) {
        struct store store;
        struct bb_rng rng;
        store_init(&store);
        store.options.index_residency = is_cached ? BB_INDEX_CACHED : BB_INDEX_PINNED;
        store_open(&store);
        fill(&store, 1);
        assert_ok(bb_db_compact(store.db));
        uint64_t all = size_of(&store, NULL, NULL).file_bytes;
        uint64_t tables = store_stats(&store).levels[1].table_count;
        assert_int_equal(run_count(&store), 1);
        bb_rng_init(&rng, bb_rng_seed("range_size__is_within_its_bound", 1));
        for (int round = 0; round < 200; round++) {
            char texts[2][16];
            uint32_t a = (uint32_t)bb_rng_below(&rng, KEYS);
            uint32_t b = a + (uint32_t)bb_rng_below(&rng, KEYS - a);
            struct bb_bytes low = key_of(a, texts[0]);
            struct bb_bytes high = key_of(b, texts[1]);
            double expected = (double)all * (b - a) / KEYS;
            double found = (double)size_of(&store, &low, &high).file_bytes;
            /* Tables differ slightly in their overhead. */
            double bound = 2.0 * (BLOCK_MAX + PAGE_MAX) + 0.01 * expected + 600.0 * (double)tables;
            assert_true(found >= expected - bound && found <= expected + bound);
        }
        store_deinit(&store);
    }
}

static void range_size__upside_down_is_empty(void **state)
{
    (void)state;
    struct store store;
    store_init(&store);
    store_open(&store);
    fill(&store, 2);
    struct bb_bytes low = bb_bytes_of_text("key00000100");
    struct bb_bytes high = bb_bytes_of_text("key00003000");
    struct bb_range_size size = size_of(&store, &high, &low);
    assert_int_equal(size.file_bytes + size.raw_bytes + size.memtable_bytes, 0);
    size = size_of(&store, &low, &low);
    assert_int_equal(size.file_bytes + size.raw_bytes + size.memtable_bytes, 0);
    struct bb_bytes far = bb_bytes_of_text("zebra");
    size = size_of(&store, &far, NULL);
    assert_int_equal(size.file_bytes + size.raw_bytes + size.memtable_bytes, 0);
    assert_ok(bb_db_approximate_sizes(store.db, NULL, 0, NULL));
    store_deinit(&store);
}

static void range_size__of_a_memtable(void **state)
{
    (void)state;
    struct store store;
    struct bb_rng rng;
    store_init(&store);
    store.options.write_buffer_bytes = 4 << 20;
    store_open(&store);
    fill(&store, 1);
    double all = (double)size_of(&store, NULL, NULL).memtable_bytes;
    assert_int_equal((uint64_t)all, KEYS * (11 + VALUE_SIZE));
    bb_rng_init(&rng, bb_rng_seed("range_size__of_a_memtable", 1));
    for (int round = 0; round < 200; round++) {
        char texts[2][16];
        uint32_t a = (uint32_t)bb_rng_below(&rng, KEYS);
        uint32_t b = a + (uint32_t)bb_rng_below(&rng, KEYS - a);
        struct bb_bytes low = key_of(a, texts[0]);
        struct bb_bytes high = key_of(b, texts[1]);
        double found = (double)size_of(&store, &low, &high).memtable_bytes;
        double expected = all * (b - a) / KEYS;
        assert_true(found >= expected - 0.15 * all && found <= expected + 0.15 * all);
    }
    store_deinit(&store);
}

/* An unreadable table is an error, for any of its reads, and the sizes are unchanged. */
static void range_size__of_an_unreadable_table(void **state)
{
    (void)state;
    struct store store;
    store_init(&store);
    store_open(&store);
    fill(&store, 1);
    assert_ok(bb_db_compact(store.db));
    store_close(&store);
    struct bb_file_fault *fault = bb_file_fault_create(bb_file_memory_system(store.memory));
    store.options.file_system = bb_file_fault_system(fault);
    uint64_t failures = 0;
    for (uint64_t nth = 1; nth == failures + 1; nth++) {
        struct bb_bytes low = bb_bytes_of_text("key00000100");
        struct bb_key_range range = {.low = &low};
        struct bb_range_size size = {.file_bytes = 77};
        store_open(&store);
        bb_file_fault_arm(fault, &(struct bb_file_fault_plan){.call = BB_FILE_CALL_READ_AT,
                                                              .path_part = ".bbt",
                                                              .nth = nth});
        enum bb_status status = bb_db_approximate_sizes(store.db, &range, 1, &size);
        uint64_t hits = bb_file_fault_hits(fault);
        assert_true(status == (hits > 0 ? BB_IO : BB_OK));
        assert_true((size.file_bytes == 77) == (hits > 0));
        failures += hits;
        bb_file_fault_disarm(fault);
        store_close(&store);
    }
    assert_true(failures >= 2); /* the table's end, and an index page */
    bb_file_fault_destroy(fault);
    bb_file_memory_destroy(store.memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(range_size__of_everything_is_exact),
        cmocka_unit_test(range_size__parts_add_up),
        cmocka_unit_test(range_size__is_within_its_bound),
        cmocka_unit_test(range_size__upside_down_is_empty),
        cmocka_unit_test(range_size__of_a_memtable),
        cmocka_unit_test(range_size__of_an_unreadable_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
