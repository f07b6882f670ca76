/* Whether flushes follow each other, so that level 0 may gather runs: compactions that wait for more
 * of them write less.
 *
 *     flushes     x   x   x   x                       x
 *     level 0     busy _____________|  quiet          |  busy
 *                              |<-->|
 *                              BB_PACE_NANOSECONDS
 *
 * Guarded by the store's mutex.
 */
#ifndef BB_KV_WRITE_PACE_H
#define BB_KV_WRITE_PACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Flushes have ceased when none has ended for so long. */
#define BB_PACE_NANOSECONDS UINT64_C(5000000000)

/* A zeroed struct is quiet. */
struct bb_pace {
    bool is_busy;
    uint64_t flushed_at; /* by the store's clock */
    size_t waiters;      /* calls of bb_db_wait_idle: nothing more comes from them */
};

static inline void bb_pace_flushed(struct bb_pace *pace, uint64_t now)
{
    pace->is_busy = true;
    pace->flushed_at = now;
}

/* Nanoseconds until flushes have ceased, if none ends: at least 1, and no more than
 * BB_PACE_NANOSECONDS, also where the clock has gone back. */
static inline uint64_t bb_pace_left(const struct bb_pace *pace, uint64_t now)
{
    uint64_t elapsed = now > pace->flushed_at ? now - pace->flushed_at : 0;
    return elapsed < BB_PACE_NANOSECONDS ? BB_PACE_NANOSECONDS - elapsed : 1;
}

/* They have ceased. */
static inline void bb_pace_rest(struct bb_pace *pace)
{
    pace->is_busy = false;
}

static inline bool bb_pace_is_quiet(const struct bb_pace *pace)
{
    return !pace->is_busy || pace->waiters > 0;
}

#endif
