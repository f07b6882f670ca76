/* Opening a table that shares memory with others. */
#ifndef BB_SSTABLE_TABLE_OPEN_H
#define BB_SSTABLE_TABLE_OPEN_H

#include "base/large_pages.h"
#include "bb/table.h"

/* As bb_table_open; what it pins comes from these pages, borrowed while it is open. NULL: from the
 * allocator, as there. */
BB_MUST_CHECK enum bb_status bb_table_open_in(const char *path,
                                              const struct bb_table_options *options,
                                              struct bb_large_pages *pages,
                                              struct bb_table **ret_table);

#endif
