/* The counters of the operating system for this process: /proc/self/io of Linux.
 *
 * Reading the counters is itself a read call, and counts. So an interval between two readings is
 * corrected by an empty interval, which is measured first. A known number of reads tests whether
 * the counter is reliable. It is not if the file does not exist, if the counter does not change
 * (some sandboxes), or if other code reads inside the process (a tool such as valgrind). Threads:
 * one.
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
/* Receives counters that a caller does not need. */
void system_counters_disable(struct system_counters *counters, const char *reason);
bool system_counters_are_available(const struct system_counters *counters);

/* REQUIRES: available. A reading that fails leaves zeros and makes the counters unavailable. */
struct system_reading system_counters_read(struct system_counters *counters);
/* The difference between two readings, minus the empty interval. */
struct system_reading system_counters_between(const struct system_counters *counters,
                                              struct system_reading before,
                                              struct system_reading after);

#endif
