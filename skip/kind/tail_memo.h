/* Remembers the ends of values of a granule. If a value has the same end as an earlier one, the
 * members of this end are already in the granule's set.
 *
 *     earlier value       10.7.2.8 - - [22/Nov/2026] "GET /a/b" 200 94 "-" "Mozilla/5.0 (X11)"
 *     value         192.168.3.9 - - [22/Nov/2026] "GET /favicon" 200 94 "-" "Mozilla/5.0 (X11)"
 *                                                            |<----- the same bytes ----->|
 *
 * Many lines of a log have the same end: in an access log, the agent is half of a line. Comparing
 * bytes takes a tenth of the time of finding their tokens. A hash of its last bytes selects the
 * earlier value to compare with. Only equal bytes count as the same end, so no member is lost.
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

/* Forgets all values. Call it at the beginning of each granule. */
void bb_tail_memo_reset(struct bb_tail_memo *memo);

/* Returns the number of bytes at the end of the value that are also the end of an earlier value.
 * Remembers the value. */
size_t bb_tail_memo_take(struct bb_tail_memo *memo, struct bb_bytes value);

#endif
