/* See table_directory.h. */
#include "sstable/meta/table_directory.h"

#include <inttypes.h>

#include "base/assert.h"

const char *bb_table_directory_section_name(uint16_t id)
{
    switch (id) {
    case BB_SECTION_ROOT:
        return "root";
    case BB_SECTION_PROPERTIES:
        return "properties";
    case BB_SECTION_TABLE_FILTER:
        return "table filter";
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
    return id == BB_SECTION_ROOT || id == BB_SECTION_PROPERTIES || id == BB_SECTION_TABLE_FILTER ||
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
        return bb_fail(BB_UNSUPPORTED,
                       "%s: section %u (%s) must be understood, and this version does not",
                       place.file == NULL ? "table" : place.file, section->id,
                       bb_table_directory_section_name(section->id));
    if (bb_table_directory_find(directory, (enum bb_section_id)section->id) != NULL)
        return bb_corrupt(place, at, "section %u (%s) appears twice", section->id,
                          bb_table_directory_section_name(section->id));
    if (section->offset > place.offset || section->size > place.offset - section->offset)
        return bb_corrupt(place, at,
                          "section %u (%s) of %" PRIu64 " bytes at %" PRIu64
                          " reaches into the directory",
                          section->id, bb_table_directory_section_name(section->id), section->size,
                          section->offset);
    const struct bb_section *previous = section;
    if (directory->count > 0)
        previous = &directory->sections[directory->count - 1];
    if (previous != section && section->offset != previous->offset + previous->size)
        return bb_corrupt(place, at,
                          "section %u (%s) at %" PRIu64 ", the previous one ends at %" PRIu64,
                          section->id, bb_table_directory_section_name(section->id),
                          section->offset, previous->offset + previous->size);
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
                              bb_table_directory_section_name((uint16_t)needed[i]));
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
