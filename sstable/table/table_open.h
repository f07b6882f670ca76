/* Opening a table that shares memory with others. */
#ifndef BB_SSTABLE_TABLE_TABLE_OPEN_H
#define BB_SSTABLE_TABLE_TABLE_OPEN_H

#include "base/large_pages.h"
#include "bb/table.h"

/* Like bb_table_open, but pinned parts are allocated from these pages, borrowed while the table is
 * open. NULL: from the allocator, as in bb_table_open. is_new: this process has written the file
 * since it opened the store, so the system probably has it in memory. */
BB_MUST_CHECK enum bb_status bb_table_open_in(const char *path,
                                              const struct bb_table_options *options,
                                              struct bb_large_pages *pages, bool is_new,
                                              struct bb_table **ret_table);

/* Lets the system drop the file from memory: the table's maps refer to no page of it until the next
 * use. */
void bb_table_forget_pages(struct bb_table *table);

#endif
