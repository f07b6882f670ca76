/* Reads an index page and probes its filters. See the header. Threads: constant after load. */
#include "sstable/index/index_page.h"

struct page_header {
    uint32_t fence_size;
    uint32_t filter_size;
    uint64_t base_offset;
    uint32_t block_count;
    uint32_t group_count;
    uint32_t shard_count;
    bool is_sharded;
    bool has_heads;
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
        .has_heads = (p[22] & BB_PAGE_FLAG_HEADS) != 0,
    };
}

/* Checks that the sizes add up to the available bytes. This precedes any checksum, because the
 * sizes determine where the checksums are. */
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
        return bb_corrupt(place, 0, "an index page of %zu bytes claims %llu", stored.size,
                          (unsigned long long)size);
    return BB_OK;
}

/* Checks the rest of the header, after its checksum. */
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
    if (stored[22] > BB_PAGE_FLAGS || stored[23] != 0)
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

/* The places of the arrays in the allocation, after the struct. The arrays that most lookups read
 * are first: see bb_index_page_prefetch. The numbers of the fences are the last of these, because
 * the offsets after them are seldom read. */
struct page_parts {
    size_t shard_offsets;
    size_t descriptors;
    size_t block_ends;
    size_t fences;
    size_t group_shards;
    size_t text;
    size_t filters;
    size_t end; /* of the whole allocation */
};

/* Returns the place of the next part, and advances *end. */
static size_t place_part(size_t *end, size_t size)
{
    size_t start = *end;
    *end += (size + 7) & ~(size_t)7;
    return start;
}

static struct page_parts lay_out(const struct page_header *header)
{
    struct page_parts parts = {.end = sizeof(struct bb_index_page)};
    size_t shards = header->shard_count;
    size_t *end = &parts.end;
    parts.shard_offsets = place_part(end, (shards + 1) * sizeof(uint32_t));
    parts.descriptors = place_part(end, shards * sizeof(uint16_t));
    parts.block_ends = place_part(end, header->block_count * sizeof(uint32_t));
    parts.fences = place_part(end, bb_fence_index_memory(header->block_count - 1));
    enum { BLOCKS = BB_PAGE_BLOCK_COUNT_MAX }; /* with one filter each */
    static_assert(sizeof(struct bb_index_page) - offsetof(struct bb_index_page, filters) +
                          (BLOCKS + 2) * sizeof(uint32_t) + BLOCKS * sizeof(uint16_t) +
                          BLOCKS * sizeof(uint32_t) + (BLOCKS - 1) * sizeof(uint64_t) <=
                      BB_PAGE_PREFETCH_LINES * BB_CACHE_LINE_SIZE,
                  "a search of a full page reads only prefetched lines");
    parts.group_shards = place_part(end, (header->group_count + (size_t)1) * sizeof(uint16_t));
    parts.text = place_part(end, header->fence_size);
    parts.filters = place_part(end, (size_t)header->filter_size + BB_FILTER_PAD_BYTES);
    *end = (*end + BB_CACHE_LINE_SIZE - 1) & ~(size_t)(BB_CACHE_LINE_SIZE - 1);
    return parts;
}

static void destroy_page(struct bb_cache_item *item)
{
    struct bb_index_page *page = (struct bb_index_page *)item;
    bb_large_pages_free(page->memory, page, (size_t)item->charge);
}

static enum bb_status create_page(const struct page_header *header, const struct page_parts *parts,
                                  const struct bb_index_page_reading *reading,
                                  struct bb_index_page **ret_page)
{
    struct bb_index_page *page = bb_large_pages_alloc(reading->memory, parts->end);
    if (page == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for an index page of %zu bytes", parts->end);
    uint8_t *memory = (uint8_t *)page;
    *page = (struct bb_index_page){
        .memory = reading->memory,
        .filters = memory + parts->filters,
        .shard_offsets = (uint32_t *)(void *)(memory + parts->shard_offsets),
        .descriptors = (uint16_t *)(void *)(memory + parts->descriptors),
        .granularity = reading->granularity,
        .block_ends = (uint32_t *)(void *)(memory + parts->block_ends),
        .base_offset = header->base_offset,
        .block_count = header->block_count,
        .group_count = header->group_count,
        .shard_count = header->shard_count,
        .filter_area_size = header->filter_size == 0 ? 0 : header->filter_size + BB_CHECKSUM_SIZE,
    };
    if (header->is_sharded)
        page->group_shards = (uint16_t *)(void *)(memory + parts->group_shards);
    bb_block_cache_item_init(&page->item, destroy_page, parts->end);
    *ret_page = page;
    return BB_OK;
}

static enum bb_status read_block_sizes(struct bb_index_page *page, struct bb_cursor *cursor,
                                       struct bb_place place)
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
        page->block_ends[i] = (uint32_t)end;
    }
    return BB_OK;
}

/* Passes the heads, which are read when they are used. */
static enum bb_status pass_heads(struct bb_index_page *page, struct bb_cursor *cursor,
                                 uint32_t offset, struct bb_place place)
{
    size_t ends_size = page->block_count * sizeof(uint32_t);
    struct bb_bytes ends = {0};
    struct bb_bytes heads = {0};
    page->heads = cursor->position;
    page->heads_offset = offset;
    if (!bb_decode_raw(cursor, ends_size, &ends))
        return bb_corrupt(place, offset, "an index page without the ends of %u heads",
                          page->block_count);
    uint32_t end = bb_index_page_head_end(page, page->block_count - 1);
    if (end == 0 || !bb_decode_raw(cursor, end, &heads))
        return bb_corrupt(place, offset + ends_size, "%u bytes of heads in %zu bytes of fences",
                          end, bb_cursor_left(cursor));
    return BB_OK;
}

/* The offset in the stored page of the cursor, which is in its fence area. */
static uint32_t offset_of(const uint8_t *fence_area, const struct bb_cursor *cursor)
{
    return BB_PAGE_HEADER_SIZE + (uint32_t)(cursor->position - fence_area);
}

/* Copies the fence area to its place after the arrays and parses it there. */
static enum bb_status read_fence_area(const struct bb_index_page_reading *reading,
                                      struct bb_index_page *page, struct bb_bytes area,
                                      bool has_heads, const struct page_parts *parts)
{
    uint8_t *memory = (uint8_t *)page;
    const uint8_t *copy = memcpy(memory + parts->text, area.data, area.size);
    struct bb_cursor cursor = bb_cursor_of(bb_bytes_of(copy, area.size));
    enum bb_status status = read_block_sizes(page, &cursor, reading->place);
    if (status == BB_OK && has_heads)
        status = pass_heads(page, &cursor, offset_of(copy, &cursor), reading->place);
    if (status != BB_OK)
        return status;
    const char *problem = NULL;
    if (!bb_fence_index_init(&page->fences, reading->comparator, &cursor, page->block_count - 1,
                             memory + parts->fences, &problem))
        return bb_corrupt(reading->place, offset_of(copy, &cursor), "an index page with %s",
                          problem);
    if (bb_cursor_left(&cursor) > 0)
        return bb_corrupt(reading->place, offset_of(copy, &cursor),
                          "%zu bytes after the fences of an index page", bb_cursor_left(&cursor));
    return BB_OK;
}

/* Computes the first shard of each group from the stored counts. */
static bool read_shard_counts(struct bb_index_page *page, struct bb_cursor *cursor)
{
    uint32_t first = 0;
    for (uint32_t i = 0; i < page->group_count; i++) {
        uint16_t count = 0;
        page->group_shards[i] = (uint16_t)first;
        if (!bb_decode_u16(cursor, &count) || count == 0 || count > page->shard_count - first)
            return false;
        first += count;
    }
    page->group_shards[page->group_count] = (uint16_t)first;
    return first == page->shard_count;
}

/* The sum is wider than the offsets, so a sum that does not fit them is not the size of the
 * area. */
static bool read_descriptors(struct bb_index_page *page,
                             const struct bb_block_filter_format *format, struct bb_cursor *cursor)
{
    uint64_t offset = 0;
    for (uint32_t i = 0; i < page->shard_count; i++) {
        size_t size = 0;
        if (!bb_decode_u16(cursor, &page->descriptors[i]) ||
            !bb_block_filter_size(format, page->descriptors[i], &size))
            return false;
        page->shard_offsets[i] = (uint32_t)offset;
        offset += size;
    }
    page->shard_offsets[page->shard_count] = (uint32_t)offset;
    return offset == bb_cursor_left(cursor);
}

/* False when the filters do not match their counts. */
static bool read_filter_area(struct bb_index_page *page,
                             const struct bb_block_filter_format *format, struct bb_bytes area)
{
    struct bb_cursor cursor = bb_cursor_of(area);
    if (page->group_shards != NULL && !read_shard_counts(page, &cursor))
        return false;
    if (!read_descriptors(page, format, &cursor))
        return false;
    size_t size = bb_cursor_left(&cursor);
    if (size > 0)
        memcpy(page->filters, cursor.position, size);
    memset(page->filters + size, 0, BB_FILTER_PAD_BYTES);
    return true;
}

/* Always verifies the checksum, so that a reader of every byte notices damage. */
static void read_filters(const struct bb_index_page_reading *reading, struct bb_index_page *page,
                         const struct page_header *header, struct bb_bytes stored)
{
    size_t start = (size_t)BB_PAGE_HEADER_SIZE + header->fence_size + BB_CHECKSUM_SIZE;
    struct bb_bytes area = {.data = stored.data + start, .size = header->filter_size};
    bool is_sound =
        area.size == 0 || bb_checksum_matches(reading->table, BB_STORED_FILTERS,
                                              reading->place.offset + start, area.data, area.size);
    if (is_sound && reading->filter_format != NULL) {
        page->has_filters =
            page->group_count > 0 && read_filter_area(page, reading->filter_format, area);
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
    if (status != BB_OK)
        return status;
    struct page_parts parts = lay_out(&header);
    status = create_page(&header, &parts, reading, &page);
    if (status != BB_OK)
        return status;

    struct bb_bytes fence_area = {.data = stored.data + BB_PAGE_HEADER_SIZE,
                                  .size = header.fence_size};
    status = read_fence_area(reading, page, fence_area, header.has_heads, &parts);
    if (status != BB_OK) {
        bb_index_page_unref(page);
        return status;
    }
    read_filters(reading, page, &header, stored);
    *ret_page = page;
    return BB_OK;
}

/* The stored bytes of the head; false when its ends are out of order. */
static bool find_head(const struct bb_index_page *page, uint32_t ordinal,
                      struct bb_cursor *ret_cursor)
{
    const uint8_t *first = page->heads + page->block_count * sizeof(uint32_t);
    uint32_t begin = bb_index_page_head_begin(page, ordinal);
    uint32_t end = bb_index_page_head_end(page, ordinal);
    if (begin > end || end > bb_index_page_head_end(page, page->block_count - 1))
        return false;
    *ret_cursor = (struct bb_cursor){.position = first + begin, .end = first + end};
    return true;
}

enum bb_status bb_index_page_head(const struct bb_index_page *page, uint32_t ordinal,
                                  struct bb_place place, struct bb_block_head *ret_head)
{
    struct bb_cursor cursor;
    BB_DEBUG_ASSERT(bb_index_page_has_head(page, ordinal));
    if (!find_head(page, ordinal, &cursor))
        return bb_corrupt(place, page->heads_offset + ordinal * sizeof(uint32_t),
                          "the head of block %u ends before it begins, or after all heads",
                          ordinal);
    if (!bb_block_head_decode(&cursor, ret_head) || bb_cursor_left(&cursor) > 0)
        return bb_corrupt(place, bb_index_page_head_offset(page, ordinal),
                          "the head of block %u cannot be read or is out of range", ordinal);
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
