/* A progress bar for long work, on standard error when that is a terminal.
 *
 * The work only adds to a counter; a thread of the bar's own draws it, ten times a second and not
 * before one second has passed, so that hot loops have neither clock nor system calls in them and
 * short work shows nothing.
 */
#ifndef BB_TOOLS_PROGRESS_H
#define BB_TOOLS_PROGRESS_H

#include <stdatomic.h>

#include "base/sync.h"

struct progress {
    const char *label; /* borrowed */
    uint64_t total;    /* 0: not known */
    _Atomic uint64_t done;
    bool is_bytes; /* units for people */
    /* The thread's. */
    bool is_running;
    bool has_drawn;
    bool is_stopping; /* under mutex */
    struct bb_mutex mutex;
    struct bb_condvar stop;
    struct bb_thread thread;
};

/* Owned: progress_stop. Never fails: for want of a thread there is no bar. */
void progress_start(struct progress *progress, const char *label, uint64_t total, bool is_bytes);
/* Removes the bar. */
void progress_stop(struct progress *progress);

static inline void progress_add(struct progress *progress, uint64_t amount)
{
    /* The bar may lag; it orders nothing. */
    atomic_fetch_add_explicit(&progress->done, amount, memory_order_relaxed);
}

#endif
