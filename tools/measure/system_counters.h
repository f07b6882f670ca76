/* The counters of the operating system for this process: /proc/self/io of Linux.
 *
 * Reading the counters is itself a read call that they count. So an empty interval is measured
 * first, and its calls are subtracted from each difference between two readings. The counters are
 * then tested with a known number of reads. They are not available if the file does not exist, if
 * they do not change (some sandboxes), or if other code in the process reads (a tool such as
 * valgrind).
 *
 * Threads: one.
 */
#ifndef BB_TOOLS_MEASURE_SYSTEM_COUNTERS_H
#define BB_TOOLS_MEASURE_SYSTEM_COUNTERS_H

#include "bb/base.h"

struct system_reading {
    uint64_t read_calls; /* syscr: read, pread and their relatives, all threads */
    uint64_t read_bytes; /* fetched from the storage, not from the page cache */
};

struct system_counters {
    int fd;               /* -1: not available */
    uint64_t empty_calls; /* read calls of an empty interval */
    char reason[128];     /* why not available */
};

/* Owned: system_counters_close. Never fails: see system_counters_are_available. */
void system_counters_open(struct system_counters *counters);
void system_counters_close(struct system_counters *counters);
/* Makes open counters unavailable. reason: copied. */
void system_counters_disable(struct system_counters *counters, const char *reason);
bool system_counters_are_available(const struct system_counters *counters);

/* REQUIRES: available. A failure makes the counters unavailable and returns zeros. */
struct system_reading system_counters_read(struct system_counters *counters);
/* The difference between two readings, minus the empty interval. */
struct system_reading system_counters_between(const struct system_counters *counters,
                                              struct system_reading before,
                                              struct system_reading after);

#endif
