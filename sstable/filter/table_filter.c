/* Reads the table filter. See the header, also for threads. */
#include "sstable/filter/table_filter.h"

#include <stdalign.h>

#include <inttypes.h>

#include "base/alloc.h"
#include "base/assert.h"

/* ---- list ---- */

/* The header of the list, read before memory is allocated. */
struct list_head {
    uint32_t chunk_shift;
    uint32_t part_count;
    uint64_t chunk_count;
    uint64_t shard_count;
};

enum bb_status bb_table_filter_list_size(const struct bb_table_filter_reading *reading,
                                         const uint8_t tail[BB_TABLE_FILTER_TAIL_SIZE],
                                         uint64_t *ret_size)
{
    uint64_t size = (uint64_t)bb_load32(tail) + BB_TABLE_FILTER_TAIL_SIZE;
    if (size > reading->size)
        return bb_corrupt(reading->place, reading->size - BB_TABLE_FILTER_TAIL_SIZE,
                          "a list of %" PRIu64 " bytes in a table filter of %" PRIu64, size,
                          reading->size);
    *ret_size = size;
    return BB_OK;
}

static enum bb_status bad_list(const struct bb_table_filter_reading *reading, struct bb_bytes list,
                               const struct bb_cursor *cursor, const char *what)
{
    uint64_t start = reading->size - list.size;
    return bb_corrupt(reading->place, start + (uint64_t)(cursor->position - list.data),
                      "the list of a table filter with %s", what);
}

/* Reads the list up to the parts, and adds up the shards and chunks of the parts. The cursor stops
 * before the parts. Each part has at least one chunk, and all chunks are in the section, so
 * chunks_size bounds the number of chunks and of parts. */
static bool read_head(struct bb_cursor *cursor, uint64_t chunks_size, struct list_head *ret_head,
                      const char **ret_what)
{
    uint64_t chunk_count_max = chunks_size / (bb_shard_directory_size(1) + BB_CHECKSUM_SIZE);
    struct list_head head = {0};
    *ret_what = "a head that cannot be read or is out of range";
    if (!bb_decode_varint32(cursor, &head.chunk_shift) ||
        head.chunk_shift > BB_TABLE_FILTER_CHUNK_SHIFT_MAX ||
        !bb_decode_varint32(cursor, &head.part_count) || head.part_count == 0 ||
        head.part_count > bb_cursor_left(cursor) / 2)
        return false;
    struct bb_cursor ahead = *cursor;
    *ret_what = "a part that cannot be read";
    for (uint32_t i = 0; i < head.part_count; i++) {
        uint64_t keys = 0;
        uint32_t shards = 0;
        if (!bb_decode_varint64(&ahead, &keys) || !bb_decode_varint32(&ahead, &shards) ||
            keys == 0 || shards == 0)
            return false;
        head.shard_count += shards;
        head.chunk_count += (((uint64_t)shards - 1) >> head.chunk_shift) + 1;
    }
    *ret_what = "more chunks than there is space for";
    if (head.chunk_count > bb_cursor_left(&ahead) || head.chunk_count > chunk_count_max)
        return false;
    *ret_head = head;
    return true;
}

/* Makes one allocation: the struct, the parts, the ends of the chunks, memory for the fences, and
 * their text. */
static enum bb_status allocate(const struct list_head *head, size_t text_size,
                               struct bb_table_filter **ret_filter)
{
    size_t size = sizeof(struct bb_table_filter) +
                  head->part_count * sizeof(struct bb_table_filter_part) +
                  (size_t)head->chunk_count * sizeof(uint64_t) +
                  bb_fence_index_memory(head->part_count - 1) + text_size;
    struct bb_table_filter *filter = bb_alloc_aligned(alignof(struct bb_table_filter), size);
    if (filter == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for the %zu bytes of a table filter's list", size);
    struct bb_table_filter_part *parts = (struct bb_table_filter_part *)(void *)(filter + 1);
    *filter = (struct bb_table_filter){
        .chunk_shift = head->chunk_shift,
        .part_count = head->part_count,
        .chunk_count = (uint32_t)head->chunk_count,
        .shard_count = head->shard_count,
        .parts = parts,
        .chunk_ends = (uint64_t *)(void *)(parts + head->part_count),
        .memory_size = size,
    };
    *ret_filter = filter;
    return BB_OK;
}

static uint32_t chunks_of(const struct bb_table_filter *filter, uint32_t shard_count)
{
    return ((shard_count - 1) >> filter->chunk_shift) + 1;
}

/* Cannot fail: read_head has checked the parts. */
static void read_parts(struct bb_table_filter *filter, struct bb_cursor *cursor)
{
    uint64_t shard = 0;
    uint32_t chunk = 0;
    for (uint32_t i = 0; i < filter->part_count; i++) {
        struct bb_table_filter_part *part = &filter->parts[i];
        bool is_part = bb_decode_varint64(cursor, &part->key_count) &&
                       bb_decode_varint32(cursor, &part->shard_count);
        BB_ASSERT(is_part);
        part->first_shard = shard;
        part->first_chunk = chunk;
        shard += part->shard_count;
        chunk += chunks_of(filter, part->shard_count);
    }
}

uint32_t bb_table_filter_chunk_shards(const struct bb_table_filter *filter, uint32_t chunk,
                                      uint64_t *ret_first_shard)
{
    uint32_t low = 0;
    uint32_t high = filter->part_count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (filter->parts[middle].first_chunk <= chunk)
            low = middle;
        else
            high = middle;
    }
    const struct bb_table_filter_part *part = &filter->parts[low];
    uint32_t before = (chunk - part->first_chunk) << filter->chunk_shift;
    uint32_t left = part->shard_count - before;
    uint32_t full = UINT32_C(1) << filter->chunk_shift;
    *ret_first_shard = part->first_shard + before;
    return left < full ? left : full;
}

/* The chunks fill the section up to the list, and each has space for its directory. The size of the
 * section therefore bounds the number of shards. */
static bool read_chunk_sizes(struct bb_table_filter *filter, struct bb_cursor *cursor,
                             uint64_t chunks_size)
{
    uint64_t end = 0;
    for (uint32_t i = 0; i < filter->chunk_count; i++) {
        uint32_t size = 0;
        uint64_t first = 0;
        uint32_t shards = bb_table_filter_chunk_shards(filter, i, &first);
        if (!bb_decode_varint32(cursor, &size) ||
            size < bb_shard_directory_size(shards) + BB_CHECKSUM_SIZE || size > chunks_size - end)
            return false;
        end += size;
        filter->chunk_ends[i] = end;
    }
    return end == chunks_size;
}

static enum bb_status read_list(const struct bb_table_filter_reading *reading, struct bb_bytes list,
                                struct bb_cursor cursor, struct bb_table_filter *filter)
{
    const char *problem = NULL;
    uint8_t *fences = (uint8_t *)(filter->chunk_ends + filter->chunk_count);
    uint8_t *text = fences + bb_fence_index_memory(filter->part_count - 1);
    read_parts(filter, &cursor);
    if (!read_chunk_sizes(filter, &cursor, reading->size - list.size))
        return bad_list(reading, list, &cursor, "sizes that do not fill the section");
    size_t text_size = bb_cursor_left(&cursor);
    memcpy(text, cursor.position, text_size);
    struct bb_cursor copy = bb_cursor_of(bb_bytes_of(text, text_size));
    bool is_read = bb_fence_index_init(&filter->fences, reading->comparator, &copy,
                                       filter->part_count - 1, fences, &problem);
    cursor.position += copy.position - text;
    if (!is_read)
        return bad_list(reading, list, &cursor, problem);
    if (bb_cursor_left(&copy) > 0)
        return bad_list(reading, list, &cursor, "bytes after its fences");
    return BB_OK;
}

enum bb_status bb_table_filter_create(const struct bb_table_filter_reading *reading,
                                      struct bb_bytes list, struct bb_table_filter **ret_filter)
{
    struct bb_table_filter *filter = NULL;
    struct list_head head = {0};
    const char *what = NULL;
    enum bb_status status =
        bb_checksum_check(reading->table, BB_STORED_CHUNKS, reading->place.file,
                          reading->place.offset + reading->size - list.size, list.data,
                          list.size - BB_CHECKSUM_SIZE, "list of a table filter");
    if (status != BB_OK)
        return status;
    struct bb_cursor cursor =
        bb_cursor_of(bb_bytes_of(list.data, list.size - BB_TABLE_FILTER_TAIL_SIZE));
    if (!read_head(&cursor, reading->size - list.size, &head, &what))
        return bad_list(reading, list, &cursor, what);
    status = allocate(&head, bb_cursor_left(&cursor), &filter);
    if (status == BB_OK)
        status = read_list(reading, list, cursor, filter);
    if (status == BB_OK)
        *ret_filter = filter;
    else
        bb_table_filter_destroy(filter);
    return status;
}

enum bb_status bb_table_filter_create_unusable(struct bb_table_filter **ret_filter)
{
    struct bb_table_filter *filter =
        bb_alloc_aligned(alignof(struct bb_table_filter), sizeof(*filter));
    if (filter == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for a table filter");
    *filter = (struct bb_table_filter){.memory_size = sizeof(*filter)};
    *ret_filter = filter;
    return BB_OK;
}

void bb_table_filter_destroy(struct bb_table_filter *filter)
{
    if (filter == NULL)
        return;
    bb_large_pages_free(filter->pages, filter->places, filter->pinned_size);
    bb_free_aligned(filter);
}

/* ---- chunks ---- */

enum bb_status bb_table_filter_chunk_check(const struct bb_table_filter *filter,
                                           const struct bb_table_filter_reading *reading,
                                           const struct bb_block_filter_format *format,
                                           uint32_t chunk, const uint8_t *stored)
{
    uint64_t offset = reading->place.offset + bb_table_filter_chunk_offset(filter, chunk);
    size_t size = bb_table_filter_chunk_size(filter, chunk) - BB_CHECKSUM_SIZE;
    uint64_t first = 0;
    uint32_t shards = bb_table_filter_chunk_shards(filter, chunk, &first);
    struct bb_shard_defect defect = {0};
    enum bb_status status =
        bb_checksum_check(reading->table, BB_STORED_TABLE_FILTER, reading->place.file, offset,
                          stored, size, "chunk of a table filter");
    if (status != BB_OK)
        return status;
    if (bb_sharded_filter_check(format, bb_bytes_of(stored, size), shards, &defect))
        return BB_OK;
    struct bb_place place = {.file = reading->place.file, .offset = offset};
    return bb_corrupt(place, 0, "shard %u of the %u in a chunk of %zu bytes is not possible",
                      defect.shard, shards, size);
}

/* Makes one allocation: the places, then the chunks. Probes may read a few bytes before and after
 * the chunks, so there are zeros at both ends. */
enum bb_status bb_table_filter_pin(struct bb_table_filter *filter, struct bb_large_pages *pages)
{
    size_t chunks = (size_t)filter->chunk_ends[filter->chunk_count - 1];
    size_t places = (size_t)filter->shard_count * sizeof(bb_filter_place);
    size_t size = places + BB_FILTER_LEAD_BYTES + chunks + BB_FILTER_PAD_BYTES;
    bb_filter_place *memory = bb_large_pages_alloc(pages, size);
    if (memory == NULL)
        return bb_fail(BB_NO_MEMORY, "no memory for a table filter of %zu bytes", size);
    for (uint64_t i = 0; i < filter->shard_count; i++)
        memory[i] = BB_TABLE_FILTER_DAMAGED;
    filter->places = memory;
    filter->chunks = (uint8_t *)memory + places + BB_FILTER_LEAD_BYTES;
    memset(filter->chunks - BB_FILTER_LEAD_BYTES, 0, BB_FILTER_LEAD_BYTES);
    memset(filter->chunks + chunks, 0, BB_FILTER_PAD_BYTES);
    filter->pages = pages;
    filter->pinned_size = size;
    filter->memory_size += size;
    return BB_OK;
}

void bb_table_filter_pin_chunk(struct bb_table_filter *filter, uint32_t chunk)
{
    BB_DEBUG_ASSERT(filter->chunks != NULL && chunk < filter->chunk_count);
    uint64_t offset = bb_table_filter_chunk_offset(filter, chunk);
    uint64_t first = 0;
    uint32_t shards = bb_table_filter_chunk_shards(filter, chunk, &first);
    for (uint32_t i = 0; i < shards; i++) {
        struct bb_shard_entry entry = bb_sharded_filter_find(filter->chunks + offset, shards, i);
        filter->places[first + i] = (offset + entry.offset) << 16 | entry.descriptor;
    }
}

void bb_table_filter_make_ready(struct bb_table_filter *filter,
                                const struct bb_block_filter_format *format)
{
    BB_DEBUG_ASSERT(filter->places != NULL && filter->part_count == 1);
    filter->shards = bb_sharded_filter_ready(format, filter->places, filter->chunks,
                                             filter->parts[0].shard_count);
}
