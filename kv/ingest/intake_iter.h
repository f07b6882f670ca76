/* What one of the tables that come in gives to the store: the entries that none of the inputs'
 * range tombstones hides, all under one sequence. Versions of one key keep their order, newest first.
 *
 *     inputs, as named    1: a b c d      2: [b, d) deleted     3: [d, e) deleted
 *     given               1: a            2: -                  3: -
 *
 * A range tombstone hides what inputs that were named earlier hold of its range, and of its own
 * input what is older by that input's sequences. Threads: one. */
#ifndef BB_KV_INGEST_INTAKE_ITER_H
#define BB_KV_INGEST_INTAKE_ITER_H

#include "bb/table.h"
#include "sstable/ranges/range_tombstones.h"

struct bb_intake_source {
    struct bb_iter *stream; /* of the input; owned from here on, also when it fails */
    uint64_t entry_count;   /* that it has to give, hidden ones counted: else BB_CORRUPT */
    uint64_t sequence;      /* for all entries */
    uint64_t rank;          /* of the input: the later one is named, the greater */
    const struct bb_range_tombstones *own; /* of the input; borrowed; NULL: none */
    /* Of all inputs; borrowed; NULL: none. Their sequences are the inputs' ranks. */
    const struct bb_range_tombstones *ranked;
    /* May it go on? Asked now and then while hidden entries are passed, which whoever moves the iterator
     * does not see; what it says ends the stream. NULL: it may. */
    enum bb_status (*may_go_on)(void *context);
    void *context;
};

/* Seeks forward alone: first and next. */
BB_MUST_CHECK enum bb_status bb_intake_iter_create(const struct bb_intake_source *source,
                                                   struct bb_iter **ret_iter);

#endif
