/* Tells whether a series of flushes is in progress. If so, level 0 collects runs: compactions that
 * wait for more of them write less.
 *
 *     flushes     x   x   x   x                       x
 *     level 0     busy _____________|  quiet          |  busy
 *                              |<-->|
 *                              BB_PACE_NANOSECONDS
 *
 * Guarded by the store's mutex.
 */
#ifndef BB_KV_STORE_PACE_H
#define BB_KV_STORE_PACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A series of flushes has ended when no flush has finished for this long. */
#define BB_PACE_NANOSECONDS UINT64_C(5000000000)

/* A zeroed struct is quiet. */
struct bb_pace {
    bool is_busy;
    uint64_t flushed_at; /* by the store's clock */
    /* Calls of bb_db_wait_idle: no more flushes come from them. */
    size_t waiters;
};

static inline void bb_pace_flushed(struct bb_pace *pace, uint64_t now)
{
    pace->is_busy = true;
    pace->flushed_at = now;
}

/* Nanoseconds until the series ends if no flush finishes: at least 1, and at most
 * BB_PACE_NANOSECONDS, even if the clock has been set back. */
static inline uint64_t bb_pace_left(const struct bb_pace *pace, uint64_t now)
{
    uint64_t elapsed = now > pace->flushed_at ? now - pace->flushed_at : 0;
    return elapsed < BB_PACE_NANOSECONDS ? BB_PACE_NANOSECONDS - elapsed : 1;
}

/* Ends the series. */
static inline void bb_pace_rest(struct bb_pace *pace)
{
    pace->is_busy = false;
}

static inline bool bb_pace_is_quiet(const struct bb_pace *pace)
{
    return !pace->is_busy || pace->waiters > 0;
}

/* True also when no flush has finished for so long that the series could be ended. */
static inline bool bb_pace_has_paused(const struct bb_pace *pace, uint64_t now)
{
    bool is_over = now > pace->flushed_at && now - pace->flushed_at >= BB_PACE_NANOSECONDS;
    return bb_pace_is_quiet(pace) || is_over;
}

#endif
