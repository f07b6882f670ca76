/* See median.h. */
#include "bench/median.h"

#include <stdlib.h>

static int compare_figures(const void *a, const void *b)
{
    double left = *(const double *)a;
    double right = *(const double *)b;
    return (left > right) - (left < right);
}

double median_of(double *figures, size_t count)
{
    qsort(figures, count, sizeof(*figures), compare_figures);
    return (figures[count / 2] + figures[(count - 1) / 2]) / 2;
}
