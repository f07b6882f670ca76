/* An index page: reading it and asking its filters. See the header. Threads: constant after load.
 */
#include "sstable/index_page.h"

#include "base/alloc.h"
#include "base/assert.h"

#define PAGE_ALIGNMENT 64

struct page_header {
    uint32_t fence_size;
    uint32_t filter_size;
    uint64_t base_offset;
    uint32_t block_count;
    uint32_t group_count;
    uint32_t shard_count;
    bool is_sharded;
};

static void load_header(const uint8_t *p, struct page_header *ret_header)
{
    *ret_header = (struct page_header){
        .fence_size = bb_load32(p),
        .filter_size = bb_load32(p + 4),
        .base_offset = bb_load64(p + 8),
        .block_count = bb_load16(p + 16),
        .group_count = bb_load16(p + 18),
        .shard_count = bb_load16(p + 20),
        .is_sharded = (p[22] & BB_PAGE_FLAG_SHARDED) != 0,
    };
}

/* Do the sizes add up to the bytes there are? Before any checksum, because they say where the
 * checksum is. */
static enum bb_status read_sizes(struct bb_bytes stored, struct bb_place place,
                                 struct page_header *ret_header)
{
    if (stored.size < BB_PAGE_HEADER_SIZE + BB_CHECKSUM_SIZE)
        return bb_corrupt(place, 0, "an index page of %zu bytes is shorter than its header",
                          stored.size);
    load_header(stored.data, ret_header);
    uint64_t size = (uint64_t)BB_PAGE_HEADER_SIZE + ret_header->fence_size + BB_CHECKSUM_SIZE;
    if (ret_header->filter_size > 0)
        size += (uint64_t)ret_header->filter_size + BB_CHECKSUM_SIZE;
    if (size != stored.size)
        return bb_corrupt(place, 0, "an index page of %zu bytes says it has %llu", stored.size,
                          (unsigned long long)size);
    return BB_OK;
}

/* The rest of the header, once the checksum has proved it. */
static enum bb_status check_header(const struct page_header *header, const uint8_t *stored,
                                   uint32_t granularity, struct bb_place place)
{
    if (header->block_count == 0 || header->block_count > BB_PAGE_BLOCK_COUNT_MAX)
        return bb_corrupt(place, 16, "an index page of %u blocks: 1 ... %d are allowed",
                          header->block_count, BB_PAGE_BLOCK_COUNT_MAX);
    uint32_t groups = (uint32_t)(((uint64_t)header->block_count + granularity - 1) / granularity);
    if (header->group_count != 0 && header->group_count != groups)
        return bb_corrupt(place, 18, "%u filter groups for %u blocks, expected %u",
                          header->group_count, header->block_count, groups);
    if ((header->group_count == 0) != (header->filter_size == 0))
        return bb_corrupt(place, 18, "%u filter groups in %u bytes", header->group_count,
                          header->filter_size);
    if (stored[22] > BB_PAGE_FLAG_SHARDED || stored[23] != 0)
        return bb_corrupt(place, 22, "unknown flags %u, %u of an index page", stored[22],
                          stored[23]);
    if (header->shard_count > header->filter_size / sizeof(uint16_t))
        return bb_corrupt(place, 20, "%u filters in %u bytes", header->shard_count,
                          header->filter_size);
    if (!header->is_sharded && header->shard_count != header->group_count)
        return bb_corrupt(place, 20, "%u filters for %u groups", header->shard_count,
                          header->group_count);
    return BB_OK;
}

/* Hands out parts of the one allocation. */
static void *take(uint8_t **free_bytes, size_t size)
{
    void *part = *free_bytes;
    *free_bytes += (size + 7) & ~(size_t)7;
    return part;
}

static size_t page_memory(const struct page_header *header)
{
    size_t blocks = header->block_count;
    size_t size = sizeof(struct bb_index_page) + bb_fence_index_memory(blocks - 1);
    size += blocks * sizeof(uint32_t);
    size += (header->shard_count + (size_t)1) * (sizeof(uint32_t) + sizeof(uint16_t));
    size += (header->group_count + (size_t)1) * sizeof(uint16_t);
    size += header->fence_size;
    /* Descriptors and payloads are no more than the filter area; five parts are rounded up to 8
     * bytes. */
    size += header->filter_size + BB_FILTER_PAD_BYTES + sizeof(uint64_t) * 7;
    return (size + PAGE_ALIGNMENT - 1) & ~(size_t)(PAGE_ALIGNMENT - 1);
}

static void destroy_page(struct bb_cache_item *item)
{
    bb_free(item);
}

static enum bb_status create_page(const struct page_header *header, uint32_t granularity,
                                  struct bb_index_page **ret_page)
{
    size_t size = page_memory(header);
    struct bb_index_page *page = bb_alloc_aligned(PAGE_ALIGNMENT, size);
    if (page == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for an index page of %zu bytes", size);
    *page = (struct bb_index_page){
        .base_offset = header->base_offset,
        .block_count = header->block_count,
        .group_count = header->group_count,
        .shard_count = header->shard_count,
        .granularity = granularity,
        .filter_area_size = header->filter_size == 0 ? 0 : header->filter_size + BB_CHECKSUM_SIZE,
    };
    bb_cache_item_init(&page->item, destroy_page, size);
    *ret_page = page;
    return BB_OK;
}

static enum bb_status read_block_sizes(struct bb_index_page *page, struct bb_cursor *cursor,
                                       uint32_t *ends, struct bb_place place)
{
    uint64_t end = 0;
    for (uint32_t i = 0; i < page->block_count; i++) {
        uint32_t size = 0;
        if (!bb_decode_varint32(cursor, &size) || size <= BB_BLOCK_TRAILER_SIZE ||
            size > BB_BLOCK_RAW_SIZE_MAX + BB_BLOCK_TRAILER_SIZE)
            return bb_corrupt(place, BB_PAGE_HEADER_SIZE,
                              "the size of block %u cannot be read or is out of range", i);
        end += size;
        if (end > BB_PAGE_DATA_SIZE_MAX)
            return bb_corrupt(place, BB_PAGE_HEADER_SIZE,
                              "the blocks of an index page end at %llu of at most %u",
                              (unsigned long long)end, BB_PAGE_DATA_SIZE_MAX);
        ends[i] = (uint32_t)end;
    }
    page->block_ends = ends;
    return BB_OK;
}

/* Copies the fence area behind the arrays and reads it there. */
static enum bb_status read_fence_area(const struct bb_index_page_reading *reading,
                                      struct bb_index_page *page, struct bb_bytes area,
                                      uint8_t **free_bytes)
{
    void *fence_memory = take(free_bytes, bb_fence_index_memory(page->block_count - 1));
    uint32_t *ends = take(free_bytes, page->block_count * sizeof(uint32_t));
    uint8_t *copy = take(free_bytes, area.size);
    memcpy(copy, area.data, area.size);

    struct bb_cursor cursor = bb_cursor_of(bb_bytes_of(copy, area.size));
    enum bb_status status = read_block_sizes(page, &cursor, ends, reading->place);
    if (status != BB_OK)
        return status;
    const char *problem = NULL;
    if (!bb_fence_index_init(&page->fences, reading->comparator, &cursor, page->block_count - 1,
                             fence_memory, &problem))
        return bb_corrupt(reading->place, BB_PAGE_HEADER_SIZE + (uint64_t)(cursor.position - copy),
                          "an index page with %s", problem);
    if (bb_cursor_left(&cursor) > 0)
        return bb_corrupt(reading->place, BB_PAGE_HEADER_SIZE + (uint64_t)(cursor.position - copy),
                          "%zu bytes behind the fences of an index page", bb_cursor_left(&cursor));
    return BB_OK;
}

/* First shard of each group from the stored counts. */
static bool read_shard_counts(struct bb_index_page *page, struct bb_cursor *cursor,
                              uint16_t *group_shards)
{
    uint32_t first = 0;
    for (uint32_t i = 0; i < page->group_count; i++) {
        uint16_t count = 0;
        group_shards[i] = (uint16_t)first;
        if (!bb_decode_u16(cursor, &count) || count == 0 || count > page->shard_count - first)
            return false;
        first += count;
    }
    group_shards[page->group_count] = (uint16_t)first;
    page->group_shards = group_shards;
    return first == page->shard_count;
}

static bool read_descriptors(struct bb_index_page *page,
                             const struct bb_block_filter_format *format, struct bb_cursor *cursor,
                             uint32_t *offsets, uint16_t *descriptors)
{
    uint64_t offset = 0;
    for (uint32_t i = 0; i < page->shard_count; i++) {
        size_t size = 0;
        if (!bb_decode_u16(cursor, &descriptors[i]) ||
            !bb_block_filter_size(format, descriptors[i], &size))
            return false;
        offsets[i] = (uint32_t)offset;
        offset += size;
        if (offset > BB_PAGE_STORED_SIZE_MAX)
            return false;
    }
    offsets[page->shard_count] = (uint32_t)offset;
    page->shard_offsets = offsets;
    page->descriptors = descriptors;
    return offset == bb_cursor_left(cursor);
}

/* False when the filters do not have the form that their numbers say. */
static bool read_filter_area(struct bb_index_page *page,
                             const struct bb_block_filter_format *format, struct bb_bytes area,
                             bool is_sharded, uint8_t *free_bytes)
{
    uint32_t *offsets = take(&free_bytes, (page->shard_count + (size_t)1) * sizeof(uint32_t));
    uint16_t *descriptors = take(&free_bytes, page->shard_count * sizeof(uint16_t));
    uint16_t *group_shards = take(&free_bytes, (page->group_count + (size_t)1) * sizeof(uint16_t));
    struct bb_cursor cursor = bb_cursor_of(area);
    if (is_sharded && !read_shard_counts(page, &cursor, group_shards))
        return false;
    if (!read_descriptors(page, format, &cursor, offsets, descriptors))
        return false;
    size_t size = bb_cursor_left(&cursor);
    uint8_t *filters = take(&free_bytes, size + BB_FILTER_PAD_BYTES);
    if (size > 0)
        memcpy(filters, cursor.position, size);
    memset(filters + size, 0, BB_FILTER_PAD_BYTES);
    page->filters = filters;
    return true;
}

/* The checksum is looked at in any case, so that damage is noticed by who reads every byte. */
static void read_filters(const struct bb_index_page_reading *reading, struct bb_index_page *page,
                         const struct page_header *header, struct bb_bytes stored,
                         uint8_t *free_bytes)
{
    size_t start = (size_t)BB_PAGE_HEADER_SIZE + header->fence_size + BB_CHECKSUM_SIZE;
    struct bb_bytes area = {.data = stored.data + start, .size = header->filter_size};
    bool is_sound =
        area.size == 0 || bb_checksum_matches(reading->table, BB_STORED_FILTERS,
                                              reading->place.offset + start, area.data, area.size);
    if (is_sound && reading->filter_format != NULL) {
        page->has_filters =
            page->group_count > 0 &&
            read_filter_area(page, reading->filter_format, area, header->is_sharded, free_bytes);
        is_sound = page->has_filters;
    }
    page->has_damaged_filters = !is_sound;
}

enum bb_status bb_index_page_decode(const struct bb_index_page_reading *reading,
                                    struct bb_bytes stored, struct bb_index_page **ret_page)
{
    struct page_header header = {0};
    struct bb_index_page *page = NULL;
    enum bb_status status = read_sizes(stored, reading->place, &header);
    if (status == BB_OK)
        status = bb_checksum_check(reading->table, BB_STORED_FENCES, reading->place.file,
                                   reading->place.offset, stored.data,
                                   (size_t)BB_PAGE_HEADER_SIZE + header.fence_size, "index page");
    if (status == BB_OK)
        status = check_header(&header, stored.data, reading->granularity, reading->place);
    if (status == BB_OK)
        status = create_page(&header, reading->granularity, &page);
    if (status != BB_OK)
        return status;

    uint8_t *free_bytes = (uint8_t *)(page + 1);
    struct bb_bytes fence_area = {.data = stored.data + BB_PAGE_HEADER_SIZE,
                                  .size = header.fence_size};
    status = read_fence_area(reading, page, fence_area, &free_bytes);
    if (status != BB_OK) {
        bb_index_page_unref(page);
        return status;
    }
    read_filters(reading, page, &header, stored, free_bytes);
    *ret_page = page;
    return BB_OK;
}

bool bb_index_page_may_contain(const struct bb_index_page *page,
                               const struct bb_block_filter_format *format, uint32_t ordinal,
                               struct bb_block_filter_key key)
{
    if (!page->has_filters)
        return true;
    uint32_t shards = 0;
    uint32_t shard = bb_index_page_group_shards(page, bb_index_page_group(page, ordinal), &shards);
    if (shards > 1)
        shard += bb_block_filter_shard(key, shards);
    uint16_t descriptor = page->descriptors[shard];
    if (descriptor == 0)
        return true;
    return bb_block_filter_may_contain(format, descriptor,
                                       page->filters + page->shard_offsets[shard], key);
}
