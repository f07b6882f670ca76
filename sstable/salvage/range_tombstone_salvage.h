/* Finds the range tombstones of a damaged table without its footer.
 *
 *     ... pages | table filter | range tombstones | root | properties | directory | foot####
 *                         `----- the directory has place and checksum ------'
 *
 * They have no separate checksum. The directory has it, with a checksum that is bound to table and
 * offset, so every offset is checked for a directory. Without a directory, bytes that look like
 * range tombstones are ignored: believing other bytes would delete data.
 *
 * Time: one scan of the bytes. Threads: one per call.
 */
#ifndef BB_SSTABLE_SALVAGE_RANGE_TOMBSTONE_SALVAGE_H
#define BB_SSTABLE_SALVAGE_RANGE_TOMBSTONE_SALVAGE_H

#include "sstable/checksum.h"
#include "sstable/ranges/range_tombstones.h"

enum bb_range_tombstone_salvage {
    /* No directory: the table may have had range tombstones, or not. */
    BB_RANGE_SALVAGE_UNTOLD,
    BB_RANGE_SALVAGE_NONE, /* the directory lists none */
    BB_RANGE_SALVAGE_LOST, /* the directory lists some, but they cannot be read */
    BB_RANGE_SALVAGE_FOUND,
};

/* file: all available bytes of the table, from its first one on. path is for messages. comparator
 * NULL: bytewise. *ret_list is set when they are found; owned. Errors: BB_NO_MEMORY. */
BB_MUST_CHECK enum bb_status bb_range_tombstone_salvage(struct bb_bytes file, const char *path,
                                                        const struct bb_comparator *comparator,
                                                        struct bb_table_id table,
                                                        enum bb_range_tombstone_salvage *ret_found,
                                                        struct bb_range_tombstones **ret_list);

/* True when the file has a directory of that table. */
bool bb_range_tombstone_salvage_has_directory(struct bb_bytes file, struct bb_table_id table);

#endif
