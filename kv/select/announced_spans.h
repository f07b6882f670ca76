/* Announces reads of a table to the system, so that they wait for the device together.
 *
 * A selection reads a few spans of a table: contiguous ranges of needed blocks. From the page cache
 * a span takes microseconds, and announcing it would cost as much. So announcing begins when a read
 * had to wait. Then spans that follow are announced in batches: first the index pages of a batch,
 * which have the places of blocks, then the blocks. The next batch follows before the current one
 * ends.
 *
 *     spans     read  read  reading | announced  announced  announced | not yet
 *
 * Threads: one.
 */
#ifndef BB_KV_SELECT_ANNOUNCED_SPANS_H
#define BB_KV_SELECT_ANNOUNCED_SPANS_H

#include "kv/select/table_granules.h"
#include "sstable/table/table_blocks.h"

/* Of one selection; zeroed: no read has waited. */
struct bb_announcing {
    size_t batch; /* spans; 0: reads do not wait */
};

/* Of one table; zeroed at first. */
struct bb_announced_spans {
    uint64_t end; /* the block after the last announced one */
    size_t left;  /* announced spans that were not entered */
};

/* Notes how long the first read of a span took. */
void bb_announced_spans_note(struct bb_announcing *announcing, uint64_t nanoseconds);

/* The reader enters a span, which ends before block `span_end`. Announces spans after it, if reads
 * wait. A failure of reading an index page is left to the read of the span. */
void bb_announced_spans_enter(struct bb_announced_spans *spans, struct bb_announcing *announcing,
                              const struct bb_table_granules *granules,
                              struct bb_table_blocks *blocks, uint64_t span_end);

#endif
