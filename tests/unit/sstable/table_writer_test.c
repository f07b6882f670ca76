/* Goal: a file has the appended bytes, for any sizes of the appends; every call except the last
 * writes whole pieces, each at a multiple of its size; after a failure no more is written. Method:
 * random sizes around the buffer's; a file system that checks each call. */
#include "sstable/build/table_writer.h"

#include "base/assert.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "base/status.h"
#include "tests/support/assert_status.h"
#include "tests/support/file_memory.h"
#include "tests/support/rng.h"

#define PATH  "table"
#define PIECE ((size_t)256 * 1024)

struct world {
    struct bb_file_memory *memory;
    struct bb_buf expected;
    struct bb_table_writer writer;
    size_t append_count;
    size_t failing_append; /* from 1 on; 0: none */
};

static enum bb_status look(void *context, struct bb_file_memory *memory, uint64_t number,
                           enum bb_file_call call, const char *path)
{
    struct world *world = context;
    size_t size = 0;
    (void)number;
    if (call != BB_FILE_CALL_APPEND)
        return BB_OK;
    assert_non_null(bb_file_memory_bytes(memory, path, &size));
    assert_int_equal(size % PIECE, 0);
    world->append_count++;
    if (world->append_count == world->failing_append)
        return bb_fail(BB_NO_SPACE, "%s: no space for the test", path);
    return BB_OK;
}

static void world_init(struct world *world)
{
    *world = (struct world){.memory = bb_file_memory_create(5)};
    bb_file_memory_set_hook(world->memory, look, world);
    assert_ok(bb_table_writer_open(&world->writer, bb_file_memory_system(world->memory), PATH));
}

static void world_deinit(struct world *world)
{
    bb_table_writer_abandon(&world->writer);
    bb_buf_deinit(&world->expected);
    bb_file_memory_destroy(world->memory);
}

/* This many more bytes, each derived from its place. */
static struct bb_bytes extend(struct world *world, size_t size)
{
    size_t before = world->expected.size;
    assert_ok(bb_buf_reserve(&world->expected, size));
    for (size_t i = before; i < before + size; i++)
        world->expected.data[i] = (uint8_t)(i * UINT64_C(0x9e3779b97f4a7c15) >> 56);
    world->expected.size += size;
    return bb_bytes_of(world->expected.data + before, size);
}

static void append(struct world *world, size_t size)
{
    assert_ok(bb_table_writer_append(&world->writer, extend(world, size)));
    assert_int_equal(world->writer.offset, world->expected.size);
}

static void finish_and_compare(struct world *world)
{
    size_t size = 0;
    assert_ok(bb_table_writer_finish(&world->writer, NULL));
    const uint8_t *bytes = bb_file_memory_bytes(world->memory, PATH, &size);
    assert_int_equal(size, world->expected.size);
    assert_memory_equal(bytes, world->expected.data, size);
}

static void table_writer__writes_whole_pieces_in_their_places(void **state)
{
    (void)state;
    static const size_t sizes[] = {
        0, 1, PIECE - 1, PIECE, PIECE + 1, 2 * PIECE - 1, 2 * PIECE, 3 * PIECE + 7, 100, PIECE,
    };
    for (size_t first = 0; first < BB_ARRAY_LENGTH(sizes); first++) {
        struct world world;
        world_init(&world);
        for (size_t i = 0; i < BB_ARRAY_LENGTH(sizes); i++)
            append(&world, sizes[(first + i) % BB_ARRAY_LENGTH(sizes)]);
        finish_and_compare(&world);
        world_deinit(&world);
    }
}

/* Data that needs no buffer bypasses it: one call for all of its pieces. */
static void table_writer__small_appends_share_a_call_and_a_large_one_has_its_own(void **state)
{
    (void)state;
    struct bb_rng rng;
    struct world world;
    bb_rng_init(&rng, bb_rng_seed("table_writer", 17));
    world_init(&world);
    while (world.expected.size < 4 * PIECE - 8000)
        append(&world, bb_rng_below(&rng, 8000));
    append(&world, 4 * PIECE - world.expected.size);
    assert_int_equal(world.append_count, 4);
    append(&world, 5 * PIECE + 1);
    assert_int_equal(world.append_count, 5);
    finish_and_compare(&world);
    assert_int_equal(world.append_count, 6);
    world_deinit(&world);
}

static void table_writer__writes_nothing_after_a_failure(void **state)
{
    (void)state;
    for (size_t failing = 1; failing <= 3; failing++) {
        struct world world;
        size_t size = 0;
        world_init(&world);
        world.failing_append = failing;
        append(&world, 10);
        enum bb_status status = bb_table_writer_append(&world.writer, extend(&world, 2 * PIECE));
        if (status == BB_OK)
            status = bb_table_writer_finish(&world.writer, NULL);
        assert_status(status, BB_NO_SPACE);
        assert_status(bb_table_writer_append(&world.writer, extend(&world, PIECE)), BB_NO_SPACE);
        assert_status(bb_table_writer_finish(&world.writer, NULL), BB_NO_SPACE);
        assert_int_equal(world.append_count, failing);
        bb_table_writer_abandon(&world.writer);
        assert_null(bb_file_memory_bytes(world.memory, PATH, &size));
        world_deinit(&world);
    }
}

/* The file has all bytes before it is synced, and a crash may lose them. */
static void table_writer__gives_a_file_that_is_not_synced(void **state)
{
    (void)state;
    struct world world;
    struct bb_file *file = NULL;
    size_t size = 0;
    world_init(&world);
    append(&world, PIECE + 5);
    assert_ok(bb_table_writer_finish(&world.writer, &file));
    assert_int_equal(bb_file_memory_write_backs(world.memory), 1);
    bb_table_writer_abandon(&world.writer); /* which keeps the file */
    const uint8_t *bytes = bb_file_memory_bytes(world.memory, PATH, &size);
    assert_int_equal(size, world.expected.size);
    assert_memory_equal(bytes, world.expected.data, size);
    struct bb_file_system *files = bb_file_memory_system(world.memory);
    assert_ok(files->ops->sync_directory(files, "."));
    struct bb_file_memory *before = bb_file_memory_crash(world.memory, &(struct bb_crash){0});
    assert_ok(bb_table_writer_sync(file));
    assert_int_equal(bb_file_memory_open_files(world.memory), 0);
    struct bb_file_memory *after = bb_file_memory_crash(world.memory, &(struct bb_crash){0});
    assert_non_null(bb_file_memory_bytes(before, PATH, &size));
    assert_int_equal(size, 0);
    assert_non_null(bb_file_memory_bytes(after, PATH, &size));
    assert_int_equal(size, world.expected.size);
    bb_file_memory_destroy(before);
    bb_file_memory_destroy(after);
    world_deinit(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_writer__writes_whole_pieces_in_their_places),
        cmocka_unit_test(table_writer__small_appends_share_a_call_and_a_large_one_has_its_own),
        cmocka_unit_test(table_writer__writes_nothing_after_a_failure),
        cmocka_unit_test(table_writer__gives_a_file_that_is_not_synced),
    };
    return cmocka_run_group_tests_name("table_writer", tests, NULL, NULL);
}
