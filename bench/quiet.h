/* Waiting until an engine has no work left, by looking at it from outside. */
#ifndef BB_BENCH_QUIET_H
#define BB_BENCH_QUIET_H

#include <stdint.h>

/* Returns when this process has used hardly any processor time for this long; returns the monotonic
 * time at which that silence began. For engines that cannot report that they are idle, and as the
 * same final criterion for the others. */
uint64_t quiet_wait(uint64_t silence_nanoseconds);

#endif
