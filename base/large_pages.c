/* See large_pages.h. */
#include "base/large_pages.h"

#include <assert.h>
#include <stdbool.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/region.h"

#define GRANULE      ((size_t)BB_LARGE_PAGES_ALIGNMENT)
#define PAGE_COUNT   (BB_REGION_SIZE / BB_REGION_PAGE_SIZE)
#define PAGE_BITS    64u
#define GRANULES     (PAGE_COUNT * PAGE_BITS)
#define FULL_PAGES   (PAGE_COUNT / 16 * 15) /* in use: worth a large page */
#define IDLE_PAGES   (PAGE_COUNT / 8)       /* worth giving back */
#define PLACES_FIRST 4

static_assert(PAGE_BITS * BB_LARGE_PAGES_ALIGNMENT == BB_REGION_PAGE_SIZE, "a page is a word");

struct bb_large_pages_region {
    uint32_t used_pages; /* with a piece in them */
    uint32_t idle_pages; /* touched, without one */
    size_t first_free;   /* no granule before it is free */
    size_t too_large;    /* so many granules in a row there are not */
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

static bool reserve_place(struct bb_large_pages *pages)
{
    if (pages->count < pages->capacity)
        return true;
    size_t capacity = pages->capacity == 0 ? PLACES_FIRST : pages->capacity * 2;
    struct bb_large_pages_place *places =
        bb_realloc(pages->places, capacity * sizeof(pages->places[0]));
    if (places == NULL)
        return false;
    pages->places = places;
    pages->capacity = capacity;
    return true;
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
    return place;
}

static void remove_place(struct bb_large_pages *pages, struct bb_large_pages_place *place)
{
    size_t at = (size_t)(place - pages->places);
    pages->count--;
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

/* The first granule from `at` on that is used (or free); GRANULES: there is none. */
static size_t next_granule(const struct bb_large_pages_region *region, size_t at, bool is_used)
{
    uint64_t flip = is_used ? 0 : UINT64_MAX;
    uint64_t mask = UINT64_MAX << at % PAGE_BITS;
    for (size_t page = at / PAGE_BITS; page < PAGE_COUNT; page++, mask = UINT64_MAX) {
        uint64_t word = (region->used[page] ^ flip) & mask;
        if (word != 0)
            return page * PAGE_BITS + (size_t)__builtin_ctzll(word);
    }
    return GRANULES;
}

/* GRANULES: it is too large. */
static size_t find_run(struct bb_large_pages_region *region, size_t count)
{
    if (count >= region->too_large)
        return GRANULES;
    region->first_free = next_granule(region, region->first_free, false);
    for (size_t start = region->first_free; start + count <= GRANULES;) {
        size_t end = next_granule(region, start, true);
        if (end - start >= count)
            return start;
        start = end == GRANULES ? GRANULES : next_granule(region, end, false);
    }
    region->too_large = count;
    return GRANULES;
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
    pages->used_bytes -= count * GRANULE;
    region->too_large = GRANULES + 1;
    if (first < region->first_free)
        region->first_free = first;
}

/* ---- regions ---- */

static struct bb_large_pages_place *create_region(struct bb_large_pages *pages)
{
    uint8_t *memory = bb_region_map(BB_REGION_SIZE);
    if (memory == NULL)
        return NULL;
    struct bb_large_pages_region *region = bb_alloc_zeroed(1, sizeof(*region));
    if (region == NULL || !reserve_place(pages)) {
        bb_region_unmap(memory, BB_REGION_SIZE);
        bb_free(region);
        return NULL;
    }
    region->too_large = GRANULES + 1;
    return add_place(pages, memory, region);
}

static void destroy_region(struct bb_large_pages *pages, struct bb_large_pages_place *place)
{
    uint64_t idle = place->region->idle_pages * BB_REGION_PAGE_SIZE;
    pages->idle_bytes -= idle;
    pages->held_bytes -= idle;
    bb_region_unmap(place->memory, BB_REGION_SIZE);
    bb_free(place->region);
    remove_place(pages, place);
}

/* What no piece has touched yet is idle then. */
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

static const struct bb_large_pages_place *most_idle(const struct bb_large_pages *pages)
{
    const struct bb_large_pages_place *most = NULL;
    uint32_t idle_pages = IDLE_PAGES - 1;
    for (size_t i = 0; i < pages->count; i++) {
        const struct bb_large_pages_region *region = pages->places[i].region;
        if (region == NULL || region->is_moving || region->idle_pages <= idle_pages)
            continue;
        idle_pages = region->idle_pages;
        most = &pages->places[i];
    }
    return most;
}

static void discard_too_much(struct bb_large_pages *pages)
{
    while (pages->idle_bytes > pages->used_bytes / 8 + BB_LARGE_PAGES_IDLE) {
        const struct bb_large_pages_place *place = most_idle(pages);
        if (place == NULL)
            return;
        discard_idle(pages, place);
    }
}

/* ---- pieces ---- */

/* A run of granules in a region, an old one or a new one. False: there is none. */
static bool find_room(struct bb_large_pages *pages, size_t count,
                      struct bb_large_pages_place *ret_place, size_t *ret_first)
{
    struct bb_large_pages_place *created = NULL;
    for (size_t i = 0; i < pages->count; i++) {
        struct bb_large_pages_region *region = pages->places[i].region;
        size_t first = region == NULL ? GRANULES : find_run(region, count);
        if (first < GRANULES) {
            *ret_place = pages->places[i];
            *ret_first = first;
            return true;
        }
    }
    created = create_region(pages);
    if (created == NULL)
        return false;
    *ret_place = *created;
    *ret_first = 0;
    return true;
}

static size_t granules_of(size_t size)
{
    return (size + GRANULE - 1) / GRANULE;
}

/* Takes some hundred microseconds: nobody else waits for that. REQUIRES: it has a piece of ours. */
static void enlarge(struct bb_large_pages *pages, const struct bb_large_pages_place *place)
{
    bb_region_enlarge(place->memory, BB_REGION_SIZE);
    bb_mutex_lock(&pages->mutex);
    place->region->is_moving = false;
    bb_mutex_unlock(&pages->mutex);
}

static void *alloc_in_region(struct bb_large_pages *pages, size_t size)
{
    struct bb_large_pages_place place = {0};
    size_t first = 0;
    bool has_filled = false;
    bb_mutex_lock(&pages->mutex);
    bool is_found = find_room(pages, granules_of(size), &place, &first);
    if (is_found) {
        take_run(pages, place.region, first, granules_of(size));
        has_filled = !place.region->is_large && place.region->used_pages >= FULL_PAGES;
        if (has_filled) {
            place.region->is_large = true;
            place.region->is_moving = true;
            touch_all(pages, place.region);
        }
    }
    bb_mutex_unlock(&pages->mutex);
    if (has_filled)
        enlarge(pages, &place);
    return is_found ? place.memory + first * GRANULE : NULL;
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

/* Large pages for all but its end. */
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
        bb_free(memory);
}

uint64_t bb_large_pages_overhead(struct bb_large_pages *pages)
{
    bb_mutex_lock(&pages->mutex);
    uint64_t bytes = pages->held_bytes - pages->used_bytes;
    bytes += pages->count * sizeof(pages->places[0]);
    for (size_t i = 0; i < pages->count; i++)
        bytes += pages->places[i].region == NULL ? 0 : sizeof(*pages->places[i].region);
    bb_mutex_unlock(&pages->mutex);
    return bytes;
}
