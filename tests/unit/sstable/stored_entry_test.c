/* Goal: a table whose entries were added in stored form equals, byte for byte, the table that
 * compresses them again; a stored form is offered exactly for entries that fill a separate large
 * block; it is not used when the new table needs another form; and damage of such a block is
 * reported as without stored forms. Method: the same entries copied from one table into two cloned
 * file systems, in both ways; values that compress and that do not, of sizes around the block's, in
 * several versions. */
#include "sstable/block/stored_entry.h"
#include "tests/unit/sstable/table_fixture.h"

#include "sstable/block/block.h"
#include "sstable/table/table_iter.h"
#include "sstable/table/table_walk.h"
#include "tests/unit/sstable/table_patch.h"

#define COPY_PATH  "/copy"
#define BLOCK_SIZE 512
/* Compressed or not, it is stored in more than a block is read through. */
#define LARGE_SIZE (40 * 1024)

struct world {
    struct bb_file_memory *memory;
    struct entry_list list;
    struct bb_table_options options;
    size_t large_count; /* entries whose stored form must be offered */
};

static struct bb_table_options options_on(struct bb_file_memory *memory,
                                          enum bb_compression compression)
{
    return (struct bb_table_options){.file_system = bb_file_memory_system(memory),
                                     .block_size_bytes = BLOCK_SIZE,
                                     .compression = compression};
}

/* Half of it can be compressed away, or nothing. */
static void add_large(struct world *world, struct bb_rng *rng, const char *key, uint64_t sequence)
{
    uint8_t *value = bb_must_realloc(NULL, LARGE_SIZE);
    size_t noise = bb_rng_one_in(rng, 2) ? LARGE_SIZE : LARGE_SIZE / 2;
    memset(value, 'v', LARGE_SIZE);
    bb_rng_bytes(rng, value, noise);
    entry_list_add(&world->list, bb_bytes_of_text(key), sequence, BB_ENTRY_PUT,
                   bb_bytes_of(value, LARGE_SIZE));
    free(value);
    world->large_count++;
}

static void world_init(struct world *world, enum bb_compression compression)
{
    struct bb_rng rng;
    char key[16];
    *world = (struct world){.memory = bb_file_memory_create(3)};
    bb_rng_init(&rng, 21);
    entry_list_add_random(&world->list, &rng, 60, 2 * BLOCK_SIZE);
    for (int i = 0; i < 20; i++) {
        snprintf(key, sizeof(key), "large%c%03d", 'a' + i % 3, i);
        add_large(world, &rng, key, 7);
        if (i % 4 == 0)
            add_large(world, &rng, key, 6);
        if (i % 5 == 0)
            entry_list_add_text(&world->list, key, 5, NULL);
    }
    entry_list_sort(&world->list, NULL);
    world->options = options_on(world->memory, compression);
    build_table(FIXTURE_PATH, &world->options, &world->list, NULL);
}

static void world_deinit(struct world *world)
{
    entry_list_deinit(&world->list);
    bb_file_memory_destroy(world->memory);
}

/* Copies the table entry by entry, as stored where that can be had; returns how many were. */
static size_t copy_table(const struct bb_table_options *options, bool keeps_stored)
{
    struct bb_table *table = NULL;
    struct bb_iter *iter = NULL;
    struct bb_table_builder *builder = NULL;
    size_t count = 0;
    assert_ok(bb_table_open(FIXTURE_PATH, options, &table));
    assert_ok(bb_table_iter_create(table, NULL, NULL, &iter));
    assert_ok(bb_table_builder_create(COPY_PATH, options, &builder));
    if (keeps_stored)
        bb_table_iter_keep_stored(iter);
    for (bb_iter_seek_first(iter); iter->is_valid; bb_iter_next(iter)) {
        struct bb_stored_entry stored;
        bool is_taken = false;
        if (bb_iter_stored(iter, &stored))
            assert_ok(bb_table_builder_add_stored(builder, &iter->entry, &stored, &is_taken));
        else
            assert_ok(bb_table_builder_add(builder, &iter->entry));
        count += is_taken;
    }
    assert_int_equal(iter->status, BB_OK);
    assert_ok(bb_table_builder_finish(builder, NULL));
    bb_table_builder_destroy(builder);
    bb_iter_destroy(iter);
    bb_table_close(table);
    return count;
}

/* Both ways of copying into a table of other options; *ret_taken entries went as stored. */
static void check_copies(struct world *world, enum bb_compression compression, uint32_t block_size,
                         size_t *ret_taken)
{
    struct bb_file_memory *memories[2];
    uint8_t *bytes[2];
    size_t sizes[2];
    struct bb_table_verify_report report;
    for (int i = 0; i < 2; i++) {
        memories[i] = bb_file_memory_clone(world->memory);
        struct bb_table_options options = options_on(memories[i], compression);
        options.block_size_bytes = block_size;
        size_t taken = copy_table(&options, i == 1);
        assert_true(i == 1 || taken == 0);
        *ret_taken = taken;
        assert_ok(bb_table_verify(COPY_PATH, &options, &report));
        bytes[i] = bb_file_memory_bytes(memories[i], COPY_PATH, &sizes[i]);
    }
    assert_int_equal(sizes[0], sizes[1]);
    assert_memory_equal(bytes[0], bytes[1], sizes[0]);
    bb_file_memory_destroy(memories[0]);
    bb_file_memory_destroy(memories[1]);
}

static void stored_entry__copies_are_equal_byte_for_byte(void **state)
{
    (void)state;
    static const enum bb_compression compressions[] = {BB_COMPRESSION_NONE, BB_COMPRESSION_LZ4};
    for (int from = 0; from < 2; from++) {
        struct world world;
        world_init(&world, compressions[from]);
        for (int to = 0; to < 2; to++) {
            size_t taken = 0;
            check_copies(&world, compressions[to], BLOCK_SIZE, &taken);
            assert_int_equal(taken, from == to ? world.large_count : 0);
            /* In larger blocks they have neighbours. */
            check_copies(&world, compressions[to], 4 * LARGE_SIZE, &taken);
            assert_int_equal(taken, 0);
        }
        world_deinit(&world);
    }
}

/* In both directions, and after seeks; never for an entry that has neighbours. */
static void stored_entry__is_shown_for_what_fills_a_block(void **state)
{
    (void)state;
    struct world world;
    struct bb_table *table = NULL;
    struct bb_iter *iter = NULL;
    struct bb_stored_entry stored;
    size_t forward = 0;
    size_t backward = 0;
    size_t sought = 0;
    world_init(&world, BB_COMPRESSION_LZ4);
    assert_ok(bb_table_open(FIXTURE_PATH, &world.options, &table));
    assert_ok(bb_table_iter_create(table, NULL, NULL, &iter));
    bb_iter_seek_first(iter);
    assert_true(iter->is_valid && !bb_iter_stored(iter, &stored));
    bb_iter_destroy(iter);
    assert_ok(bb_table_iter_create(table, NULL, NULL, &iter));
    bb_table_iter_keep_stored(iter);
    for (bb_iter_seek_first(iter); iter->is_valid; bb_iter_next(iter))
        forward += bb_iter_stored(iter, &stored);
    for (bb_iter_seek_last(iter); iter->is_valid; bb_iter_prev(iter))
        backward += bb_iter_stored(iter, &stored);
    for (size_t i = 0; i < world.list.count; i++) {
        bb_iter_seek(iter, world.list.entries[i].key, world.list.entries[i].sequence);
        assert_same_entry(&iter->entry, &world.list.entries[i]);
        bool is_shown = bb_iter_stored(iter, &stored);
        sought += is_shown;
        assert_true(!is_shown || stored.block.size > BB_BLOCK_SCRATCH_SIZE);
    }
    assert_true(forward == world.large_count && backward == forward && sought == forward);
    bb_iter_destroy(iter);
    bb_table_close(table);
    world_deinit(&world);
}

/* Large blocks with many entries have no stored entry. */
static void stored_entry__is_not_shown_for_entries_of_one_large_block(void **state)
{
    (void)state;
    for (uint32_t interval = 1; interval <= 1024; interval *= 32) {
        struct world world = {.memory = bb_file_memory_create(4)};
        struct bb_table *table = NULL;
        struct bb_iter *iter = NULL;
        struct bb_stored_entry stored;
        struct bb_rng rng;
        bb_rng_init(&rng, 5);
        entry_list_add_random(&world.list, &rng, 100, 3000);
        entry_list_sort(&world.list, NULL);
        world.options = options_on(world.memory, BB_COMPRESSION_NONE);
        world.options.block_size_bytes = 1 << 20;
        world.options.restart_interval = interval;
        build_table(FIXTURE_PATH, &world.options, &world.list, NULL);
        assert_ok(bb_table_open(FIXTURE_PATH, &world.options, &table));
        assert_ok(bb_table_iter_create(table, NULL, NULL, &iter));
        bb_table_iter_keep_stored(iter);
        for (bb_iter_seek_first(iter); iter->is_valid; bb_iter_next(iter))
            assert_false(bb_iter_stored(iter, &stored));
        assert_int_equal(iter->status, BB_OK);
        bb_iter_destroy(iter);
        bb_table_close(table);
        world_deinit(&world);
    }
}

/* Finds the first block whose stored form is kept. Returns the number of entries before it. */
static size_t find_large_block(const struct bb_table_options *options, uint64_t *ret_offset,
                               uint32_t *ret_size)
{
    struct bb_table *table = NULL;
    struct bb_table_walk walk;
    size_t entries = 0;
    bool has_block = false;
    assert_ok(bb_table_open(FIXTURE_PATH, options, &table));
    bb_table_walk_init(&walk, table);
    assert_ok(bb_table_walk_next(&walk, &has_block));
    while (walk.stored_size <= BB_BLOCK_SCRATCH_SIZE) {
        assert_ok(bb_table_walk_load(&walk));
        for (; walk.entries.is_valid; bb_block_iter_next(&walk.entries))
            entries++;
        assert_ok(bb_table_walk_next(&walk, &has_block));
        assert_true(has_block);
    }
    *ret_offset = walk.offset;
    *ret_size = walk.stored_size;
    bb_table_walk_deinit(&walk);
    bb_table_close(table);
    return entries;
}

/* Iterates with and without stored forms: all entries before the block, then the damage. */
static void check_damaged(struct world *world, size_t entries_before, const char *message)
{
    for (int keeps_stored = 0; keeps_stored < 2; keeps_stored++) {
        struct bb_table *table = NULL;
        struct bb_iter *iter = NULL;
        size_t at = 0;
        assert_ok(bb_table_open(FIXTURE_PATH, &world->options, &table));
        assert_ok(bb_table_iter_create(table, NULL, NULL, &iter));
        if (keeps_stored)
            bb_table_iter_keep_stored(iter);
        for (bb_iter_seek_first(iter); iter->is_valid; bb_iter_next(iter))
            assert_same_entry(&iter->entry, &world->list.entries[at++]);
        assert_int_equal(at, entries_before);
        assert_status(iter->status, BB_CORRUPT);
        assert_message(message);
        bb_iter_destroy(iter);
        bb_table_close(table);
    }
}

static void stored_entry__damage_of_its_block_is_reported(void **state)
{
    (void)state;
    for (int is_sealed = 0; is_sealed < 2; is_sealed++) {
        struct world world;
        struct table_parts parts;
        uint64_t offset = 0;
        uint32_t size = 0;
        world_init(&world, BB_COMPRESSION_LZ4);
        size_t entries_before = find_large_block(&world.options, &offset, &size);
        parts_read(&parts, world.memory);
        parts.data.data[offset + size - BB_BLOCK_TRAILER_SIZE] = 7; /* its compression */
        if (is_sealed)
            parts_seal_block(&parts, offset, size);
        parts_write(&parts, world.memory);
        check_damaged(&world, entries_before, is_sealed ? "unknown compression 7" : "checksum");
        parts_deinit(&parts);
        world_deinit(&world);
    }
}

static void stored_entry__order_and_limits_hold(void **state)
{
    (void)state;
    struct world world;
    struct bb_table *table = NULL;
    struct bb_iter *iter = NULL;
    struct bb_table_builder *builder = NULL;
    struct bb_stored_entry stored;
    bool is_taken = false;
    world_init(&world, BB_COMPRESSION_LZ4);
    assert_ok(bb_table_open(FIXTURE_PATH, &world.options, &table));
    assert_ok(bb_table_iter_create(table, NULL, NULL, &iter));
    bb_table_iter_keep_stored(iter);
    bb_iter_seek(iter, bb_bytes_of_text("large"), BB_SEQUENCE_MAX);
    while (!bb_iter_stored(iter, &stored))
        bb_iter_next(iter);
    assert_ok(bb_table_builder_create(COPY_PATH, &world.options, &builder));
    assert_ok(bb_table_builder_add_stored(builder, &iter->entry, &stored, &is_taken));
    assert_true(is_taken);
    assert_status(bb_table_builder_add_stored(builder, &iter->entry, &stored, &is_taken),
                  BB_INVALID);
    assert_message("is not after the last one");
    assert_status(bb_table_builder_finish(builder, NULL), BB_INVALID);
    bb_table_builder_destroy(builder);
    bb_iter_destroy(iter);
    bb_table_close(table);
    world_deinit(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stored_entry__copies_are_equal_byte_for_byte),
        cmocka_unit_test(stored_entry__is_shown_for_what_fills_a_block),
        cmocka_unit_test(stored_entry__is_not_shown_for_entries_of_one_large_block),
        cmocka_unit_test(stored_entry__damage_of_its_block_is_reported),
        cmocka_unit_test(stored_entry__order_and_limits_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
