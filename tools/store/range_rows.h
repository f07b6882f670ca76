/* Rows of range tombstones for `dump`: one for each fragment. */
#ifndef BB_TOOLS_STORE_RANGE_ROWS_H
#define BB_TOOLS_STORE_RANGE_ROWS_H

#include "sstable/salvage/table_salvage.h"
#include "tools/output/output.h"

struct range_rows {
    struct output *out; /* borrowed */
    uint64_t limit;     /* the largest number of rows */
    bool is_hex;
    json_t *list; /* borrowed: rows are appended; NULL: rows are printed as text */
};

void range_rows_write(const struct range_rows *rows, const struct bb_range_tombstones *list);

#endif
