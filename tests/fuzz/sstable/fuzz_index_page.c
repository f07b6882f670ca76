/* Arbitrary index pages. Three bytes select how they are read (kind of filters and order,
 * fingerprint bits, granularity), the rest is a page, whose two sizes and two checksums are
 * repaired.
 *
 * A page that loads is searched: every search must agree with a walk over all fences, and
 * every block must have a place. Filters of any kind are probed. Heads are decoded, and encoding
 * them gives the same bytes.
 */
#include <string.h>

#include "base/assert.h"
#include "base/coding.h"
#include "base/hash.h"
#include "sstable/index/index_page.h"
#include "tests/support/must_alloc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define PREFIX_SIZE 3
#define OFFSET      UINT64_C(1000000)

static const struct bb_table_id table = {.low = 1, .high = 2};

static int compare_backwards(void *context, struct bb_bytes a, struct bb_bytes b)
{
    (void)context;
    return bb_bytes_compare(b, a);
}
static const struct bb_comparator backwards = {.name = "backwards", .compare = compare_backwards};

/* The fence area keeps its recorded size if there is space; the filter area takes the rest, if the
 * page's header has one. */
static void repair(uint8_t *page, size_t size)
{
    if (size < BB_PAGE_HEADER_SIZE + BB_CHECKSUM_SIZE)
        return;
    size_t space = size - BB_PAGE_HEADER_SIZE - BB_CHECKSUM_SIZE;
    size_t fences = bb_load32(page);
    size_t filters = 0;
    if (bb_load32(page + 4) == 0 || fences > space || space - fences <= BB_CHECKSUM_SIZE)
        fences = space;
    else
        filters = space - fences - BB_CHECKSUM_SIZE;
    bb_store32(page, (uint32_t)fences);
    bb_store32(page + 4, (uint32_t)filters);
    size_t checked = BB_PAGE_HEADER_SIZE + fences;
    bb_store64(page + checked, bb_checksum(table, BB_STORED_FENCES, OFFSET, page, checked));
    uint8_t *area = page + checked + BB_CHECKSUM_SIZE;
    if (filters > 0)
        bb_store64(area + filters, bb_checksum(table, BB_STORED_FILTERS,
                                               OFFSET + (uint64_t)(area - page), area, filters));
}

/* The number of fences at or before a place, one after the other. */
static uint32_t count_fences(const struct bb_index_page *page,
                             const struct bb_comparator *comparator, struct bb_bytes key,
                             uint64_t sequence)
{
    uint32_t count = 0;
    while (count < page->fences.count &&
           bb_fence_index_compare(&page->fences, count, comparator, key, sequence) <= 0)
        count++;
    return count;
}

static void search(const struct bb_index_page *page, const struct bb_comparator *comparator,
                   struct bb_bytes key, uint64_t sequence)
{
    uint32_t ordinal = bb_index_page_find(page, comparator, key, sequence);
    BB_ASSERT(ordinal < page->block_count);
    BB_ASSERT(ordinal == count_fences(page, comparator, key, sequence));
}

/* The fence's own key, and its neighbours. */
static void search_around(const struct bb_index_page *page, const struct bb_comparator *comparator,
                          uint32_t i)
{
    struct bb_fence fence = bb_fence_index_get(&page->fences, i);
    size_t common = page->fences.common.size;
    size_t size = common + fence.key.size;
    uint8_t *key = bb_must_alloc_zeroed(size + 1);
    if (common > 0)
        memcpy(key, page->fences.common.bytes, common);
    if (fence.key.size > 0)
        memcpy(key + common, fence.key.data, fence.key.size);
    search(page, comparator, bb_bytes_of(key, size), fence.sequence);
    search(page, comparator, bb_bytes_of(key, size), 0);
    search(page, comparator, bb_bytes_of(key, size + 1), BB_SEQUENCE_MAX);
    search(page, comparator, bb_bytes_of(key, size / 2), BB_SEQUENCE_MAX);
    free(key);
}

static void read_head(const struct bb_index_page *page, uint32_t ordinal)
{
    struct bb_buf encoded = {0};
    struct bb_block_head head;
    struct bb_place place = {.file = "page", .offset = OFFSET};
    if (!bb_index_page_has_head(page, ordinal) ||
        bb_index_page_head(page, ordinal, place, &head) != BB_OK)
        return;
    const uint8_t *stored =
        page->heads + (bb_index_page_head_offset(page, ordinal) - page->heads_offset);
    BB_ASSERT(bb_block_head_encode(&head, &encoded) == BB_OK);
    BB_ASSERT(stored + encoded.size <= page->fences.text);
    BB_ASSERT(memcmp(stored, encoded.data, encoded.size) == 0);
    bb_buf_deinit(&encoded);
}

static void use(const struct bb_index_page *page, const struct bb_index_page_reading *reading,
                const uint8_t *data, size_t size)
{
    for (uint32_t i = 0; i < page->fences.count; i++)
        search_around(page, reading->comparator, i);
    search(page, reading->comparator, bb_bytes_of(data, size < 20 ? size : 20), size);
    BB_ASSERT(!page->has_filters || !page->has_damaged_filters);
    uint64_t end = page->base_offset;
    for (uint32_t i = 0; i < page->block_count; i++) {
        BB_ASSERT(bb_index_page_block_offset(page, i) == end);
        end += bb_index_page_block_size(page, i);
        read_head(page, i);
        for (uint64_t k = 0; k < 8 && reading->filter_format != NULL; k++) {
            struct bb_block_filter_key key =
                bb_block_filter_key(reading->filter_format, bb_hash_mix(size * 8 + k));
            bool may = bb_index_page_may_contain(page, reading->filter_format, i, key);
            BB_ASSERT(may || page->has_filters);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const enum bb_filter_kind kinds[] = {BB_FILTER_NONE, BB_FILTER_RIBBON,
                                                BB_FILTER_BLOCKED_BLOOM, BB_FILTER_BLOOM};
    if (size < PREFIX_SIZE)
        return 0;
    struct bb_block_filter_format format;
    struct bb_index_page_reading reading = {
        .comparator = (data[0] & 4) != 0 ? &backwards : NULL,
        .granularity = data[2] == 0 ? BB_GRANULARITY_PAGE : data[2],
        .table = table,
        .place = {.file = "page", .offset = OFFSET},
    };
    if (kinds[data[0] & 3] != BB_FILTER_NONE &&
        bb_block_filter_format_restore(&format, kinds[data[0] & 3], 0.01, 7, data[1]))
        reading.filter_format = &format;
    size_t page_size = size - PREFIX_SIZE;
    uint8_t *copy = bb_must_realloc(NULL, page_size);
    if (page_size > 0)
        memcpy(copy, data + PREFIX_SIZE, page_size);
    repair(copy, page_size);
    struct bb_index_page *page = NULL;
    enum bb_status status = bb_index_page_decode(&reading, bb_bytes_of(copy, page_size), &page);
    free(copy); /* the page has its own */
    if (status == BB_OK)
        use(page, &reading, data, size);
    bb_index_page_unref(page);
    return 0;
}
