/* Decides whether the records of a table can be counted without reading them. This depends on the
 * data that is newer than the table:
 *
 *     no data overlaps its keys    ALL        each of its puts is visible
 *     only tables overlap them     VISIBLE    the puts that these tables do not hide
 *     a memtable overlaps them     NONE
 *
 * Threads: one; the view is pinned.
 */
#ifndef BB_KV_SELECT_TABLE_COUNTING_H
#define BB_KV_SELECT_TABLE_COUNTING_H

#include "base/buf.h"
#include "compaction/levels/table_file.h"
#include "kv/view/view.h"

enum bb_counting {
    BB_COUNTING_NONE,
    BB_COUNTING_ALL,
    BB_COUNTING_VISIBLE,
};

/* A table of a view, and the reader. */
struct bb_table_reading {
    const struct bb_view *view;             /* borrowed */
    const struct bb_comparator *comparator; /* borrowed; NULL: bytewise */
    const struct bb_key_range *range;       /* borrowed */
    uint64_t sequence;                      /* the reader's */
    size_t run;                             /* of the table: newest.h */
    struct bb_table_file *file;             /* borrowed */
};

/* For VISIBLE, *newer becomes the u64 numbers of the newer tables that overlap the table's keys,
 * newest first. Errors: BB_NO_MEMORY. */
BB_MUST_CHECK enum bb_status bb_table_counting_find(const struct bb_table_reading *reading,
                                                    struct bb_buf *newer,
                                                    enum bb_counting *ret_counting);

#endif
