/* The end of a table, after its section directory.
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
 * The footer follows the directory at the end of the file. It has this form in every format
 * version.
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

#endif
