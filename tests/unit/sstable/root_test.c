/* Goal: the root survives a round trip and is consistent; inconsistent sections are refused, field
 * by field. Method: random roots; hand-made sections. */
#include "tests/unit/sstable/table_fixture.h"

#include "base/coding.h"
#include "sstable/index/root.h"

static const struct bb_place place = {.file = "/file", .offset = 5000};

static void root__round_trip(void **state)
{
    (void)state;
    struct bb_rng rng;
    bb_rng_init(&rng, bb_rng_seed("root__round_trip", 31));
    for (size_t pages = 1; pages < 3000; pages = pages * 3 + 1) {
        struct bb_root_builder builder;
        struct bb_root root;
        struct bb_buf section = {0};
        struct entry_list fences = {0};
        uint64_t end = 0;
        entry_list_add_random(&fences, &rng, pages, 0);
        entry_list_sort(&fences, NULL);
        if (fences.count < pages - 1)
            pages = fences.count + 1;
        bb_root_builder_init(&builder, NULL);
        for (size_t i = 0; i < pages; i++) {
            struct bb_fence fence = {.key = fences.entries[i == 0 ? 0 : i - 1].key,
                                     .sequence = fences.entries[i == 0 ? 0 : i - 1].sequence};
            if (i > 0)
                assert_ok(bb_root_builder_add_fence(&builder, &fence));
            assert_ok(bb_root_builder_add_page(&builder, 14 + i, 100 + i, 1 + i % 64));
        }
        assert_ok(bb_root_builder_encode(&builder, &section));
        assert_ok(bb_root_init(&root, NULL, 0, &section, place));
        assert_int_equal(root.page_count, pages);
        for (size_t i = 0; i < pages; i++) {
            assert_true(root.pages[i].data_offset == end);
            assert_true(root.pages[i].page_offset == end + 14 + i);
            assert_int_equal(root.pages[i].page_size, 100 + i);
            assert_int_equal(root.pages[i].block_count, 1 + i % 64);
            end += 114 + 2 * i;
            if (i > 0)
                assert_int_equal(bb_root_find(&root, NULL, fences.entries[i - 1].key,
                                              fences.entries[i - 1].sequence),
                                 i);
        }
        assert_true(root.data_end == end);
        bb_root_deinit(&root);
        bb_root_builder_deinit(&builder);
        entry_list_deinit(&fences);
    }
}

/* Pages of 60 bytes after blocks of 100: groups of 1 page, of 3 and of all. */
static void root__groups(void **state)
{
    (void)state;
    static const struct {
        uint64_t group_bytes;
        uint32_t pages;
    } rows[] = {{0, 1}, {1, 1}, {60, 1}, {61, 2}, {180, 3}, {480, 8}, {481, 8}, {UINT64_MAX, 8}};
    for (size_t row = 0; row < sizeof(rows) / sizeof(rows[0]); row++) {
        struct bb_root_builder builder;
        struct bb_root root;
        struct bb_buf section = {0};
        uint32_t pages = rows[row].pages;
        bb_root_builder_init(&builder, NULL);
        for (uint32_t i = 0; i < 8; i++) {
            char text[] = {(char)('a' + i), 0};
            struct bb_fence fence = {.key = bb_bytes_of_text(text), .sequence = BB_SEQUENCE_MAX};
            if (i > 0)
                assert_ok(bb_root_builder_add_fence(&builder, &fence));
            assert_ok(bb_root_builder_add_page(&builder, 100, 60, 2));
        }
        assert_ok(bb_root_builder_encode(&builder, &section));
        assert_ok(bb_root_init(&root, NULL, rows[row].group_bytes, &section, place));
        for (uint32_t i = 0; i < 8; i++) {
            uint32_t begin = i / pages * pages;
            uint32_t end = begin + pages < 8 ? begin + pages : 8;
            assert_int_equal(root.pages[i].data_offset, begin * 160 + (i - begin) * 100);
            assert_int_equal(root.pages[i].page_offset,
                             begin * 160 + (end - begin) * 100 + (i - begin) * 60);
            assert_int_equal(root.pages[i].first_block, 2 * i);
            assert_int_equal(root.pages[i].group_begin, begin);
            assert_int_equal(bb_root_group_end(&root, i), end);
        }
        assert_int_equal(root.data_end, 8 * 160);
        bb_root_deinit(&root);
        bb_root_builder_deinit(&builder);
    }
}

static void append_page(struct bb_buf *section, uint64_t data_size, uint64_t page_size,
                        uint64_t blocks)
{
    assert_ok(bb_append_varint(section, data_size));
    assert_ok(bb_append_varint(section, page_size));
    assert_ok(bb_append_varint(section, blocks));
}

/* Two sound pages and their fence. */
static struct bb_buf sound_section(uint64_t page_count)
{
    struct bb_buf section = {0};
    struct bb_fence fence = {.key = bb_bytes_of_text("m"), .sequence = 7};
    assert_ok(bb_append_varint(&section, page_count));
    append_page(&section, 100, 50, 3);
    append_page(&section, 100, 50, 3);
    assert_ok(bb_append_varint(&section, 0));
    assert_ok(bb_fence_encode(&fence, 0, &section));
    return section;
}

static void assert_refused(struct bb_buf *section, const char *part)
{
    struct bb_root root;
    assert_status(bb_root_init(&root, NULL, 0, section, place), BB_CORRUPT);
    assert_message(part);
    assert_message("/file");
    assert_null(section->data); /* taken over */
    assert_null(root.memory);
}

static void root__corrupt_page_count(void **state)
{
    (void)state;
    static const uint64_t counts[] = {0, 1, 3, 6, 1000000, UINT32_MAX, UINT64_MAX};
    for (size_t i = 0; i < 7; i++) {
        struct bb_buf section = sound_section(counts[i]);
        assert_refused(&section, "");
    }
    struct bb_buf sound = sound_section(2);
    struct bb_root root;
    assert_ok(bb_root_init(&root, NULL, 0, &sound, place));
    bb_root_deinit(&root);
    struct bb_buf empty = {0};
    assert_refused(&empty, "0 bytes");
}

static void check_page(uint64_t data_size, uint64_t page_size, uint64_t blocks)
{
    struct bb_buf section = {0};
    assert_ok(bb_append_varint(&section, 1));
    append_page(&section, data_size, page_size, blocks);
    assert_ok(bb_append_varint(&section, 0));
    assert_refused(&section, "out of range");
}

static void root__corrupt_page(void **state)
{
    (void)state;
    check_page(UINT64_C(1) << 32, 50, 1);
    check_page(UINT64_MAX, 50, 1);
    check_page(100, 0, 1);
    check_page(100, BB_PAGE_HEADER_SIZE - 1, 1);
    check_page(100, BB_PAGE_STORED_SIZE_MAX + 1, 1);
    check_page(100, UINT64_MAX, 1);
    check_page(100, 50, 0);
    check_page(100, 50, 65);
    check_page(100, 50, UINT64_MAX);
}

static void root__corrupt_fences(void **state)
{
    (void)state;
    struct bb_buf trailing = sound_section(2);
    assert_ok(bb_append_u8(&trailing, 0));
    assert_refused(&trailing, "after the fences");
    struct bb_buf cut = sound_section(2);
    cut.size--;
    assert_refused(&cut, "fence");
}

static void root__corrupt_truncation(void **state)
{
    (void)state;
    struct bb_buf sound = sound_section(2);
    for (size_t size = 0; size < sound.size; size++) {
        struct bb_buf cut = {0};
        assert_ok(bb_buf_append(&cut, sound.data, size));
        assert_refused(&cut, "");
    }
    bb_buf_deinit(&sound);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(root__round_trip),         cmocka_unit_test(root__groups),
        cmocka_unit_test(root__corrupt_page_count), cmocka_unit_test(root__corrupt_page),
        cmocka_unit_test(root__corrupt_fences),     cmocka_unit_test(root__corrupt_truncation),
    };
    return cmocka_run_group_tests_name("root", tests, NULL, NULL);
}
