/* Goal: reads and their sources are counted exactly; a failed checksum is read twice and never
 * cached. Method: the counts of the table compared with the file system's; single wrong bits in the
 * results of reads. */
#include "tests/unit/sstable/faulty_table.h"

#include "sstable/build/table_builder.h"
#include "sstable/table/table.h"

struct world {
    struct faulty_table faulty;
    struct entry_list list;
    struct bb_read_stats stats;
    struct bb_buf value;
};

static void world_init(struct world *world, uint64_t cache_size, enum bb_index_residency residency)
{
    struct bb_table_options options = {.block_size_bytes = 256,
                                       .index_page_size_bytes = 1024,
                                       .index_residency = residency,
                                       .table_filter_bits = 4};
    *world = (struct world){0};
    for (int i = 0; i < 5000; i++) {
        char key[16];
        snprintf(key, sizeof(key), "%06d", i * 2);
        entry_list_add_text(&world->list, key, 7, "a value");
    }
    faulty_table_init(&world->faulty, 51, &options, cache_size, &world->list);
}

static void world_deinit(struct world *world)
{
    bb_buf_deinit(&world->value);
    faulty_table_deinit(&world->faulty);
    entry_list_deinit(&world->list);
}

static enum bb_status get(struct world *world, const struct bb_read_options *options, int number,
                          enum bb_visit *ret_visit)
{
    char key[16];
    uint64_t sequence = 0;
    snprintf(key, sizeof(key), "%06d", number);
    struct bb_bytes bytes = bb_bytes_of_text(key);
    return bb_table_get(world->faulty.table, options, bytes,
                        bb_hash_key(&world->faulty.secret, bytes), BB_SEQUENCE_MAX, &world->stats,
                        &world->value, &sequence, ret_visit);
}

static uint64_t preads(const struct world *world)
{
    return faulty_table_counters(&world->faulty).reads;
}

/* Looks up every number, present or not. */
static void ask_all(struct world *world, const struct bb_read_options *options)
{
    for (int i = -1; i <= 10000; i++) {
        enum bb_visit visit = BB_VISIT_COUNT;
        assert_ok(get(world, options, i, &visit));
        if (i < 0 || i > 9998)
            assert_int_equal(visit, BB_VISIT_OUT_OF_BOUNDS);
        else if (i % 2 == 0)
            assert_int_equal(visit, BB_VISIT_PRESENT);
        else
            assert_true(visit == BB_VISIT_TABLE_FILTER_NEGATIVE ||
                        visit == BB_VISIT_FILTER_NEGATIVE || visit == BB_VISIT_FALSE_POSITIVE);
    }
}

/* ---- counts ---- */

static void check_sums(const struct bb_read_stats *stats)
{
    uint64_t visits = 0;
    for (int i = 0; i < BB_VISIT_COUNT; i++)
        visits += stats->visits[i];
    assert_true(visits == 10002);
    assert_true(stats->visits[BB_VISIT_OUT_OF_BOUNDS] == 3);
    assert_true(stats->visits[BB_VISIT_PRESENT] == 5000);
    assert_true(stats->visits[BB_VISIT_FALSE_POSITIVE] < 150);
    assert_true(stats->block_requests + stats->avoided_requests == 9999);
    uint64_t unsearched = stats->visits[BB_VISIT_TABLE_FILTER_NEGATIVE];
    assert_true(unsearched > 4999 * 85 / 100);
    assert_true(stats->avoided_requests == stats->visits[BB_VISIT_FILTER_NEGATIVE] + unsearched);
    assert_true(stats->page_requests == 9999 - unsearched);
    assert_true(stats->damaged_filters == 0);
}

static uint64_t all_reads(const struct bb_read_stats *stats)
{
    return stats->block_reads + stats->page_reads + stats->table_filter_reads;
}

static void table_read__without_a_cache(void **state)
{
    (void)state;
    struct world world;
    struct bb_read_options options = {.account_avoided = true};
    world_init(&world, 0, BB_INDEX_PINNED);
    uint64_t before = preads(&world);
    ask_all(&world, &options);
    check_sums(&world.stats);
    assert_true(world.stats.block_reads == world.stats.block_requests);
    assert_true(world.stats.avoided_reads == world.stats.avoided_requests);
    /* One page, then the whole group. */
    assert_true(bb_root_group_end(&world.faulty.table->root, 0) > 2);
    assert_true(world.stats.page_reads == 2);
    assert_true(preads(&world) - before == all_reads(&world.stats));
    world_deinit(&world);
}

/* Avoided plus actual requests with filters equal the requests without, and also reads when
 * uncached. */
static void table_read__filters_change_nothing_but_the_share(void **state)
{
    (void)state;
    struct world world;
    struct bb_read_options with = {.account_avoided = true};
    struct bb_read_options without = {.ignore_filters = true};
    world_init(&world, 0, BB_INDEX_PINNED);
    ask_all(&world, &with);
    struct bb_read_stats made = world.stats;
    world.stats = (struct bb_read_stats){0};
    ask_all(&world, &without);
    assert_true(world.stats.block_requests == made.block_requests + made.avoided_requests);
    assert_true(world.stats.block_reads == made.block_reads + made.avoided_reads);
    assert_true(world.stats.avoided_requests == 0);
    assert_true(world.stats.visits[BB_VISIT_FILTER_NEGATIVE] == 0);
    world_deinit(&world);
}

static void table_read__with_a_cache(void **state)
{
    (void)state;
    struct world world;
    struct bb_read_options options = {.account_avoided = true};
    struct bb_block_cache_stats cached = {0};
    world_init(&world, 64 << 20, BB_INDEX_PINNED);
    uint64_t blocks = bb_table_meta(world.faulty.table)->block_count;
    uint64_t before = preads(&world);
    ask_all(&world, &options);
    check_sums(&world.stats);
    assert_true(world.stats.block_reads == blocks);
    assert_true(preads(&world) - before == all_reads(&world.stats));
    bb_block_cache_stats(world.faulty.options.cache, &cached);
    assert_true(cached.misses == blocks);
    assert_true(cached.hits == world.stats.block_requests - blocks);
    world.stats = (struct bb_read_stats){0};
    before = preads(&world);
    ask_all(&world, &options);
    check_sums(&world.stats);
    assert_true(preads(&world) == before && world.stats.block_reads == 0);
    assert_true(world.stats.avoided_reads == 0); /* everything was cached */
    world_deinit(&world);
}

static void table_read__cached_pages(void **state)
{
    (void)state;
    struct world world;
    world_init(&world, 64 << 20, BB_INDEX_CACHED);
    uint64_t before = preads(&world);
    uint64_t memory = bb_table_memory(world.faulty.table);
    ask_all(&world, NULL);
    check_sums(&world.stats);
    assert_true(world.stats.page_reads == world.faulty.table->root.page_count);
    assert_true(preads(&world) - before == all_reads(&world.stats));
    uint64_t table_filter = bb_table_meta(world.faulty.table)->table_filter_bytes;
    assert_true(bb_table_memory(world.faulty.table) - memory < 2 * table_filter);
    bb_block_cache_clear(world.faulty.options.cache);
    world.stats = (struct bb_read_stats){0};
    ask_all(&world, NULL);
    assert_true(world.stats.page_reads == world.faulty.table->root.page_count);
    world_deinit(&world);
}

static void table_read__pinned_pages_are_counted(void **state)
{
    (void)state;
    struct world world;
    world_init(&world, 0, BB_INDEX_PINNED);
    uint64_t before = bb_table_memory(world.faulty.table);
    ask_all(&world, NULL);
    uint64_t pinned = bb_table_memory(world.faulty.table) - before;
    assert_true(pinned > bb_table_meta(world.faulty.table)->filter_bytes);
    const struct bb_properties *p = &world.faulty.table->properties;
    assert_true(pinned < 3 * (p->index_size + p->table_filter_size) + 1000);
    world_deinit(&world);
}

static void table_read__bypass_fill(void **state)
{
    (void)state;
    struct world world;
    struct bb_read_options options = {.bypass_fill = true};
    struct bb_block_cache_stats cached = {0};
    world_init(&world, 64 << 20, BB_INDEX_PINNED);
    ask_all(&world, &options);
    assert_true(world.stats.block_reads == world.stats.block_requests);
    bb_block_cache_stats(world.faulty.options.cache, &cached);
    assert_true(cached.used_bytes == 0);
    world_deinit(&world);
}

/* ---- races ---- */

/* Another reader, which acquires the first page during a read. */
static struct {
    const struct bb_file_ops *sound;
    struct bb_file_ops ops;
    struct bb_table *table;
    struct bb_index_page *page;
} other;

static enum bb_status read_at(struct bb_file *file, uint64_t offset, void *buffer, size_t size,
                              size_t *ret_size)
{
    struct bb_read_stats stats = {0};
    file->ops = other.sound;
    assert_ok(bb_table_page_acquire(other.table, 0, &stats, &other.page));
    return other.sound->read_at(file, offset, buffer, size, ret_size);
}

/* The page of the first reader to finish is used by both, and its memory is counted once. */
static void table_read__of_a_page_that_another_reader_loads_too(void **state)
{
    (void)state;
    struct world world;
    struct bb_index_page *page = NULL;
    world_init(&world, 0, BB_INDEX_PINNED);
    uint64_t memory = bb_table_memory(world.faulty.table);
    other.sound = world.faulty.table->file->ops;
    other.ops = *other.sound;
    other.ops.read_at = read_at;
    other.table = world.faulty.table;
    world.faulty.table->file->ops = &other.ops;
    assert_ok(bb_table_page_acquire(world.faulty.table, 0, &world.stats, &page));
    assert_ptr_equal(page, other.page);
    assert_true(bb_table_memory(world.faulty.table) == memory + page->item.charge);
    assert_true(world.stats.page_reads == 1);
    world_deinit(&world);
}

/* ---- wrong bits ---- */

/* Arms one wrong bit in the nth read. */
static void arm(struct world *world, uint64_t nth, bool lasting)
{
    struct bb_file_fault_plan plan = {.mode = BB_FILE_FAULT_BIT_FLIP,
                                      .call = BB_FILE_CALL_READ_AT,
                                      .nth = nth,
                                      .lasting = lasting};
    bb_file_fault_arm(world->faulty.fault, &plan);
}

static void table_read__a_wrong_bit_is_looked_at_twice(void **state)
{
    (void)state;
    struct world world;
    enum bb_visit visit = BB_VISIT_COUNT;
    world_init(&world, 64 << 20, BB_INDEX_PINNED);
    /* Of the table filter its list and its chunk, then of the page, of the block. */
    for (uint64_t nth = 1; nth <= 4; nth++) {
        for (int round = 0; round < 20; round++) {
            int number = (int)nth * 2000 + round * 100; /* a fresh block */
            struct bb_read_stats before = world.stats;
            bb_table_close(world.faulty.table);
            bb_block_cache_clear(world.faulty.options.cache);
            assert_ok(bb_table_open(FIXTURE_PATH, &world.faulty.options, &world.faulty.table));
            arm(&world, nth, false);
            assert_ok(get(&world, NULL, number, &visit));
            assert_int_equal(visit, BB_VISIT_PRESENT);
            assert_true(bb_file_fault_hits(world.faulty.fault) == 1);
            bb_file_fault_disarm(world.faulty.fault);
            uint64_t reads = all_reads(&world.stats) - all_reads(&before);
            /* Bytes read before the list are not used. */
            assert_true(reads == 5 || (nth == 1 && reads == 4));
            assert_true(world.stats.damaged_filters == 0);
        }
    }
    world_deinit(&world);
}

/* For a table filter with enough parts that its list needs a separate read. */
static void table_read__a_wrong_bit_in_a_list(void **state)
{
    (void)state;
    static const char path[] = "/parts";
    struct world world;
    struct bb_table_builder *builder = NULL;
    struct bb_table *table = NULL;
    uint64_t sequence = 0;
    enum bb_visit visit = BB_VISIT_COUNT;
    struct bb_bytes key = bb_bytes_of_text("000002");
    world_init(&world, 0, BB_INDEX_PINNED);
    assert_ok(bb_table_builder_create(path, &world.faulty.options, &builder));
    bb_table_builder_set_filter_part(builder, 1);
    for (size_t i = 0; i < 300; i++)
        assert_ok(bb_table_builder_add(builder, &world.list.entries[i]));
    assert_ok(bb_table_builder_finish(builder, NULL));
    bb_table_builder_destroy(builder);
    for (uint64_t nth = 2; nth <= 3; nth++) { /* the list, the chunks */
        assert_ok(bb_table_open(path, &world.faulty.options, &table));
        world.stats = (struct bb_read_stats){0};
        arm(&world, nth, false);
        assert_ok(bb_table_get(table, NULL, key, bb_hash_key(&world.faulty.secret, key),
                               BB_SEQUENCE_MAX, &world.stats, &world.value, &sequence, &visit));
        bb_file_fault_disarm(world.faulty.fault);
        assert_int_equal(visit, BB_VISIT_PRESENT);
        assert_true(world.stats.damaged_filters == 0);
        assert_true(world.stats.table_filter_reads == (nth == 2 ? 5 : 4));
        bb_table_close(table);
    }
    world_deinit(&world);
}

/* A permanent error is reported, and forgotten when it is over: it was not cached. */
static void table_read__lasting_damage_is_not_cached(void **state)
{
    (void)state;
    struct world world;
    enum bb_visit visit = BB_VISIT_COUNT;
    world_init(&world, 64 << 20, BB_INDEX_PINNED);
    assert_ok(get(&world, NULL, 0, &visit)); /* the page is there, and its first block */
    uint64_t reads = world.stats.block_reads;
    arm(&world, 1, true);
    assert_status(get(&world, NULL, 100, &visit), BB_CORRUPT);
    assert_message("data block");
    assert_message(FIXTURE_PATH);
    assert_true(world.stats.block_reads == reads + 2);
    assert_status(get(&world, NULL, 100, &visit), BB_CORRUPT);
    bb_file_fault_disarm(world.faulty.fault);
    assert_ok(get(&world, NULL, 100, &visit));
    assert_int_equal(visit, BB_VISIT_PRESENT);
    world_deinit(&world);
}

static void table_read__opening_looks_twice(void **state)
{
    (void)state;
    struct world world;
    struct bb_table *table = NULL;
    world_init(&world, 0, BB_INDEX_PINNED);
    for (int round = 0; round < 50; round++) {
        arm(&world, 1, false);
        assert_ok(bb_table_open(FIXTURE_PATH, &world.faulty.options, &table));
        bb_table_close(table);
        bb_file_fault_disarm(world.faulty.fault);
    }
    world_deinit(&world);
}

/* ---- failing calls ---- */

static void table_read__failing_calls_are_reported(void **state)
{
    (void)state;
    static const enum bb_file_call calls[] = {BB_FILE_CALL_OPEN, BB_FILE_CALL_SIZE,
                                              BB_FILE_CALL_READ_AT};
    struct world world;
    struct bb_table *table = NULL;
    enum bb_visit visit = BB_VISIT_COUNT;
    world_init(&world, 0, BB_INDEX_PINNED);
    for (size_t i = 0; i < 3; i++) {
        struct bb_file_fault_plan plan = {.call = calls[i], .nth = 1};
        bb_file_fault_arm(world.faulty.fault, &plan);
        assert_status(bb_table_open(FIXTURE_PATH, &world.faulty.options, &table), BB_IO);
        bb_file_fault_disarm(world.faulty.fault);
    }
    for (uint64_t nth = 1; nth <= 2;
         nth++) { /* of page and block, now that the table filter is there */
        struct bb_file_fault_plan plan = {.call = BB_FILE_CALL_READ_AT, .nth = nth};
        assert_ok(get(&world, NULL, 9001, &visit));
        bb_file_fault_arm(world.faulty.fault, &plan);
        assert_status(get(&world, NULL, 5000, &visit), BB_IO);
        bb_file_fault_disarm(world.faulty.fault);
    }
    assert_ok(get(&world, NULL, 5000, &visit));
    assert_int_equal(visit, BB_VISIT_PRESENT);
    world_deinit(&world);
}

/* A table filter that cannot be read now is skipped, and retried later. */
static void table_read__table_filter_that_cannot_be_read(void **state)
{
    (void)state;
    struct world world;
    enum bb_visit visit = BB_VISIT_COUNT;
    world_init(&world, 64 << 20, BB_INDEX_PINNED);
    for (uint64_t nth = 1; nth <= 2; nth++) { /* list, chunk */
        struct bb_file_fault_plan plan = {.call = BB_FILE_CALL_READ_AT, .nth = nth};
        bb_table_close(world.faulty.table);
        assert_ok(bb_table_open(FIXTURE_PATH, &world.faulty.options, &world.faulty.table));
        bb_file_fault_arm(world.faulty.fault, &plan);
        world.stats = (struct bb_read_stats){0};
        assert_ok(get(&world, NULL, 5000, &visit));
        assert_int_equal(visit, BB_VISIT_PRESENT);
        assert_true(world.stats.damaged_filters == 1);
        bb_file_fault_disarm(world.faulty.fault);
        for (int i = 1; i < 1000; i += 2)
            assert_ok(get(&world, NULL, i, &visit));
        assert_true(world.stats.damaged_filters == 1);
        assert_true(world.stats.visits[BB_VISIT_TABLE_FILTER_NEGATIVE] > 400);
    }
    world_deinit(&world);
}

/* An iterator reports why it stopped, and continues after the next seek. */
static void table_read__iterators_stop_with_the_reason(void **state)
{
    (void)state;
    struct world world;
    struct bb_iter *iter = NULL;
    struct bb_file_fault_plan plan = {.call = BB_FILE_CALL_READ_AT, .nth = 8};
    world_init(&world, 0, BB_INDEX_PINNED);
    assert_ok(bb_table_iter_create(world.faulty.table, NULL, &world.stats, &iter));
    for (int direction = 0; direction < 2; direction++) {
        size_t count = 0;
        bb_file_fault_arm(world.faulty.fault, &plan);
        if (direction == 0)
            bb_iter_seek_first(iter);
        else
            bb_iter_seek_last(iter);
        for (; iter->is_valid; count++) {
            if (direction == 0)
                bb_iter_next(iter);
            else
                bb_iter_prev(iter);
        }
        assert_int_equal(iter->status, BB_IO);
        assert_true(count > 50 && count < 1000);
        bb_file_fault_disarm(world.faulty.fault);
        bb_iter_seek(iter, bb_bytes_of_text("005001"), BB_SEQUENCE_MAX);
        assert_true(iter->is_valid);
        assert_true(bb_bytes_equal(iter->entry.key, bb_bytes_of_text("005002")));
    }
    bb_iter_destroy(iter);
    world_deinit(&world);
}

/* Regression: a get hid every entry under the range tombstone of the table's newest sequence, even
 * one of the same sequence, which iterators returned. */
static void table_read__of_an_entry_as_new_as_the_range_tombstone_over_it(void **state)
{
    (void)state;
    struct bb_file_memory *memory = bb_file_memory_create(1);
    struct bb_hash_secret secret;
    bb_hash_secret_from_seed(1, &secret);
    struct bb_table_options options = {.file_system = bb_file_memory_system(memory),
                                       .secret = &secret};
    struct bb_table_builder *builder = NULL;
    struct bb_table *table = NULL;
    struct bb_read_stats stats = {0};
    struct bb_buf value = {0};
    assert_ok(bb_table_builder_create(FIXTURE_PATH, &options, &builder));
    for (uint64_t sequence = 6; sequence <= 7; sequence++) {
        struct bb_entry entry = {.key = bb_bytes_of_text(sequence == 6 ? "b" : "c"),
                                 .sequence = sequence,
                                 .kind = BB_ENTRY_PUT};
        assert_ok(bb_table_builder_add(builder, &entry));
    }
    assert_ok(bb_table_builder_add_range_tombstone(builder, bb_bytes_of_text("a"),
                                                   bb_bytes_of_text("d"), 7));
    assert_ok(bb_table_builder_finish(builder, NULL));
    bb_table_builder_destroy(builder);
    assert_ok(bb_table_open(FIXTURE_PATH, &options, &table));
    for (int i = 0; i < 2; i++) {
        struct bb_bytes key = bb_bytes_of_text(i == 0 ? "b" : "c");
        uint64_t sequence = 0;
        enum bb_visit visit = BB_VISIT_NOT_VISIBLE;
        assert_ok(bb_table_get(table, NULL, key, bb_hash_key(&secret, key), BB_SEQUENCE_MAX, &stats,
                               &value, &sequence, &visit));
        assert_int_equal(visit, i == 0 ? BB_VISIT_TOMBSTONE : BB_VISIT_PRESENT);
        assert_int_equal(sequence, 7);
    }
    bb_buf_deinit(&value);
    bb_table_close(table);
    bb_file_memory_destroy(memory);
}

/* Regression: a range tombstone of sequence 0, which tables may have, was ignored. */
static void table_read__of_a_range_tombstone_of_sequence_0(void **state)
{
    (void)state;
    static const double table_filters[] = {BB_TABLE_FILTER_NONE, BB_TABLE_FILTER_ALL};
    for (int i = 0; i < 4; i++) {
        struct bb_file_memory *memory = bb_file_memory_create(1);
        struct bb_table_options options = {.file_system = bb_file_memory_system(memory),
                                           .table_filter_bits = table_filters[i % 2]};
        struct bb_table_builder *builder = NULL;
        struct bb_table *table = NULL;
        struct bb_buf value = {0};
        struct bb_entry entry = {.key = bb_bytes_of_text("c"), .kind = BB_ENTRY_PUT};
        uint64_t sequence = 9;
        enum bb_visit visit = BB_VISIT_COUNT;
        assert_ok(bb_table_builder_create(FIXTURE_PATH, &options, &builder));
        if (i >= 2) /* else the table has only range tombstones */
            assert_ok(bb_table_builder_add(builder, &entry));
        assert_ok(bb_table_builder_add_range_tombstone(builder, bb_bytes_of_text("a"),
                                                       bb_bytes_of_text("d"), 0));
        assert_ok(bb_table_builder_finish(builder, NULL));
        bb_table_builder_destroy(builder);
        assert_ok(bb_table_open(FIXTURE_PATH, &options, &table));
        for (uint64_t at = 0; at < 2; at++) {
            assert_ok(bb_table_get(table, NULL, bb_bytes_of_text("b"), 0, at, NULL, &value,
                                   &sequence, &visit));
            assert_int_equal(visit, BB_VISIT_TOMBSTONE);
            assert_int_equal(sequence, 0);
        }
        assert_ok(bb_table_get(table, NULL, bb_bytes_of_text("c"), 0, 0, NULL, &value, &sequence,
                               &visit));
        assert_int_equal(visit, i >= 2 ? BB_VISIT_PRESENT : BB_VISIT_TOMBSTONE);
        assert_ok(bb_table_get(table, NULL, bb_bytes_of_text("d"), 0, 0, NULL, &value, &sequence,
                               &visit));
        assert_int_equal(visit, BB_VISIT_OUT_OF_BOUNDS);
        bb_buf_deinit(&value);
        bb_table_close(table);
        bb_file_memory_destroy(memory);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_read__without_a_cache),
        cmocka_unit_test(table_read__filters_change_nothing_but_the_share),
        cmocka_unit_test(table_read__with_a_cache),
        cmocka_unit_test(table_read__cached_pages),
        cmocka_unit_test(table_read__pinned_pages_are_counted),
        cmocka_unit_test(table_read__bypass_fill),
        cmocka_unit_test(table_read__of_a_page_that_another_reader_loads_too),
        cmocka_unit_test(table_read__a_wrong_bit_is_looked_at_twice),
        cmocka_unit_test(table_read__a_wrong_bit_in_a_list),
        cmocka_unit_test(table_read__lasting_damage_is_not_cached),
        cmocka_unit_test(table_read__opening_looks_twice),
        cmocka_unit_test(table_read__failing_calls_are_reported),
        cmocka_unit_test(table_read__table_filter_that_cannot_be_read),
        cmocka_unit_test(table_read__iterators_stop_with_the_reason),
        cmocka_unit_test(table_read__of_an_entry_as_new_as_the_range_tombstone_over_it),
        cmocka_unit_test(table_read__of_a_range_tombstone_of_sequence_0),
    };
    return cmocka_run_group_tests_name("table_read", tests, NULL, NULL);
}
