/* The range tombstones of a damaged table, found without its footer.
 *
 *     ... pages | summary | range tombstones | root | properties | directory | foot####
 *                         `---- place and checksum stand here -----'
 *
 * They have no checksum of their own: the directory has it, which has one itself, bound to table and
 * offset. So it is looked for at every offset. Without a directory nothing that looks like range
 * tombstones is believed: what is none would delete data.
 *
 * Time: one pass over the bytes. Threads: one per call.
 */
#ifndef BB_SSTABLE_SALVAGE_RANGE_SALVAGE_H
#define BB_SSTABLE_SALVAGE_RANGE_SALVAGE_H

#include "sstable/checksum.h"
#include "sstable/ranges/range_tombstones.h"

enum bb_range_salvage {
    BB_RANGE_SALVAGE_UNTOLD, /* no directory: the table may have had some, or none */
    BB_RANGE_SALVAGE_NONE,   /* the directory knows of none */
    BB_RANGE_SALVAGE_LOST,   /* the directory knows of some, and they cannot be read */
    BB_RANGE_SALVAGE_FOUND,
};

/* file: all bytes of the table there are, from its first one on; path for messages. comparator NULL:
 * bytewise. *ret_list is set when they are found; owned. BB_NO_MEMORY. */
BB_MUST_CHECK enum bb_status bb_range_salvage(struct bb_bytes file, const char *path,
                                              const struct bb_comparator *comparator,
                                              struct bb_table_id table,
                                              enum bb_range_salvage *ret_found,
                                              struct bb_range_tombstones **ret_list);

/* Is a directory of that table in the file? */
bool bb_range_salvage_has_directory(struct bb_bytes file, struct bb_table_id table);

#endif
