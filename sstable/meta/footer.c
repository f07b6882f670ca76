/* The end of a table: section directory and footer. See the header. Any thread. */
#include "sstable/meta/footer.h"

#include <inttypes.h>

#include "base/assert.h"
#include "base/bytes.h"

#define FOOTER_RESERVED_OFFSET 36
#define FOOTER_CHECKED_SIZE    48
#define FOOTER_MAGIC_OFFSET    (FOOTER_CHECKED_SIZE + BB_CHECKSUM_SIZE)

static_assert(FOOTER_MAGIC_OFFSET + BB_TABLE_MAGIC_SIZE == BB_FOOTER_SIZE, "the footer's fields");

void bb_footer_encode(const struct bb_footer *footer, uint64_t footer_offset,
                      uint8_t ret_bytes[BB_FOOTER_SIZE])
{
    memset(ret_bytes, 0, BB_FOOTER_SIZE);
    memcpy(ret_bytes, footer->table_id, BB_TABLE_ID_SIZE);
    bb_store64(ret_bytes + 16, footer->directory_offset);
    bb_store32(ret_bytes + 24, footer->directory_size);
    bb_store32(ret_bytes + 28, footer->format_version);
    uint64_t checksum = bb_checksum(bb_table_id_decode(footer->table_id), BB_STORED_FOOTER,
                                    footer_offset, ret_bytes, FOOTER_CHECKED_SIZE);
    bb_store64(ret_bytes + FOOTER_CHECKED_SIZE, checksum);
    memcpy(ret_bytes + FOOTER_MAGIC_OFFSET, BB_TABLE_MAGIC, BB_TABLE_MAGIC_SIZE);
}

static enum bb_status check_magic(const uint8_t *bytes, struct bb_place place)
{
    const uint8_t *found = bytes + FOOTER_MAGIC_OFFSET;
    if (memcmp(found, BB_TABLE_MAGIC, BB_TABLE_MAGIC_SIZE) == 0)
        return BB_OK;
    char text[4 * BB_TABLE_MAGIC_SIZE + 1];
    char expected[4 * BB_TABLE_MAGIC_SIZE + 1];
    bb_bytes_escape(bb_bytes_of(found, BB_TABLE_MAGIC_SIZE), text, sizeof(text));
    bb_bytes_escape(bb_bytes_of(BB_TABLE_MAGIC, BB_TABLE_MAGIC_SIZE), expected, sizeof(expected));
    return bb_corrupt(place, FOOTER_MAGIC_OFFSET,
                      "not a bloomblock table: it ends with \"%s\", expected \"%s\"", text,
                      expected);
}

static enum bb_status check_versions(const uint8_t *bytes, struct bb_place place)
{
    const char *file = place.file == NULL ? "table" : place.file;
    uint32_t version = bb_load32(bytes + 28);
    uint32_t flags = bb_load32(bytes + 32);
    if (version > BB_FORMAT_VERSION)
        return bb_fail(BB_UNSUPPORTED,
                       "%s: a table of format version %u, this version reads up to %u", file,
                       version, BB_FORMAT_VERSION);
    if (flags != 0)
        return bb_fail(BB_UNSUPPORTED, "%s: a table with flags %#x, this version knows none", file,
                       flags);
    return BB_OK;
}

static enum bb_status check_reserved(const uint8_t *bytes, struct bb_place place)
{
    for (uint32_t i = FOOTER_RESERVED_OFFSET; i < FOOTER_CHECKED_SIZE; i++)
        if (bytes[i] != 0)
            return bb_corrupt(place, i, "reserved byte of the footer is %u, expected 0", bytes[i]);
    return BB_OK;
}

enum bb_status bb_footer_decode(const uint8_t bytes[BB_FOOTER_SIZE], struct bb_place place,
                                struct bb_footer *ret_footer)
{
    struct bb_footer footer = {
        .directory_offset = bb_load64(bytes + 16),
        .directory_size = bb_load32(bytes + 24),
        .format_version = bb_load32(bytes + 28),
    };
    memcpy(footer.table_id, bytes, BB_TABLE_ID_SIZE);
    enum bb_status status = check_magic(bytes, place);
    if (status == BB_OK)
        status = bb_checksum_check(bb_table_id_decode(bytes), BB_STORED_FOOTER, place.file,
                                   place.offset, bytes, FOOTER_CHECKED_SIZE, "footer");
    if (status == BB_OK)
        status = check_versions(bytes, place);
    if (status == BB_OK)
        status = check_reserved(bytes, place);
    if (status == BB_OK && footer.directory_size > place.offset)
        status = bb_corrupt(place, 24, "a directory of %u bytes before a footer at %" PRIu64,
                            footer.directory_size, place.offset);
    if (status == BB_OK && footer.directory_offset != place.offset - footer.directory_size)
        status = bb_corrupt(place, 16,
                            "a directory of %u bytes at %" PRIu64 ", the footer is at %" PRIu64,
                            footer.directory_size, footer.directory_offset, place.offset);
    if (status == BB_OK)
        *ret_footer = footer;
    return status;
}

const char *bb_section_name(uint16_t id)
{
    switch (id) {
    case BB_SECTION_ROOT:
        return "root";
    case BB_SECTION_PROPERTIES:
        return "properties";
    case BB_SECTION_SUMMARY:
        return "summary";
    case BB_SECTION_RANGE_TOMBSTONES:
        return "range tombstones";
    case BB_SECTION_ZONES:
        return "zones";
    default:
        return "unknown";
    }
}

static bool is_read_by_this_version(uint16_t id)
{
    return id == BB_SECTION_ROOT || id == BB_SECTION_PROPERTIES || id == BB_SECTION_SUMMARY ||
           id == BB_SECTION_RANGE_TOMBSTONES;
}

enum bb_status bb_table_directory_encode(const struct bb_table_directory *directory,
                                         struct bb_table_id table, uint64_t offset,
                                         struct bb_buf *buf)
{
    uint8_t *p = NULL;
    size_t size = directory->count * BB_SECTION_ENTRY_SIZE;
    enum bb_status status = bb_buf_extend(buf, size + BB_CHECKSUM_SIZE, &p);
    if (status != BB_OK)
        return status;
    for (size_t i = 0; i < directory->count; i++) {
        const struct bb_section *section = &directory->sections[i];
        uint8_t *entry = p + i * BB_SECTION_ENTRY_SIZE;
        bb_store16(entry, section->id);
        bb_store16(entry + 2, section->flags);
        bb_store64(entry + 4, section->offset);
        bb_store64(entry + 12, section->size);
        bb_store64(entry + 20, section->checksum);
    }
    bb_store64(p + size, bb_checksum(table, BB_STORED_DIRECTORY, offset, p, size));
    return BB_OK;
}

static void load_section(const uint8_t *entry, struct bb_section *ret_section)
{
    *ret_section = (struct bb_section){
        .id = bb_load16(entry),
        .flags = bb_load16(entry + 2),
        .offset = bb_load64(entry + 4),
        .size = bb_load64(entry + 12),
        .checksum = bb_load64(entry + 20),
    };
}

const struct bb_section *bb_table_directory_find(const struct bb_table_directory *directory,
                                                 enum bb_section_id id)
{
    for (size_t i = 0; i < directory->count; i++)
        if (directory->sections[i].id == id)
            return &directory->sections[i];
    return NULL;
}

/* Appends an entry to the directory. */
static enum bb_status add_section(struct bb_table_directory *directory,
                                  const struct bb_section *section, struct bb_place place)
{
    size_t at = directory->count * BB_SECTION_ENTRY_SIZE;
    bool is_incompatible = (section->flags & BB_SECTION_FLAG_INCOMPATIBLE) != 0;
    if (is_incompatible && !is_read_by_this_version(section->id))
        return bb_fail(
            BB_UNSUPPORTED, "%s: section %u (%s) must be understood, and this version does not",
            place.file == NULL ? "table" : place.file, section->id, bb_section_name(section->id));
    if (bb_table_directory_find(directory, (enum bb_section_id)section->id) != NULL)
        return bb_corrupt(place, at, "section %u (%s) appears twice", section->id,
                          bb_section_name(section->id));
    if (section->offset > place.offset || section->size > place.offset - section->offset)
        return bb_corrupt(
            place, at,
            "section %u (%s) of %" PRIu64 " bytes at %" PRIu64 " reaches into the directory",
            section->id, bb_section_name(section->id), section->size, section->offset);
    const struct bb_section *previous = section;
    if (directory->count > 0)
        previous = &directory->sections[directory->count - 1];
    if (previous != section && section->offset != previous->offset + previous->size)
        return bb_corrupt(place, at,
                          "section %u (%s) at %" PRIu64 ", the previous one ends at %" PRIu64,
                          section->id, bb_section_name(section->id), section->offset,
                          previous->offset + previous->size);
    directory->sections[directory->count++] = *section;
    return BB_OK;
}

static enum bb_status check_directory(const struct bb_table_directory *directory,
                                      struct bb_place place)
{
    const enum bb_section_id needed[] = {BB_SECTION_ROOT, BB_SECTION_PROPERTIES};
    for (size_t i = 0; i < BB_ARRAY_LENGTH(needed); i++)
        if (bb_table_directory_find(directory, needed[i]) == NULL)
            return bb_corrupt(place, 0, "section %d (%s) is missing", (int)needed[i],
                              bb_section_name((uint16_t)needed[i]));
    const struct bb_section *last = &directory->sections[directory->count - 1];
    if (last->offset + last->size != place.offset)
        return bb_corrupt(place, 0,
                          "the last section ends at %" PRIu64 ", expected the directory there",
                          last->offset + last->size);
    return BB_OK;
}

enum bb_status bb_table_directory_decode(struct bb_bytes stored, struct bb_table_id table,
                                         struct bb_place place,
                                         struct bb_table_directory *ret_directory)
{
    size_t count = stored.size / BB_SECTION_ENTRY_SIZE;
    if (stored.size != count * BB_SECTION_ENTRY_SIZE + BB_CHECKSUM_SIZE || count == 0 ||
        count > BB_SECTION_COUNT_MAX)
        return bb_corrupt(place, 0, "a directory of %zu bytes", stored.size);
    enum bb_status status =
        bb_checksum_check(table, BB_STORED_DIRECTORY, place.file, place.offset, stored.data,
                          stored.size - BB_CHECKSUM_SIZE, "directory");
    struct bb_table_directory directory = {0};
    for (size_t i = 0; i < count && status == BB_OK; i++) {
        struct bb_section section = {0};
        load_section(stored.data + i * BB_SECTION_ENTRY_SIZE, &section);
        status = add_section(&directory, &section, place);
    }
    if (status == BB_OK)
        status = check_directory(&directory, place);
    if (status == BB_OK)
        *ret_directory = directory;
    return status;
}
