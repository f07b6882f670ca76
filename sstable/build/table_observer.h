/* An observer receives the entries of a table in order, each with its block number: while the table
 * is written (table_builder.h), or from a finished table (table_blocks.h). */
#ifndef BB_SSTABLE_BUILD_TABLE_OBSERVER_H
#define BB_SSTABLE_BUILD_TABLE_OBSERVER_H

#include "bb/table.h"

struct bb_table_observer {
    /* block_number never decreases. A failure ends the work and becomes its status. */
    enum bb_status (*add)(void *context, const struct bb_entry *entry, uint64_t block_number);
    void *context;
};

#endif
