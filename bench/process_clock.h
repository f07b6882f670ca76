/* Processor time of this process, of all its threads together. */
#ifndef BB_BENCH_PROCESS_CLOCK_H
#define BB_BENCH_PROCESS_CLOCK_H

#include <stdint.h>
#include <time.h>

/* In nanoseconds. */
static inline uint64_t process_clock_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* Nanoseconds since an earlier process_clock_now. */
static inline double process_clock_since(uint64_t begin)
{
    return (double)(process_clock_now() - begin);
}

#endif
