/* An entry that has a data block of its own, as it stands in a file: so that who writes it into
 * another table need not pack it anew.
 *
 * The raw payload of such a block follows from key, sequence, kind and value alone. Of the stored
 * form only the checksum is bound to its place.
 */
#ifndef BB_SSTABLE_BLOCK_STORED_ENTRY_H
#define BB_SSTABLE_BLOCK_STORED_ENTRY_H

#include "bb/table.h"

struct bb_stored_entry {
    struct bb_bytes block;         /* as stored_block.h draws it, its checksum verified; borrowed */
    enum bb_compression attempted; /* what the table's writer was to use: the form is its outcome */
};

/* The stored form of the entry at which the iterator stands, until it moves; false: none is at hand.
 * REQUIRES: is_valid. */
static inline bool bb_iter_stored(struct bb_iter *iter, struct bb_stored_entry *ret_stored)
{
    return iter->ops->stored != NULL && iter->ops->stored(iter, ret_stored);
}

struct bb_table_builder;

/* bb_table_builder_add of an entry whose stored form is at hand; it is taken over where the table is
 * to have the same, which *ret_is_taken says. */
BB_MUST_CHECK enum bb_status bb_table_builder_add_stored(struct bb_table_builder *builder,
                                                         const struct bb_entry *entry,
                                                         const struct bb_stored_entry *stored,
                                                         bool *ret_is_taken);

#endif
