/* A LevelDB table (.ldb, .sst), entry after entry.
 *
 *     file   := data block ... | other blocks | index block | footer, 48
 *     footer := handle of a block we do not need | handle of the index | zeros | magic, 8
 *
 * The index has an entry per data block: a key not before the block's last, and its handle.
 * Threads: one.
 */
#ifndef BB_TOOLS_LEVELDB_TABLE_H
#define BB_TOOLS_LEVELDB_TABLE_H

#include "tools/leveldb/block.h"
#include "tools/leveldb/entry.h"

struct table {
    const struct crc32c *crc; /* borrowed */
    struct bb_file *file;     /* owned; NULL: no table is open */
    uint64_t file_size;
    struct block index;
    struct block data;
    struct bb_buf last_key; /* as stored, for the order; empty: none. Of the table before, if set */
    struct entry entry;     /* current; borrowed */
};

/* file_size: from the manifest. Owned: table_close, also on failure; a zeroed table is closed. */
BB_MUST_CHECK enum bb_status table_open(struct table *table, struct bb_file_system *fs,
                                        const char *path, uint64_t file_size,
                                        const struct crc32c *crc);
void table_close(struct table *table);
/* Moves to the next entry; *ret_has is false after the last. BB_CORRUPT if entries are out of
 * order. */
BB_MUST_CHECK enum bb_status table_next(struct table *table, bool *ret_has);

#endif
