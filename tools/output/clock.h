/* Time for reports. */
#ifndef BB_TOOLS_OUTPUT_CLOCK_H
#define BB_TOOLS_OUTPUT_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Monotonic nanoseconds; no system call where the C library reads the clock itself. */
static inline uint64_t clock_now(void)
{
    struct timespec now = {0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

#endif
