/* Goal: every allocation is inside the arena, is aligned, overlaps no other and has a unique
 * offset; a large arena takes memory only as it is filled. Method: random sizes and alignments
 * until the arena is full, each block filled with its number and checked at the end; the limits of
 * the capacity; the resident pages of a large arena (mincore). */
#include "tests/support/assert_status.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/region.h"
#include "tests/support/rng.h"

#define BLOCKS_MAX     4000
#define LARGE_CAPACITY (5 * BB_REGION_SIZE + 12345)

struct block {
    uint32_t offset;
    size_t size;
};

static void fill(struct bb_arena *arena, struct bb_rng *rng, struct block *blocks,
                 size_t *ret_count)
{
    size_t count = 0;
    while (count < BLOCKS_MAX) {
        size_t alignment = (size_t)8 << bb_rng_below(rng, 4);
        size_t size = bb_rng_skewed(rng, 300);
        uint32_t offset = bb_arena_alloc(arena, size, alignment);
        if (offset == 0)
            break;
        uint8_t *data = bb_arena_at(arena, offset);
        assert_int_equal((uintptr_t)data % alignment, 0);
        assert_true(data >= arena->memory + BB_ARENA_UNIT);
        assert_true(data + size <= arena->memory + arena->capacity);
        memset(data, (int)(count & 0xff), size);
        blocks[count++] = (struct block){.offset = offset, .size = size};
    }
    *ret_count = count;
}

static void arena__blocks_do_not_overlap(void **state)
{
    struct bb_rng *rng = *state;
    static struct block blocks[BLOCKS_MAX];
    struct bb_arena arena;
    assert_ok(bb_arena_init(&arena, 100000));
    for (int round = 0; round < 3; round++) {
        size_t count = 0;
        fill(&arena, rng, blocks, &count);
        assert_in_range(count, 100, BLOCKS_MAX - 1); /* it did get full */
        for (size_t i = 0; i < count; i++) {
            const uint8_t *data = bb_arena_at(&arena, blocks[i].offset);
            for (size_t j = 0; j < blocks[i].size; j++)
                assert_int_equal(data[j], i & 0xff);
            if (i > 0)
                assert_true(blocks[i].offset > blocks[i - 1].offset);
        }
        bb_arena_reset(&arena);
    }
    bb_arena_deinit(&arena);
}

static void arena__uses_its_last_byte(void **state)
{
    (void)state;
    struct bb_arena arena;
    assert_ok(bb_arena_init(&arena, 1000)); /* rounded up to 1024 */
    assert_int_equal(arena.capacity, 1024);
    assert_int_equal(bb_arena_left(&arena), 1024 - BB_ARENA_UNIT);
    assert_int_equal(bb_arena_alloc(&arena, 1024 - BB_ARENA_UNIT + 1, 8), 0);
    assert_int_equal(bb_arena_left(&arena), 1024 - BB_ARENA_UNIT);
    uint32_t offset = bb_arena_alloc(&arena, 1024 - BB_ARENA_UNIT, 8);
    assert_int_equal(offset, 1);
    memset(bb_arena_at(&arena, offset), 0xee, 1024 - BB_ARENA_UNIT);
    assert_int_equal(bb_arena_left(&arena), 0);
    assert_int_equal(bb_arena_alloc(&arena, 0, 8), 0);
    assert_int_equal(bb_arena_alloc(&arena, 1, 64), 0);
    bb_arena_deinit(&arena);
}

static void arena__absurd_request_does_not_wrap(void **state)
{
    (void)state;
    struct bb_arena arena;
    assert_ok(bb_arena_init(&arena, 4096));
    assert_int_equal(bb_arena_alloc(&arena, SIZE_MAX, 8), 0);
    assert_int_equal(bb_arena_alloc(&arena, SIZE_MAX - 7, 64), 0);
    assert_int_equal(bb_arena_left(&arena), 4096 - BB_ARENA_UNIT);
    bb_arena_deinit(&arena);
}

static void arena__capacity_has_borders(void **state)
{
    (void)state;
    struct bb_arena arena = {.used = 77};
    assert_status(bb_arena_init(&arena, (size_t)BB_ARENA_UNIT << 32), BB_TOO_LARGE);
    assert_status(bb_arena_init(&arena, SIZE_MAX), BB_TOO_LARGE);
    assert_int_equal(arena.used, 77); /* untouched */
    assert_ok(bb_arena_init(&arena, 0));
    assert_int_equal(arena.capacity, 64);
    bb_arena_deinit(&arena);
    bb_arena_deinit(&arena);
}

/* Bytes of the arena's memory that are in memory. */
static uint64_t resident(const struct bb_arena *arena)
{
    static unsigned char pages[LARGE_CAPACITY / BB_REGION_PAGE_SIZE + 1];
    uint64_t count = 0;
    assert_int_equal(mincore(arena->memory, arena->capacity, pages), 0);
    for (size_t i = 0; i < sizeof(pages); i++)
        count += pages[i] & 1;
    return count * BB_REGION_PAGE_SIZE;
}

static bool has_large_pages(void)
{
    return access("/sys/kernel/mm/transparent_hugepage", F_OK) == 0;
}

/* True if the kernel's flags of the mapping at this place ask for large pages (proc(5), smaps). */
static bool asks_for_large_pages(const uint8_t *place)
{
    char line[512];
    unsigned long begin = 0, end = 0;
    bool is_there = false, asks = false;
    FILE *maps = fopen("/proc/self/smaps", "r");
    assert_non_null(maps);
    while (fgets(line, sizeof(line), maps) != NULL) {
        if (sscanf(line, "%lx-%lx ", &begin, &end) == 2)
            is_there = begin <= (uintptr_t)place && (uintptr_t)place < end;
        else if (is_there && strncmp(line, "VmFlags:", 8) == 0)
            asks = asks || strstr(line, " hg") != NULL;
    }
    fclose(maps);
    return asks;
}

static void arena__large_one_takes_memory_as_it_is_filled(void **state)
{
    (void)state;
    struct bb_arena arena;
    assert_ok(bb_arena_init(&arena, LARGE_CAPACITY));
    if (!arena.is_mapped) {
        bb_arena_deinit(&arena);
#if defined(__SANITIZE_ADDRESS__)
        skip(); /* it knows no regions */
#else
        assert_int_not_equal(sysconf(_SC_PAGESIZE), BB_REGION_PAGE_SIZE);
        return;
#endif
    }
    assert_int_equal(resident(&arena), 0);
    assert_false(asks_for_large_pages(arena.memory));
    assert_true(asks_for_large_pages(arena.memory + BB_REGION_SIZE) == has_large_pages());
    for (uint32_t offset = 0; (offset = bb_arena_alloc(&arena, 1000, 8)) != 0;) {
        memset(bb_arena_at(&arena, offset), 1, 1000);
        bool is_small = arena.used <= BB_REGION_SIZE;
        uint64_t more = is_small ? BB_REGION_PAGE_SIZE : BB_REGION_SIZE;
        if (arena.used % (BB_REGION_SIZE / 8) < 1000)
            assert_in_range(resident(&arena), arena.used - 1000, arena.used + more);
    }
    assert_in_range(arena.used, LARGE_CAPACITY - 1000, LARGE_CAPACITY + 64);
    bb_arena_deinit(&arena);
}

/* The limit between the allocator and a mapping, and partial pages at the end. */
static void arena__of_any_size_is_writable_to_its_end(void **state)
{
    (void)state;
    const size_t capacities[] = {
        BB_REGION_SIZE,          2 * BB_REGION_SIZE - 64, 2 * BB_REGION_SIZE,     LARGE_CAPACITY,
        3 * BB_REGION_SIZE - 64, 3 * BB_REGION_SIZE,      3 * BB_REGION_SIZE + 64};
    for (size_t i = 0; i < sizeof(capacities) / sizeof(capacities[0]); i++) {
        struct bb_arena arena;
        assert_ok(bb_arena_init(&arena, capacities[i]));
        uint32_t offset = bb_arena_alloc(&arena, capacities[i] - BB_ARENA_UNIT, 8);
        assert_int_not_equal(offset, 0);
        memset(bb_arena_at(&arena, offset), 0xee, capacities[i] - BB_ARENA_UNIT);
        bb_arena_deinit(&arena);
    }
}

int main(void)
{
    struct bb_rng rng;
    bb_rng_init(&rng, bb_rng_seed("arena_test", 4));
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(arena__blocks_do_not_overlap, &rng),
        cmocka_unit_test(arena__uses_its_last_byte),
        cmocka_unit_test(arena__absurd_request_does_not_wrap),
        cmocka_unit_test(arena__capacity_has_borders),
        cmocka_unit_test(arena__large_one_takes_memory_as_it_is_filled),
        cmocka_unit_test(arena__of_any_size_is_writable_to_its_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
