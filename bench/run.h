/* Runs one engine through the standard workload, in a separate process. The workload has a load in
 * random order, then lookups, range queries and a scan, as loaded and after a full compaction.
 * runner.h describes how phases are measured.
 */
#ifndef BB_BENCH_RUN_H
#define BB_BENCH_RUN_H

#include "bench/runner.h"
#include "bench/workload.h"

/* Ends the process on a wrong result. The directory exists and is empty; the store stays in it. */
void run_engine(const struct bench_engine *engine, const struct run_options *options,
                const struct workload *workload, struct run_result *ret_result);

#endif
