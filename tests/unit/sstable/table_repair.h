/* Turns bytes into a table if possible: magic, places and all checksums are repaired, so that a
 * fuzzer reaches the code after them. */
#ifndef BB_TESTS_UNIT_SSTABLE_TABLE_REPAIR_H
#define BB_TESTS_UNIT_SSTABLE_TABLE_REPAIR_H

#include <string.h>

#include "base/coding.h"
#include "base/hash.h"
#include "sstable/table/table_walk.h"
#include "tests/unit/sstable/table_filter_repair.h"

#define TABLE_REPAIR_DIRECTORY_SIZE (2 * BB_SECTION_ENTRY_SIZE + BB_CHECKSUM_SIZE)

struct table_repair {
    uint8_t *bytes;
    uint64_t size;
    struct bb_table_id id;
    uint64_t root; /* offset and size of the root, 0 if it is missing */
    uint64_t root_size;
};

/* True when [offset, offset + size) is inside, before the footer. */
static inline bool table_repair_is_inside(const struct table_repair *repair, uint64_t offset,
                                          uint64_t size)
{
    uint64_t end = repair->size - BB_FOOTER_SIZE;
    return offset <= end && size <= end - offset;
}

static inline uint64_t table_repair_seal(const struct table_repair *repair,
                                         enum bb_stored_type type, uint64_t offset, uint64_t size)
{
    return bb_checksum(repair->id, type, offset, repair->bytes + offset, (size_t)size);
}

static inline void table_repair_blocks(const struct table_repair *repair, uint64_t page,
                                       uint64_t fence_size, uint64_t base)
{
    struct bb_cursor cursor =
        bb_cursor_of(bb_bytes_of(repair->bytes + page + BB_PAGE_HEADER_SIZE, (size_t)fence_size));
    uint32_t blocks = bb_load16(repair->bytes + page + 16);
    for (uint32_t i = 0; i < blocks; i++) {
        uint32_t size = 0;
        if (!bb_decode_varint32(&cursor, &size) || size < BB_BLOCK_TRAILER_SIZE ||
            !table_repair_is_inside(repair, base, size))
            return;
        uint64_t checked = size - BB_CHECKSUM_SIZE;
        bb_store64(repair->bytes + base + checked,
                   table_repair_seal(repair, BB_STORED_BLOCK, base, checked));
        base += size;
    }
}

static inline void table_repair_page(const struct table_repair *repair, uint64_t base,
                                     uint64_t page, uint64_t size)
{
    if (!table_repair_is_inside(repair, page, size) ||
        size < BB_PAGE_HEADER_SIZE + BB_CHECKSUM_SIZE)
        return;
    uint8_t *bytes = repair->bytes + page;
    uint64_t fences = bb_load32(bytes);
    uint64_t filters = bb_load32(bytes + 4);
    uint64_t space = size - BB_PAGE_HEADER_SIZE - BB_CHECKSUM_SIZE;
    if (fences > space)
        return;
    uint64_t checked = BB_PAGE_HEADER_SIZE + fences;
    table_repair_blocks(repair, page, fences, base);
    bb_store64(bytes + checked, table_repair_seal(repair, BB_STORED_FENCES, page, checked));
    uint64_t area = page + checked + BB_CHECKSUM_SIZE;
    if (filters > 0 && filters + BB_CHECKSUM_SIZE <= space - fences)
        bb_store64(repair->bytes + area + filters,
                   table_repair_seal(repair, BB_STORED_FILTERS, area, filters));
}

static inline void table_repair_pages(const struct table_repair *repair)
{
    struct bb_cursor cursor =
        bb_cursor_of(bb_bytes_of(repair->bytes + repair->root, (size_t)repair->root_size));
    uint32_t pages = 0;
    uint64_t at = 0;
    if (!bb_decode_varint32(&cursor, &pages))
        return;
    for (uint32_t i = 0; i < pages; i++) {
        uint32_t data_size = 0;
        uint32_t page_size = 0;
        uint32_t blocks = 0;
        if (!bb_decode_varint32(&cursor, &data_size) || !bb_decode_varint32(&cursor, &page_size) ||
            !bb_decode_varint32(&cursor, &blocks))
            return;
        table_repair_page(repair, at, at + data_size, page_size);
        at += (uint64_t)data_size + page_size;
    }
}

static inline void table_repair_find_root(struct table_repair *repair, const uint8_t *directory,
                                          uint64_t size)
{
    for (uint64_t at = 0; at + BB_SECTION_ENTRY_SIZE <= size; at += BB_SECTION_ENTRY_SIZE) {
        uint64_t offset = bb_load64(directory + at + 4);
        uint64_t section_size = bb_load64(directory + at + 12);
        if (bb_load16(directory + at) == BB_SECTION_ROOT &&
            table_repair_is_inside(repair, offset, section_size)) {
            repair->root = offset;
            repair->root_size = section_size;
        }
    }
}

static inline void table_repair_sections(const struct table_repair *repair, uint8_t *directory,
                                         uint64_t size)
{
    for (uint64_t at = 0; at + BB_SECTION_ENTRY_SIZE <= size; at += BB_SECTION_ENTRY_SIZE) {
        uint64_t offset = bb_load64(directory + at + 4);
        uint64_t section_size = bb_load64(directory + at + 12);
        if (!table_repair_is_inside(repair, offset, section_size))
            continue;
        if (bb_load16(directory + at) == BB_SECTION_TABLE_FILTER)
            table_filter_repair(repair->bytes + offset, section_size, repair->id, offset);
        bb_store64(directory + at + 20,
                   table_repair_seal(repair, BB_STORED_SECTION, offset, section_size));
    }
}

/* Repairs places and checksums of a file, within its recorded sizes. */
static inline void table_repair_all(uint8_t *bytes, uint64_t size)
{
    if (size < BB_FOOTER_SIZE + TABLE_REPAIR_DIRECTORY_SIZE)
        return;
    uint64_t footer = size - BB_FOOTER_SIZE;
    struct table_repair repair = {
        .bytes = bytes, .size = size, .id = bb_checksum_decode_table_id(bytes + footer)};
    uint64_t directory_size = bb_load32(bytes + footer + 24);
    if (directory_size > footer || directory_size % BB_SECTION_ENTRY_SIZE != BB_CHECKSUM_SIZE)
        directory_size = TABLE_REPAIR_DIRECTORY_SIZE;
    uint64_t directory = footer - directory_size;
    bb_store64(bytes + footer + 16, directory);
    bb_store32(bytes + footer + 24, (uint32_t)directory_size);
    table_repair_find_root(&repair, bytes + directory, directory_size - BB_CHECKSUM_SIZE);
    table_repair_pages(&repair);
    table_repair_sections(&repair, bytes + directory, directory_size - BB_CHECKSUM_SIZE);
    bb_store64(bytes + footer - BB_CHECKSUM_SIZE,
               table_repair_seal(&repair, BB_STORED_DIRECTORY, directory,
                                 directory_size - BB_CHECKSUM_SIZE));
    bb_store64(bytes + footer + 48, table_repair_seal(&repair, BB_STORED_FOOTER, footer, 48));
    memcpy(bytes + footer + 56, BB_TABLE_MAGIC, BB_TABLE_MAGIC_SIZE);
}

#endif
