/* Zipf's distribution: rank r of n has a probability in proportion to 1 / r^0.99. */
#ifndef BB_BENCH_ZIPF_H
#define BB_BENCH_ZIPF_H

#include "bench/dice.h"

/* As in YCSB. */
#define ZIPF_EXPONENT 0.99

/* A rank from 0, the most frequent one, to n - 1. REQUIRES: n > 0. */
uint64_t zipf_draw(struct dice *dice, uint64_t n);

#endif
