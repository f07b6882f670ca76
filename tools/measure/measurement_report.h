/* A measurement for people and for programs. */
#ifndef BB_TOOLS_MEASURE_MEASUREMENT_REPORT_H
#define BB_TOOLS_MEASURE_MEASUREMENT_REPORT_H

#include "tools/measure/measurement_check.h"
#include "tools/output/output.h"

/* Its subject, and everything that puts its figures in question. */
void measurement_report_write_head(const struct measurement *measurement, struct output *out);
/* Every figure of every run, the levels and the checks: tables of up to 140 columns. */
void measurement_report_write_details(const struct measurement *measurement,
                                      const struct measurement_checks *checks, struct output *out);
/* Bars and a headline in 80 columns. */
void measurement_summary_write(const struct measurement *measurement,
                               const struct measurement_checks *checks, struct output *out);
/* Owned. */
json_t *measurement_report_json(const struct measurement *measurement,
                                const struct measurement_checks *checks);

/* Wasted requests of absent lookups for each of these; NaN without absent lookups. */
double measurement_wasted_rate(const struct measurement_run *run);

#endif
