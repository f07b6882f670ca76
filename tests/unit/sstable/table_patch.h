/* Takes a table file apart and reassembles it with right checksums, so that a test can change the
 * bytes under them. Written from docs/format.md with as little of the library as possible. */
#ifndef BB_TESTS_UNIT_SSTABLE_TABLE_PATCH_H
#define BB_TESTS_UNIT_SSTABLE_TABLE_PATCH_H

#include "base/coding.h"
#include "sstable/meta/footer.h"
#include "sstable/meta/table_directory.h"
#include "tests/unit/sstable/table_fixture.h"

#define PATCH_SECTIONS_MAX 8

struct table_parts {
    struct bb_buf data; /* blocks and pages */
    struct bb_buf sections[PATCH_SECTIONS_MAX];
    struct bb_table_directory directory; /* ids and flags; the rest is found when written */
    struct bb_footer footer;
    struct bb_table_id id;
};

static inline void parts_read(struct table_parts *parts, struct bb_file_memory *memory)
{
    size_t size = 0;
    const uint8_t *bytes = bb_file_memory_bytes(memory, FIXTURE_PATH, &size);
    struct bb_place place = {.offset = size - BB_FOOTER_SIZE};
    *parts = (struct table_parts){0};
    assert_ok(bb_footer_decode(bytes + place.offset, place, &parts->footer));
    parts->id = bb_checksum_decode_table_id(parts->footer.table_id);
    place.offset = parts->footer.directory_offset;
    assert_ok(
        bb_table_directory_decode(bb_bytes_of(bytes + place.offset, parts->footer.directory_size),
                                  parts->id, place, &parts->directory));
    for (size_t i = 0; i < parts->directory.count; i++)
        assert_ok(bb_buf_append(&parts->sections[i], bytes + parts->directory.sections[i].offset,
                                parts->directory.sections[i].size));
    assert_ok(bb_buf_append(&parts->data, bytes, parts->directory.sections[0].offset));
}

static inline void parts_write(struct table_parts *parts, struct bb_file_memory *memory)
{
    struct bb_buf file = {0};
    uint8_t footer[BB_FOOTER_SIZE];
    assert_ok(bb_buf_append(&file, parts->data.data, parts->data.size));
    for (size_t i = 0; i < parts->directory.count; i++) {
        struct bb_section *section = &parts->directory.sections[i];
        const struct bb_buf *bytes = &parts->sections[i];
        section->offset = file.size;
        section->size = bytes->size;
        section->checksum =
            bb_checksum(parts->id, BB_STORED_SECTION, file.size, bytes->data, bytes->size);
        assert_ok(bb_buf_append(&file, bytes->data, bytes->size));
    }
    parts->footer.directory_offset = file.size;
    assert_ok(bb_table_directory_encode(&parts->directory, parts->id, file.size, &file));
    parts->footer.directory_size = (uint32_t)(file.size - parts->footer.directory_offset);
    bb_footer_encode(&parts->footer, file.size, footer);
    assert_ok(bb_buf_append(&file, footer, sizeof(footer)));
    bb_file_memory_put(memory, FIXTURE_PATH, bb_buf_bytes(&file));
    bb_buf_deinit(&file);
}

static inline void parts_deinit(struct table_parts *parts)
{
    bb_buf_deinit(&parts->data);
    for (size_t i = 0; i < PATCH_SECTIONS_MAX; i++)
        bb_buf_deinit(&parts->sections[i]);
}

static inline struct bb_buf *parts_section(struct table_parts *parts, enum bb_section_id id)
{
    const struct bb_section *section = bb_table_directory_find(&parts->directory, id);
    assert_non_null(section);
    return &parts->sections[section - parts->directory.sections];
}

/* Replaces the value of a property; NULL drops it. */
static inline void parts_change_property(struct table_parts *parts, uint16_t id,
                                         const struct bb_bytes *value)
{
    struct bb_buf *section = parts_section(parts, BB_SECTION_PROPERTIES);
    struct bb_buf changed = {0};
    struct bb_cursor cursor = bb_cursor_of(bb_buf_bytes(section));
    while (bb_cursor_left(&cursor) > 0) {
        uint16_t next = 0;
        struct bb_bytes old = {0};
        assert_true(bb_decode_u16(&cursor, &next) && bb_decode_bytes(&cursor, &old));
        if (next == id && value == NULL)
            continue;
        assert_ok(bb_append_u16(&changed, next));
        assert_ok(bb_append_bytes(&changed, next == id ? *value : old));
    }
    bb_buf_deinit(section);
    *section = changed;
}

static inline void parts_set_property(struct table_parts *parts, uint16_t id, struct bb_bytes value)
{
    parts_change_property(parts, id, &value);
}

static inline void parts_drop_predictions(struct table_parts *parts)
{
    parts_change_property(parts, 74, NULL);
    parts_change_property(parts, 75, NULL);
}

static inline void parts_set_number(struct table_parts *parts, uint16_t id, uint64_t number)
{
    uint8_t bytes[BB_VARINT64_SIZE_MAX];
    size_t size = (size_t)(bb_store_varint(bytes, number) - bytes);
    parts_set_property(parts, id, bb_bytes_of(bytes, size));
}

static inline void parts_set_real(struct table_parts *parts, uint16_t id, double real)
{
    uint8_t bytes[8];
    uint64_t bits = 0;
    memcpy(&bits, &real, sizeof(bits));
    bb_store64(bytes, bits);
    parts_set_property(parts, id, bb_bytes_of(bytes, sizeof(bytes)));
}

static inline void parts_seal_block(struct table_parts *parts, uint64_t offset, uint32_t size)
{
    uint8_t *block = parts->data.data + offset;
    size_t checked = size - BB_CHECKSUM_SIZE;
    bb_store64(block + checked, bb_checksum(parts->id, BB_STORED_BLOCK, offset, block, checked));
}

static inline uint8_t *parts_filter_area(struct table_parts *parts, uint64_t page, size_t *ret_size)
{
    uint8_t *bytes = parts->data.data + page;
    *ret_size = bb_load32(bytes + 4);
    return bytes + BB_PAGE_HEADER_SIZE + bb_load32(bytes) + BB_CHECKSUM_SIZE;
}

static inline void parts_seal_page(struct table_parts *parts, uint64_t page)
{
    uint8_t *bytes = parts->data.data + page;
    size_t fences_end = (size_t)BB_PAGE_HEADER_SIZE + bb_load32(bytes);
    size_t size = 0;
    uint8_t *filters = parts_filter_area(parts, page, &size);
    bb_store64(bytes + fences_end,
               bb_checksum(parts->id, BB_STORED_FENCES, page, bytes, fences_end));
    if (size > 0)
        bb_store64(filters + size,
                   bb_checksum(parts->id, BB_STORED_FILTERS, (uint64_t)(filters - parts->data.data),
                               filters, size));
}

#endif
