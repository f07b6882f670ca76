/* The section directory of a table.
 *
 *     directory := section* | u64 checksum of the sections' entries
 *     section     0  u16  id
 *                 2  u16  flags; bit 0: a reader that does not know the id must not read the table
 *                 4  u64  offset
 *                12  u64  size
 *                20  u64  checksum of the section
 *
 * The sections follow the last index page without gaps, in the directory's order. The directory
 * follows the last section. Threads: any.
 */
#ifndef BB_SSTABLE_META_TABLE_DIRECTORY_H
#define BB_SSTABLE_META_TABLE_DIRECTORY_H

#include "base/status.h"
#include "sstable/checksum.h"

struct bb_section {
    uint16_t id;
    uint16_t flags;
    uint64_t offset;
    uint64_t size;
    uint64_t checksum;
};

struct bb_table_directory {
    struct bb_section sections[BB_SECTION_COUNT_MAX];
    size_t count;
};

/* "root", "properties", ...; "unknown" for others. */
const char *bb_table_directory_section_name(uint16_t id);
/* Appends the directory in the form that it has at `offset`. */
BB_MUST_CHECK enum bb_status bb_table_directory_encode(const struct bb_table_directory *directory,
                                                       struct bb_table_id table, uint64_t offset,
                                                       struct bb_buf *buf);
/* Reads the directory. Checks that the sections follow each other without gaps up to the directory,
 * and that root and properties are among them. Errors: BB_CORRUPT; BB_UNSUPPORTED for an unknown
 * section whose flags have bit 0. */
BB_MUST_CHECK enum bb_status bb_table_directory_decode(struct bb_bytes stored,
                                                       struct bb_table_id table,
                                                       struct bb_place place,
                                                       struct bb_table_directory *ret_directory);
/* NULL if none exists. */
const struct bb_section *bb_table_directory_find(const struct bb_table_directory *directory,
                                                 enum bb_section_id id);

#endif
