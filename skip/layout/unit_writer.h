/* Writes an index file from beginning to end: units, each with its checksum.
 *
 * Sticky: the first failure is kept and returned by every later call. Threads: one.
 */
#ifndef BB_SKIP_LAYOUT_UNIT_WRITER_H
#define BB_SKIP_LAYOUT_UNIT_WRITER_H

#include "base/file.h"
#include "skip/layout/format.h"

struct bb_unit_writer {
    struct bb_file *file; /* owned until it is closed */
    uint64_t offset;      /* of the next byte */
    uint8_t id[BB_SKIP_ID_SIZE];
    struct bb_buf buffer; /* owned: bytes that are not written yet */
    enum bb_status status;
};

BB_MUST_CHECK enum bb_status bb_unit_writer_open(struct bb_unit_writer *writer,
                                                 struct bb_file_system *fs, const char *path,
                                                 const uint8_t id[BB_SKIP_ID_SIZE]);
/* Closes the file if it is open, whether or not bb_unit_writer_finish was called. */
void bb_unit_writer_deinit(struct bb_unit_writer *writer);

/* Appends bytes and their checksum as one unit; *ret_offset is where it begins. */
BB_MUST_CHECK enum bb_status bb_unit_writer_append(struct bb_unit_writer *writer,
                                                   enum bb_skip_unit type, struct bb_bytes bytes,
                                                   uint64_t *ret_offset);
/* Appends several units, which have space for their checksums. ends: the u32 end of each unit in
 * chunks, little-endian. */
BB_MUST_CHECK enum bb_status bb_unit_writer_append_chunks(struct bb_unit_writer *writer,
                                                          struct bb_buf *chunks,
                                                          struct bb_bytes ends,
                                                          uint64_t *ret_offset);
/* Appends the footer, syncs and closes the file. */
BB_MUST_CHECK enum bb_status bb_unit_writer_finish(struct bb_unit_writer *writer,
                                                   uint64_t directory_offset,
                                                   uint32_t directory_size);

#endif
