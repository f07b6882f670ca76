/* A progress bar for long work, on standard error when that is a terminal.
 *
 * The work only adds to a counter; a thread of the bar's own draws it, ten times a second and not
 * before one second has passed, so that hot loops have neither clock nor system calls in them and
 * short work shows nothing.
 */
#ifndef BB_TOOLS_OUTPUT_PROGRESS_H
#define BB_TOOLS_OUTPUT_PROGRESS_H

#include <stdatomic.h>

#include "base/sync.h"

struct progress {
    const char *label; /* borrowed */
    uint64_t total;    /* 0: not known */
    _Atomic uint64_t done;
    bool is_bytes;     /* units for people */
    bool counts_reads; /* done follows the reads of the process */
    uint64_t reads_before;
    /* The thread's. */
    bool is_running;
    bool has_drawn;
    bool is_stopping; /* under mutex */
    struct bb_mutex mutex;
    struct bb_condvar stop;
    struct bb_thread thread;
};

/* Owned: progress_stop. Never fails: without a thread there is no bar. */
void progress_start(struct progress *progress, const char *label, uint64_t total, bool is_bytes);
/* The same for a call of the library that reads about `total` bytes: the system counts the
 * bytes read. */
void progress_start_reads(struct progress *progress, const char *label, uint64_t total);
/* The work has a next part, of unknown size. label: borrowed. */
void progress_next(struct progress *progress, const char *label);
/* For a call of the library that reports its progress; context is the struct progress. False after
 * an interrupt. */
bool progress_follow(void *context, uint64_t done, uint64_t total);
/* Removes the bar. */
void progress_stop(struct progress *progress);

static inline void progress_add(struct progress *progress, uint64_t amount)
{
    /* The bar may lag; it orders nothing. */
    atomic_fetch_add_explicit(&progress->done, amount, memory_order_relaxed);
}

#endif
