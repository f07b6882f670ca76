/* Processor time of the calling thread: on a machine that others use too, time in which it waited
 * for the processor is not in it. */
#ifndef BB_BENCH_THREAD_CLOCK_H
#define BB_BENCH_THREAD_CLOCK_H

#include <time.h>

/* In nanoseconds. */
static inline double thread_clock_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

#endif
