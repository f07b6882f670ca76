/* Which files a LevelDB store is made of: its CURRENT, and the edits of the manifest it names.
 *
 *     edit := (varint tag | field) ...
 *       1  name of the comparator, length-prefixed     2  number of the log    9  of the log before
 *       3  next file number    4  last sequence        5  level, key (ignored)
 *       6  level, number: a table that is gone
 *       7  level, number, size, smallest and largest key: a table that is new
 *
 * Threads: one.
 */
#ifndef BB_TOOLS_LEVELDB_MANIFEST_H
#define BB_TOOLS_LEVELDB_MANIFEST_H

#include "tools/leveldb/crc32c.h"
#include "tools/leveldb/log.h"

#define MANIFEST_LEVEL_COUNT 7

struct manifest_table {
    uint32_t level;
    uint64_t number;
    uint64_t size;
    struct bb_buf smallest; /* as stored; owned */
};

struct manifest {
    struct manifest_table *tables; /* owned; by level, below level 0 by key */
    size_t table_count;
    size_t table_capacity;
    uint64_t log_number;
    uint64_t previous_log_number;
    uint64_t last_sequence;
    uint64_t dropped_bytes; /* of an edit that the file ends in */
    bool has_comparator;
};

/* BB_NOT_FOUND without a CURRENT; BB_CORRUPT; BB_UNSUPPORTED for RocksDB's, and for a comparator
 * other than LevelDB's own, naming it. Owned: manifest_deinit, also on failure. */
BB_MUST_CHECK enum bb_status manifest_read(struct manifest *manifest, struct bb_file_system *fs,
                                           const char *directory, const struct crc32c *crc);
void manifest_deinit(struct manifest *manifest);

#endif
