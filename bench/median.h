/* The median of repeated figures: disturbances of fewer than half of them do not affect it. */
#ifndef BB_BENCH_MEDIAN_H
#define BB_BENCH_MEDIAN_H

#include <stddef.h>

/* Sorts the figures, of which there is one at least; the mean of the middle two if their number is
 * even. */
double median_of(double *figures, size_t count);

#endif
