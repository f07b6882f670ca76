/* The contents of the write-ahead logs of a LevelDB store, in the order of keys.
 *
 *     record := first sequence, 8 | count, 4 | operation ...
 *     operation := 1 | key | value     or     0 | key;   both length-prefixed
 *
 * Memory: the logs, which are about as large as LevelDB's write buffer. Threads: one.
 */
#ifndef BB_TOOLS_LEVELDB_WAL_H
#define BB_TOOLS_LEVELDB_WAL_H

#include "tools/leveldb/entry.h"
#include "tools/leveldb/log.h"

struct wal {
    struct bb_buf bytes; /* the records */
    struct entry *entries;
    size_t count;
    size_t capacity;
    uint64_t record_count;
    uint64_t dropped_bytes; /* of records that logs end in */
};

/* Adds a log. A zeroed wal is an empty one. Owned: wal_deinit. */
BB_MUST_CHECK enum bb_status wal_add(struct wal *wal, struct bb_file_system *fs, const char *path,
                                     const struct crc32c *crc);
/* After the last one: from here on entries are in order. */
void wal_sort(struct wal *wal);
void wal_deinit(struct wal *wal);

#endif
