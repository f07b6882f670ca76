/* A measurement for people and for programs. */
#ifndef BB_TOOLS_MEASURE_MEASUREMENT_REPORT_H
#define BB_TOOLS_MEASURE_MEASUREMENT_REPORT_H

#include "tools/measure/measurement_check.h"
#include "tools/output.h"

void measurement_report_write(const struct measurement *measurement,
                              const struct measurement_checks *checks, struct output *out);
/* Owned. */
json_t *measurement_report_json(const struct measurement *measurement,
                                const struct measurement_checks *checks);

/* Wasted requests of absent look-ups for each of these; NaN without absent lookups. */
double measurement_wasted_rate(const struct measurement_run *run);

#endif
