/* The operating system's counts for this process, all its threads together.
 *
 * Source: /proc/self/io, /proc/self/status and getrusage. Reading the counters is itself a read;
 * counters_init measures an empty interval, and counters_since subtracts it.
 */
#ifndef BB_BENCH_COUNTERS_H
#define BB_BENCH_COUNTERS_H

#include <stdint.h>

/* Names of the fields, in order: the report walks them. */
#define COUNTERS_FIELDS(X)                                                                         \
    X(read_calls)     /* syscr: read, pread and similar calls; mapped files need none */           \
    X(read_bytes)     /* rchar: bytes returned by them, from the page cache or not */              \
    X(write_calls)    /* syscw */                                                                  \
    X(written_bytes)  /* wchar; writes to mapped files are not in it */                            \
    X(device_read)    /* bytes fetched from the device */                                          \
    X(device_written) /* bytes of pages made dirty, mapped ones included */                        \
    X(minor_faults)                                                                                \
    X(major_faults)    /* faults that waited for the device */                                     \
    X(cpu_nanoseconds) /* user and system, all threads */

struct counters {
#define COUNTERS_DECLARE(name) uint64_t name;
    COUNTERS_FIELDS(COUNTERS_DECLARE)
#undef COUNTERS_DECLARE
};

/* Measures the cost of reading the counters. */
void counters_init(void);
void counters_read(struct counters *ret_counters);
/* What happened since, without the reading itself. */
void counters_since(const struct counters *before, struct counters *ret_difference);

/* Memory of the process that no file backs and that is not shared, in bytes: pages of mapped files
 * are not in it. */
uint64_t counters_anonymous_bytes(void);

uint64_t clock_nanoseconds(void);

#endif
