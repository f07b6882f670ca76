/* Which keys a block or an index page of a table may hold, from the fences around it. */
#ifndef BB_TOOLS_STORE_TABLE_RANGE_H
#define BB_TOOLS_STORE_TABLE_RANGE_H

#include "sstable/table/table_walk.h"

/* Keys are copied into the buffers (replaced). Where there is no fence, the bounds of the table are
 * used. */
BB_MUST_CHECK enum bb_status table_page_range(const struct bb_table *table, uint32_t page_index,
                                              struct bb_buf *first, struct bb_buf *end);
/* Of the current block. */
BB_MUST_CHECK enum bb_status table_block_range(const struct bb_table_walk *walk,
                                               struct bb_buf *first, struct bb_buf *end);

#endif
