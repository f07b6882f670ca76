/* Sees the entries of a table in order, with the number of the block that each is in: while the table
 * is written (table_builder.h), or of one that is there (table_blocks.h). */
#ifndef BB_SSTABLE_TABLE_OBSERVER_H
#define BB_SSTABLE_TABLE_OBSERVER_H

#include "bb/table.h"

struct bb_table_observer {
    /* block_number never falls. A failure ends the work, and is its status. */
    enum bb_status (*add)(void *context, const struct bb_entry *entry, uint64_t block_number);
    void *context;
};

#endif
