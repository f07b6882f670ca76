/* Follows a run in order while a selection looks up ascending keys in it. Where the keys are dense,
 * reading the run takes less time than lookups:
 *
 *     keys        k1      k2  k3          k4    k5
 *     run             a       k3  b   c       d       e
 *                     ^------>^-------------->^             a step takes about 50 ns,
 *                                                           a lookup 80 ns, or 2 us with its block
 *
 * A cursor decides by these costs, counted in steps. Lookups without it add to `saved`; when that
 * reaches `price`, the cursor begins at the next key. Each answer adds the cost of the lookup that
 * it replaces to `credit`; each step takes one away, and more if it enters a block. Without credit
 * the cursor leaves the run; if it has not earned its seek, the price doubles. So a selection of
 * sparse keys pays for a few seeks, not for one per key.
 *
 * A cursor that cannot read its run ends permanently, without an error. Lookups decide then, and
 * many of them need no block.
 *
 * Threads: one; the view is pinned.
 */
#ifndef BB_KV_SELECT_RUN_CURSOR_H
#define BB_KV_SELECT_RUN_CURSOR_H

#include "bb/table.h"
#include "compaction/levels/run.h"

struct bb_run_cursor {
    struct bb_iter *iter; /* owned; NULL before the first use */
    bool is_placed;
    bool is_ended; /* permanently */
    uint32_t saved;
    uint32_t price;
    uint32_t credit;
    uint64_t earned; /* since the cursor began */
};

/* The run, and how to read it. */
struct bb_followed_run {
    const struct bb_run *run;               /* borrowed */
    const struct bb_comparator *comparator; /* borrowed; NULL: bytewise */
    struct bb_read_stats *stats;            /* of its reads; must outlive the cursor */
};

void bb_run_cursor_deinit(struct bb_run_cursor *cursor);

/* Finds the newest version of the key with at most this sequence. False: the cursor does not know,
 * and the caller looks up the key. *ret_entry is NULL if the run has no such version; borrowed
 * until the next call. The keys of successive calls ascend or are equal; before another order, call
 * bb_run_cursor_leave. */
bool bb_run_cursor_find(struct bb_run_cursor *cursor, const struct bb_followed_run *followed,
                        struct bb_bytes key, uint64_t sequence, const struct bb_entry **ret_entry);
/* Call after the lookup that replaces an answer of the cursor. is_searched: it searched a block. */
void bb_run_cursor_learn(struct bb_run_cursor *cursor, bool is_searched);
/* Ends at the current key. The cursor may begin again. */
void bb_run_cursor_leave(struct bb_run_cursor *cursor);

#endif
