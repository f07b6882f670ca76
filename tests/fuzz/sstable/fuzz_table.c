/* Whole tables from anywhere. The input is a file; magic, places and all checksums are put right as
 * far as its own sizes allow, so that what stands under them is reached.
 *
 * What opens is asked for keys, scanned both ways and verified. What verifies must read to its end,
 * with as many entries as the report says, and give each of them to a look-up, filters or not.
 */
#include <string.h>

#include "base/assert.h"
#include "base/coding.h"
#include "base/hash.h"
#include "sstable/table_walk.h"
#include "tests/fuzz/sstable/summary_repair.h"
#include "tests/support/file_memory.h"
#include "tests/support/must_alloc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define PATH           "/table"
#define DIRECTORY_SIZE (2 * BB_SECTION_ENTRY_SIZE + BB_CHECKSUM_SIZE)

/* ---- repair ---- */

struct repair {
    uint8_t *bytes;
    uint64_t size;
    struct bb_table_id id;
    uint64_t root; /* offset and size of the root, 0 if there is none */
    uint64_t root_size;
};

/* Is [offset, offset + size) inside, in front of the footer? */
static bool is_inside(const struct repair *repair, uint64_t offset, uint64_t size)
{
    uint64_t end = repair->size - BB_FOOTER_SIZE;
    return offset <= end && size <= end - offset;
}

static uint64_t seal(const struct repair *repair, enum bb_stored_type type, uint64_t offset,
                     uint64_t size)
{
    return bb_checksum(repair->id, type, offset, repair->bytes + offset, (size_t)size);
}

static void repair_blocks(const struct repair *repair, uint64_t page, uint64_t fence_size,
                          uint64_t base)
{
    struct bb_cursor cursor =
        bb_cursor_of(bb_bytes_of(repair->bytes + page + BB_PAGE_HEADER_SIZE, (size_t)fence_size));
    uint32_t blocks = bb_load16(repair->bytes + page + 16);
    for (uint32_t i = 0; i < blocks; i++) {
        uint32_t size = 0;
        if (!bb_decode_varint32(&cursor, &size) || size < BB_BLOCK_TRAILER_SIZE ||
            !is_inside(repair, base, size))
            return;
        uint64_t checked = size - BB_CHECKSUM_SIZE;
        bb_store64(repair->bytes + base + checked, seal(repair, BB_STORED_BLOCK, base, checked));
        base += size;
    }
}

static void repair_page(const struct repair *repair, uint64_t base, uint64_t page, uint64_t size)
{
    if (!is_inside(repair, page, size) || size < BB_PAGE_HEADER_SIZE + BB_CHECKSUM_SIZE)
        return;
    uint8_t *bytes = repair->bytes + page;
    uint64_t fences = bb_load32(bytes);
    uint64_t filters = bb_load32(bytes + 4);
    uint64_t room = size - BB_PAGE_HEADER_SIZE - BB_CHECKSUM_SIZE;
    if (fences > room)
        return;
    uint64_t checked = BB_PAGE_HEADER_SIZE + fences;
    repair_blocks(repair, page, fences, base);
    bb_store64(bytes + checked, seal(repair, BB_STORED_FENCES, page, checked));
    uint64_t area = page + checked + BB_CHECKSUM_SIZE;
    if (filters > 0 && filters + BB_CHECKSUM_SIZE <= room - fences)
        bb_store64(repair->bytes + area + filters, seal(repair, BB_STORED_FILTERS, area, filters));
}

static void repair_pages(const struct repair *repair)
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
        repair_page(repair, at, at + data_size, page_size);
        at += (uint64_t)data_size + page_size;
    }
}

static void find_root(struct repair *repair, const uint8_t *directory, uint64_t size)
{
    for (uint64_t at = 0; at + BB_SECTION_ENTRY_SIZE <= size; at += BB_SECTION_ENTRY_SIZE) {
        uint64_t offset = bb_load64(directory + at + 4);
        uint64_t section_size = bb_load64(directory + at + 12);
        if (bb_load16(directory + at) == BB_SECTION_ROOT &&
            is_inside(repair, offset, section_size)) {
            repair->root = offset;
            repair->root_size = section_size;
        }
    }
}

static void repair_sections(const struct repair *repair, uint8_t *directory, uint64_t size)
{
    for (uint64_t at = 0; at + BB_SECTION_ENTRY_SIZE <= size; at += BB_SECTION_ENTRY_SIZE) {
        uint64_t offset = bb_load64(directory + at + 4);
        uint64_t section_size = bb_load64(directory + at + 12);
        if (!is_inside(repair, offset, section_size))
            continue;
        if (bb_load16(directory + at) == BB_SECTION_SUMMARY)
            summary_repair(repair->bytes + offset, section_size, repair->id, offset);
        bb_store64(directory + at + 20, seal(repair, BB_STORED_SECTION, offset, section_size));
    }
}

static void repair_file(uint8_t *bytes, uint64_t size)
{
    if (size < BB_FOOTER_SIZE + DIRECTORY_SIZE)
        return;
    uint64_t footer = size - BB_FOOTER_SIZE;
    struct repair repair = {.bytes = bytes, .size = size, .id = bb_table_id_decode(bytes + footer)};
    uint64_t directory_size = bb_load32(bytes + footer + 24);
    if (directory_size > footer || directory_size % BB_SECTION_ENTRY_SIZE != BB_CHECKSUM_SIZE)
        directory_size = DIRECTORY_SIZE;
    uint64_t directory = footer - directory_size;
    bb_store64(bytes + footer + 16, directory);
    bb_store32(bytes + footer + 24, (uint32_t)directory_size);
    find_root(&repair, bytes + directory, directory_size - BB_CHECKSUM_SIZE);
    repair_pages(&repair);
    repair_sections(&repair, bytes + directory, directory_size - BB_CHECKSUM_SIZE);
    bb_store64(bytes + footer - BB_CHECKSUM_SIZE,
               seal(&repair, BB_STORED_DIRECTORY, directory, directory_size - BB_CHECKSUM_SIZE));
    bb_store64(bytes + footer + 48, seal(&repair, BB_STORED_FOOTER, footer, 48));
    memcpy(bytes + footer + 56, BB_TABLE_MAGIC, BB_TABLE_MAGIC_SIZE);
}

/* ---- use ---- */

static void look_up(struct bb_table *table, const struct bb_entry *entry, bool ignore_filters,
                    bool must_be_found)
{
    struct bb_read_options options = {.ignore_filters = ignore_filters};
    struct bb_buf value = {0};
    uint64_t sequence = 0;
    enum bb_visit visit = BB_VISIT_COUNT;
    enum bb_status status = bb_table_get(table, &options, entry->key, 0, entry->sequence, NULL,
                                         &value, &sequence, &visit);
    BB_ASSERT(status == BB_OK || !must_be_found);
    if (must_be_found) {
        BB_ASSERT(visit == BB_VISIT_PRESENT || visit == BB_VISIT_TOMBSTONE);
        BB_ASSERT(sequence == entry->sequence);
        BB_ASSERT(visit == BB_VISIT_TOMBSTONE ||
                  bb_bytes_equal(bb_buf_bytes(&value), entry->value));
    }
    bb_buf_deinit(&value);
}

static void scan(struct bb_table *table, bool is_sound, uint64_t entries)
{
    struct bb_iter *iter = NULL;
    uint64_t count = 0;
    if (bb_table_iter_create(table, NULL, NULL, &iter) != BB_OK)
        return;
    for (bb_iter_seek_first(iter); iter->is_valid; bb_iter_next(iter), count++) {
        struct bb_entry entry = iter->entry;
        look_up(table, &entry, false, is_sound);
        look_up(table, &entry, true, is_sound);
    }
    BB_ASSERT(!is_sound || (iter->status == BB_OK && count == entries));
    count = 0;
    for (bb_iter_seek_last(iter); iter->is_valid; bb_iter_prev(iter))
        count++;
    BB_ASSERT(!is_sound || (iter->status == BB_OK && count == entries));
    bb_iter_destroy(iter);
}

/* What a dump does: on behind every damage. */
static void walk(struct bb_table *table)
{
    struct bb_table_walk parts;
    bb_table_walk_init(&parts, table);
    for (bool has_block = true; has_block;) {
        if (bb_table_walk_next(&parts, &has_block) != BB_OK || !has_block)
            continue;
        for (uint32_t i = 0; i < parts.shard_count; i++) {
            struct bb_walk_filter filter;
            (void)!bb_table_walk_filter(&parts, i, &filter);
        }
        if (bb_table_walk_load(&parts) == BB_OK)
            while (parts.entries.is_valid)
                bb_block_iter_next(&parts.entries);
    }
    bb_table_walk_deinit(&parts);
}

static void use(struct bb_file_system *fs, const uint8_t *data, size_t size)
{
    struct bb_table_options options = {.file_system = fs};
    struct bb_table_verify_report report = {0};
    struct bb_table *table = NULL;
    bool is_sound = bb_table_verify(PATH, &options, &report) == BB_OK;
    if (bb_table_open(PATH, &options, &table) != BB_OK) {
        BB_ASSERT(!is_sound);
        return;
    }
    struct bb_entry any = {.key = bb_bytes_of(data, size < 30 ? size : 30), .sequence = size};
    look_up(table, &any, false, false);
    scan(table, is_sound, report.entries);
    walk(table);
    bb_table_close(table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *copy = bb_must_realloc(NULL, size);
    if (size > 0)
        memcpy(copy, data, size);
    repair_file(copy, size);
    struct bb_file_memory *memory = bb_file_memory_create(1);
    bb_file_memory_put(memory, PATH, bb_bytes_of(copy, size));
    use(bb_file_memory_system(memory), copy, size);
    bb_file_memory_destroy(memory);
    free(copy);
    return 0;
}
