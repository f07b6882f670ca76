/* The description of a file of lines in its index file. It identifies the file later.
 *
 *     source := u8 1 (a file of lines) | varint size | u64 modification time, nanoseconds
 *               | varint indexed bytes | varint granule bytes
 *               | u64 checksum of the first bytes | u64 checksum of the last bytes | bytes schema
 *
 * First and last bytes: of the indexed bytes, up to BB_LINE_ENDS_SIZE each.
 */
#ifndef BB_SKIP_LINES_LINE_SOURCE_H
#define BB_SKIP_LINES_LINE_SOURCE_H

#include "base/file.h"
#include "base/status.h"

/* ON DISK. */
#define BB_LINE_SOURCE_FORM 1
#define BB_LINE_ENDS_SIZE   (16u * 1024)

/* A file as it is now. */
struct bb_line_file_state {
    uint64_t size;
    int64_t modified; /* nanoseconds; 0: not known */
};

struct bb_line_ends {
    uint64_t first_checksum;
    uint64_t last_checksum;
};

struct bb_line_source {
    struct bb_line_file_state file; /* when it was indexed */
    uint64_t indexed_bytes;
    uint64_t granule_bytes;
    struct bb_line_ends ends;
    struct bb_bytes schema; /* bb_schema_encode; borrowed */
};

BB_MUST_CHECK enum bb_status bb_line_source_read_state(struct bb_file *file,
                                                       struct bb_line_file_state *ret_state);
/* Checksums of the ends of the first bytes. BB_CORRUPT: the file is shorter. */
BB_MUST_CHECK enum bb_status bb_line_source_read_ends(struct bb_file *file, uint64_t indexed_bytes,
                                                      struct bb_line_ends *ret_ends);

BB_MUST_CHECK enum bb_status bb_line_source_append(const struct bb_line_source *source,
                                                   struct bb_buf *buf);
/* False: the bytes are no source. */
BB_MUST_CHECK bool bb_line_source_decode(struct bb_bytes bytes, struct bb_line_source *ret_source);

/* Is the file the indexed one, perhaps with more bytes at its end? BB_INVALID, with the reason,
 * when it is not. BB_CORRUPT: it was truncated after `now`. BB_IO: its ends cannot be read. */
BB_MUST_CHECK enum bb_status bb_line_source_check(const struct bb_line_source *source,
                                                  struct bb_file *file,
                                                  const struct bb_line_file_state *now);

#endif
