/* Goal: pieces do not overlap, are aligned and keep their contents, also while their region moves
 * into large pages or returns idle pages; held memory stays in proportion to used memory; memory
 * that the system refuses comes from the allocator. Method: a model of random pieces, each filled
 * with its number; tables that are replaced a thousand times; threads, which the thread sanitizer's
 * build checks. Where regions are not available (sanitizers, other page sizes), only the contents
 * are checked. */
#include "tests/support/assert_status.h"

#include <string.h>

#include "base/alloc.h"
#include "base/large_pages.h"
#include "base/region.h"
#include "tests/support/rng.h"

#define PIECES 700

struct piece {
    uint8_t *memory;
    size_t size;
    uint8_t mark;
};

static bool has_regions(void)
{
    void *memory = bb_region_map(BB_REGION_SIZE);
    if (memory != NULL)
        bb_region_unmap(memory, BB_REGION_SIZE);
    return memory != NULL;
}

/* A byte of each granule tells: no two pieces have one in common. */
static void take(struct bb_large_pages *pages, size_t size, uint8_t mark, struct piece *piece)
{
    *piece =
        (struct piece){.memory = bb_large_pages_alloc(pages, size), .size = size, .mark = mark};
    assert_non_null(piece->memory);
    assert_int_equal((uintptr_t)piece->memory % BB_LARGE_PAGES_ALIGNMENT, 0);
    for (size_t i = 0; i < size; i += BB_LARGE_PAGES_ALIGNMENT)
        piece->memory[i] = mark;
}

static void check(const struct piece *piece)
{
    for (size_t i = 0; i < piece->size; i += BB_LARGE_PAGES_ALIGNMENT) {
        if (piece->memory[i] != piece->mark)
            fail_msg("byte %zu of %zu is %u, not %u", i, piece->size, piece->memory[i],
                     piece->mark);
    }
}

static void give(struct bb_large_pages *pages, struct piece *piece)
{
    if (piece->memory != NULL)
        check(piece);
    bb_large_pages_free(pages, piece->memory, piece->size);
    *piece = (struct piece){0};
}

static void assert_empty(struct bb_large_pages *pages)
{
    assert_int_equal(pages->count, 0);
    assert_int_equal(pages->used_bytes, 0);
    assert_int_equal(pages->held_bytes, 0);
    assert_int_equal(pages->idle_bytes, 0);
    assert_int_equal(bb_large_pages_overhead(pages), 0);
}

/* The header's guarantees. */
static void assert_bounded(const struct bb_large_pages *pages)
{
    uint64_t much = pages->used_bytes / 8 + BB_LARGE_PAGES_IDLE;
    uint64_t little = pages->count * BB_REGION_SIZE / 8;
    assert_true(pages->idle_bytes <= (much > little ? much : little));
    assert_true(pages->used_bytes <= pages->held_bytes);
}

static size_t draw_size(struct bb_rng *rng)
{
    if (bb_rng_one_in(rng, 100))
        return (size_t)bb_rng_skewed(rng, 3 * BB_REGION_SIZE);
    if (bb_rng_one_in(rng, 8))
        return (size_t)bb_rng_skewed(rng, BB_REGION_SIZE / 4);
    return (size_t)bb_rng_between(rng, 500, 6000);
}

static void large_pages__pieces_keep_what_is_in_them(void **state)
{
    struct bb_rng *rng = *state;
    static struct piece pieces[PIECES];
    struct bb_large_pages pages;
    bb_large_pages_init(&pages);
    for (int i = 0; i < 3000; i++) {
        struct piece *piece = &pieces[bb_rng_below(rng, PIECES)];
        if (piece->memory != NULL)
            give(&pages, piece);
        else
            take(&pages, draw_size(rng), (uint8_t)bb_rng_next(rng), piece);
        assert_bounded(&pages);
    }
    for (size_t i = 0; i < PIECES; i++)
        give(&pages, &pieces[i]);
    assert_empty(&pages);
    bb_large_pages_deinit(&pages);
}

static void large_pages__a_few_pieces_take_little(void **state)
{
    (void)state;
    struct bb_large_pages pages;
    struct piece pieces[3];
    if (!has_regions())
        skip();
    bb_large_pages_init(&pages);
    for (size_t i = 0; i < 3; i++)
        take(&pages, 3000, (uint8_t)i, &pieces[i]);
    assert_int_equal(pages.count, 1);
    assert_int_equal(pages.held_bytes, 3 * BB_REGION_PAGE_SIZE);
    assert_in_range(bb_large_pages_overhead(&pages), 1, 12500);
    for (size_t i = 0; i < 3; i++)
        give(&pages, &pieces[i]);
    assert_empty(&pages);
    bb_large_pages_deinit(&pages);
}

static void large_pages__small_pieces_are_the_allocators(void **state)
{
    (void)state;
    struct bb_large_pages pages;
    struct piece small;
    struct piece none;
    bb_large_pages_init(&pages);
    take(&pages, BB_LARGE_PAGES_PIECE_MIN - 1, 1, &small);
    take(&pages, 0, 2, &none);
    assert_empty(&pages);
    give(&pages, &small);
    give(&pages, &none);
    bb_large_pages_deinit(&pages);
}

static void large_pages__without_an_owner_all_are_the_allocators(void **state)
{
    (void)state;
    struct piece piece;
    take(NULL, 3 * BB_REGION_SIZE, 7, &piece);
    give(NULL, &piece);
}

static void large_pages__what_nobody_has_is_refused(void **state)
{
    (void)state;
    struct bb_large_pages pages;
    bb_large_pages_init(&pages);
    assert_null(bb_large_pages_alloc(&pages, SIZE_MAX));
    assert_null(bb_region_map((size_t)1 << 62)); /* more than there are addresses */
    assert_empty(&pages);
    bb_large_pages_free(&pages, NULL, 100000);
    bb_large_pages_deinit(&pages);
}

/* A region in each state: full, half full, empty. */
static void large_pages__an_empty_region_goes_back_at_once(void **state)
{
    (void)state;
    struct bb_large_pages pages;
    struct piece pieces[3];
    if (!has_regions())
        skip();
    bb_large_pages_init(&pages);
    take(&pages, BB_REGION_SIZE, 1, &pieces[0]);
    take(&pages, BB_REGION_SIZE / 2, 2, &pieces[1]);
    take(&pages, BB_REGION_SIZE + 1, 3, &pieces[2]);
    assert_int_equal(pages.count, 3);
    assert_int_equal(pages.held_bytes, 5 * BB_REGION_SIZE / 2 + BB_REGION_PAGE_SIZE);
    give(&pages, &pieces[0]);
    assert_int_equal(pages.count, 2);
    give(&pages, &pieces[1]);
    assert_int_equal(pages.count, 1);
    give(&pages, &pieces[2]);
    assert_empty(&pages);
    bb_large_pages_deinit(&pages);
}

/* Filled until it is moved, then thinned out until idle pages go back, then filled again. */
static void large_pages__what_is_thinned_out_gives_pages_back(void **state)
{
    (void)state;
    enum { COUNT = 8 * BB_REGION_SIZE / 8192 };
    static struct piece pieces[COUNT];
    struct bb_large_pages pages;
    if (!has_regions())
        skip();
    bb_large_pages_init(&pages);
    for (size_t i = 0; i < COUNT; i++)
        take(&pages, 8192, (uint8_t)i, &pieces[i]);
    assert_int_equal(pages.held_bytes, pages.used_bytes);
    for (size_t i = 0; i < COUNT; i++) {
        if (i % 4 != 0)
            give(&pages, &pieces[i]);
        assert_bounded(&pages);
    }
    assert_int_equal(pages.count, 8);
    for (size_t i = 0; i < COUNT; i++) {
        if (i % 4 != 0)
            take(&pages, 8192, (uint8_t)i, &pieces[i]);
    }
    assert_int_equal(pages.count, 8); /* in the holes */
    for (size_t i = 0; i < COUNT; i++)
        give(&pages, &pieces[i]);
    assert_empty(&pages);
    bb_large_pages_deinit(&pages);
}

/* A full region in which pieces are freed: the first hole that is large enough is taken, even if it
 * was several, and a smaller one is skipped. */
static void large_pages__the_first_hole_that_fits_is_taken(void **state)
{
    (void)state;
    enum { COUNT = BB_REGION_SIZE / 8192 };
    static const size_t holes[] = {7, 30, 31, 90, 32, 91, 200};
    static struct piece pieces[COUNT];
    struct bb_large_pages pages;
    struct piece next[3];
    if (!has_regions())
        skip();
    bb_large_pages_init(&pages);
    for (size_t i = 0; i < COUNT; i++)
        take(&pages, 8192, (uint8_t)i, &pieces[i]);
    assert_int_equal(pages.count, 1);
    const uint8_t *memory = pieces[0].memory;
    for (size_t i = 0; i < sizeof(holes) / sizeof(holes[0]); i++)
        give(&pages, &pieces[holes[i]]);
    take(&pages, 3 * 8192 - 100, 1, &next[0]);
    take(&pages, 2 * 8192, 2, &next[1]);
    take(&pages, 8192, 3, &next[2]);
    assert_ptr_equal(next[0].memory, memory + 30 * 8192);
    assert_ptr_equal(next[1].memory, memory + 90 * 8192);
    assert_ptr_equal(next[2].memory, memory + 7 * 8192);
    assert_int_equal(pages.count, 1);
    for (size_t i = 0; i < 3; i++)
        give(&pages, &next[i]);
    for (size_t i = 0; i < COUNT; i++)
        give(&pages, &pieces[i]);
    assert_empty(&pages);
    bb_large_pages_deinit(&pages);
}

/* ---- the place of each piece ---- */

#define GRANULE  BB_LARGE_PAGES_ALIGNMENT
#define GRANULES (BB_REGION_SIZE / GRANULE)

/* One region, granule by granule. */
struct plain {
    bool is_used[GRANULES];
};

/* The first run of this length; GRANULES if none. */
static size_t plain_find(const struct plain *plain, size_t count)
{
    size_t free_count = 0;
    for (size_t i = 0; i < GRANULES; i++) {
        free_count = plain->is_used[i] ? 0 : free_count + 1;
        if (free_count == count)
            return i + 1 - count;
    }
    return GRANULES;
}

static void plain_set(struct plain *plain, const uint8_t *region, const struct piece *piece,
                      bool is_used)
{
    size_t first = (size_t)(piece->memory - region) / GRANULE;
    size_t count = (piece->size + GRANULE - 1) / GRANULE;
    for (size_t i = first; i < first + count; i++) {
        assert_true(plain->is_used[i] != is_used);
        plain->is_used[i] = is_used;
    }
}

/* Of some pages, of many, of few granules, and sizes that end with a page. */
static size_t draw_space(struct bb_rng *rng)
{
    if (bb_rng_one_in(rng, 4))
        return (size_t)bb_rng_between(rng, 1, 8) * BB_REGION_PAGE_SIZE;
    if (bb_rng_one_in(rng, 20))
        return (size_t)bb_rng_between(rng, 50000, BB_REGION_SIZE / 3);
    return (size_t)bb_rng_between(rng, BB_LARGE_PAGES_PIECE_MIN, 20000);
}

static void large_pages__pieces_stand_where_a_plain_search_finds_space(void **state)
{
    struct bb_rng *rng = *state;
    static struct piece pieces[PIECES / 4];
    static struct plain plain;
    struct bb_large_pages pages;
    struct piece first;
    if (!has_regions())
        skip();
    bb_large_pages_init(&pages);
    take(&pages, 5000, 1, &first); /* and stays: so does the region */
    const uint8_t *region = first.memory;
    plain_set(&plain, region, &first, true);
    for (int i = 0; i < 4000; i++) {
        struct piece *piece = &pieces[bb_rng_below(rng, PIECES / 4)];
        size_t size = draw_space(rng);
        if (piece->memory != NULL) {
            plain_set(&plain, region, piece, false);
            give(&pages, piece);
            continue;
        }
        size_t at = plain_find(&plain, (size + GRANULE - 1) / GRANULE);
        if (at == GRANULES)
            continue;
        take(&pages, size, (uint8_t)i, piece);
        assert_ptr_equal(piece->memory, region + at * GRANULE);
        plain_set(&plain, region, piece, true);
    }
    assert_int_equal(pages.count, 1);
    for (size_t i = 0; i < PIECES / 4; i++)
        give(&pages, &pieces[i]);
    give(&pages, &first);
    assert_empty(&pages);
    bb_large_pages_deinit(&pages);
}

/* ---- tables that are replaced ---- */

#define TABLES      48
#define TABLE_PAGES 40

struct fake_table {
    struct piece table_filter;
    struct piece pages[TABLE_PAGES];
};

static void open_table(struct bb_large_pages *pages, struct bb_rng *rng, struct fake_table *table)
{
    uint8_t mark = (uint8_t)bb_rng_next(rng);
    take(pages, (size_t)bb_rng_between(rng, 10000, 150000), mark, &table->table_filter);
    for (size_t i = 0; i < TABLE_PAGES; i++)
        take(pages, (size_t)bb_rng_between(rng, 2500, 3800), mark, &table->pages[i]);
}

static void close_table(struct bb_large_pages *pages, struct fake_table *table)
{
    give(pages, &table->table_filter);
    for (size_t i = 0; i < TABLE_PAGES; i++)
        give(pages, &table->pages[i]);
}

static void large_pages__many_replacements_leave_it_dense(void **state)
{
    struct bb_rng *rng = *state;
    static struct fake_table tables[TABLES];
    struct bb_large_pages pages;
    bb_large_pages_init(&pages);
    for (size_t i = 0; i < TABLES; i++)
        open_table(&pages, rng, &tables[i]);
    for (int i = 0; i < 1000; i++) {
        struct fake_table *table = &tables[bb_rng_below(rng, TABLES)];
        struct fake_table next;
        open_table(&pages, rng, &next); /* the new one is there before the old one goes */
        close_table(&pages, table);
        *table = next;
        assert_bounded(&pages);
        assert_true(pages.held_bytes <= pages.used_bytes / 4 * 5 + BB_LARGE_PAGES_IDLE);
    }
    for (size_t i = 0; i < TABLES; i++)
        close_table(&pages, &tables[i]);
    assert_empty(&pages);
    bb_large_pages_deinit(&pages);
}

/* ---- threads ---- */

#define THREADS 4

struct worker {
    struct bb_large_pages *pages;
    uint64_t seed;
};

static void replace_tables(void *argument)
{
    const struct worker *worker = argument;
    struct bb_rng rng;
    struct fake_table tables[8];
    bb_rng_init(&rng, worker->seed);
    for (size_t i = 0; i < 8; i++)
        open_table(worker->pages, &rng, &tables[i]);
    for (int i = 0; i < 50; i++) {
        struct fake_table *table = &tables[bb_rng_below(&rng, 8)];
        close_table(worker->pages, table);
        (void)bb_large_pages_overhead(worker->pages);
        open_table(worker->pages, &rng, table);
    }
    for (size_t i = 0; i < 8; i++)
        close_table(worker->pages, &tables[i]);
}

static void large_pages__threads_share_it(void **state)
{
    struct bb_rng *rng = *state;
    struct bb_large_pages pages;
    struct bb_thread threads[THREADS];
    struct worker workers[THREADS];
    bb_large_pages_init(&pages);
    for (size_t i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.pages = &pages, .seed = bb_rng_next(rng)};
        assert_ok(bb_thread_create(&threads[i], replace_tables, &workers[i]));
    }
    for (size_t i = 0; i < THREADS; i++)
        bb_thread_join(&threads[i]);
    assert_empty(&pages);
    bb_large_pages_deinit(&pages);
}

int main(void)
{
    struct bb_rng rng;
    bb_rng_init(&rng, bb_rng_seed("large_pages_test", 15));
    struct CMUnitTest tests[] = {
        cmocka_unit_test(large_pages__pieces_keep_what_is_in_them),
        cmocka_unit_test(large_pages__a_few_pieces_take_little),
        cmocka_unit_test(large_pages__small_pieces_are_the_allocators),
        cmocka_unit_test(large_pages__without_an_owner_all_are_the_allocators),
        cmocka_unit_test(large_pages__what_nobody_has_is_refused),
        cmocka_unit_test(large_pages__an_empty_region_goes_back_at_once),
        cmocka_unit_test(large_pages__what_is_thinned_out_gives_pages_back),
        cmocka_unit_test(large_pages__the_first_hole_that_fits_is_taken),
        cmocka_unit_test(large_pages__pieces_stand_where_a_plain_search_finds_space),
        cmocka_unit_test(large_pages__many_replacements_leave_it_dense),
        cmocka_unit_test(large_pages__threads_share_it),
    };
    for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
        tests[i].initial_state = &rng;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
