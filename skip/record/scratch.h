/* Memory of a reader for text without its escapes.
 *
 * Space for all that one record can need is made with the first text that needs it: no address
 * changes while a record is read. Without memory the record is not read (has_failed). Threads: one.
 */
#ifndef BB_SKIP_RECORD_SCRATCH_H
#define BB_SKIP_RECORD_SCRATCH_H

#include "bb/base.h"

struct bb_scratch {
    struct bb_buf buf;
    size_t capacity; /* bytes that the current record can need */
    bool has_failed; /* an allocation did */
};

/* Forgets the record before. capacity: no more bytes are taken until the next reset. */
void bb_scratch_reset(struct bb_scratch *scratch, size_t capacity);
/* size bytes to be written, or NULL after a failure. bb_scratch_shrink returns unused bytes, before
 * the next is taken. */
uint8_t *bb_scratch_take(struct bb_scratch *scratch, size_t size);
void bb_scratch_shrink(struct bb_scratch *scratch, size_t unused);

#endif
