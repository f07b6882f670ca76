/* See block_places.h. */
#include "sstable/salvage/block_places.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/array.h"
#include "base/assert.h"
#include "base/bytes.h"
#include "base/status.h"

/* The number of possible block ends that are kept as starts for the next block. */
#define BOUNDARY_COUNT 256
/* Limits of bytes hashed in vain, of pages and of blocks, per byte of the file. Intact tables need
 * hardly any. */
#define HASHED_IN_VAIN_FACTOR 16
#define HASHED_IN_VAIN_FLOOR  ((uint64_t)64 << 20)

struct search {
    struct bb_bytes file;
    struct bb_table_id table;
    struct bb_block_places *places;
    uint64_t page_budget; /* of bytes hashed in vain */
    uint64_t block_budget;
    uint64_t boundaries[BOUNDARY_COUNT]; /* of the current gap: a ring */
    size_t boundary_count;
    /* The known parts, in the order of the file: blocks, then the pages of their group. */
    uint64_t blocks_end;  /* of the last listed block */
    uint64_t pages_begin; /* of the first page after it */
    uint64_t pages_end;   /* of the last page */
};

void bb_block_places_deinit(struct bb_block_places *places)
{
    bb_free(places->places);
    bb_free(places->lost);
    *places = (struct bb_block_places){0};
}

static enum bb_status add_place(struct bb_block_places *places, struct bb_block_place place)
{
    enum bb_status status = bb_array_reserve(&places->places, places->count, &places->capacity,
                                             sizeof(*places->places), "places of blocks");
    if (status == BB_OK)
        places->places[places->count++] = place;
    return status;
}

static enum bb_status lose(struct search *search, uint64_t begin, uint64_t end)
{
    struct bb_block_places *places = search->places;
    if (begin == end)
        return BB_OK;
    enum bb_status status =
        bb_array_reserve(&places->lost, places->lost_count, &places->lost_capacity,
                         sizeof(*places->lost), "lost bytes");
    if (status == BB_OK)
        places->lost[places->lost_count++] =
            (struct bb_lost_bytes){.offset = begin, .size = end - begin};
    return status;
}

/* True when the checksum after the bytes matches. Bytes hashed in vain are subtracted from the
 * budget. */
static bool is_sound(const struct search *search, enum bb_stored_type type, uint64_t offset,
                     size_t size, uint64_t *budget)
{
    if (size > *budget)
        return false;
    if (bb_checksum_matches(search->table, type, offset, search->file.data + offset, size))
        return true;
    *budget -= size;
    return false;
}

/* ---- pages ---- */

struct page {
    uint64_t first_block;
    uint64_t blocks_end;
    uint64_t offset;
    uint64_t end; /* end of the page, including its filters */
    uint32_t block_count;
    uint32_t sizes[BB_PAGE_BLOCK_COUNT_MAX];
};

/* Reads the block sizes of the fence area. False if the blocks end after the limit. */
static bool read_sizes(struct bb_cursor *cursor, uint64_t limit, struct page *page)
{
    page->blocks_end = page->first_block;
    for (uint32_t i = 0; i < page->block_count; i++) {
        if (!bb_decode_varint32(cursor, &page->sizes[i]) ||
            page->sizes[i] <= BB_BLOCK_TRAILER_SIZE || page->sizes[i] > limit - page->blocks_end)
            return false;
        page->blocks_end += page->sizes[i];
    }
    return true;
}

static bool skip(struct bb_cursor *cursor, uint64_t size)
{
    if (size > bb_cursor_left(cursor))
        return false;
    cursor->position += size;
    return true;
}

static bool skip_heads(struct bb_cursor *cursor, uint32_t block_count)
{
    const uint8_t *ends = cursor->position;
    return skip(cursor, (uint64_t)block_count * sizeof(uint32_t)) &&
           skip(cursor, bb_load32(ends + (block_count - 1) * sizeof(uint32_t)));
}

static bool skip_fence(struct bb_cursor *cursor)
{
    uint64_t head = 0;
    uint64_t sequence = 0;
    return bb_decode_varint64(cursor, &head) && skip(cursor, head >> 1) &&
           ((head & 1) == 0 || bb_decode_varint64(cursor, &sequence));
}

/* True when the rest of the bytes is a list of `count` fences. */
static bool skip_fences(struct bb_cursor *cursor, uint32_t count)
{
    struct bb_bytes common = {0};
    bool is_list = bb_decode_bytes(cursor, &common) && (count > 0 || common.size == 0);
    for (uint32_t i = 0; i < count && is_list; i++)
        is_list = skip_fence(cursor);
    return is_list && bb_cursor_left(cursor) == 0;
}

/* Reads a fence area. False if its bytes do not have the form of one. */
static bool read_fences(struct bb_bytes fences, uint8_t flags, uint64_t limit, struct page *page)
{
    struct bb_cursor cursor = bb_cursor_of(fences);
    return read_sizes(&cursor, limit, page) &&
           ((flags & BB_PAGE_FLAG_HEADS) == 0 || skip_heads(&cursor, page->block_count)) &&
           skip_fences(&cursor, page->block_count - 1);
}

/* True when the blocks of the page precede the known pages: it is of the same group. */
static bool is_of_group(const struct search *search, const struct page *page)
{
    return page->first_block < search->pages_end;
}

/* True when a page begins at the offset, with its blocks after the known ones. */
static bool read_page(struct search *search, uint64_t offset, struct page *page)
{
    const uint8_t *header = search->file.data + offset;
    uint64_t space = search->file.size - offset - BB_PAGE_HEADER_SIZE;
    page->offset = offset;
    page->first_block = bb_load64(header + 8);
    uint64_t limit = is_of_group(search, page) ? search->pages_begin : offset;
    if (page->first_block < search->blocks_end || page->first_block >= limit)
        return false;
    uint32_t fence_size = bb_load32(header);
    page->block_count = bb_load16(header + 16);
    if (page->block_count == 0 || page->block_count > BB_PAGE_BLOCK_COUNT_MAX ||
        (header[22] & ~BB_PAGE_FLAGS) != 0 || header[23] != 0 ||
        fence_size > BB_PAGE_STORED_SIZE_MAX || space < fence_size + (uint64_t)BB_CHECKSUM_SIZE)
        return false;
    if (!read_fences(bb_bytes_of(header + BB_PAGE_HEADER_SIZE, fence_size), header[22], limit,
                     page) ||
        !is_sound(search, BB_STORED_FENCES, offset, BB_PAGE_HEADER_SIZE + (size_t)fence_size,
                  &search->page_budget))
        return false;
    uint64_t filter_size = bb_load32(header + 4);
    if (filter_size > 0)
        filter_size += BB_CHECKSUM_SIZE;
    page->end = offset + BB_PAGE_HEADER_SIZE + fence_size + BB_CHECKSUM_SIZE + filter_size;
    if (page->end > search->file.size)
        page->end = search->file.size;
    return true;
}

static enum bb_status add_page(struct search *search, const struct page *page)
{
    struct bb_block_place place = {.offset = page->first_block};
    enum bb_status status = BB_OK;
    if (is_of_group(search, page))
        status = lose(search, search->pages_end, page->offset);
    for (uint32_t i = 0; i < page->block_count && status == BB_OK; i++) {
        place.size = page->sizes[i];
        status = add_place(search->places, place);
        place = (struct bb_block_place){.offset = place.offset + place.size};
    }
    if (!is_of_group(search, page))
        search->pages_begin = page->offset;
    search->places->page_count++;
    search->places->end = page->end;
    search->blocks_end = page->blocks_end;
    search->pages_end = page->end;
    return status;
}

/* ---- blocks between pages ---- */

/* Cheap check of an LZ4 block before hashing: it begins with literals, of which the first is the
 * first byte of the raw payload: 0, because the first entry shares no bytes. */
static bool looks_compressed(const uint8_t *stored, uint64_t size)
{
    uint64_t at = 1;
    if (size < 2 || stored[0] >> 4 == 0)
        return false;
    if (stored[0] >> 4 == 15) {
        while (at < size && stored[at] == 255)
            at++;
        at++;
    }
    return at < size && stored[at] == 0;
}

static void add_boundary(struct search *search, uint64_t offset)
{
    if (!looks_compressed(search->file.data + offset, search->file.size - offset))
        return;
    search->boundaries[search->boundary_count++ % BOUNDARY_COUNT] = offset;
}

/* Cheap checks of a raw payload before hashing: its restarts begin with 0, and it begins with a
 * whole key. */
static bool looks_raw(const uint8_t *payload, uint32_t size)
{
    if (size < BB_BLOCK_TAIL_SIZE + 2)
        return false;
    uint32_t tail = bb_load32(payload + size - BB_BLOCK_TAIL_SIZE);
    uint64_t width = (tail & BB_RESTARTS_WIDE) != 0 ? 4 : 2;
    uint64_t restarts = (tail & ~BB_RESTARTS_WIDE) * width;
    if (restarts == 0 || restarts > size - BB_BLOCK_TAIL_SIZE)
        return false;
    return bb_load16(payload + size - BB_BLOCK_TAIL_SIZE - restarts) == 0 && payload[0] == 0;
}

/* REQUIRES: the block is not larger than the largest raw block. */
static bool try_block(struct search *search, uint64_t start, uint64_t end,
                      struct bb_block_place *ret_place)
{
    BB_DEBUG_ASSERT(end - start <= BB_BLOCK_RAW_SIZE_MAX + BB_BLOCK_TRAILER_SIZE);
    if (!is_sound(search, BB_STORED_BLOCK, start, (size_t)(end - start) - BB_CHECKSUM_SIZE,
                  &search->block_budget))
        return false;
    *ret_place = (struct bb_block_place){.offset = start, .size = (uint32_t)(end - start)};
    return true;
}

static bool try_compressed(struct search *search, uint64_t start, uint64_t end, uint32_t raw_size,
                           struct bb_block_place *ret_place)
{
    if (end - start <= BB_BLOCK_TRAILER_SIZE)
        return false;
    uint64_t stored = end - start - BB_BLOCK_TRAILER_SIZE;
    return raw_size > stored && raw_size <= BB_LZ4_RATIO_MAX * stored + BB_LZ4_SLACK &&
           looks_compressed(search->file.data + start, stored) &&
           try_block(search, start, end, ret_place);
}

/* A compressed block begins at the end of the known part, or at one of the later boundaries; tries
 * the latest first. */
static bool try_boundaries(struct search *search, uint64_t floor, uint64_t end, uint32_t raw_size,
                           struct bb_block_place *ret_place)
{
    size_t kept = search->boundary_count < BOUNDARY_COUNT ? search->boundary_count : BOUNDARY_COUNT;
    if (try_compressed(search, floor, end, raw_size, ret_place))
        return true;
    for (size_t i = 1; i <= kept; i++) {
        uint64_t start = search->boundaries[(search->boundary_count - i) % BOUNDARY_COUNT];
        if (try_compressed(search, start, end, raw_size, ret_place))
            return true;
    }
    return false;
}

/* True when a block ends at `end` that begins at or after `floor`. */
static bool find_block(struct search *search, uint64_t floor, uint64_t end,
                       struct bb_block_place *ret_place)
{
    const uint8_t *trailer = search->file.data + end - BB_BLOCK_TRAILER_SIZE;
    uint32_t raw_size = bb_load32(trailer + 1);
    if (raw_size == 0 || raw_size > BB_BLOCK_RAW_SIZE_MAX)
        return false;
    if (trailer[0] == BB_COMPRESSION_LZ4 && try_boundaries(search, floor, end, raw_size, ret_place))
        return true;
    if (trailer[0] == BB_COMPRESSION_NONE) {
        uint64_t space = end - floor - BB_BLOCK_TRAILER_SIZE;
        if (raw_size > space || !looks_raw(trailer - raw_size, raw_size))
            return false;
        if (try_block(search, end - BB_BLOCK_TRAILER_SIZE - raw_size, end, ret_place))
            return true;
    }
    add_boundary(search, end);
    return false;
}

/* One byte excludes most offsets, so it is checked first. */
static bool may_end_here(const struct search *search, uint64_t end)
{
    uint8_t compression = search->file.data[end - BB_BLOCK_TRAILER_SIZE];
    return compression == BB_COMPRESSION_NONE || compression == BB_COMPRESSION_LZ4;
}

/* Finds the blocks from floor up to limit. *ret_end: the end of the last one, or floor. */
static enum bb_status search_gap(struct search *search, uint64_t floor, uint64_t limit,
                                 uint64_t *ret_end)
{
    enum bb_status status = BB_OK;
    search->boundary_count = 0;
    for (uint64_t end = floor + BB_BLOCK_TRAILER_SIZE; end <= limit && status == BB_OK; end++) {
        struct bb_block_place place;
        if (!may_end_here(search, end) || !find_block(search, floor, end, &place))
            continue;
        status = lose(search, floor, place.offset);
        if (status == BB_OK)
            status = add_place(search->places, place);
        floor = end;
        search->boundary_count = 0;
        end += BB_BLOCK_TRAILER_SIZE - 1; /* the next block has at least a trailer */
    }
    *ret_end = floor;
    return status;
}

/* The same where something is known after the limit. */
static enum bb_status search_between(struct search *search, uint64_t floor, uint64_t limit)
{
    uint64_t end = 0;
    enum bb_status status = search_gap(search, floor, limit, &end);
    return status == BB_OK ? lose(search, end, limit) : status;
}

/* Finds the blocks of a group after the last listed one: the page that lists them is damaged. */
static enum bb_status end_group(struct search *search)
{
    return search_between(search, search->blocks_end, search->pages_begin);
}

static enum bb_status search_tail(struct search *search)
{
    uint64_t end = 0;
    enum bb_status status = search_gap(search, search->pages_end, search->file.size, &end);
    search->places->end = end;
    return status;
}

static int compare_lost(const void *a, const void *b)
{
    uint64_t left = ((const struct bb_lost_bytes *)a)->offset;
    uint64_t right = ((const struct bb_lost_bytes *)b)->offset;
    return (left > right) - (left < right);
}

/* Damaged pages were noted before the blocks of the pages after them. */
static void sort_lost(struct bb_block_places *places)
{
    if (places->lost_count > 1)
        qsort(places->lost, places->lost_count, sizeof(*places->lost), compare_lost);
}

/* ---- the whole ---- */

static enum bb_status take_page(struct search *search, const struct page *page)
{
    bool is_first = !is_of_group(search, page);
    uint64_t floor = is_first ? search->pages_end : search->blocks_end;
    enum bb_status status = is_first ? end_group(search) : BB_OK;
    if (status == BB_OK)
        status = search_between(search, floor, page->first_block);
    return status == BB_OK ? add_page(search, page) : status;
}

static enum bb_status search_file(struct search *search)
{
    struct page page;
    enum bb_status status = BB_OK;
    uint64_t offset = BB_BLOCK_TRAILER_SIZE;
    while (offset + BB_PAGE_HEADER_SIZE <= search->file.size && status == BB_OK) {
        if (!read_page(search, offset, &page)) {
            offset++;
            continue;
        }
        status = take_page(search, &page);
        offset = page.end;
    }
    if (status == BB_OK)
        status = end_group(search);
    if (status == BB_OK)
        status = search_tail(search);
    sort_lost(search->places);
    return status;
}

enum bb_status bb_block_places_find(struct bb_bytes file, struct bb_table_id table,
                                    struct bb_block_places *ret_places)
{
    struct bb_block_places places = {0};
    uint64_t budget = HASHED_IN_VAIN_FLOOR + HASHED_IN_VAIN_FACTOR * (uint64_t)file.size;
    struct search search = {.file = file,
                            .table = table,
                            .places = &places,
                            .page_budget = budget,
                            .block_budget = budget};
    enum bb_status status = search_file(&search);
    if (status == BB_OK)
        *ret_places = places;
    else
        bb_block_places_deinit(&places);
    return status;
}
