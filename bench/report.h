/* The results of all rounds, as text for people and JSON for programs. */
#ifndef BB_BENCH_REPORT_H
#define BB_BENCH_REPORT_H

#include <stdio.h>

#include "bench/compare_options.h"
#include "bench/machine.h"
#include "bench/run.h"
#include "bench/turns.h"

struct report {
    const struct compare_options *options; /* borrowed */
    struct machine machine;
    /* results[engine][round]; for an engine that failed, is_failed. */
    struct run_result results[COMPARE_ENGINES_MAX][COMPARE_ROUNDS_MAX];
    bool is_failed[COMPARE_ENGINES_MAX];
    /* By report_finish: */
    struct run_result medians[COMPARE_ENGINES_MAX];
    size_t reference; /* the place of bloomblock among the engines; engine_count: not there */
};

/* Which time of a slice. */
enum report_clock {
    REPORT_CLOCK,     /* elapsed */
    REPORT_PROCESSOR, /* of the threads that call */
    REPORT_PROCESS,   /* of the processor, in all threads, until the engine is quiet */
};

/* After the last round, before the calls below. */
void report_finish(struct report *report);

/* The turns of a phase that has slices: engines are the sides, slices of all rounds are the turns.
 * A failed run has no times.
 *
 * Owned: turns_deinit.
 */
void report_turns(const struct report *report, enum phase phase, enum report_clock clock,
                  struct turns *ret_turns);

/* The name of the workload. */
const char *report_workload(const struct report *report);

void report_write_text(const struct report *report, FILE *file);
void report_write_json(const struct report *report, FILE *file);

#endif
