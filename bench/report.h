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
};

/* The median over the rounds, separately for each figure. */
void report_median(const struct report *report, size_t engine, struct run_result *ret_median);

/* Engines as sides, slices of all rounds as turns, of a phase of reading: times of the processor,
 * or by the clock; a failed run has no times.
 *
 * Owned: turns_deinit.
 */
void report_turns(const struct report *report, enum phase phase, bool of_processor,
                  struct turns *ret_turns);

void report_write_text(const struct report *report, FILE *file);
void report_write_json(const struct report *report, FILE *file);

#endif
