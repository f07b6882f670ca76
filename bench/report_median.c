/* See report.h. A run_result is figures of 64 bits throughout, so it is an array of them. */
#include <stdlib.h>
#include <string.h>

#include "bench/report.h"

#define FIGURES (sizeof(struct run_result) / sizeof(uint64_t))

_Static_assert(sizeof(struct run_result) ==
                   sizeof(uint64_t) * (PHASE_COUNT * (3 + 3 * RUN_SLICES_MAX +
                                                      sizeof(struct counters) / sizeof(uint64_t)) +
                                       3),
               "a run_result is an array of figures");

static int compare_figures(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a;
    uint64_t right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

static uint64_t median(uint64_t *figures, size_t count)
{
    qsort(figures, count, sizeof(*figures), compare_figures);
    uint64_t upper = figures[count / 2];
    uint64_t lower = figures[(count - 1) / 2];
    return lower + (upper - lower) / 2;
}

/* The median over the rounds, separately for each figure. */
static void find_median(const struct report *report, size_t engine, struct run_result *ret_median)
{
    uint64_t medians[FIGURES];
    uint64_t figures[COMPARE_ROUNDS_MAX];
    for (size_t i = 0; i < FIGURES; i++) {
        for (uint64_t round = 0; round < report->options->rounds; round++)
            memcpy(&figures[round],
                   (const char *)&report->results[engine][round] + i * sizeof(uint64_t),
                   sizeof(uint64_t));
        medians[i] = median(figures, report->options->rounds);
    }
    memcpy(ret_median, medians, sizeof(medians));
}

const char *report_workload(const struct report *report)
{
    const struct mix *mix = report->options->mixed.mix;
    return mix == NULL ? "standard" : mix->name;
}

void report_finish(struct report *report)
{
    report->reference = report->options->engine_count;
    for (size_t i = 0; i < report->options->engine_count; i++) {
        find_median(report, i, &report->medians[i]);
        if (report->options->engines[i] == &bench_engine_bloomblock)
            report->reference = i;
    }
}

static uint64_t time_of(const struct slice_time *time, enum report_clock clock)
{
    return clock == REPORT_CLOCK       ? time->clock
           : clock == REPORT_PROCESSOR ? time->processor
                                       : time->process;
}

void report_turns(const struct report *report, enum phase phase, enum report_clock clock,
                  struct turns *ret_turns)
{
    const struct compare_options *options = report->options;
    turns_init(ret_turns, options->engine_count, options->rounds * options->slice_count);
    for (size_t engine = 0; engine < options->engine_count; engine++) {
        for (size_t turn = 0; turn < ret_turns->turn_count && !report->is_failed[engine]; turn++) {
            const struct run_result *result = &report->results[engine][turn / options->slice_count];
            const struct slice_time *time =
                &result->phases[phase].slices[turn % options->slice_count];
            turns_note(ret_turns, engine, turn, (double)time_of(time, clock));
        }
    }
}
