/* Times of short loops on a machine that others use too: thread CPU time, the least of many rounds.
 * What is measured is what the program needs; whoever disturbs it can only add to that. */
#ifndef BB_BENCH_PROBE_TIMER_H
#define BB_BENCH_PROBE_TIMER_H

#include <math.h>
#include <stdint.h>
#include <time.h>

static inline double probe_timer_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* Nanoseconds per turn of count turns, into *least. */
static inline void probe_timer_note(double start, uint64_t count, double *least)
{
    *least = fmin(*least, (probe_timer_now() - start) / (double)count);
}

#endif
