/* One engine through a mixed workload (mix.h), in a separate process, by one or more threads.
 *
 * The threads load the keys together, then take each phase in slices. In a slice each thread has
 * an equal part of its operations, as batches. The time of a slice is the sum over the threads:
 * with two threads, an operation that takes as long as with one means twice the operations per
 * second.
 * Each write is a commit, except in the load.
 */
#ifndef BB_BENCH_MIXED_RUN_H
#define BB_BENCH_MIXED_RUN_H

#include "bench/ledger.h"
#include "bench/mix.h"

#define MIXED_THREADS_MAX 16

struct mixed_options {
    const struct mix *mix;
    uint64_t operation_count; /* of each phase */
    uint64_t thread_count;    /* 1 ... MIXED_THREADS_MAX */
};

/* The ledger that an engine's run needs. Owned: ledger_deinit. */
void mixed_run_ledger(const struct mixed_options *options, const struct workload *workload,
                      struct ledger *ret_ledger);
/* Ends the process on a wrong result. The directory exists and is empty; the store stays in it. The
 * ledger belongs to this run: no key is stored in it. */
void mixed_run_engine(const struct bench_engine *engine, const struct run_options *options,
                      const struct mixed_options *mixed, struct ledger *ledger,
                      struct run_result *ret_result);

#endif
