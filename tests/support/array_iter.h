/* A sorted stream (struct bb_iter) over an array of entries, for every reader of streams.
 *
 * It is as strict as the contract allows: the current entry is a separate copy, released at every
 * move, so that the address sanitizer finds users that keep a borrowed key too long. Moving an
 * iterator that is not valid ends the process, and so does a step before a seek that is out of
 * order, or is not followed by that seek.
 * Threads: one.
 */
#ifndef BB_TESTS_SUPPORT_ARRAY_ITER_H
#define BB_TESTS_SUPPORT_ARRAY_ITER_H

#include "bb/table.h"

/* entries: in the order of struct bb_entry under comparator (which is asserted), borrowed while the
 * iterator lives. Owned: bb_iter_destroy. */
struct bb_iter *bb_array_iter_create(const struct bb_entry *entries, size_t count,
                                     const struct bb_comparator *comparator);

/* sstable/approach.h: steps without an effect. */
bool bb_array_iter_approach(struct bb_iter *iter, struct bb_bytes key, uint64_t sequence,
                            unsigned step);

/* The n-th move (1 is the next; seeks count) fails with the status and a message; later moves work
 * again. 0 cancels the plan. */
void bb_array_iter_fail(struct bb_iter *iter, uint64_t nth, enum bb_status status);

/* Moves so far, seeks included. */
uint64_t bb_array_iter_moves(const struct bb_iter *iter);

/* Sorts entries into the order that the iterator wants. */
void bb_array_iter_sort(struct bb_entry *entries, size_t count,
                        const struct bb_comparator *comparator);

#endif
