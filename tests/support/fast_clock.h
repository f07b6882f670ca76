/* A file system that has only a clock, which advances by a millisecond at each question: each copy
 * that is timed with it seems to have waited. Threads: any. */
#ifndef BB_TESTS_SUPPORT_FAST_CLOCK_H
#define BB_TESTS_SUPPORT_FAST_CLOCK_H

#include <stdatomic.h>

#include "base/file.h"

struct fast_clock {
    struct bb_file_system base; /* must be first */
    struct bb_file_system_ops ops;
    _Atomic uint64_t time;
};

static inline uint64_t fast_clock_now(struct bb_file_system *fs)
{
    return atomic_fetch_add(&((struct fast_clock *)fs)->time, 1000000);
}

static inline void fast_clock_init(struct fast_clock *clock)
{
    *clock = (struct fast_clock){.base.ops = &clock->ops, .ops.now = fast_clock_now};
}

#endif
