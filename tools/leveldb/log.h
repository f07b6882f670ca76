/* Records of a LevelDB log; its manifests are logs too.
 *
 *     file    := block of 32 KiB ... ; the last one may be shorter
 *     block   := fragment ... ; the rest, when less than 7 bytes, is zero
 *     fragment:= masked CRC-32C of type and bytes, 4 | length, 2 | type, 1 | bytes
 *     type    := 1 whole record, 2 first, 3 middle, 4 last fragment of one
 *
 * A file that ends inside a record was being written when its process ended: the log ends before
 * that record, as LevelDB itself reads it. Anything else that does not fit is damage. Threads: one.
 */
#ifndef BB_TOOLS_LEVELDB_LOG_H
#define BB_TOOLS_LEVELDB_LOG_H

#include "base/file.h"
#include "base/status.h"
#include "tools/leveldb/crc32c.h"

#define LOG_BLOCK_SIZE  32768
#define LOG_HEADER_SIZE 7

struct log {
    const struct crc32c *crc; /* borrowed */
    struct bb_file *file;     /* owned */
    uint64_t file_size;
    uint64_t offset; /* of the current block */
    uint8_t block[LOG_BLOCK_SIZE];
    size_t size; /* of the block */
    size_t next; /* where its next fragment begins */
    struct bb_buf record;
    uint64_t record_offset; /* where the current record begins */
    uint64_t dropped_bytes; /* of a record that the file ends in */
};

/* Owned: log_close. */
BB_MUST_CHECK enum bb_status log_open(struct log *log, struct bb_file_system *fs, const char *path,
                                      const struct crc32c *crc);
void log_close(struct log *log);
/* *ret_has is false at the end. The record is borrowed until the next call. */
BB_MUST_CHECK enum bb_status log_next(struct log *log, struct bb_bytes *ret_record, bool *ret_has);

#endif
