/* The figures that the text shows: a row for each, and its value for an engine. Rows of phases that
 * no engine ran are omitted. */
#ifndef BB_BENCH_REPORT_FIGURES_H
#define BB_BENCH_REPORT_FIGURES_H

#include "bench/report.h"

/* Computes a figure of an engine. */
typedef double report_figure(const struct report *report, const struct run_result *result,
                             enum phase phase);

struct report_row {
    const char *label;
    report_figure *figure;
    enum phase phase;
    /* Processor time of the whole process; NULL: measured in slices, or not at all. */
    report_figure *process;
};

struct report_rows {
    const struct report_row *rows;
    size_t count;
};

extern const struct report_rows report_times;   /* of operations */
extern const struct report_rows report_reads;   /* as the system counts them */
extern const struct report_rows report_devices; /* bytes from the device */
extern const struct report_rows report_whole;   /* sizes, and times of the whole */

/* Whether an engine ran the row's phase; with a clock, whether it measured this time there. */
bool report_has(const struct report *report, const struct report_row *row);
bool report_has_clock(const struct report *report, const struct report_row *row,
                      enum report_clock clock);
/* The engine's time divided by bloomblock's, NAN without one. Slices are compared within turns, the
 * rest as a whole. REQUIRES: report_has_reference. */
double report_ratio(const struct report *report, const struct report_row *row, size_t engine,
                    enum report_clock clock);
/* Whether the engines can be compared with bloomblock. */
bool report_has_reference(const struct report *report);

#endif
