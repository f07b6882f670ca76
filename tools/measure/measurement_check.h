/* Do the counts of a measurement agree with each other and with the operating system's?
 *
 *     requests   avoided (counted at each negative) + made, with filters  =  made without filters
 *     preads     the same, when there is no block cache: then neither run inherits blocks
 *     statistics sums over the lookups  =  sums of the store by level
 *     parts preads of blocks, index pages and table filters = preads of the engine; cold runs open
 *                tables too
 *     system     preads of the engine  =  read calls that the operating system counted
 *     answers    the same with and without filters
 *
 * All of them to the unit.
 */
#ifndef BB_TOOLS_MEASURE_MEASUREMENT_CHECK_H
#define BB_TOOLS_MEASURE_MEASUREMENT_CHECK_H

#include "tools/measure/measurement.h"

#define MEASUREMENT_CHECK_COUNT_MAX 24

struct measurement_check {
    char name[64];
    char detail[160]; /* the sum in words */
    uint64_t found;
    uint64_t expected;
    bool is_ok;
};

struct measurement_checks {
    struct measurement_check list[MEASUREMENT_CHECK_COUNT_MAX];
    size_t count;
    bool are_ok;
};

void measurement_checks_make(const struct measurement *measurement,
                             struct measurement_checks *ret_checks);

#endif
