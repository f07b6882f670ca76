/* Goal: the bytes of tables do not change, and agree with docs/format.md. Method: small tables with
 * every feature of the format are built and compared with tests/golden; the files there are read
 * and compared with a listing, which tests/golden/read_table_test.py makes from the same bytes with
 * a reader that was written only from the page. */
#include "tests/unit/sstable/property_print.h"
#include "tests/unit/sstable/table_fixture.h"

#include <inttypes.h>

#include "base/buf.h"
#include "base/hash.h"
#include "sstable/build/table_builder.h"
#include "sstable/table/table_walk.h"
#include "tests/support/golden.h"

#define SHOWN_MAX   48 /* longer values are listed by size and hash */
#define ENTRIES_MAX 12 /* of a block; the others are counted */

/* ---- listing ---- */

static void print_quoted(struct bb_buf *text, struct bb_bytes bytes)
{
    char escaped[4 * SHOWN_MAX + 1];
    if (bytes.size > SHOWN_MAX)
        assert_ok(bb_buf_print(text, "(%zu bytes, xxh3 %016" PRIx64 ")", bytes.size,
                               bb_hash_bytes(bytes.data, bytes.size)));
    else
        assert_ok(bb_buf_print(text, "\"%s\"", bb_bytes_escape(bytes, escaped, sizeof(escaped))));
}

static void print_hexadecimal(struct bb_buf *text, struct bb_bytes bytes)
{
    for (size_t i = 0; i < bytes.size; i++)
        assert_ok(bb_buf_print(text, "%02x", bytes.data[i]));
}

static void print_filters(struct bb_buf *text, const struct bb_table_walk *walk)
{
    for (uint32_t i = 0; i < walk->shard_count; i++) {
        struct bb_walk_filter filter;
        assert_true(bb_table_walk_filter(walk, i, &filter));
        assert_ok(bb_buf_print(text, "  filter of group %u: descriptor %04x, %zu bytes ",
                               walk->group, filter.descriptor, filter.payload.size));
        if (filter.payload.size > SHOWN_MAX)
            print_quoted(text, filter.payload);
        else
            print_hexadecimal(text, filter.payload);
        assert_ok(bb_buf_print(text, "\n"));
    }
}

static void print_entry(struct bb_buf *text, uint32_t offset, const struct bb_entry *entry)
{
    assert_ok(bb_buf_print(text, "  %u: ", offset));
    print_quoted(text, entry->key);
    assert_ok(bb_buf_print(text, " @ %" PRIu64 " %s", entry->sequence,
                           entry->kind == BB_ENTRY_PUT ? "put " : "delete"));
    if (entry->kind == BB_ENTRY_PUT)
        print_quoted(text, entry->value);
    assert_ok(bb_buf_print(text, "\n"));
}

static void print_head(struct bb_buf *text, const struct bb_table_walk *walk)
{
    struct bb_block_head head = {0};
    if (!bb_index_page_has_head(walk->page, walk->ordinal))
        return;
    assert_ok(bb_index_page_head(walk->page, walk->ordinal, bb_table_place(walk->table, 0), &head));
    assert_ok(bb_buf_print(text, "  head "));
    print_quoted(text, head.key);
    assert_ok(bb_buf_print(text, " @ %" PRIu64 " %s, a value of %u bytes\n", head.sequence,
                           head.kind == BB_ENTRY_PUT ? "put" : "delete", head.value_size));
}

static void print_block(struct bb_buf *text, struct bb_table_walk *walk)
{
    assert_ok(bb_table_walk_load(walk));
    assert_ok(bb_buf_print(text, "block %" PRIu64 " at %" PRIu64 ", %u bytes, %s, raw %u\n",
                           walk->block_number, walk->offset, walk->stored_size,
                           walk->compression == BB_COMPRESSION_LZ4 ? "lz4" : "stored raw",
                           walk->raw_size));
    if (walk->has_fence) {
        assert_ok(bb_buf_print(text, "  fence "));
        print_quoted(text, bb_buf_bytes(&walk->fence_key));
        if (walk->fence_sequence != BB_SEQUENCE_MAX)
            assert_ok(bb_buf_print(text, " @ %" PRIu64, walk->fence_sequence));
        assert_ok(bb_buf_print(text, "\n"));
    }
    print_head(text, walk);
    print_filters(text, walk);
    assert_ok(bb_buf_print(text, "  restarts at"));
    for (uint32_t i = 0; i < walk->block->restart_count; i++)
        assert_ok(bb_buf_print(text, " %u", walk->block->restarts[i]));
    assert_ok(bb_buf_print(text, "\n"));
    uint32_t count = 0;
    for (; walk->entries.is_valid; bb_block_iter_next(&walk->entries))
        if (count++ < ENTRIES_MAX)
            print_entry(text, walk->entries.offset, &walk->entries.entry);
    if (count > ENTRIES_MAX)
        assert_ok(bb_buf_print(text, "  and %u more\n", count - ENTRIES_MAX));
    assert_ok(walk->entries.status);
}

static void print_page(struct bb_buf *text, const struct bb_table *table, uint32_t index,
                       const struct bb_index_page *page)
{
    const struct bb_root_page *where = &table->root.pages[index];
    assert_ok(bb_buf_print(text,
                           "page %u at %" PRIu64 ", %u bytes: %u blocks from %" PRIu64
                           ", %u groups, %u filters\n",
                           index, where->page_offset, where->page_size, page->block_count,
                           page->base_offset, page->group_count, page->shard_count));
}

/* A shard per line. */
static void print_chunk(struct bb_buf *text, struct bb_table *table,
                        const struct bb_table_filter *table_filter, uint32_t chunk)
{
    struct bb_read_stats stats = {0};
    struct bb_buf stored = {0};
    uint64_t first = 0;
    uint32_t shards = bb_table_filter_chunk_shards(table_filter, chunk, &first);
    assert_ok(bb_table_load_filter_chunk(table, table_filter, chunk, &stats, &stored));
    assert_ok(bb_buf_print(text, "chunk %u of the table filter: %zu bytes, %u shards\n", chunk,
                           stored.size, shards));
    for (uint32_t i = 0; i < shards; i++) {
        struct bb_shard_entry entry = bb_sharded_filter_find(stored.data, shards, i);
        size_t size = 0;
        assert_true(bb_block_filter_size(&table->table_filter_format, entry.descriptor, &size));
        assert_ok(bb_buf_print(text, "  shard %" PRIu64 ": descriptor %04x, %zu bytes ", first + i,
                               entry.descriptor, size));
        if (size > SHOWN_MAX)
            print_quoted(text, bb_bytes_of(stored.data + entry.offset, size));
        else
            print_hexadecimal(text, bb_bytes_of(stored.data + entry.offset, size));
        assert_ok(bb_buf_print(text, "\n"));
    }
    bb_buf_deinit(&stored);
}

static void print_table_filter(struct bb_buf *text, struct bb_table *table)
{
    struct bb_table_filter *table_filter = NULL;
    struct bb_read_stats stats = {0};
    if (!table->has_table_filter)
        return;
    assert_ok(bb_table_load_filter(table, &stats, &table_filter));
    for (uint32_t i = 0; i < table_filter->part_count; i++) {
        assert_ok(bb_buf_print(text, "part %u of the table filter: %" PRIu64 " keys, %u shards", i,
                               table_filter->parts[i].key_count,
                               table_filter->parts[i].shard_count));
        if (i > 0) {
            struct bb_buf key = {0};
            struct bb_fence fence = bb_fence_index_get(&table_filter->fences, i - 1);
            assert_ok(bb_buf_append(&key, table_filter->fences.common.bytes,
                                    table_filter->fences.common.size));
            assert_ok(bb_buf_append(&key, fence.key.data, fence.key.size));
            assert_ok(bb_buf_print(text, ", from "));
            print_quoted(text, bb_buf_bytes(&key));
            bb_buf_deinit(&key);
        }
        assert_ok(bb_buf_print(text, "\n"));
    }
    for (uint32_t i = 0; i < table_filter->chunk_count; i++)
        print_chunk(text, table, table_filter, i);
    bb_table_filter_destroy(table_filter);
}

static void print_ranges(struct bb_buf *text, const struct bb_table *table)
{
    const struct bb_range_tombstones *list = table->range_tombstones;
    for (size_t i = 0; list != NULL && i < list->count; i++) {
        const struct bb_range_tombstone_fragment *fragment = &list->fragments[i];
        assert_ok(bb_buf_print(text, "range "));
        print_quoted(text, fragment->low);
        assert_ok(bb_buf_print(text, " to "));
        print_quoted(text, fragment->high);
        assert_ok(bb_buf_print(text, " @"));
        for (size_t j = 0; j < fragment->count; j++)
            assert_ok(bb_buf_print(text, " %" PRIu64, fragment->sequences[j]));
        assert_ok(bb_buf_print(text, "\n"));
    }
}

static void print_end(struct bb_buf *text, const struct bb_table *table)
{
    size_t count = 0;
    const struct bb_property_field *fields = bb_property_fields(&count);
    for (size_t i = 0; i < count; i++) {
        if (bb_property_is_left_out(&table->properties, &fields[i]))
            continue;
        assert_ok(bb_buf_print(text, "property %u %s: ", fields[i].id, fields[i].name));
        assert_ok(property_print(&table->properties, &fields[i], text));
        assert_ok(bb_buf_print(text, "\n"));
    }
    for (size_t i = 0; i < table->directory.count; i++) {
        const struct bb_section *section = &table->directory.sections[i];
        assert_ok(bb_buf_print(text, "section %u at %" PRIu64 ", %" PRIu64 " bytes, flags %u\n",
                               section->id, section->offset, section->size, section->flags));
    }
    assert_ok(bb_buf_print(text, "directory at %" PRIu64 ", %u bytes; version %u; table id ",
                           table->footer.directory_offset, table->footer.directory_size,
                           table->footer.format_version));
    print_hexadecimal(text, bb_bytes_of(table->footer.table_id, BB_TABLE_ID_SIZE));
    assert_ok(bb_buf_print(text, "\n"));
}

static void print_table(struct bb_buf *text, const struct bb_table_options *options)
{
    struct bb_table *table = NULL;
    struct bb_table_walk walk;
    bool has_block = false;
    assert_ok(bb_table_open(FIXTURE_PATH, options, &table));
    bb_table_walk_init(&walk, table);
    assert_ok(bb_table_walk_next(&walk, &has_block));
    while (has_block) {
        if (walk.ordinal == 0)
            print_page(text, table, walk.page_index, walk.page);
        print_block(text, &walk);
        assert_ok(bb_table_walk_next(&walk, &has_block));
    }
    bb_table_walk_deinit(&walk);
    print_table_filter(text, table);
    print_ranges(text, table);
    print_end(text, table);
    bb_table_close(table);
}

/* ---- tables ---- */

struct golden {
    struct bb_file_memory *memory;
    struct bb_hash_secret secret;
    struct bb_table_options options;
    size_t table_filter_part; /* keys; 0: any number */
    size_t page_group_bytes;  /* 0: the default */
    struct bb_filter_excess excess;
    struct entry_list list;
    const struct bb_range_tombstone *ranges;
    size_t range_count;
};

static void golden_init(struct golden *golden, uint64_t seed)
{
    *golden = (struct golden){.memory = bb_file_memory_create(seed)};
    bb_hash_secret_from_seed(seed, &golden->secret);
    golden->options.file_system = bb_file_memory_system(golden->memory);
    golden->options.secret = &golden->secret;
    golden->options.restart_interval = 16; /* goldens do not follow the default */
    golden->options.table_filter_bits = BB_TABLE_FILTER_NONE;
}

static void build_parts(struct golden *golden)
{
    struct bb_table_builder *builder = NULL;
    assert_ok(bb_table_builder_create(FIXTURE_PATH, &golden->options, &builder));
    if (golden->table_filter_part > 0)
        bb_table_builder_set_filter_part(builder, golden->table_filter_part);
    if (golden->page_group_bytes > 0)
        bb_table_builder_set_page_group(builder, golden->page_group_bytes);
    bb_table_builder_set_excess(builder, golden->excess);
    for (size_t i = 0; i < golden->list.count; i++)
        assert_ok(bb_table_builder_add(builder, &golden->list.entries[i]));
    for (size_t i = 0; i < golden->range_count; i++)
        assert_ok(bb_table_builder_add_range_tombstone(
            builder, golden->ranges[i].low, golden->ranges[i].high, golden->ranges[i].sequence));
    assert_ok(bb_table_builder_finish(builder, NULL));
    bb_table_builder_destroy(builder);
}

/* WHY: LZ4 hashes other bytes of its input on big-endian machines, and so finds other matches. Any
 * machine decompresses the blocks of any other. */
static bool writes_the_same_blocks(const struct bb_buf *listing)
{
    static const char mark[] = ", lz4, raw";
    bool has_compressed = memmem(listing->data, listing->size, mark, strlen(mark)) != NULL;
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ || !has_compressed;
}

/* The golden file, as it is read here, and its listing. */
static void check_reading(struct golden *golden, const char *path, const char *listing_path,
                          struct bb_buf *listing)
{
    struct bb_buf file = {0};
    bb_golden_read(path, &file);
    bb_file_memory_put(golden->memory, FIXTURE_PATH, bb_buf_bytes(&file));
    print_table(listing, &golden->options);
    bb_golden_assert(listing_path, bb_buf_bytes(listing), __FILE__, __LINE__);
    bb_buf_deinit(&file);
}

/* Builds the table and compares its bytes; then compares the listing of the golden file. */
static void check_golden(struct golden *golden, const char *path, const char *listing_path)
{
    struct bb_buf built = {0};
    struct bb_buf listing = {0};
    struct bb_table_verify_report report;
    size_t size = 0;
    entry_list_sort(&golden->list, golden->options.comparator);
    build_parts(golden);
    assert_ok(bb_table_verify(FIXTURE_PATH, &golden->options, &report));
    const uint8_t *bytes = bb_file_memory_bytes(golden->memory, FIXTURE_PATH, &size);
    assert_ok(bb_buf_append(&built, bytes, size));
    print_table(&listing, &golden->options);
    if (writes_the_same_blocks(&listing))
        bb_golden_assert(path, bb_buf_bytes(&built), __FILE__, __LINE__);
    bb_buf_reset(&listing);
    check_reading(golden, path, listing_path, &listing);
    bb_buf_deinit(&listing);
    bb_buf_deinit(&built);
    entry_list_deinit(&golden->list);
    bb_file_memory_destroy(golden->memory);
}

/* name: of two files in tests/golden, a string literal. */
#define CHECK_GOLDEN(golden, name)                                                                 \
    check_golden(golden, GOLDEN_PATH(name ".bin"), GOLDEN_PATH(name ".txt"))

/* One block: the form of each kind of entry. */
static void table_golden__small(void **state)
{
    (void)state;
    struct golden golden;
    golden_init(&golden, 1);
    golden.options.restart_interval = 4;
    entry_list_add_text(&golden.list, "", 1, "the empty key");
    entry_list_add_text(&golden.list, "apple", 9, "third");
    entry_list_add_text(&golden.list, "apple", 5, NULL);
    entry_list_add_text(&golden.list, "apple", 2, "first");
    entry_list_add_text(&golden.list, "applause", 300, "");
    entry_list_add(&golden.list, bb_bytes_of("a\0b\xff\\\n", 6), BB_SEQUENCE_MAX, BB_ENTRY_PUT,
                   bb_bytes_of("\0\x7f\"", 3));
    CHECK_GOLDEN(&golden, "table_small");
}

static void pages_init(struct golden *golden, uint64_t key_count)
{
    golden_init(golden, 2);
    golden->options.block_size_bytes = 128;
    golden->options.index_page_size_bytes = 256;
    golden->options.filter_granularity = 2;
    for (uint64_t i = 0; i < key_count; i++) {
        char key[32];
        snprintf(key, sizeof(key), "number %06" PRIu64, i * i);
        entry_list_add_text(&golden->list, key, i + 1, i % 10 == 3 ? NULL : "vvvvvvvvvvvvvvvv");
    }
}

/* Several pages in a group, fences with and without sequences, a filter for two blocks, in the
 * default order. */
static void table_golden__pages(void **state)
{
    (void)state;
    struct golden golden;
    pages_init(&golden, 400);
    for (uint64_t i = 0; i < 40; i++)
        entry_list_add_text(&golden.list, "number 000100", 1000 + i, "one of many versions");
    CHECK_GOLDEN(&golden, "table_pages");
}

/* Two groups of pages. The last one ends before its pages have the size. */
static void table_golden__page_groups(void **state)
{
    (void)state;
    struct golden golden;
    pages_init(&golden, 1000);
    golden.page_group_bytes = 1000;
    CHECK_GOLDEN(&golden, "table_page_groups");
}

/* The first of these tables, as it was before groups: each page follows its blocks. */
static void table_golden__pages_apart(void **state)
{
    (void)state;
    struct golden golden;
    struct bb_buf listing = {0};
    struct bb_table_verify_report report;
    golden_init(&golden, 2);
    check_reading(&golden, GOLDEN_PATH("table_pages_apart.bin"),
                  GOLDEN_PATH("table_pages_apart.txt"), &listing);
    assert_ok(bb_table_verify(FIXTURE_PATH, &golden.options, &report));
    assert_int_equal(report.entries, 440);
    assert_int_equal(report.pages, 2);
    bb_buf_deinit(&listing);
    bb_file_memory_destroy(golden.memory);
}

/* LZ4, wide restart offsets, an entry in a separate block with a head, groups of several
 * filters. */
static void table_golden__large_blocks(void **state)
{
    (void)state;
    struct golden golden;
    golden_init(&golden, 3);
    golden.options.block_size_bytes = 100000;
    golden.options.filter_kind = BB_FILTER_BLOCKED_BLOOM;
    golden.options.filter_rate = 0.1;
    golden.options.restart_interval = 1000;
    for (uint64_t i = 0; i < 4500; i++) {
        char key[32];
        snprintf(key, sizeof(key), "%05" PRIu64, i);
        entry_list_add_text(&golden.list, key, 1, "0123456789abcdef");
    }
    uint8_t *value = memset(bb_must_alloc_zeroed(100000), 'x', 100000);
    entry_list_add(&golden.list, bb_bytes_of_text("01000 large"), 2, BB_ENTRY_PUT,
                   bb_bytes_of(value, 100000));
    free(value);
    CHECK_GOLDEN(&golden, "table_large_blocks");
}

static void add_large(struct entry_list *list, const char *key, uint64_t sequence, size_t size)
{
    uint8_t *value = memset(bb_must_alloc_zeroed(size), 'x', size);
    entry_list_add(list, bb_bytes_of_text(key), sequence, BB_ENTRY_PUT, bb_bytes_of(value, size));
    free(value);
}

/* Pages where some and no blocks have heads. */
static void table_golden__heads(void **state)
{
    (void)state;
    struct golden golden;
    char key[BB_HEAD_KEY_SIZE_MAX + 2];
    golden_init(&golden, 10);
    golden.options.block_size_bytes = 64;
    golden.options.index_page_size_bytes = 256;
    for (uint64_t i = 0; i < 700; i++) {
        snprintf(key, sizeof(key), "key %03" PRIu64, i);
        bool is_large = i < 8 || (i < 24 && i % 4 == 0);
        if (is_large)
            add_large(&golden.list, key, i + 1, 4096 + i);
        else
            entry_list_add_text(&golden.list, key, i + 1, i % 5 == 1 ? NULL : "small");
    }
    add_large(&golden.list, "key 003", 300, 5000);
    entry_list_add_text(&golden.list, "key 004", 301, NULL);
    memset(key, 'z', sizeof(key) - 1); /* too large for a head */
    memcpy(key, "key 030", strlen("key 030"));
    key[sizeof(key) - 1] = 0;
    add_large(&golden.list, key, 1, 4096);
    CHECK_GOLDEN(&golden, "table_heads");
}

/* Version 0.1.0 wrote this table: an entry of 100,000 bytes in a separate block without a head, and
 * property 71, which is ignored. Its filters are not built again: the builder is another. */
static void table_golden__without_heads(void **state)
{
    (void)state;
    struct golden golden;
    struct bb_buf listing = {0};
    struct bb_table_verify_report report;
    golden_init(&golden, 3);
    check_reading(&golden, GOLDEN_PATH("table_without_heads.bin"),
                  GOLDEN_PATH("table_without_heads.txt"), &listing);
    assert_ok(bb_table_verify(FIXTURE_PATH, &golden.options, &report));
    assert_int_equal(report.entries, 4501);
    assert_true(report.filters > 0 && report.filters_compared == 0);
    bb_buf_deinit(&listing);
    bb_file_memory_destroy(golden.memory);
}

/* Another order: whole fences. Bloom filters, one for a page; uncompressed. */
static void table_golden__backwards(void **state)
{
    (void)state;
    struct golden golden;
    golden_init(&golden, 4);
    golden.options.comparator = &backwards;
    golden.options.block_size_bytes = 64;
    golden.options.compression = BB_COMPRESSION_NONE;
    golden.options.filter_kind = BB_FILTER_BLOOM;
    golden.options.filter_granularity = BB_GRANULARITY_PAGE;
    for (uint64_t i = 0; i < 60; i++) {
        char key[32];
        snprintf(key, sizeof(key), "shared/%02" PRIu64, i / 2);
        entry_list_add_text(&golden.list, key, i + 1, "v");
    }
    CHECK_GOLDEN(&golden, "table_backwards");
}

static void table_golden__without_filters(void **state)
{
    (void)state;
    struct golden golden;
    golden_init(&golden, 5);
    golden.options.filter_rate = 1;
    entry_list_add_text(&golden.list, "key", 1, "value");
    CHECK_GOLDEN(&golden, "table_without_filters");
}

/* A table filter of three parts, the second and third with a fence each, and filters of blocks. */
static void table_golden__table_filter(void **state)
{
    (void)state;
    struct golden golden;
    golden_init(&golden, 6);
    golden.options.block_size_bytes = 400;
    golden.options.table_filter_bits = 4;
    golden.table_filter_part = 100;
    golden.excess = (struct bb_filter_excess){.block_filters = -1, .table_filter = -0.75};
    for (uint64_t i = 0; i < 250; i++) {
        char key[32];
        snprintf(key, sizeof(key), "key %04" PRIu64, i * 7);
        entry_list_add_text(&golden.list, key, i + 1, "value");
        if (i == 99 || i == 100)
            entry_list_add_text(&golden.list, key, 1000, NULL);
    }
    CHECK_GOLDEN(&golden, "table_filter");
}

/* Only a table filter, of two chunks, under another order. */
static void table_golden__table_filter_alone(void **state)
{
    (void)state;
    struct golden golden;
    golden_init(&golden, 7);
    golden.options.comparator = &backwards;
    golden.options.filter_rate = 1e-7;
    golden.options.table_filter_bits = BB_TABLE_FILTER_ALL;
    for (uint64_t i = 0; i < 17000; i++) {
        char key[32];
        snprintf(key, sizeof(key), "%05" PRIu64, i);
        entry_list_add_text(&golden.list, key, 1, "");
    }
    CHECK_GOLDEN(&golden, "table_filter_alone");
}

static struct bb_range_tombstone range(const char *low, const char *high, uint64_t sequence)
{
    return (struct bb_range_tombstone){bb_bytes_of_text(low), bb_bytes_of_text(high), sequence};
}

/* Range tombstones that overlap, touch and are disjoint; one begins before the entries, one ends
 * after them. */
static void table_golden__ranges(void **state)
{
    (void)state;
    struct golden golden;
    const struct bb_range_tombstone ranges[] = {
        range("b", "f", 50), range("d", "m", 90),   range("", "c", 7),
        range("m", "n", 90), range("x", "zz", 300), range("q", "q", 1), /* empty */
    };
    golden_init(&golden, 8);
    golden.ranges = ranges;
    golden.range_count = 6;
    entry_list_add_text(&golden.list, "a", 3, "covered");
    entry_list_add_text(&golden.list, "e", 70, "between the two");
    entry_list_add_text(&golden.list, "y", 301, "newer");
    CHECK_GOLDEN(&golden, "table_ranges");
}

/* Only range tombstones, under another order: no pages, no filters, despite the options. */
static void table_golden__ranges_alone(void **state)
{
    (void)state;
    struct golden golden;
    const struct bb_range_tombstone ranges[] = {range("n", "c", 2), range("h", "a", 1)};
    golden_init(&golden, 9);
    golden.options.comparator = &backwards;
    golden.options.table_filter_bits = 4;
    golden.ranges = ranges;
    golden.range_count = 2;
    CHECK_GOLDEN(&golden, "table_ranges_alone");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_golden__small),
        cmocka_unit_test(table_golden__pages),
        cmocka_unit_test(table_golden__page_groups),
        cmocka_unit_test(table_golden__pages_apart),
        cmocka_unit_test(table_golden__large_blocks),
        cmocka_unit_test(table_golden__heads),
        cmocka_unit_test(table_golden__without_heads),
        cmocka_unit_test(table_golden__backwards),
        cmocka_unit_test(table_golden__without_filters),
        cmocka_unit_test(table_golden__table_filter),
        cmocka_unit_test(table_golden__table_filter_alone),
        cmocka_unit_test(table_golden__ranges),
        cmocka_unit_test(table_golden__ranges_alone),
    };
    return cmocka_run_group_tests_name("table_golden", tests, NULL, NULL);
}
