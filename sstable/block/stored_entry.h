/* The stored form of an entry with a separate data block. A copy of the entry into another table
 * can reuse it instead of compressing it again.
 *
 * The raw payload of such a block depends only on key, sequence, kind and value. Of the stored form
 * only the checksum depends on its place.
 */
#ifndef BB_SSTABLE_BLOCK_STORED_ENTRY_H
#define BB_SSTABLE_BLOCK_STORED_ENTRY_H

#include "base/assert.h"
#include "bb/table.h"

struct bb_stored_entry {
    struct bb_bytes block; /* as drawn in stored_block.h, its checksum verified; borrowed */
    /* the compression that the writer tried; the form shows the result */
    enum bb_compression attempted;
};

/* The stored form of the iterator's current entry, borrowed until it moves. False when it is not
 * available. REQUIRES: is_valid. */
static inline bool bb_iter_stored(struct bb_iter *iter, struct bb_stored_entry *ret_stored)
{
    BB_DEBUG_ASSERT(iter->is_valid);
    return iter->ops->stored != NULL && iter->ops->stored(iter, ret_stored);
}

struct bb_table_builder;

/* bb_table_builder_add for an entry whose stored form is available. The form is copied if the new
 * table would store the same bytes; *ret_is_taken reports that. */
BB_MUST_CHECK enum bb_status bb_table_builder_add_stored(struct bb_table_builder *builder,
                                                         const struct bb_entry *entry,
                                                         const struct bb_stored_entry *stored,
                                                         bool *ret_is_taken);

#endif
