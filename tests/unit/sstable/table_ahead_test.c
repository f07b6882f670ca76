/* Goal: a scan reads several blocks in one call, shows the same entries, counts every byte that it
 * reads, reads no block that is entirely outside its range, and reports damage where it is.
 * Method: scans of a table in memory, whose file system counts calls and bytes, with failing reads
 * and with damaged bytes. */
#include "tests/unit/sstable/faulty_table.h"

#include "sstable/table/table.h"
#include "sstable/table/table_iter.h"

#define KEY_COUNT  5000
#define BLOCK_SIZE 512

struct world {
    struct faulty_table faulty;
    struct entry_list list;
    struct bb_read_stats stats;
    struct bb_file_counters before; /* of the file system, before the reads that a test counts */
};

static void key_of(int i, char *text, size_t size)
{
    snprintf(text, size, "%06d", i);
}

static void world_init(struct world *world, uint64_t cache_size)
{
    struct bb_table_options options = {.block_size_bytes = BLOCK_SIZE,
                                       .index_page_size_bytes = 8192};
    *world = (struct world){0};
    for (int i = 0; i < KEY_COUNT; i++) {
        char key[16];
        key_of(i, key, sizeof(key));
        entry_list_add_text(&world->list, key, 7, "a value");
    }
    faulty_table_init(&world->faulty, 53, &options, cache_size, &world->list);
}

static void world_deinit(struct world *world)
{
    faulty_table_deinit(&world->faulty);
    entry_list_deinit(&world->list);
}

/* Loads all index pages, so that later reads are reads of blocks. */
static void load_pages(struct world *world)
{
    for (uint32_t i = 0; i < world->faulty.table->root.page_count; i++) {
        struct bb_read_stats stats = {0};
        struct bb_index_page *page = NULL;
        assert_ok(bb_table_page_acquire(world->faulty.table, i, &stats, &page));
        bb_table_page_release(world->faulty.table, page);
    }
    world->before = faulty_table_counters(&world->faulty);
}

static uint64_t reads_since(const struct world *world)
{
    return faulty_table_counters(&world->faulty).reads - world->before.reads;
}

static uint64_t bytes_since(const struct world *world)
{
    return faulty_table_counters(&world->faulty).read_bytes - world->before.read_bytes;
}

/* Reads forward from key `begin`, at most `count` entries, and checks each. Returns the number. */
static int scan(struct world *world, struct bb_iter *iter, int begin, int count)
{
    char text[16];
    int i = begin;
    key_of(begin, text, sizeof(text));
    for (bb_iter_seek(iter, bb_bytes_of_text(text), BB_SEQUENCE_MAX);
         iter->is_valid && i < begin + count; bb_iter_next(iter), i++) {
        const struct bb_entry *expected = &world->list.entries[i];
        assert_true(bb_bytes_equal(iter->entry.key, expected->key));
        assert_true(bb_bytes_equal(iter->entry.value, expected->value));
    }
    return i - begin;
}

static void check_whole_scan(uint64_t cache_size)
{
    struct world world;
    struct bb_iter *iter = NULL;
    world_init(&world, cache_size);
    load_pages(&world);
    assert_ok(bb_table_iter_create(world.faulty.table, NULL, &world.stats, &iter));
    assert_int_equal(scan(&world, iter, 0, KEY_COUNT), KEY_COUNT);
    assert_int_equal(iter->status, BB_OK);
    uint64_t blocks = world.faulty.table->meta.block_count;
    assert_int_equal(world.stats.block_requests, blocks);
    assert_int_equal(world.stats.block_reads, blocks);
    assert_int_equal(world.stats.block_read_bytes, bytes_since(&world));
    assert_int_equal(world.stats.block_read_bytes, world.faulty.table->properties.data_size);
    assert_true(blocks > 100 && reads_since(&world) < blocks / 5);
    assert_int_equal(world.stats.block_reads - world.stats.blocks_ahead, reads_since(&world));
    bb_iter_destroy(iter);
    world_deinit(&world);
}

static void table_ahead__a_scan_reads_each_block_once_in_few_calls(void **state)
{
    (void)state;
    check_whole_scan(0);
    check_whole_scan(1 << 20);
    check_whole_scan(4096);
}

/* A large block is not part of a piece: the iterator would read it again. */
static void table_ahead__a_scan_reads_a_large_block_once(void **state)
{
    (void)state;
    struct bb_file_memory *memory = bb_file_memory_create(3);
    struct bb_table_options options = {.file_system = bb_file_memory_system(memory),
                                       .compression = BB_COMPRESSION_NONE,
                                       .block_size_bytes = 512};
    struct entry_list list = {0};
    struct bb_table *table = NULL;
    struct bb_iter *iter = NULL;
    struct bb_read_stats stats = {0};
    uint8_t large[20000] = {1};
    for (int i = 0; i < 200; i++) {
        char key[16];
        snprintf(key, sizeof(key), "%06d", i);
        entry_list_add(&list, bb_bytes_of_text(key), 1, BB_ENTRY_PUT,
                       bb_bytes_of(large, i % 40 == 39 ? sizeof(large) : 60));
    }
    build_table(FIXTURE_PATH, &options, &list, NULL);
    assert_ok(bb_table_open(FIXTURE_PATH, &options, &table));
    assert_ok(bb_table_iter_create(table, NULL, &stats, &iter));
    for (bb_iter_seek_first(iter); iter->is_valid; bb_iter_next(iter)) {
    }
    assert_ok(iter->status);
    assert_int_equal(stats.block_read_bytes, table->properties.data_size);
    assert_true(stats.blocks_ahead > 10);
    bb_iter_destroy(iter);
    bb_table_close(table);
    entry_list_deinit(&list);
    bb_file_memory_destroy(memory);
}

/* A range query that passes few blocks reads only these. A longer one needs at least half of the
 * bytes that it reads. */
static void table_ahead__short_ranges_read_what_they_need(void **state)
{
    (void)state;
    struct world world;
    struct bb_rng rng;
    struct bb_iter *iter = NULL;
    bb_rng_init(&rng, bb_rng_seed("table_ahead__short_ranges_read_what_they_need", 53));
    world_init(&world, 0);
    load_pages(&world);
    assert_ok(bb_table_iter_create(world.faulty.table, NULL, &world.stats, &iter));
    for (int i = 0; i < 500; i++) {
        int count = 1 + (int)bb_rng_below(&rng, 400);
        world.before = faulty_table_counters(&world.faulty);
        uint64_t requests = world.stats.block_requests;
        uint64_t bytes = world.stats.block_read_bytes;
        uint64_t preads = world.stats.block_reads - world.stats.blocks_ahead;
        scan(&world, iter, (int)bb_rng_below(&rng, KEY_COUNT - 400), count);
        requests = world.stats.block_requests - requests;
        bytes = world.stats.block_read_bytes - bytes;
        assert_int_equal(bytes, bytes_since(&world));
        preads = world.stats.block_reads - world.stats.blocks_ahead - preads;
        assert_int_equal(preads, reads_since(&world));
        assert_true(bytes <= (requests <= 2 ? requests : 2 * requests) * BLOCK_SIZE);
    }
    bb_iter_destroy(iter);
    world_deinit(&world);
}

/* Blocks after the end of the iterator's range are not read. */
static void table_ahead__nothing_after_the_range_is_read(void **state)
{
    (void)state;
    struct world world;
    struct bb_table_iter iter;
    char text[16];
    world_init(&world, 0);
    load_pages(&world);
    for (int end = 1; end <= KEY_COUNT; end += 97) {
        key_of(end, text, sizeof(text));
        struct bb_bytes high = bb_bytes_of_text(text);
        struct bb_key_range range = {.high = &high};
        uint64_t bytes = world.stats.block_read_bytes;
        bb_table_iter_init(&iter, world.faulty.table, NULL, &range, &world.stats);
        assert_true(scan(&world, &iter.base, 0, KEY_COUNT) >= end);
        const struct bb_root_page *pages = world.faulty.table->root.pages;
        uint64_t expected = bb_index_page_block_offset(iter.page, iter.ordinal) +
                            bb_index_page_block_size(iter.page, iter.ordinal) -
                            pages[iter.page_index].data_offset;
        for (uint32_t i = 0; i < iter.page_index; i++)
            expected += pages[i].data_size;
        assert_int_equal(world.stats.block_read_bytes - bytes, expected);
        bb_table_iter_deinit(&iter);
    }
    world_deinit(&world);
}

/* Every read of a scan fails once. The scan reports it, after right entries only, and the next seek
 * reads again. */
static void table_ahead__a_failed_read_is_reported(void **state)
{
    (void)state;
    struct world world;
    struct bb_iter *iter = NULL;
    world_init(&world, 0);
    load_pages(&world);
    assert_ok(bb_table_iter_create(world.faulty.table, NULL, &world.stats, &iter));
    uint64_t nth = 1;
    for (;; nth++) {
        struct bb_file_fault_plan plan = {.call = BB_FILE_CALL_READ_AT, .nth = nth};
        bb_file_fault_arm(world.faulty.fault, &plan);
        int count = scan(&world, iter, 0, KEY_COUNT);
        uint64_t hits = bb_file_fault_hits(world.faulty.fault);
        bb_file_fault_disarm(world.faulty.fault);
        if (hits == 0)
            break;
        assert_int_equal(iter->status, BB_IO);
        assert_true(count < KEY_COUNT);
        assert_int_equal(scan(&world, iter, count, 100),
                         KEY_COUNT - count < 100 ? KEY_COUNT - count : 100);
    }
    assert_true(nth > 8);
    bb_iter_destroy(iter);
    world_deinit(&world);
}

/* The entries before a damaged block are shown, although it was read together with theirs. */
static void table_ahead__damage_is_reported_at_its_block(void **state)
{
    (void)state;
    struct world world;
    struct bb_iter *iter = NULL;
    world_init(&world, 0);
    load_pages(&world);
    size_t size = 0;
    uint8_t *file = bb_file_memory_bytes(world.faulty.memory, FIXTURE_PATH, &size);
    for (uint32_t ordinal = 0; ordinal < 16; ordinal++) {
        struct bb_index_page *page = bb_table_page_peek(world.faulty.table, 0);
        uint64_t at = bb_index_page_block_offset(page, ordinal) + 20;
        uint8_t *byte = file + at;
        assert_true(at < size);
        *byte ^= 0x10;
        assert_ok(bb_table_iter_create(world.faulty.table, NULL, &world.stats, &iter));
        uint64_t requests = world.stats.block_requests;
        scan(&world, iter, 0, KEY_COUNT);
        assert_int_equal(iter->status, BB_CORRUPT);
        assert_int_equal(world.stats.block_requests - requests, ordinal + 1);
        bb_iter_destroy(iter);
        *byte ^= 0x10;
    }
    world_deinit(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_ahead__a_scan_reads_each_block_once_in_few_calls),
        cmocka_unit_test(table_ahead__a_scan_reads_a_large_block_once),
        cmocka_unit_test(table_ahead__short_ranges_read_what_they_need),
        cmocka_unit_test(table_ahead__nothing_after_the_range_is_read),
        cmocka_unit_test(table_ahead__a_failed_read_is_reported),
        cmocka_unit_test(table_ahead__damage_is_reported_at_its_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
