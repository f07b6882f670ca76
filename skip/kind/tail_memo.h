/* Ends of values that a granule had before: their members are in its set already.
 *
 *     earlier value       10.7.2.8 - - [22/Nov/2026] "GET /a/b" 200 94 "-" "Mozilla/5.0 (X11)"
 *     value         192.168.3.9 - - [22/Nov/2026] "GET /favicon" 200 94 "-" "Mozilla/5.0 (X11)"
 *                                                            |<----- the same bytes ----->|
 *
 * Many lines of a log have the same end: the agent is half of a line of an access log. To compare
 * bytes takes a tenth of the time of their tokens. A hash chooses the value to compare with, and
 * equal bytes decide: no member is lost.
 *
 * Threads: one.
 */
#ifndef BB_SKIP_KIND_TAIL_MEMO_H
#define BB_SKIP_KIND_TAIL_MEMO_H

#include "base/status.h"

#define BB_TAIL_MEMO_SLOTS 256

struct bb_tail_memo {
    uint8_t *bytes; /* owned: a value's end for each slot */
    uint16_t sizes[BB_TAIL_MEMO_SLOTS];
};

/* Errors: BB_NO_MEMORY. */
BB_MUST_CHECK enum bb_status bb_tail_memo_init(struct bb_tail_memo *memo);
void bb_tail_memo_deinit(struct bb_tail_memo *memo);

/* Forgets all values: a granule begins. */
void bb_tail_memo_reset(struct bb_tail_memo *memo);

/* How many bytes at the end of the value are also the end of an earlier one. Keeps the value. */
size_t bb_tail_memo_take(struct bb_tail_memo *memo, struct bb_bytes value);

#endif
