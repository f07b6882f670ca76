/* Goal: heads survive a round trip through an index page, every damaged bit, length or number of
 * them is refused with file and offset, and a head that is not its block's is noticed by
 * verification. Method: pages whose heads are drawn; single fields changed under repaired
 * checksums; tables whose heads were changed. */
#include "tests/unit/sstable/table_patch.h"

#include "sstable/index/index_page.h"
#include "sstable/index/index_page_builder.h"
#include "sstable/table/table.h"

#define BASE 5000

static const struct bb_table_id id = {.low = 8, .high = 9};

static struct bb_block_head head_of(const char *key, uint64_t sequence, uint32_t value_size)
{
    return (struct bb_block_head){.key = bb_bytes_of_text(key),
                                  .sequence = sequence,
                                  .kind = BB_ENTRY_PUT,
                                  .value_size = value_size};
}

static void assert_same_head(const struct bb_block_head *a, const struct bb_block_head *b)
{
    assert_true(bb_bytes_equal(a->key, b->key));
    assert_true(a->sequence == b->sequence && a->kind == b->kind);
    assert_int_equal(a->value_size, b->value_size);
}

/* ---- single heads ---- */

static void block_head__round_trip(void **state)
{
    (void)state;
    const struct bb_block_head heads[] = {
        head_of("", 0, 0),
        head_of("key", BB_SEQUENCE_MAX, BB_VALUE_SIZE_MAX),
        {.key = bb_bytes_of_text("gone"), .sequence = 7, .kind = BB_ENTRY_DELETE},
    };
    for (size_t i = 0; i < 3; i++) {
        struct bb_buf stored = {0};
        struct bb_block_head found;
        assert_ok(bb_block_head_encode(&heads[i], &stored));
        struct bb_cursor cursor = bb_cursor_of(bb_buf_bytes(&stored));
        assert_true(bb_block_head_decode(&cursor, &found));
        assert_int_equal(bb_cursor_left(&cursor), 0);
        assert_same_head(&found, &heads[i]);
        for (size_t size = 0; size < stored.size; size++) {
            cursor = bb_cursor_of(bb_bytes_of(stored.data, size));
            assert_false(bb_block_head_decode(&cursor, &found));
        }
        bb_buf_deinit(&stored);
    }
}

static void refuse(uint64_t key_size, uint64_t tag, uint64_t value_size)
{
    struct bb_buf stored = {0};
    struct bb_block_head head;
    uint8_t *key = NULL;
    assert_ok(bb_append_varint(&stored, key_size));
    assert_ok(bb_buf_extend(&stored, BB_KEY_SIZE_MAX + 1, &key));
    memset(key, 'k', BB_KEY_SIZE_MAX + 1);
    stored.size -= key_size <= BB_KEY_SIZE_MAX ? BB_KEY_SIZE_MAX + 1 - key_size : 0;
    assert_ok(bb_append_varint(&stored, tag));
    assert_ok(bb_append_varint(&stored, value_size));
    struct bb_cursor cursor = bb_cursor_of(bb_buf_bytes(&stored));
    assert_false(bb_block_head_decode(&cursor, &head));
    bb_buf_deinit(&stored);
}

static void block_head__corrupt_numbers(void **state)
{
    (void)state;
    refuse(BB_KEY_SIZE_MAX + 1, 3, 1);
    refuse(UINT64_MAX, 3, 1);
    refuse(3, (BB_SEQUENCE_MAX + 1) << 1 | 1, 1);
    refuse(3, UINT64_MAX, 1);
    refuse(3, 3, BB_VALUE_SIZE_MAX + UINT64_C(1));
    refuse(3, 3, UINT64_MAX);
    refuse(3, 2, 1); /* a deletion with a value */
}

/* ---- pages ---- */

struct sample {
    uint32_t block_count;
    uint64_t bits;
    uint64_t data_size;
    struct bb_buf bytes;
    struct bb_index_page_reading reading;
};

static struct bb_block_head drawn_head(uint32_t i, char key[16])
{
    snprintf(key, 16, "key %u", i * i);
    return head_of(key, i + 1, i * 1000);
}

static void add_fence(struct bb_index_page_builder *builder, uint32_t i)
{
    char key[16];
    snprintf(key, sizeof(key), "fence %04u", i);
    const struct bb_fence fence = {.key = bb_bytes_of_text(key), .sequence = BB_SEQUENCE_MAX};
    assert_ok(bb_index_page_builder_add_fence(builder, &fence));
}

static void sample_init(struct sample *sample, uint32_t block_count, uint64_t bits)
{
    struct bb_index_page_builder builder;
    size_t filter_size = 0;
    char key[16];
    *sample = (struct sample){.block_count = block_count, .bits = bits};
    bb_index_page_builder_init(&builder, NULL);
    bb_index_page_builder_start(&builder, BASE);
    for (uint32_t i = 0; i < block_count; i++) {
        if (i > 0)
            add_fence(&builder, i);
        assert_ok(bb_index_page_builder_add_block(&builder, 20 + i));
        sample->data_size += 20 + i;
        struct bb_block_head head = drawn_head(i, key);
        if ((bits >> i & 1) != 0)
            assert_ok(bb_index_page_builder_add_head(&builder, &head));
    }
    size_t estimate = bb_index_page_builder_size_estimate(&builder);
    size_t size = 0;
    assert_ok(bb_index_page_builder_finish(&builder, &sample->bytes, &size, &filter_size));
    assert_int_equal(bb_index_page_builder_seal(sample->bytes.data, id, BASE + sample->data_size),
                     size);
    assert_true(estimate >= sample->bytes.size);
    bb_index_page_builder_deinit(&builder);
    sample->reading = (struct bb_index_page_reading){
        .granularity = 1,
        .table = id,
        .place = {.file = "/file", .offset = BASE + sample->data_size},
    };
}

static void sample_check(const struct sample *sample)
{
    struct bb_index_page *page = NULL;
    char key[16];
    assert_ok(bb_index_page_decode(&sample->reading, bb_buf_bytes(&sample->bytes), &page));
    assert_int_equal(sample->bytes.data[22], sample->bits == 0 ? 0 : BB_PAGE_FLAG_HEADS);
    assert_int_equal(page->heads == NULL, sample->bits == 0);
    for (uint32_t i = 0; i < sample->block_count; i++) {
        assert_int_equal(bb_index_page_has_head(page, i), sample->bits >> i & 1);
        if (!bb_index_page_has_head(page, i))
            continue;
        struct bb_block_head expected = drawn_head(i, key);
        struct bb_block_head found = {0};
        assert_ok(bb_index_page_head(page, i, sample->reading.place, &found));
        assert_same_head(&found, &expected);
    }
    for (uint32_t i = 1; i < sample->block_count; i++) {
        snprintf(key, sizeof(key), "fence %04u", i);
        assert_int_equal(bb_index_page_find(page, NULL, bb_bytes_of_text(key), 5), i);
    }
    bb_index_page_unref(page);
}

static void block_head__pages_round_trip(void **state)
{
    (void)state;
    struct bb_rng rng;
    bb_rng_init(&rng, bb_rng_seed("block_head__pages_round_trip", 91));
    for (int i = 0; i < 400; i++) {
        struct sample sample;
        uint32_t count = (uint32_t)bb_rng_between(&rng, 1, BB_PAGE_BLOCK_COUNT_MAX);
        uint64_t all = UINT64_MAX >> (64 - count);
        sample_init(&sample, count, i % 4 == 0 ? all : bb_rng_next(&rng) & all);
        sample_check(&sample);
        bb_buf_deinit(&sample.bytes);
    }
}

/* Reads the page with the sample's header and another fence area. NULL: refused. */
static struct bb_index_page *decode_area(const struct sample *sample, const struct bb_buf *area)
{
    struct bb_buf stored = {0};
    struct bb_index_page *page = NULL;
    assert_ok(bb_buf_append(&stored, sample->bytes.data, BB_PAGE_HEADER_SIZE));
    bb_store32(stored.data, (uint32_t)area->size);
    assert_ok(bb_buf_append(&stored, area->data, area->size));
    assert_ok(bb_append_u64(&stored, bb_checksum(id, BB_STORED_FENCES, sample->reading.place.offset,
                                                 stored.data, stored.size)));
    enum bb_status status = bb_index_page_decode(&sample->reading, bb_buf_bytes(&stored), &page);
    assert_int_equal(status == BB_OK, page != NULL);
    bb_buf_deinit(&stored);
    return page;
}

/* The fence area of a sample of three blocks, of which block 1 has the only head:
 * sizes | 12 bytes of ends | size of the key, "key 1", tag, value size in two bytes | fences */
#define ENDS_AT  3
#define HEAD_AT  (ENDS_AT + 12)
#define HEAD_END (HEAD_AT + 9)

struct area {
    struct sample sample;
    struct bb_buf bytes;
};

static void area_init(struct area *area)
{
    sample_init(&area->sample, 3, 2);
    const struct bb_buf *page = &area->sample.bytes;
    area->bytes = (struct bb_buf){0};
    assert_ok(bb_buf_append(&area->bytes, page->data + BB_PAGE_HEADER_SIZE, bb_load32(page->data)));
    assert_int_equal(bb_load32(area->bytes.data + ENDS_AT + 8), HEAD_END - HEAD_AT);
}

static void area_deinit(struct area *area)
{
    bb_buf_deinit(&area->sample.bytes);
    bb_buf_deinit(&area->bytes);
}

/* The message of the last failure has this part, the file, and the offset of the byte `at` of the
 * area. */
static void assert_corrupt(const struct area *area, const char *part, size_t at)
{
    char offset[48];
    snprintf(offset, sizeof(offset), "%llu",
             (unsigned long long)(area->sample.reading.place.offset + BB_PAGE_HEADER_SIZE + at));
    assert_int_equal(bb_error_last()->status, BB_CORRUPT);
    assert_message(part);
    assert_message("/file");
    assert_message(offset);
}

/* With this end of a block the page is refused. */
static void refuse_end(uint32_t block, uint32_t end, const char *part)
{
    struct area area;
    area_init(&area);
    bb_store32(area.bytes.data + ENDS_AT + 4 * (size_t)block, end);
    assert_null(decode_area(&area.sample, &area.bytes));
    assert_corrupt(&area, part, HEAD_AT);
    area_deinit(&area);
}

static void block_head__corrupt_last_end(void **state)
{
    (void)state;
    refuse_end(2, 0, "0 bytes of heads");
    refuse_end(2, 100, "100 bytes of heads");
    refuse_end(2, UINT32_MAX, "4294967295 bytes of heads");
}

/* With this end of a block the page is read, and its head is refused. */
static void refuse_head_with_end(uint32_t block, uint32_t end, uint32_t refused, const char *part,
                                 size_t at)
{
    struct area area;
    struct bb_block_head head;
    area_init(&area);
    bb_store32(area.bytes.data + ENDS_AT + 4 * (size_t)block, end);
    struct bb_index_page *page = decode_area(&area.sample, &area.bytes);
    assert_non_null(page);
    assert_true(bb_index_page_has_head(page, refused));
    assert_status(bb_index_page_head(page, refused, area.sample.reading.place, &head), BB_CORRUPT);
    assert_corrupt(&area, part, at);
    bb_index_page_unref(page);
    area_deinit(&area);
}

static void block_head__corrupt_ends(void **state)
{
    (void)state;
    static const char order[] = "ends before it begins, or after all heads";
    static const char bytes[] = "cannot be read";
    refuse_head_with_end(0, 10, 0, order, ENDS_AT);
    refuse_head_with_end(0, UINT32_MAX, 0, order, ENDS_AT);
    refuse_head_with_end(0, UINT32_MAX, 1, order, ENDS_AT + 4);
    refuse_head_with_end(0, 8, 0, bytes, HEAD_AT);
    refuse_head_with_end(0, 8, 1, bytes, HEAD_AT + 8);
    refuse_head_with_end(1, 8, 1, bytes, HEAD_AT);
    refuse_head_with_end(1, 8, 2, bytes, HEAD_AT + 8);
    refuse_head_with_end(1, UINT32_MAX, 1, order, ENDS_AT + 4);
    refuse_head_with_end(1, UINT32_MAX, 2, order, ENDS_AT + 8);
}

/* A byte of the head is another one. */
static void refuse_byte(size_t at, uint8_t byte)
{
    struct area area;
    struct bb_block_head head;
    area_init(&area);
    area.bytes.data[HEAD_AT + at] = byte;
    struct bb_index_page *page = decode_area(&area.sample, &area.bytes);
    assert_non_null(page);
    assert_status(bb_index_page_head(page, 1, area.sample.reading.place, &head), BB_CORRUPT);
    assert_corrupt(&area, "the head of block 1 cannot be read", HEAD_AT);
    bb_index_page_unref(page);
    area_deinit(&area);
}

static void block_head__corrupt_fields(void **state)
{
    (void)state;
    refuse_byte(0, 4); /* size of the key */
    refuse_byte(0, 100);
    refuse_byte(0, 0x80);
    refuse_byte(6, 0x81); /* a tag of three bytes */
    refuse_byte(6, 4);    /* a deletion with a value */
    refuse_byte(8, 0);    /* a size that is longer than needed */
    refuse_byte(8, 0x80);
    refuse_byte(7, 7); /* bytes after the value size */
}

/* An area that ends at any place is refused. */
static void block_head__corrupt_truncation(void **state)
{
    (void)state;
    struct area area;
    area_init(&area);
    for (size_t size = area.bytes.size; size-- > ENDS_AT;) {
        area.bytes.size = size;
        assert_null(decode_area(&area.sample, &area.bytes));
        assert_message(size < HEAD_AT    ? "without the ends of 3 heads"
                       : size < HEAD_END ? "9 bytes of heads"
                                         : "an index page with");
    }
    area_deinit(&area);
}

/* ---- tables ---- */

struct world {
    struct bb_file_memory *memory;
    struct bb_table_options options;
    struct table_parts parts;
    uint64_t page;
    uint8_t *head; /* of block 1, in parts */
};

static void world_init(struct world *world)
{
    struct entry_list list = {0};
    struct bb_table *table = NULL;
    struct bb_read_stats stats = {0};
    struct bb_index_page *page = NULL;
    static char value[6001];
    memset(value, 'v', sizeof(value) - 1);
    *world = (struct world){.memory = bb_file_memory_create(19)};
    world->options.file_system = bb_file_memory_system(world->memory);
    for (int i = 0; i < 5; i++) {
        char key[8];
        snprintf(key, sizeof(key), "key %d", i);
        entry_list_add_text(&list, key, 30, value);
    }
    build_table(FIXTURE_PATH, &world->options, &list, NULL);
    assert_ok(bb_table_open(FIXTURE_PATH, &world->options, &table));
    assert_int_equal(table->properties.head_count, 5);
    world->page = table->root.pages[0].page_offset;
    assert_ok(bb_table_page_load(table, 0, &stats, &page));
    uint64_t at = bb_index_page_head_offset(page, 1);
    bb_index_page_unref(page);
    bb_table_close(table);
    parts_read(&world->parts, world->memory);
    world->head = world->parts.data.data + world->page + at;
    entry_list_deinit(&list);
}

static void world_check(struct world *world, const char *part)
{
    parts_seal_page(&world->parts, world->page);
    parts_write(&world->parts, world->memory);
    enum bb_status status = bb_table_verify(FIXTURE_PATH, &world->options, NULL);
    assert_status(status, part == NULL ? BB_OK : BB_CORRUPT);
    if (part != NULL) {
        assert_message(part);
        assert_message(FIXTURE_PATH);
    }
    parts_deinit(&world->parts);
    bb_file_memory_destroy(world->memory);
}

/* key size 5 | "key 1" | tag 61 | value size 6000 in two bytes */
static void check_changed(size_t at, uint8_t byte)
{
    struct world world;
    world_init(&world);
    world.head[at] = byte;
    world_check(&world, "the block has only key");
}

static void block_head__verification_compares_each_field(void **state)
{
    (void)state;
    struct world world;
    world_init(&world);
    world_check(&world, NULL);
    check_changed(5, '2');
    check_changed(6, 63);
    check_changed(7, 0xf1);
}

static void block_head__verification_counts_heads(void **state)
{
    (void)state;
    struct world world;
    world_init(&world);
    parts_set_number(&world.parts, BB_PROPERTY_MANDATORY | 28, 4);
    world_check(&world, "head_count is 4, counted 5");
}

/* Only blocks of one entry with a large value and no large key have one. */
static void block_head__is_for_large_values_alone(void **state)
{
    (void)state;
    static const struct {
        size_t key_size;
        size_t value_size;
        size_t small_entries;
        uint64_t expected;
    } cases[] = {
        {5, BB_HEAD_VALUE_SIZE_MIN - 1, 0, 0},  {5, BB_HEAD_VALUE_SIZE_MIN, 0, 1},
        {5, BB_HEAD_VALUE_SIZE_MIN, 3, 1},      {BB_HEAD_KEY_SIZE_MAX, 9000, 0, 1},
        {BB_HEAD_KEY_SIZE_MAX + 1, 9000, 0, 0}, {5, 0, 3, 0},
    };
    for (size_t i = 0; i < 6; i++) {
        struct bb_file_memory *memory = bb_file_memory_create(19);
        struct bb_table_options options = {.file_system = bb_file_memory_system(memory)};
        struct entry_list list = {0};
        struct bb_table *table = NULL;
        uint8_t *bytes = bb_must_alloc_zeroed(10000);
        for (uint64_t k = 0; k < cases[i].small_entries; k++)
            entry_list_add_text(&list, "", k, "small");
        entry_list_add(&list, bb_bytes_of(bytes, cases[i].key_size), 5, BB_ENTRY_PUT,
                       bb_bytes_of(bytes, cases[i].value_size));
        entry_list_sort(&list, NULL);
        build_table(FIXTURE_PATH, &options, &list, NULL);
        assert_ok(bb_table_open(FIXTURE_PATH, &options, &table));
        assert_int_equal(table->properties.head_count, cases[i].expected);
        bb_table_close(table);
        assert_ok(bb_table_verify(FIXTURE_PATH, &options, NULL));
        free(bytes);
        entry_list_deinit(&list);
        bb_file_memory_destroy(memory);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(block_head__round_trip),
        cmocka_unit_test(block_head__corrupt_numbers),
        cmocka_unit_test(block_head__pages_round_trip),
        cmocka_unit_test(block_head__corrupt_last_end),
        cmocka_unit_test(block_head__corrupt_ends),
        cmocka_unit_test(block_head__corrupt_fields),
        cmocka_unit_test(block_head__corrupt_truncation),
        cmocka_unit_test(block_head__verification_compares_each_field),
        cmocka_unit_test(block_head__verification_counts_heads),
        cmocka_unit_test(block_head__is_for_large_values_alone),
    };
    return cmocka_run_group_tests_name("block_head", tests, NULL, NULL);
}
