/* Do the counts of a measurement agree with each other and with the operating system's?
 *
 *     block requests   avoided + made, with filters  =  made, without filters
 *     block preads     the same, without a block cache: a cache would keep blocks of earlier runs
 *     statistics       sums over the lookups  =  sums of the store's statistics over its levels
 *     preads           of blocks, index pages and table filters  =  of the engine. A cold run also
 *                      opens tables: the rest of its preads is attributed to that
 *     system           preads of the engine  =  read calls that the operating system counted
 *     answers          the same in all runs
 *     store            the tables are the same in both halves
 *
 * All counts must agree exactly.
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
