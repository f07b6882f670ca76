/* The end of a table: the section directory and the footer.
 *
 *     directory := section* | u64 checksum of the sections' entries
 *     section     0  u16  id
 *                 2  u16  flags; bit 0: a reader that does not know the id must not read the table
 *                 4  u64  offset
 *                12  u64  size
 *                20  u64  checksum of the section
 *
 *     footer      0  16 bytes  table id
 *                16  u64  offset of the directory
 *                24  u32  size of the directory
 *                28  u32  format version
 *                32  u32  flags, 0
 *                36  12 bytes  0
 *                48  u64  checksum of bytes 0 ... 47
 *                56  8 bytes  magic
 *
 * The sections follow the last index page without gaps, in the directory's order. The directory
 * follows the last section, and the footer follows the directory at the end of the file. The footer
 * has this form in every format version.
 */
#ifndef BB_SSTABLE_META_FOOTER_H
#define BB_SSTABLE_META_FOOTER_H

#include "base/status.h"
#include "sstable/checksum.h"

struct bb_footer {
    uint8_t table_id[BB_TABLE_ID_SIZE];
    uint64_t directory_offset;
    uint32_t directory_size;
    uint32_t format_version;
};

/* footer_offset: the offset at which the footer will be written. */
void bb_footer_encode(const struct bb_footer *footer, uint64_t footer_offset,
                      uint8_t ret_bytes[BB_FOOTER_SIZE]);
/* Reads the last bytes of a file; place is where they are. Errors: BB_CORRUPT for a damaged file or
 * a file that is not a table, BB_UNSUPPORTED for a newer version or unknown flags. */
BB_MUST_CHECK enum bb_status bb_footer_decode(const uint8_t bytes[BB_FOOTER_SIZE],
                                              struct bb_place place, struct bb_footer *ret_footer);

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
const char *bb_section_name(uint16_t id);
/* Appends the directory in the form that it has at `offset`. */
BB_MUST_CHECK enum bb_status bb_table_directory_encode(const struct bb_table_directory *directory,
                                                       struct bb_table_id table, uint64_t offset,
                                                       struct bb_buf *buf);
/* Reads the directory. Checks that the sections follow each other without gaps up to the directory,
 * and that root and properties are among them. Errors: BB_CORRUPT; BB_UNSUPPORTED names an unknown
 * incompatible section. */
BB_MUST_CHECK enum bb_status bb_table_directory_decode(struct bb_bytes stored,
                                                       struct bb_table_id table,
                                                       struct bb_place place,
                                                       struct bb_table_directory *ret_directory);
/* NULL if none exists. */
const struct bb_section *bb_table_directory_find(const struct bb_table_directory *directory,
                                                 enum bb_section_id id);

#endif
