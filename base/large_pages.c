/* See large_pages.h. */
#include "base/large_pages.h"

#include <assert.h>
#include <stdbool.h>

#include "base/alloc.h"
#include "base/array.h"
#include "base/assert.h"
#include "base/region.h"
#include "base/status.h"

#define GRANULE    ((size_t)BB_LARGE_PAGES_ALIGNMENT)
#define PAGE_COUNT (BB_REGION_SIZE / BB_REGION_PAGE_SIZE)
#define PAGE_BITS  64u
#define GRANULES   (PAGE_COUNT * PAGE_BITS)
#define FULL_PAGES (PAGE_COUNT / 16 * 15) /* in use: worth a large page */
#define IDLE_PAGES (PAGE_COUNT / 8)       /* worth giving back */

static_assert(PAGE_BITS * BB_LARGE_PAGES_ALIGNMENT == BB_REGION_PAGE_SIZE, "a page is a word");

struct bb_large_pages_region {
    uint32_t used_pages;     /* with a piece in them */
    uint32_t idle_pages;     /* touched, without one */
    size_t top;              /* no granule from here on was ever used */
    struct bb_max_tree runs; /* by page: free granules of the longest run that begins there */
    bool is_large;
    bool is_moving; /* into large pages, without the mutex */
    bool is_touched[PAGE_COUNT];
    uint64_t used[PAGE_COUNT]; /* a bit per granule */
};

void bb_large_pages_init(struct bb_large_pages *pages)
{
    *pages = (struct bb_large_pages){0};
    bb_mutex_init(&pages->mutex);
}

void bb_large_pages_deinit(struct bb_large_pages *pages)
{
    BB_ASSERT(pages->count == 0);
    bb_free(pages->places);
    bb_max_tree_deinit(&pages->free_runs);
    bb_max_tree_deinit(&pages->idles);
    bb_mutex_deinit(&pages->mutex);
}

/* ---- places ---- */

/* The number of places that start at or before the memory. */
static size_t places_up_to(const struct bb_large_pages *pages, const uint8_t *memory)
{
    size_t low = 0;
    size_t high = pages->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if ((uintptr_t)pages->places[middle].memory <= (uintptr_t)memory)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Leaves no error when it fails: the caller's memory comes from bb_alloc then. */
static bool reserve_place(struct bb_large_pages *pages)
{
    struct bb_error before = *bb_error_last();
    bool is_reserved = bb_max_tree_reserve(&pages->free_runs, pages->count + 1) &&
                       bb_max_tree_reserve(&pages->idles, pages->count + 1) &&
                       bb_array_reserve(&pages->places, pages->count, &pages->capacity,
                                        sizeof(pages->places[0]), "regions") == BB_OK;
    if (!is_reserved)
        (void)bb_error_restore(&before);
    return is_reserved;
}

/* REQUIRES: a place is reserved. */
static struct bb_large_pages_place *add_place(struct bb_large_pages *pages, uint8_t *memory,
                                              struct bb_large_pages_region *region)
{
    size_t at = places_up_to(pages, memory);
    struct bb_large_pages_place *place = &pages->places[at];
    memmove(place + 1, place, (pages->count - at) * sizeof(*place));
    *place = (struct bb_large_pages_place){.memory = memory, .region = region};
    pages->count++;
    pages->region_count += region != NULL;
    bb_max_tree_insert(&pages->free_runs, at,
                       region == NULL ? 0 : bb_max_tree_largest(&region->runs));
    bb_max_tree_insert(&pages->idles, at, 0);
    return place;
}

static void remove_place(struct bb_large_pages *pages, struct bb_large_pages_place *place)
{
    size_t at = (size_t)(place - pages->places);
    pages->count--;
    pages->region_count -= place->region != NULL;
    bb_max_tree_remove(&pages->free_runs, at);
    bb_max_tree_remove(&pages->idles, at);
    memmove(place, place + 1, (pages->count - at) * sizeof(*place));
}

/* NULL: the memory is the allocator's. */
static struct bb_large_pages_place *find_place(struct bb_large_pages *pages, const uint8_t *memory)
{
    size_t count = places_up_to(pages, memory);
    if (count == 0)
        return NULL;
    struct bb_large_pages_place *place = &pages->places[count - 1];
    if (place->region == NULL)
        return place->memory == memory ? place : NULL;
    return (uintptr_t)memory - (uintptr_t)place->memory < BB_REGION_SIZE ? place : NULL;
}

/* ---- granules ---- */

/* The first granule at or after `at` that is used (or free); GRANULES if there is no such
 * granule. */
static size_t next_granule(const struct bb_large_pages_region *region, size_t at, bool is_used)
{
    uint64_t flip = is_used ? 0 : UINT64_MAX;
    uint64_t mask = UINT64_MAX << at % PAGE_BITS;
    size_t pages = is_used ? (region->top + PAGE_BITS - 1) / PAGE_BITS : PAGE_COUNT;
    for (size_t page = at / PAGE_BITS; page < pages; page++, mask = UINT64_MAX) {
        uint64_t word = (region->used[page] ^ flip) & mask;
        if (word != 0)
            return page * PAGE_BITS + (size_t)__builtin_ctzll(word);
    }
    return GRANULES;
}

/* The first run that begins in the page; otherwise a granule after the page, or GRANULES. */
static size_t first_run(const struct bb_large_pages_region *region, size_t page)
{
    size_t at = page * PAGE_BITS;
    if (page > 0 && region->used[page - 1] >> (PAGE_BITS - 1) == 0)
        at = next_granule(region, at, true); /* the end of an earlier one */
    return at < GRANULES ? next_granule(region, at, false) : GRANULES;
}

/* The first run in the page that is longer than `bound`; 0 and the longest, *ret_longest, if no run
 * is. */
static size_t find_in_page(const struct bb_large_pages_region *region, size_t page, size_t bound,
                           uint32_t *ret_longest)
{
    *ret_longest = 0;
    for (size_t at = first_run(region, page); at < (page + 1) * PAGE_BITS;) {
        size_t end = next_granule(region, at, true);
        if (end - at > bound)
            return at;
        *ret_longest = end - at > *ret_longest ? (uint32_t)(end - at) : *ret_longest;
        at = end < (page + 1) * PAGE_BITS ? next_granule(region, end, false) : GRANULES;
    }
    return 0;
}

/* The first granule of the run of free granules that ends at `at`; `at` if the granule before is
 * used. */
static size_t first_before(const struct bb_large_pages_region *region, size_t at)
{
    size_t page = at / PAGE_BITS;
    uint64_t used = at % PAGE_BITS == 0 ? 0 : region->used[page] << (PAGE_BITS - at % PAGE_BITS);
    if (used != 0)
        return at - (size_t)__builtin_clzll(used);
    while (page > 0 && region->used[page - 1] == 0)
        page--;
    return page == 0 ? 0 : page * PAGE_BITS - (size_t)__builtin_clzll(region->used[page - 1]);
}

static void note_page(struct bb_large_pages_region *region, size_t page)
{
    uint32_t longest = 0;
    (void)find_in_page(region, page, GRANULES, &longest);
    bb_max_tree_set(&region->runs, page, longest);
}

/* Granules from `first` up to `end` were allocated or freed: runs begin or end there, or in the
 * preceding run. In the pages between, which they fill, no run began before, and none does now. */
static void note_runs(struct bb_large_pages_region *region, size_t first, size_t end)
{
    size_t last = end < GRANULES ? end / PAGE_BITS : PAGE_COUNT - 1;
    size_t before = first_before(region, first) / PAGE_BITS;
    if (before < first / PAGE_BITS)
        note_page(region, before);
    note_page(region, first / PAGE_BITS);
    if (last > first / PAGE_BITS)
        note_page(region, last);
}

/* REQUIRES: there is a run of this length. */
static size_t find_run(const struct bb_large_pages_region *region, size_t count)
{
    BB_DEBUG_ASSERT(count > 0 && count <= bb_max_tree_largest(&region->runs));
    uint32_t longest = 0;
    size_t page = bb_max_tree_find(&region->runs, (uint32_t)count - 1);
    return find_in_page(region, page, count - 1, &longest);
}

/* The bits of a page from granule `first` of the region up to `end`. */
static uint64_t bits_of(size_t page, size_t first, size_t end)
{
    size_t low = first > page * PAGE_BITS ? first - page * PAGE_BITS : 0;
    size_t high = end < (page + 1) * PAGE_BITS ? end - page * PAGE_BITS : PAGE_BITS;
    return (UINT64_MAX >> (PAGE_BITS - (high - low))) << low;
}

static void begin_page(struct bb_large_pages *pages, struct bb_large_pages_region *region,
                       size_t page)
{
    region->used_pages++;
    if (region->is_touched[page]) {
        region->idle_pages--;
        pages->idle_bytes -= BB_REGION_PAGE_SIZE;
    } else {
        region->is_touched[page] = true;
        pages->held_bytes += BB_REGION_PAGE_SIZE;
    }
}

static void end_page(struct bb_large_pages *pages, struct bb_large_pages_region *region)
{
    region->used_pages--;
    region->idle_pages++;
    pages->idle_bytes += BB_REGION_PAGE_SIZE;
}

static void take_run(struct bb_large_pages *pages, struct bb_large_pages_region *region,
                     size_t first, size_t count)
{
    size_t end = first + count;
    for (size_t page = first / PAGE_BITS; page * PAGE_BITS < end; page++) {
        if (region->used[page] == 0)
            begin_page(pages, region, page);
        region->used[page] |= bits_of(page, first, end);
    }
    region->top = end > region->top ? end : region->top;
    note_runs(region, first, end);
    pages->used_bytes += count * GRANULE;
}

static void give_run(struct bb_large_pages *pages, struct bb_large_pages_region *region,
                     size_t first, size_t count)
{
    size_t end = first + count;
    for (size_t page = first / PAGE_BITS; page * PAGE_BITS < end; page++) {
        uint64_t bits = bits_of(page, first, end);
        BB_ASSERT((region->used[page] & bits) == bits);
        region->used[page] &= ~bits;
        if (region->used[page] == 0)
            end_page(pages, region);
    }
    note_runs(region, first, end);
    pages->used_bytes -= count * GRANULE;
}

/* ---- regions ---- */

/* Updates the trees after a change of one region. Pages are not discarded while they are being
 * moved. */
static void note_place(struct bb_large_pages *pages, const struct bb_large_pages_place *place)
{
    BB_DEBUG_ASSERT(place->region != NULL);
    size_t at = (size_t)(place - pages->places);
    const struct bb_large_pages_region *region = place->region;
    bb_max_tree_set(&pages->free_runs, at, bb_max_tree_largest(&region->runs));
    bb_max_tree_set(&pages->idles, at, region->is_moving ? 0 : region->idle_pages);
}

static void destroy_account(struct bb_large_pages_region *region)
{
    bb_max_tree_deinit(&region->runs);
    bb_free(region);
}

static struct bb_large_pages_region *create_account(void)
{
    struct bb_large_pages_region *region = bb_alloc_zeroed(1, sizeof(*region));
    if (region == NULL)
        return NULL;
    if (!bb_max_tree_reserve(&region->runs, PAGE_COUNT)) {
        bb_free(region);
        return NULL;
    }
    bb_max_tree_set(&region->runs, 0, GRANULES);
    return region;
}

static struct bb_large_pages_place *create_region(struct bb_large_pages *pages)
{
    uint8_t *memory = bb_region_map(BB_REGION_SIZE);
    if (memory == NULL)
        return NULL;
    struct bb_large_pages_region *region = create_account();
    if (region != NULL && reserve_place(pages))
        return add_place(pages, memory, region);
    bb_region_unmap(memory, BB_REGION_SIZE);
    if (region != NULL)
        destroy_account(region);
    return NULL;
}

static void destroy_region(struct bb_large_pages *pages, struct bb_large_pages_place *place)
{
    uint64_t idle = place->region->idle_pages * BB_REGION_PAGE_SIZE;
    pages->idle_bytes -= idle;
    pages->held_bytes -= idle;
    bb_region_unmap(place->memory, BB_REGION_SIZE);
    destroy_account(place->region);
    remove_place(pages, place);
}

/* Untouched granules then become idle. */
static void touch_all(struct bb_large_pages *pages, struct bb_large_pages_region *region)
{
    for (size_t page = 0; page < PAGE_COUNT; page++) {
        if (region->is_touched[page])
            continue;
        region->is_touched[page] = true;
        region->idle_pages++;
        pages->idle_bytes += BB_REGION_PAGE_SIZE;
        pages->held_bytes += BB_REGION_PAGE_SIZE;
    }
}

static bool is_idle(const struct bb_large_pages_region *region, size_t page)
{
    return region->is_touched[page] && region->used[page] == 0;
}

static void discard_idle(struct bb_large_pages *pages, const struct bb_large_pages_place *place)
{
    struct bb_large_pages_region *region = place->region;
    if (region->is_large)
        bb_region_reduce(place->memory, BB_REGION_SIZE);
    region->is_large = false;
    for (size_t first = 0, end = 0; first < PAGE_COUNT; first = end + 1) {
        for (end = first; end < PAGE_COUNT && is_idle(region, end); end++)
            region->is_touched[end] = false;
        if (end > first)
            bb_region_discard(place->memory + first * BB_REGION_PAGE_SIZE,
                              (end - first) * BB_REGION_PAGE_SIZE);
    }
    uint64_t idle = region->idle_pages * BB_REGION_PAGE_SIZE;
    pages->idle_bytes -= idle;
    pages->held_bytes -= idle;
    region->idle_pages = 0;
}

/* NULL: no region has enough idle pages to be worthwhile. */
static struct bb_large_pages_place *most_idle(const struct bb_large_pages *pages)
{
    uint32_t most = bb_max_tree_largest(&pages->idles);
    return most < IDLE_PAGES ? NULL : &pages->places[bb_max_tree_find(&pages->idles, most - 1)];
}

static void discard_too_much(struct bb_large_pages *pages)
{
    while (pages->idle_bytes > pages->used_bytes / 8 + BB_LARGE_PAGES_IDLE) {
        const struct bb_large_pages_place *place = most_idle(pages);
        if (place == NULL)
            return;
        discard_idle(pages, place);
        note_place(pages, place);
    }
}

/* ---- pieces ---- */

/* A run of granules in the first region that has one, or in a new region; NULL without memory. */
static struct bb_large_pages_place *find_space(struct bb_large_pages *pages, size_t count,
                                               size_t *ret_first)
{
    size_t at = bb_max_tree_find(&pages->free_runs, (uint32_t)count - 1);
    struct bb_large_pages_place *place = at == SIZE_MAX ? create_region(pages) : &pages->places[at];
    if (place != NULL)
        *ret_first = find_run(place->region, count);
    return place;
}

static size_t granules_of(size_t size)
{
    return (size + GRANULE - 1) / GRANULE;
}

/* Takes some hundred microseconds, without blocking other threads. REQUIRES: it has a piece of the
 * caller. */
static void enlarge(struct bb_large_pages *pages, const struct bb_large_pages_place *place)
{
    BB_DEBUG_ASSERT(place->region != NULL && place->region->is_moving);
    bb_region_enlarge(place->memory, BB_REGION_SIZE);
    bb_mutex_lock(&pages->mutex);
    place->region->is_moving = false;
    note_place(pages, find_place(pages, place->memory)); /* others may have moved it in the list */
    bb_mutex_unlock(&pages->mutex);
}

/* True: it is full enough to be moved into large pages, which is the caller's. */
static bool begin_to_move(struct bb_large_pages *pages, struct bb_large_pages_region *region)
{
    if (region->is_large || region->used_pages < FULL_PAGES)
        return false;
    region->is_large = true;
    region->is_moving = true;
    touch_all(pages, region);
    return true;
}

static void *alloc_in_region(struct bb_large_pages *pages, size_t size)
{
    struct bb_large_pages_place place = {0};
    size_t first = 0;
    bool has_filled = false;
    bb_mutex_lock(&pages->mutex);
    const struct bb_large_pages_place *found = find_space(pages, granules_of(size), &first);
    if (found != NULL) {
        place = *found;
        take_run(pages, place.region, first, granules_of(size));
        has_filled = begin_to_move(pages, place.region);
        note_place(pages, found);
    }
    bb_mutex_unlock(&pages->mutex);
    if (has_filled)
        enlarge(pages, &place);
    return place.memory == NULL ? NULL : place.memory + first * GRANULE;
}

static size_t mapped_size_of(size_t size)
{
    return (size + BB_REGION_PAGE_SIZE - 1) / BB_REGION_PAGE_SIZE * BB_REGION_PAGE_SIZE;
}

/* Is the mapping entered? */
static bool enter_alone(struct bb_large_pages *pages, uint8_t *memory, size_t mapped_size)
{
    bb_mutex_lock(&pages->mutex);
    bool is_reserved = reserve_place(pages);
    if (is_reserved) {
        (void)add_place(pages, memory, NULL);
        pages->used_bytes += mapped_size;
        pages->held_bytes += mapped_size;
    }
    bb_mutex_unlock(&pages->mutex);
    return is_reserved;
}

/* Uses large pages except at its end. */
static void *alloc_alone(struct bb_large_pages *pages, size_t size)
{
    size_t mapped_size = mapped_size_of(size);
    uint8_t *memory = bb_region_map(mapped_size);
    if (memory == NULL)
        return NULL;
    if (!enter_alone(pages, memory, mapped_size)) {
        bb_region_unmap(memory, mapped_size);
        return NULL;
    }
    bb_region_enlarge(memory, mapped_size / BB_REGION_SIZE * BB_REGION_SIZE);
    return memory;
}

void *bb_large_pages_alloc(struct bb_large_pages *pages, size_t size)
{
    void *memory = NULL;
    if (pages != NULL && size >= BB_LARGE_PAGES_PIECE_MIN && size <= PTRDIFF_MAX)
        memory = size > BB_REGION_SIZE ? alloc_alone(pages, size) : alloc_in_region(pages, size);
    return memory == NULL ? bb_alloc_aligned(BB_LARGE_PAGES_ALIGNMENT, size) : memory;
}

static void free_alone(struct bb_large_pages *pages, struct bb_large_pages_place *place,
                       size_t size)
{
    size_t mapped_size = mapped_size_of(size);
    pages->used_bytes -= mapped_size;
    pages->held_bytes -= mapped_size;
    bb_region_unmap(place->memory, mapped_size);
    remove_place(pages, place);
}

static void free_in_region(struct bb_large_pages *pages, struct bb_large_pages_place *place,
                           const uint8_t *memory, size_t size)
{
    give_run(pages, place->region, (size_t)(memory - place->memory) / GRANULE, granules_of(size));
    if (place->region->used_pages == 0)
        destroy_region(pages, place);
    else
        note_place(pages, place);
}

/* False: it is the allocator's. */
static bool free_in_place(struct bb_large_pages *pages, const uint8_t *memory, size_t size)
{
    bb_mutex_lock(&pages->mutex);
    struct bb_large_pages_place *place = find_place(pages, memory);
    bool is_found = place != NULL;
    if (is_found && place->region == NULL)
        free_alone(pages, place, size);
    else if (is_found)
        free_in_region(pages, place, memory, size);
    if (is_found)
        discard_too_much(pages);
    bb_mutex_unlock(&pages->mutex);
    return is_found;
}

void bb_large_pages_free(struct bb_large_pages *pages, void *memory, size_t size)
{
    bool may_be_piece = pages != NULL && size >= BB_LARGE_PAGES_PIECE_MIN;
    if (!may_be_piece || !free_in_place(pages, memory, size))
        bb_free_aligned(memory);
}

uint64_t bb_large_pages_overhead(struct bb_large_pages *pages)
{
    bb_mutex_lock(&pages->mutex);
    uint64_t bytes = pages->held_bytes - pages->used_bytes;
    bytes += pages->count * (sizeof(pages->places[0]) + sizeof(pages->free_runs.nodes[0]) * 4);
    bytes += pages->region_count *
             (sizeof(struct bb_large_pages_region) + 2 * PAGE_COUNT * sizeof(uint32_t));
    bb_mutex_unlock(&pages->mutex);
    return bytes;
}
