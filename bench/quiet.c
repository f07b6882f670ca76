/* See quiet.h. */
#include "bench/quiet.h"

#include <time.h>

#include "bench/counters.h"
#include "bench/process_clock.h"

#define SAMPLE_NANOSECONDS 10000000
/* Processor time within a sample that still is silence: the sampling itself takes about 10 us. */
#define BUSY_NANOSECONDS 500000

uint64_t quiet_wait(uint64_t silence_nanoseconds)
{
    uint64_t silence_began = clock_nanoseconds();
    uint64_t used = process_clock_now();
    for (;;) {
        nanosleep(&(struct timespec){.tv_nsec = SAMPLE_NANOSECONDS}, NULL);
        uint64_t used_now = process_clock_now();
        uint64_t now = clock_nanoseconds();
        if (used_now - used > BUSY_NANOSECONDS)
            silence_began = now;
        else if (now - silence_began >= silence_nanoseconds)
            return silence_began;
        used = used_now;
    }
}
