/* Goal: bytes are copied from a map only while all of their pages are known to be in memory, and
 * copies are the file's bytes. A copy that waited ends the copies for a time, a lost page ends them
 * forever. Method: a file in memory, whose map can be lost; a clock that is too fast. */
#include "base/page_map.h"

#include <string.h>

#include "base/bytes.h"
#include "tests/support/assert_status.h"
#include "tests/support/fast_clock.h"
#include "tests/support/file_memory.h"

#define PAGES      40
#define PAGE_SIZE  4096
#define FILE_BYTES (PAGES * PAGE_SIZE - 7)

struct world {
    struct bb_file_memory *memory;
    struct bb_file_system *files;
    struct bb_file *file;
    struct bb_page_map map;
    uint8_t content[FILE_BYTES];
    uint8_t copy[FILE_BYTES];
};

static void world_init(struct world *world)
{
    *world = (struct world){.memory = bb_file_memory_create(1)};
    world->files = bb_file_memory_system(world->memory);
    for (size_t i = 0; i < FILE_BYTES; i++)
        world->content[i] = (uint8_t)(i % 251);
    assert_ok(bb_file_create(world->files, "file", &world->file));
    assert_ok(bb_file_append(world->file, bb_bytes_of(world->content, FILE_BYTES)));
    assert_ok(bb_file_close(world->file));
    assert_ok(bb_file_open(world->files, "file", &world->file));
    bb_page_map_init(&world->map, world->files, world->file, FILE_BYTES);
    assert_non_null(world->map.file);
}

static void world_deinit(struct world *world)
{
    bb_page_map_deinit(&world->map);
    assert_ok(bb_file_close(world->file));
    bb_file_memory_destroy(world->memory);
}

/* Whether the bytes are copied; they are right then. */
static bool copies(struct world *world, size_t offset, size_t size)
{
    if (!bb_page_map_copy(&world->map, offset, world->copy, size))
        return false;
    assert_memory_equal(world->copy, world->content + offset, size);
    return true;
}

/* A copy needs all of its pages. */
static void page_map__copies_what_was_noted(void **state)
{
    (void)state;
    struct world world;
    world_init(&world);
    assert_false(copies(&world, 0, 1));
    bb_page_map_note(&world.map, 4095, 2); /* the first two */
    assert_true(copies(&world, 0, 2 * PAGE_SIZE));
    assert_false(copies(&world, 8191, 2));
    bb_page_map_note(&world.map, FILE_BYTES - 1, 1);
    size_t last = (PAGES - 1) * PAGE_SIZE;
    assert_true(copies(&world, last, FILE_BYTES - last));
    assert_false(copies(&world, 0, FILE_BYTES));
    world_deinit(&world);
}

static void page_map__drops_pages(void **state)
{
    (void)state;
    struct world world;
    world_init(&world);
    bb_page_map_note_all(&world.map);
    bb_page_map_drop(&world.map, 2 * PAGE_SIZE - 1, 2); /* pages 1 and 2 */
    assert_true(copies(&world, 0, PAGE_SIZE));
    assert_false(copies(&world, PAGE_SIZE, 1));
    assert_false(copies(&world, 3 * PAGE_SIZE - 1, 1));
    assert_true(copies(&world, 3 * PAGE_SIZE, PAGE_SIZE));
    bb_page_map_note(&world.map, PAGE_SIZE, 1);
    assert_true(copies(&world, 0, 2 * PAGE_SIZE));
    world_deinit(&world);
}

static void page_map__copies_all_of_a_new_file(void **state)
{
    (void)state;
    struct world world;
    world_init(&world);
    bb_page_map_note_all(&world.map);
    assert_true(copies(&world, 0, FILE_BYTES));
    assert_int_equal(bb_page_map_memory(&world.map), PAGES / 8 + 1);
    world_deinit(&world);
}

/* Copies that begin in one of 16 pages are timed. */
static void page_map__rests_after_a_copy_that_waited(void **state)
{
    (void)state;
    struct world world;
    struct fast_clock clock;
    world_init(&world);
    fast_clock_init(&clock);
    world.map.files = &clock.base;
    bb_page_map_note_all(&world.map);
    for (size_t page = 1; page < 16; page++)
        assert_true(copies(&world, page * PAGE_SIZE, PAGE_SIZE));
    assert_true(copies(&world, 16 * PAGE_SIZE, PAGE_SIZE)); /* waits */
    for (size_t i = 0; i < PAGES; i++) {
        assert_false(copies(&world, PAGE_SIZE, 1));
        bb_page_map_note(&world.map, PAGE_SIZE, 1);
    }
    assert_false(copies(&world, PAGE_SIZE, 1));
    bb_page_map_note(&world.map, PAGE_SIZE, 1);
    assert_true(copies(&world, PAGE_SIZE, 1));
    assert_false(copies(&world, 2 * PAGE_SIZE, 1));
    world_deinit(&world);
}

/* The copy of the n-th question is still right. */
static void page_map__copies_nothing_of_a_lost_map(void **state)
{
    (void)state;
    struct world world;
    world_init(&world);
    bb_page_map_note_all(&world.map);
    bb_file_memory_lose_map(world.memory, 3);
    for (int i = 0; i < 3; i++)
        assert_true(copies(&world, 0, 100));
    for (size_t i = 0; i < 3 * PAGES; i++) {
        assert_false(copies(&world, 0, 100));
        bb_page_map_note(&world.map, 0, 100);
    }
    world_deinit(&world);
}

/* As after a copy that waited. */
static void page_map__rests_after_it_was_forgotten(void **state)
{
    (void)state;
    struct world world;
    world_init(&world);
    bb_page_map_note_all(&world.map);
    bb_page_map_forget(&world.map);
    assert_int_equal(bb_file_memory_maps_forgotten(world.memory), 1);
    for (size_t i = 0; i < PAGES; i++) {
        assert_false(copies(&world, 0, 100));
        bb_page_map_note(&world.map, 0, 100);
    }
    bb_page_map_note(&world.map, 0, 100);
    assert_true(copies(&world, 0, 100));
    world_deinit(&world);
}

static void page_map__of_nothing(void **state)
{
    (void)state;
    struct world world;
    struct bb_page_map none = {0};
    world_init(&world);
    assert_false(bb_page_map_copy(&none, 0, world.copy, 0));
    bb_page_map_note(&none, 0, 100);
    bb_page_map_note_all(&none);
    bb_page_map_forget(&none);
    bb_page_map_drop(&none, 0, 100);
    assert_int_equal(bb_page_map_memory(&none), 0);
    bb_page_map_deinit(&none);
    bb_page_map_init(&none, world.files, world.file, 0);
    assert_null(none.file);
    bb_page_map_deinit(&none);
    world_deinit(&world);
}

/* Further files are read by calls, until a map is released. */
static void page_map__of_many_files(void **state)
{
    (void)state;
    static struct bb_page_map maps[BB_PAGE_MAPS_MAX + 2];
    const size_t last = BB_PAGE_MAPS_MAX - 1; /* the world has one */
    struct world world;
    world_init(&world);
    for (size_t i = 0; i <= last; i++) {
        bb_page_map_init(&maps[i], world.files, world.file, 5);
        assert_int_equal(maps[i].file != NULL, i < last);
    }
    bb_page_map_note(&maps[last], 0, 5);
    bb_page_map_deinit(&maps[0]);
    bb_page_map_init(&maps[last + 1], world.files, world.file, 5);
    assert_non_null(maps[last + 1].file);
    for (size_t i = 1; i < last + 2; i++)
        bb_page_map_deinit(&maps[i]);
    world_deinit(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(page_map__copies_what_was_noted),
        cmocka_unit_test(page_map__drops_pages),
        cmocka_unit_test(page_map__copies_all_of_a_new_file),
        cmocka_unit_test(page_map__rests_after_a_copy_that_waited),
        cmocka_unit_test(page_map__copies_nothing_of_a_lost_map),
        cmocka_unit_test(page_map__rests_after_it_was_forgotten),
        cmocka_unit_test(page_map__of_nothing),
        cmocka_unit_test(page_map__of_many_files),
    };
    if (BB_PAGE_MAPS_MAX == 0)
        return 0; /* there are no maps */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
