/* The entries that one ingested table contributes: those not hidden by a range tombstone of any
 * input, all under one sequence. Versions of one key keep their order, newest first.
 *
 *     inputs, as named    1: a b c d      2: [b, d) deleted     3: [d, e) deleted
 *     result              1: a            2: -                  3: -
 *
 * A range tombstone hides entries of earlier inputs in its range. In its own input it hides entries
 * that are older by that input's sequences.
 * Threads: one.
 */
#ifndef BB_KV_INGEST_INTAKE_ITER_H
#define BB_KV_INGEST_INTAKE_ITER_H

#include "bb/table.h"
#include "sstable/ranges/range_tombstones.h"

struct bb_intake_source {
    /* Stream over the input; owned, also on failure. */
    struct bb_iter *stream;
    /* Expected number of entries, including hidden ones. A different number is BB_CORRUPT. */
    uint64_t entry_count;
    uint64_t sequence;                     /* for all entries */
    uint64_t number;                       /* of the input; later inputs have higher ones */
    const struct bb_range_tombstones *own; /* of the input; borrowed; NULL if none */
    /* Of all inputs; borrowed; NULL if none. Their sequences are the inputs' numbers. */
    const struct bb_range_tombstones *by_input;
    /* Called from time to time while hidden entries are skipped, which the caller of the iterator
     * cannot observe. A failure ends the stream with that status. NULL: never fails. */
    enum bb_status (*may_go_on)(void *context);
    void *context;
};

/* The iterator only moves forward: seek_first and next. */
BB_MUST_CHECK enum bb_status bb_intake_iter_create(const struct bb_intake_source *source,
                                                   struct bb_iter **ret_iter);

#endif
