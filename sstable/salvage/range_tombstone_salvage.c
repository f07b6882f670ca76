/* See range_tombstone_salvage.h. */
#include "sstable/salvage/range_tombstone_salvage.h"

#include "base/status.h"
#include "sstable/meta/table_directory.h"
#include "sstable/ranges/range_tombstones.h"

/* The number of entries of a directory at the offset; 0 if none can be there. The entries describe
 * adjacent sections, and the last of them ends at the offset. */
static size_t count_sections(struct bb_bytes file, size_t offset)
{
    uint64_t end = 0;
    size_t at = offset;
    for (size_t count = 1; count <= BB_SECTION_COUNT_MAX; count++) {
        if (file.size - at < BB_SECTION_ENTRY_SIZE + BB_CHECKSUM_SIZE)
            return 0;
        uint64_t begin = bb_load64(file.data + at + 4);
        uint64_t size = bb_load64(file.data + at + 12);
        /* rejects runs of zeros early: a full check of each offset would take long */
        bool has_id = bb_load16(file.data + at) != 0;
        if (!has_id || (count > 1 && begin != end) || begin > offset || size > offset - begin)
            return 0;
        end = begin + size;
        at += BB_SECTION_ENTRY_SIZE;
        if (end == offset)
            return count;
    }
    return 0;
}

/* Finds a whole directory. Searches from the end, where the directory of every file that was not
 * truncated is. */
static bool find_directory(struct bb_bytes file, struct bb_table_id table,
                           struct bb_bytes *ret_stored)
{
    for (size_t offset = file.size; offset-- > 0;) {
        size_t size = count_sections(file, offset) * BB_SECTION_ENTRY_SIZE;
        const uint8_t *stored = file.data + offset;
        if (size > 0 && bb_checksum_matches(table, BB_STORED_DIRECTORY, offset, stored, size)) {
            *ret_stored = bb_bytes_of(stored, size + BB_CHECKSUM_SIZE);
            return true;
        }
    }
    return false;
}

bool bb_range_tombstone_salvage_has_directory(struct bb_bytes file, struct bb_table_id table)
{
    struct bb_bytes stored;
    return find_directory(file, table, &stored);
}

/* Checks that the directory's section is inside the file. */
static enum bb_status read_section(struct bb_bytes file, struct bb_place place,
                                   const struct bb_comparator *comparator, struct bb_table_id table,
                                   const struct bb_section *section,
                                   struct bb_range_tombstones **ret_list)
{
    struct bb_bytes bytes = bb_bytes_of(file.data + section->offset, (size_t)section->size);
    place.offset = section->offset;
    if (bb_checksum(table, BB_STORED_SECTION, section->offset, bytes.data, bytes.size) !=
        section->checksum)
        return bb_corrupt(place, 0, "the range tombstones have another checksum");
    return bb_range_tombstones_decode(bytes, comparator, place, ret_list);
}

enum bb_status bb_range_tombstone_salvage(struct bb_bytes file, const char *path,
                                          const struct bb_comparator *comparator,
                                          struct bb_table_id table,
                                          enum bb_range_tombstone_salvage *ret_found,
                                          struct bb_range_tombstones **ret_list)
{
    struct bb_place place = {.file = path};
    struct bb_bytes stored = {0};
    struct bb_table_directory directory;
    *ret_found = BB_RANGE_SALVAGE_UNTOLD;
    if (!find_directory(file, table, &stored))
        return BB_OK;
    place.offset = (uint64_t)(stored.data - file.data);
    if (bb_table_directory_decode(stored, table, place, &directory) != BB_OK)
        return BB_OK; /* written by a newer version, or maliciously */
    const struct bb_section *section =
        bb_table_directory_find(&directory, BB_SECTION_RANGE_TOMBSTONES);
    *ret_found = BB_RANGE_SALVAGE_NONE;
    if (section == NULL)
        return BB_OK;
    enum bb_status status = read_section(file, place, comparator, table, section, ret_list);
    *ret_found = status == BB_OK ? BB_RANGE_SALVAGE_FOUND : BB_RANGE_SALVAGE_LOST;
    return status == BB_CORRUPT ? BB_OK : status;
}
