/* Goal: an index page survives a round trip, its filters fail open, and all other damage is
 * refused, field by field. Method: pages built from random fences; each field changed under
 * repaired checksums. */
#include "tests/unit/sstable/table_fixture.h"

#include "base/coding.h"
#include "base/hash.h"
#include "sstable/index/index_page.h"
#include "sstable/index/index_page_builder.h"

#define BASE 1000000

static const struct bb_table_id table = {.low = 3, .high = 4};

struct sample {
    struct entry_list fences;
    uint32_t block_count;
    uint32_t granularity;
    uint32_t keys_per_block;
    struct bb_block_filter_format format;
    uint64_t data_size;
    struct bb_buf bytes;
    struct bb_index_page_reading reading;
};

static uint32_t size_of_block(uint32_t i)
{
    return 14 + i * 1000;
}

static uint64_t hash_of(uint32_t block, uint32_t key)
{
    return bb_hash_mix(((uint64_t)block << 32 | key) + 1);
}

static void add_keys(struct sample *sample, struct bb_block_filter_builder *filters, uint32_t block)
{
    for (uint32_t k = 0; k < sample->keys_per_block; k++)
        assert_ok(bb_block_filter_builder_add(filters, hash_of(block, k)));
}

static void build_page(struct sample *sample, struct bb_index_page_builder *builder,
                       struct bb_block_filter_builder *filters)
{
    uint32_t in_group = 0;
    bb_index_page_builder_start(builder, BASE);
    for (uint32_t i = 0; i < sample->block_count; i++) {
        if (i > 0) {
            const struct bb_entry *entry = &sample->fences.entries[i - 1];
            struct bb_fence fence = {.key = entry->key, .sequence = entry->sequence};
            assert_ok(bb_index_page_builder_add_fence(builder, &fence));
        }
        assert_ok(bb_index_page_builder_add_block(builder, size_of_block(i)));
        sample->data_size += size_of_block(i);
        if (filters == NULL)
            continue;
        add_keys(sample, filters, i);
        if (++in_group == sample->granularity || i + 1 == sample->block_count) {
            assert_ok(bb_index_page_builder_add_group(builder, filters));
            in_group = 0;
        }
    }
}

static void sample_init(struct sample *sample, uint32_t block_count, uint32_t granularity,
                        uint32_t keys_per_block)
{
    struct bb_rng rng;
    struct bb_index_page_builder builder;
    struct bb_block_filter_builder *filters = NULL;
    size_t filter_size = 0;
    *sample = (struct sample){
        .block_count = block_count, .granularity = granularity, .keys_per_block = keys_per_block};
    bb_rng_init(&rng, block_count * 100 + granularity);
    while (sample->fences.count + 1 < block_count) {
        entry_list_add_random(&sample->fences, &rng, 1, 0);
        entry_list_sort(&sample->fences, NULL);
    }
    if (keys_per_block > 0) {
        assert_ok(bb_block_filter_format_init(&sample->format, BB_FILTER_RIBBON, 0.01, 5));
        assert_ok(bb_block_filter_builder_create(&sample->format, &filters));
    }
    bb_index_page_builder_init(&builder, NULL);
    build_page(sample, &builder, filters);
    size_t estimate = bb_index_page_builder_size_estimate(&builder);
    size_t size = 0;
    assert_ok(bb_index_page_builder_finish(&builder, &sample->bytes, &size, &filter_size));
    assert_int_equal(size, sample->bytes.size);
    assert_int_equal(
        bb_index_page_builder_seal(sample->bytes.data, table, BASE + sample->data_size), size);
    assert_true(estimate >= sample->bytes.size);
    assert_int_equal(filter_size > 0, filters != NULL);
    bb_index_page_builder_deinit(&builder);
    bb_block_filter_builder_destroy(filters);
    sample->reading = (struct bb_index_page_reading){
        .filter_format = keys_per_block > 0 ? &sample->format : NULL,
        .granularity = granularity,
        .table = table,
        .place = {.file = "/file", .offset = BASE + sample->data_size},
    };
}

static void sample_deinit(struct sample *sample)
{
    entry_list_deinit(&sample->fences);
    bb_buf_deinit(&sample->bytes);
}

static struct bb_index_page *decode(const struct sample *sample)
{
    struct bb_index_page *page = NULL;
    assert_ok(bb_index_page_decode(&sample->reading, bb_buf_bytes(&sample->bytes), &page));
    return page;
}

static bool asks(const struct sample *sample, const struct bb_index_page *page, uint32_t block,
                 uint64_t hash)
{
    return bb_index_page_may_contain(page, &sample->format, block,
                                     bb_block_filter_key(&sample->format, hash));
}

/* ---- sound pages ---- */

static void check_page(const struct sample *sample)
{
    struct bb_index_page *page = decode(sample);
    uint64_t offset = BASE;
    assert_int_equal(page->block_count, sample->block_count);
    assert_int_equal(page->has_filters, sample->keys_per_block > 0);
    assert_false(page->has_damaged_filters);
    assert_int_equal((uintptr_t)page % 64, 0);
    for (uint32_t i = 0; i < sample->block_count; i++) {
        assert_true(bb_index_page_block_offset(page, i) == offset);
        assert_int_equal(bb_index_page_block_size(page, i), size_of_block(i));
        offset += size_of_block(i);
        for (uint32_t k = 0; k < sample->keys_per_block; k++)
            assert_true(asks(sample, page, i, hash_of(i, k)));
    }
    for (uint32_t i = 0; i + 1 < sample->block_count; i++) {
        const struct bb_entry *fence = &sample->fences.entries[i];
        assert_int_equal(bb_index_page_find(page, NULL, fence->key, fence->sequence), i + 1);
        assert_int_equal(bb_index_page_find(page, NULL, fence->key, fence->sequence + 1) <= i, 1);
    }
    bb_index_page_unref(page);
}

static void index_page__round_trip(void **state)
{
    (void)state;
    static const uint32_t granularities[] = {1, 2, 3, 64, BB_GRANULARITY_PAGE};
    static const uint32_t keys[] = {0, 1, 20, 500};
    for (uint32_t blocks = 1; blocks <= 64; blocks += blocks < 5 ? 1 : 13) {
        for (size_t g = 0; g < 5; g++) {
            for (size_t k = 0; k < 4; k++) {
                struct sample sample;
                sample_init(&sample, blocks, granularities[g], keys[k]);
                check_page(&sample);
                sample_deinit(&sample);
            }
        }
    }
}

/* Each block's filter knows its own keys and few of the others'. */
static void index_page__filters_are_per_group(void **state)
{
    (void)state;
    struct sample sample;
    sample_init(&sample, 10, 1, 100);
    struct bb_index_page *page = decode(&sample);
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < 10; i++)
        for (uint32_t k = 0; k < 100; k++)
            wrong += asks(&sample, page, i, hash_of((i + 1) % 10, k));
    assert_true(wrong < 40);
    bb_index_page_unref(page);
    sample_deinit(&sample);
}

/* ---- damage ---- */

static uint32_t fence_size_of(const struct sample *sample)
{
    return bb_load32(sample->bytes.data);
}

/* Both checksums, as the sizes in the header place them. */
static void reseal(struct sample *sample)
{
    uint8_t *bytes = sample->bytes.data;
    uint64_t offset = sample->reading.place.offset;
    size_t fences_end = (size_t)BB_PAGE_HEADER_SIZE + fence_size_of(sample);
    size_t filters = bb_load32(bytes + 4);
    bb_store64(bytes + fences_end, bb_checksum(table, BB_STORED_FENCES, offset, bytes, fences_end));
    if (filters == 0)
        return;
    size_t start = fences_end + BB_CHECKSUM_SIZE;
    bb_store64(bytes + start + filters,
               bb_checksum(table, BB_STORED_FILTERS, offset + start, bytes + start, filters));
}

static void assert_refused(struct sample *sample, const char *part)
{
    struct bb_index_page *page = NULL;
    assert_status(bb_index_page_decode(&sample->reading, bb_buf_bytes(&sample->bytes), &page),
                  BB_CORRUPT);
    assert_message(part);
    assert_message("/file");
    assert_null(page);
}

/* One u16 of the header set to a value. */
static void check_header16(size_t at, uint16_t value, const char *part)
{
    struct sample sample;
    sample_init(&sample, 10, 2, 20);
    bb_store16(sample.bytes.data + at, value);
    reseal(&sample);
    assert_refused(&sample, part);
    sample_deinit(&sample);
}

static void index_page__corrupt_sizes(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {0, 1, 100000, UINT32_MAX - 24, UINT32_MAX - 32, UINT32_MAX};
    for (size_t at = 0; at <= 4; at += 4) {
        for (size_t i = 0; i < 6; i++) {
            struct sample sample;
            sample_init(&sample, 10, 1, 20);
            bb_store32(sample.bytes.data + at, sizes[i]);
            assert_refused(&sample, "claims");
            sample_deinit(&sample);
        }
    }
}

static void index_page__corrupt_truncation(void **state)
{
    (void)state;
    struct sample sample;
    sample_init(&sample, 10, 1, 20);
    for (size_t size = sample.bytes.size; size-- > 0;) {
        struct bb_index_page *page = NULL;
        assert_status(
            bb_index_page_decode(&sample.reading, bb_bytes_of(sample.bytes.data, size), &page),
            BB_CORRUPT);
    }
    sample_deinit(&sample);
}

static void index_page__corrupt_block_count(void **state)
{
    (void)state;
    check_header16(16, 0, "1 ... 64");
    check_header16(16, 65, "1 ... 64");
    check_header16(16, UINT16_MAX, "1 ... 64");
    check_header16(16, 9, "");
    check_header16(16, 11, "");
}

static void index_page__corrupt_group_count(void **state)
{
    (void)state;
    check_header16(18, 0, "filter groups");
    check_header16(18, 4, "expected 5");
    check_header16(18, 10, "expected 5");
    check_header16(18, UINT16_MAX, "expected 5");
}

static void index_page__corrupt_shard_count(void **state)
{
    (void)state;
    check_header16(20, 4, "4 filters for 5 groups");
    check_header16(20, 6, "6 filters for 5 groups");
    check_header16(20, UINT16_MAX, "filters in");
}

static void index_page__corrupt_flags(void **state)
{
    (void)state;
    check_header16(22, 4, "unknown flags");
    check_header16(22, 7, "unknown flags");
    check_header16(22, 0x80, "unknown flags");
    check_header16(22, 0x100, "unknown flags");
}

static void index_page__corrupt_checksum_of_fences(void **state)
{
    (void)state;
    struct sample sample;
    sample_init(&sample, 10, 1, 20);
    for (size_t bit = 8 * 8; bit < 8 * (BB_PAGE_HEADER_SIZE + (size_t)fence_size_of(&sample) + 8);
         bit++) {
        sample.bytes.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_refused(&sample, "checksum");
        sample.bytes.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    sample_deinit(&sample);
}

/* A page put together from a fence area; without filters. */
static void check_fence_area(uint32_t block_count, const struct bb_buf *area, const char *part)
{
    struct sample sample = {.reading = {.granularity = 1, .table = table}};
    uint8_t *header = NULL;
    sample.reading.place = (struct bb_place){.file = "/file", .offset = BASE};
    assert_ok(bb_buf_extend(&sample.bytes, BB_PAGE_HEADER_SIZE, &header));
    bb_store32(header, (uint32_t)area->size);
    bb_store16(header + 16, (uint16_t)block_count);
    assert_ok(bb_buf_append(&sample.bytes, area->data, area->size));
    assert_ok(bb_append_u64(&sample.bytes, 0));
    reseal(&sample);
    if (part != NULL)
        assert_refused(&sample, part);
    else
        bb_index_page_unref(decode(&sample));
    bb_buf_deinit(&sample.bytes);
}

static void index_page__corrupt_block_sizes(void **state)
{
    (void)state;
    static const uint64_t bad_sizes[] = {0, 13, BB_BLOCK_RAW_SIZE_MAX + 14u, UINT32_MAX,
                                         UINT64_MAX};
    for (size_t i = 0; i < 5; i++) {
        struct bb_buf area = {0};
        assert_ok(bb_append_varint(&area, bad_sizes[i]));
        assert_ok(bb_append_varint(&area, 0));
        check_fence_area(1, &area, "size of block 0");
        bb_buf_deinit(&area);
    }
    struct bb_buf area = {0};
    assert_ok(bb_append_varint(&area, 14));
    assert_ok(bb_append_varint(&area, 0));
    check_fence_area(1, &area, NULL);
    bb_buf_reset(&area);
    for (int i = 0; i < 4; i++) /* each allowed, together more than a page may have */
        assert_ok(bb_append_varint(&area, BB_BLOCK_RAW_SIZE_MAX));
    check_fence_area(4, &area, "at most 4294967295");
    bb_buf_deinit(&area);
}

static void index_page__corrupt_fences(void **state)
{
    (void)state;
    struct bb_buf area = {0};
    assert_ok(bb_append_varint(&area, 14));
    assert_ok(bb_append_varint(&area, 14));
    assert_ok(bb_append_varint(&area, 0));
    check_fence_area(2, &area, "a fence that cannot be read");
    assert_ok(bb_append_varint(&area, 1 << 1));
    assert_ok(bb_append_u8(&area, 'x'));
    check_fence_area(2, &area, NULL);
    assert_ok(bb_append_u8(&area, 'x'));
    check_fence_area(2, &area, "after the fences");
    bb_buf_deinit(&area);
}

/* The filter area's own numbers: sound checksum, and no filter that could be believed. */
static void assert_fails_open(struct sample *sample)
{
    reseal(sample);
    struct bb_index_page *page = decode(sample);
    assert_true(page->has_damaged_filters && !page->has_filters);
    for (uint32_t i = 0; i < sample->block_count; i++)
        for (uint32_t k = 0; k < 10; k++)
            assert_true(asks(sample, page, i, hash_of(i + 1000, k)));
    bb_index_page_unref(page);
}

static uint8_t *filter_area(const struct sample *sample)
{
    return sample->bytes.data + BB_PAGE_HEADER_SIZE + fence_size_of(sample) + BB_CHECKSUM_SIZE;
}

static void index_page__corrupt_filter_checksum_fails_open(void **state)
{
    (void)state;
    struct sample sample;
    sample_init(&sample, 10, 1, 20);
    size_t start = (size_t)(filter_area(&sample) - sample.bytes.data);
    for (size_t bit = start * 8; bit < sample.bytes.size * 8; bit++) {
        sample.bytes.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
        struct bb_index_page *page = decode(&sample);
        assert_true(page->has_damaged_filters && !page->has_filters);
        for (uint32_t i = 0; i < 10; i++)
            assert_true(asks(&sample, page, i, hash_of(i + 1000, 0)));
        bb_index_page_unref(page);
        sample.bytes.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    sample_deinit(&sample);
}

static void index_page__corrupt_descriptor_fails_open(void **state)
{
    (void)state;
    struct sample sample;
    sample_init(&sample, 10, 1, 100);
    uint16_t descriptor = bb_load16(filter_area(&sample));
    size_t size = 0;
    assert_true(bb_block_filter_size(&sample.format, descriptor, &size));
    for (uint32_t other = 0; other <= UINT16_MAX; other += 3) {
        size_t other_size = 0;
        if (bb_block_filter_size(&sample.format, (uint16_t)other, &other_size) &&
            other_size == size)
            continue;
        bb_store16(filter_area(&sample), (uint16_t)other);
        assert_fails_open(&sample);
    }
    sample_deinit(&sample);
}

static void index_page__corrupt_shard_counts_fail_open(void **state)
{
    (void)state;
    struct sample sample;
    sample_init(&sample, 8, 2, 3000); /* six thousand keys in each group */
    struct bb_index_page *page = decode(&sample);
    assert_true(page->group_shards != NULL && page->shard_count > 4);
    bb_index_page_unref(page);
    uint16_t count = bb_load16(filter_area(&sample));
    const uint16_t counts[] = {0, (uint16_t)(count + 1), UINT16_MAX};
    for (size_t i = 0; i < 3; i++) {
        bb_store16(filter_area(&sample), counts[i]);
        assert_fails_open(&sample);
    }
    sample_deinit(&sample);
}

/* Filters of one group that claim 4 GiB together, which is 0 in the 32 bits of an offset; the area
 * ends after their descriptors. */
static void index_page__filter_sizes_that_wrap_fail_open(void **state)
{
    (void)state;
    enum { SHARDS = 1025 };
    struct sample sample = {.block_count = 1};
    uint8_t *header = NULL;
    assert_ok(bb_block_filter_format_init(&sample.format, BB_FILTER_BLOCKED_BLOOM, 0.01, 5));
    sample.reading = (struct bb_index_page_reading){.filter_format = &sample.format,
                                                    .granularity = BB_GRANULARITY_PAGE,
                                                    .table = table,
                                                    .place = {.file = "/file", .offset = BASE}};
    assert_ok(bb_buf_extend(&sample.bytes, BB_PAGE_HEADER_SIZE, &header));
    memset(header, 0, BB_PAGE_HEADER_SIZE);
    bb_store32(header, 2);
    bb_store32(header + 4, (1 + SHARDS) * sizeof(uint16_t));
    bb_store16(header + 16, 1);
    bb_store16(header + 18, 1);
    bb_store16(header + 20, SHARDS);
    header[22] = BB_PAGE_FLAG_SHARDED;
    assert_ok(bb_append_varint(&sample.bytes, 14)); /* the block */
    assert_ok(bb_append_varint(&sample.bytes, 0));  /* the common prefix of no fences */
    assert_ok(bb_append_u64(&sample.bytes, 0));
    assert_ok(bb_append_u16(&sample.bytes, SHARDS));
    uint64_t claimed = 0;
    for (uint32_t i = 0; i < SHARDS; i++) {
        size_t size = 0;
        uint16_t descriptor = i + 1 < SHARDS ? UINT16_MAX : SHARDS - 1;
        assert_true(bb_block_filter_size(&sample.format, descriptor, &size));
        claimed += size;
        assert_ok(bb_append_u16(&sample.bytes, descriptor));
    }
    assert_true(claimed == UINT64_C(1) << 32);
    assert_ok(bb_append_u64(&sample.bytes, 0));
    assert_fails_open(&sample);
    bb_buf_deinit(&sample.bytes);
}

/* With another kind of filter than the page was written for. */
static void index_page__foreign_filters_fail_open(void **state)
{
    (void)state;
    struct sample sample;
    sample_init(&sample, 10, 1, 100);
    assert_ok(bb_block_filter_format_init(&sample.format, BB_FILTER_BLOCKED_BLOOM, 0.01, 5));
    assert_fails_open(&sample);
    sample_deinit(&sample);
    sample_init(&sample, 10, 1, 0); /* none there, where there should be some */
    assert_ok(bb_block_filter_format_init(&sample.format, BB_FILTER_RIBBON, 0.01, 5));
    sample.reading.filter_format = &sample.format;
    assert_fails_open(&sample);
    sample_deinit(&sample);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(index_page__round_trip),
        cmocka_unit_test(index_page__filters_are_per_group),
        cmocka_unit_test(index_page__corrupt_sizes),
        cmocka_unit_test(index_page__corrupt_truncation),
        cmocka_unit_test(index_page__corrupt_block_count),
        cmocka_unit_test(index_page__corrupt_group_count),
        cmocka_unit_test(index_page__corrupt_shard_count),
        cmocka_unit_test(index_page__corrupt_flags),
        cmocka_unit_test(index_page__corrupt_checksum_of_fences),
        cmocka_unit_test(index_page__corrupt_block_sizes),
        cmocka_unit_test(index_page__corrupt_fences),
        cmocka_unit_test(index_page__corrupt_filter_checksum_fails_open),
        cmocka_unit_test(index_page__corrupt_descriptor_fails_open),
        cmocka_unit_test(index_page__corrupt_shard_counts_fail_open),
        cmocka_unit_test(index_page__filter_sizes_that_wrap_fail_open),
        cmocka_unit_test(index_page__foreign_filters_fail_open),
    };
    return cmocka_run_group_tests_name("index_page", tests, NULL, NULL);
}
