/* A measurement for people and for programs. */
#ifndef BB_TOOLS_MEASURE_MEASUREMENT_REPORT_H
#define BB_TOOLS_MEASURE_MEASUREMENT_REPORT_H

#include "tools/measure/measurement_check.h"
#include "tools/output/output.h"

/* Writes the subject of the measurement, and every reason to doubt its figures. */
void measurement_report_write_head(const struct measurement *measurement, struct output *out);
/* Writes every figure of every run, the levels and the checks: tables of up to 140 columns. */
void measurement_report_write_details(const struct measurement *measurement,
                                      const struct measurement_checks *checks, struct output *out);
/* Writes bars and a headline, in 80 columns. */
void measurement_summary_write(const struct measurement *measurement,
                               const struct measurement_checks *checks, struct output *out);
/* Owned. */
json_t *measurement_report_json(const struct measurement *measurement,
                                const struct measurement_checks *checks);

/* Wasted requests per lookup of an absent key; NaN without such lookups. */
double measurement_wasted_rate(const struct measurement_run *run);

#endif
