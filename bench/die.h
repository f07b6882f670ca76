/* Ends a run after a failure. Its figures would be worthless, and loops stay free of checks. */
#ifndef BB_BENCH_DIE_H
#define BB_BENCH_DIE_H

#include "bb/base.h"

/* Prints the failure, after the program's name, and ends the process with status 1. */
_Noreturn void bench_die(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* With the status and the message that explains it. */
_Noreturn void bench_die_of(enum bb_status status);
/* Zeroed memory; ends the process when memory is exhausted. Owned: free. */
void *bench_allocate(size_t size);

/* Ends the process unless status is BB_OK. */
static inline void bench_must(enum bb_status status)
{
    if (status != BB_OK)
        bench_die_of(status);
}

#endif
