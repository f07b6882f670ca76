/* Rejection-inversion (Hoermann, Derflinger, ACM TOMACS 1996): exact, and without a sum over all
 * ranks, so that n may change with every draw. See zipf.h. */
#include "bench/zipf.h"

#include <math.h>

/* The integral of x^-s, from 1. */
static double integral(double x)
{
    return (pow(x, 1 - ZIPF_EXPONENT) - 1) / (1 - ZIPF_EXPONENT);
}

static double integral_inverse(double y)
{
    return pow(1 + y * (1 - ZIPF_EXPONENT), 1 / (1 - ZIPF_EXPONENT));
}

static double density(double x)
{
    return pow(x, -ZIPF_EXPONENT);
}

uint64_t zipf_draw(struct dice *dice, uint64_t n)
{
    double low = integral(1.5) - 1;
    double high = integral((double)n + 0.5);
    for (;;) {
        double y = low + dice_unit(dice) * (high - low);
        double rank = floor(integral_inverse(y) + 0.5);
        rank = rank < 1 ? 1 : rank > (double)n ? (double)n : rank;
        if (y >= integral(rank + 0.5) - density(rank))
            return (uint64_t)rank - 1;
    }
}
