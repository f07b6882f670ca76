/* Goal: an iterator that skips values shows the same keys, sequences and kinds as another one, and
 * reads no block that has a head; heads out of order, and heads that their blocks contradict, are
 * corruption. Method: tables of small and large values in drawn order; random moves of two
 * iterators over the same range; counts of blocks read; single heads changed under repaired
 * checksums. */
#include "tests/unit/sstable/table_patch.h"

#include "sstable/table/table.h"
#include "sstable/table/table_iter.h"

struct world {
    struct bb_file_memory *memory;
    struct bb_table_options options;
    struct entry_list list;
    struct bb_table *table;
};

/* Versions, deletions, and values of which one in `large_in` has a head. */
static void fill(struct entry_list *list, struct bb_rng *rng, int count, uint64_t large_in)
{
    static uint8_t value[20000];
    for (int i = 0; i < count; i++) {
        char key[16];
        snprintf(key, sizeof(key), "%06d", 2 * (int)bb_rng_below(rng, (uint64_t)count));
        bool is_large = bb_rng_one_in(rng, large_in);
        size_t size = is_large ? bb_rng_between(rng, 4096, sizeof(value)) : bb_rng_below(rng, 90);
        bool is_put = is_large || !bb_rng_one_in(rng, 6);
        bb_rng_bytes(rng, value, size / 2);
        entry_list_add(list, bb_bytes_of_text(key), bb_rng_below(rng, 1000),
                       is_put ? BB_ENTRY_PUT : BB_ENTRY_DELETE,
                       bb_bytes_of(value, is_put ? size : 0));
    }
}

static void world_init(struct world *world, const struct bb_table_options *options,
                       struct bb_rng *rng, int count, uint64_t large_in)
{
    *world = (struct world){.memory = bb_file_memory_create(31), .options = *options};
    world->options.file_system = bb_file_memory_system(world->memory);
    fill(&world->list, rng, count, large_in);
    entry_list_sort(&world->list, options->comparator);
    build_table(FIXTURE_PATH, &world->options, &world->list, NULL);
    assert_ok(bb_table_open(FIXTURE_PATH, &world->options, &world->table));
    assert_true(world->table->properties.head_count > 0);
}

static void world_deinit(struct world *world)
{
    bb_table_close(world->table);
    entry_list_deinit(&world->list);
    bb_file_memory_destroy(world->memory);
}

/* ---- the same as with values ---- */

struct pair {
    struct bb_table_iter plain;
    struct bb_table_iter keys;
    struct bb_read_stats stats; /* of keys */
};

static void pair_init(struct pair *pair, struct bb_table *table, const struct bb_key_range *range)
{
    pair->stats = (struct bb_read_stats){0};
    bb_table_iter_init(&pair->plain, table, NULL, range, NULL);
    bb_table_iter_init(&pair->keys, table, NULL, range, &pair->stats);
    bb_table_iter_skip_values(&pair->keys.base);
}

static void pair_deinit(struct pair *pair)
{
    bb_table_iter_deinit(&pair->plain);
    bb_table_iter_deinit(&pair->keys);
}

static bool pair_check(const struct pair *pair)
{
    const struct bb_iter *plain = &pair->plain.base;
    const struct bb_iter *keys = &pair->keys.base;
    assert_ok(plain->status);
    assert_ok(keys->status);
    assert_int_equal(plain->is_valid, keys->is_valid);
    if (!plain->is_valid)
        return false;
    assert_true(bb_bytes_equal(plain->entry.key, keys->entry.key));
    assert_true(plain->entry.sequence == keys->entry.sequence);
    assert_int_equal(plain->entry.kind, keys->entry.kind);
    return true;
}

static void seek(struct pair *pair, struct bb_rng *rng, const struct entry_list *list)
{
    char key[16];
    uint64_t sequence = bb_rng_one_in(rng, 2) ? BB_SEQUENCE_MAX : bb_rng_below(rng, 1000);
    snprintf(key, sizeof(key), "%06d", (int)bb_rng_below(rng, 2 * list->count + 3));
    for (unsigned step = (unsigned)bb_rng_below(rng, 6), i = 0; i < step; i++)
        if (!bb_table_iter_approach(&pair->keys.base, bb_bytes_of_text(key), sequence, i))
            break;
    bb_iter_seek(&pair->plain.base, bb_bytes_of_text(key), sequence);
    bb_iter_seek(&pair->keys.base, bb_bytes_of_text(key), sequence);
}

/* Makes the same move with both. */
static void move(struct pair *pair, struct bb_rng *rng, const struct entry_list *list)
{
    static void (*const moves[])(struct bb_iter *) = {bb_iter_next,       bb_iter_prev,
                                                      bb_iter_next,       bb_iter_prev,
                                                      bb_iter_seek_first, bb_iter_seek_last};
    uint64_t drawn = bb_rng_below(rng, 40);
    uint64_t step = drawn == 38 ? 4 : drawn == 39 ? 5 : drawn % 4;
    if (!pair->plain.base.is_valid || (drawn >= 30 && drawn < 38)) {
        seek(pair, rng, list);
        return;
    }
    moves[step](&pair->plain.base);
    moves[step](&pair->keys.base);
}

static void check_moves(const struct bb_table_options *options, uint64_t large_in)
{
    struct bb_rng rng;
    struct world world;
    bb_rng_init(&rng, bb_rng_seed("table_iter_block__skips_values", 77) + large_in);
    world_init(&world, options, &rng, 400, large_in);
    for (int i = 0; i < 30; i++) {
        struct pair pair;
        const struct bb_entry *entries = world.list.entries;
        struct bb_bytes low = entries[bb_rng_below(&rng, world.list.count)].key;
        struct bb_bytes high = entries[bb_rng_below(&rng, world.list.count)].key;
        bool is_empty = bb_key_compare(options->comparator, low, high) >= 0;
        const struct bb_key_range range = {.low = bb_rng_one_in(&rng, 2) ? &low : NULL,
                                           .high = bb_rng_one_in(&rng, 2) ? &high : NULL};
        if (is_empty && range.low != NULL && range.high != NULL)
            continue;
        pair_init(&pair, world.table, &range);
        for (int k = 0; k < 300; k++) {
            move(&pair, &rng, &world.list);
            (void)pair_check(&pair);
        }
        pair_deinit(&pair);
    }
    world_deinit(&world);
}

static void table_iter_block__skipping_values_changes_no_key(void **state)
{
    (void)state;
    const struct bb_table_options options[] = {
        {.block_size_bytes = 512, .index_page_size_bytes = 1024},
        {.block_size_bytes = 512, .compression = BB_COMPRESSION_NONE},
        {.block_size_bytes = 512, .index_residency = BB_INDEX_CACHED},
        {.block_size_bytes = 512, .comparator = &backwards},
        {.block_size_bytes = 64, .read_mode = BB_READ_MAPPED, .compression = BB_COMPRESSION_NONE},
        {.block_size_bytes = 512, .read_mode = BB_READ_MAPPED},
    };
    for (size_t i = 0; i < 6; i++) {
        struct bb_table_options with_cache = options[i];
        assert_ok(bb_block_cache_create(1 << 16, &with_cache.cache));
        for (uint64_t large_in = 1; large_in <= 20; large_in = 3 * large_in + 1)
            check_moves(&with_cache, large_in);
        bb_block_cache_destroy(with_cache.cache);
    }
}

/* ---- counts ---- */

static void table_iter_block__heads_need_no_block(void **state)
{
    (void)state;
    struct bb_rng rng;
    struct world world;
    struct pair pair;
    const struct bb_table_options options = {0};
    bb_rng_init(&rng, 3);
    world_init(&world, &options, &rng, 300, 1);
    pair_init(&pair, world.table, NULL);
    size_t count = 0;
    bb_iter_seek_first(&pair.plain.base);
    for (bb_iter_seek_first(&pair.keys.base); pair_check(&pair); count++) {
        assert_int_equal(pair.keys.base.entry.value.size, 0);
        bb_iter_next(&pair.plain.base);
        bb_iter_next(&pair.keys.base);
    }
    assert_int_equal(count, world.list.count);
    assert_int_equal(pair.stats.block_requests, 0);
    assert_int_equal(pair.stats.block_reads, 0);
    assert_int_equal(pair.stats.block_read_bytes, 0);
    pair_deinit(&pair);
    world_deinit(&world);
}

/* Reads ahead end before a block that has a head. */
static void table_iter_block__reads_ahead_of_no_head(void **state)
{
    (void)state;
    struct bb_rng rng;
    struct world world;
    struct pair pair;
    const struct bb_table_options options = {.block_size_bytes = 256,
                                             .compression = BB_COMPRESSION_NONE};
    bb_rng_init(&rng, 4);
    world_init(&world, &options, &rng, 3000, 30);
    pair_init(&pair, world.table, NULL);
    for (bb_iter_seek_first(&pair.keys.base); pair.keys.base.is_valid;)
        bb_iter_next(&pair.keys.base);
    assert_ok(pair.keys.base.status);
    const struct bb_properties *p = &world.table->properties;
    assert_int_equal(pair.stats.block_reads, p->block_count - p->head_count);
    assert_true(pair.stats.block_read_bytes < p->data_size - 4096 * p->head_count);
    pair_deinit(&pair);
    world_deinit(&world);
}

/* ---- damage ---- */

/* Five large values; byte `at` of the head of block 2 is another one. */
static void damage(struct world *world, size_t at, uint8_t byte)
{
    struct table_parts parts;
    struct bb_read_stats stats = {0};
    struct bb_index_page *page = NULL;
    static char value[6001];
    memset(value, 'v', sizeof(value) - 1);
    *world = (struct world){.memory = bb_file_memory_create(19)};
    world->options.file_system = bb_file_memory_system(world->memory);
    for (int i = 0; i < 5; i++) {
        char key[8];
        snprintf(key, sizeof(key), "key %d", 2 * i);
        entry_list_add_text(&world->list, key, 30, value);
    }
    build_table(FIXTURE_PATH, &world->options, &world->list, NULL);
    assert_ok(bb_table_open(FIXTURE_PATH, &world->options, &world->table));
    uint64_t page_offset = world->table->root.pages[0].page_offset;
    assert_ok(bb_table_page_load(world->table, 0, &stats, &page));
    uint64_t head = bb_index_page_head_offset(page, 2);
    bb_index_page_unref(page);
    bb_table_close(world->table);
    parts_read(&parts, world->memory);
    parts.data.data[page_offset + head + at] = byte;
    parts_seal_page(&parts, page_offset);
    parts_write(&parts, world->memory);
    parts_deinit(&parts);
    assert_ok(bb_table_open(FIXTURE_PATH, &world->options, &world->table));
}

/* Moves to the end with these moves, which must fail. */
static void assert_fails(struct bb_iter *iter, void (*begin)(struct bb_iter *),
                         void (*step)(struct bb_iter *), const char *part)
{
    for (begin(iter); iter->is_valid;)
        step(iter);
    assert_status(iter->status, BB_CORRUPT);
    assert_message(part);
    assert_message(FIXTURE_PATH);
    assert_message("offset");
}

static void check_order(uint8_t digit, const char *forward, const char *backward)
{
    struct world world;
    struct pair pair;
    damage(&world, 5, digit);
    pair_init(&pair, world.table, NULL);
    assert_fails(&pair.keys.base, bb_iter_seek_first, bb_iter_next, forward);
    assert_fails(&pair.keys.base, bb_iter_seek_last, bb_iter_prev, backward);
    pair_deinit(&pair);
    world_deinit(&world);
}

/* The head of block 2, which has key 4, is between the fences "key 4" and "key 6". */
static void table_iter_block__corrupt_heads_out_of_order(void **state)
{
    (void)state;
    check_order('3', "the head of block 2 with key key 3 is before the fence of its block",
                "the head of block 2 with key key 3 is before the fence of its block");
    check_order('6', "the head of block 2 with key key 6 belongs after the fence",
                "the head of block 2 with key key 6 belongs after the fence");
}

/* Whoever reads the block compares it with its head. */
static void table_iter_block__corrupt_heads_of_other_entries(void **state)
{
    (void)state;
    static const struct {
        size_t at;
        uint8_t byte;
    } changes[] = {{5, '5'}, {6, 63}, {7, 0xf1}};
    for (size_t i = 0; i < 3; i++) {
        struct world world;
        struct pair pair;
        damage(&world, changes[i].at, changes[i].byte);
        pair_init(&pair, world.table, NULL);
        assert_fails(&pair.plain.base, bb_iter_seek_first, bb_iter_next, "the block has only key");
        assert_fails(&pair.plain.base, bb_iter_seek_last, bb_iter_prev, "the block has only key");
        bb_iter_seek(&pair.plain.base, bb_bytes_of_text("key 4"), BB_SEQUENCE_MAX);
        assert_status(pair.plain.base.status, BB_CORRUPT);
        bb_iter_seek(&pair.plain.base, bb_bytes_of_text("key 6"), BB_SEQUENCE_MAX);
        assert_true(pair.plain.base.is_valid);
        pair_deinit(&pair);
        world_deinit(&world);
    }
}

/* A head that cannot be read: only lookups do not notice. */
static void table_iter_block__corrupt_heads_do_not_disturb_gets(void **state)
{
    (void)state;
    struct world world;
    struct pair pair;
    struct bb_buf value = {0};
    uint64_t sequence = 0;
    enum bb_visit visit = BB_VISIT_COUNT;
    damage(&world, 0, 100);
    pair_init(&pair, world.table, NULL);
    assert_fails(&pair.keys.base, bb_iter_seek_first, bb_iter_next, "the head of block 2 cannot");
    assert_fails(&pair.keys.base, bb_iter_seek_last, bb_iter_prev, "the head of block 2 cannot");
    bb_iter_seek(&pair.keys.base, bb_bytes_of_text("key 6"), BB_SEQUENCE_MAX);
    assert_true(pair.keys.base.is_valid);
    bb_iter_seek(&pair.keys.base, bb_bytes_of_text("key 4"), BB_SEQUENCE_MAX);
    assert_status(pair.keys.base.status, BB_CORRUPT);
    assert_fails(&pair.plain.base, bb_iter_seek_first, bb_iter_next, "the head of block 2 cannot");
    assert_ok(bb_table_get(world.table, NULL, bb_bytes_of_text("key 4"), 0, BB_SEQUENCE_MAX, NULL,
                           &value, &sequence, &visit));
    assert_int_equal(visit, BB_VISIT_PRESENT);
    assert_int_equal(value.size, 6000);
    bb_buf_deinit(&value);
    pair_deinit(&pair);
    world_deinit(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_iter_block__skipping_values_changes_no_key),
        cmocka_unit_test(table_iter_block__heads_need_no_block),
        cmocka_unit_test(table_iter_block__reads_ahead_of_no_head),
        cmocka_unit_test(table_iter_block__corrupt_heads_out_of_order),
        cmocka_unit_test(table_iter_block__corrupt_heads_of_other_entries),
        cmocka_unit_test(table_iter_block__corrupt_heads_do_not_disturb_gets),
    };
    return cmocka_run_group_tests_name("table_iter_block", tests, NULL, NULL);
}
