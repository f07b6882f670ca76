/* Scheduled scrubbing (scrub_interval_seconds): a thread that checks every table once in each
 * interval, spread over it.
 *
 *     |-- checks, at a rate that takes 3/4 of it ------|-- rest --|-- checks ...
 *     0                                                        interval
 *
 * The rate is computed again before each table, from the remaining work and time. If a table took
 * longer than planned, or the clock jumps forward, only the rate increases.
 */
#ifndef BB_KV_BACKGROUND_SCRUBBER_H
#define BB_KV_BACKGROUND_SCRUBBER_H

#include "base/status.h"
#include "kv/store/store.h"

/* The minimum rate, in bytes per second: a lower one would stretch the checks of a small store over
 * days without benefit. */
#define BB_SCRUB_RATE_MIN (UINT64_C(1) << 20)

/* The rate in bytes per second at which this work takes three quarters of the time. 0 means no
 * limit: no time remains. */
uint64_t bb_scrubber_rate(uint64_t bytes, uint64_t nanoseconds);

/* Starts the thread of a store that has a schedule and threads, unless it runs already. */
BB_MUST_CHECK enum bb_status bb_scrubber_start(struct bb_db *db);
/* Call after is_closing was set: wakes the thread, joins it and releases everything. The mutex is
 * not held. */
void bb_scrubber_stop(struct bb_db *db);
/* For a thread that has ended, or that a fork left in the parent: only releases memory. */
void bb_scrubber_leave(struct bb_db *db);
/* In a forked child: true when the thread was not using the store. */
bool bb_scrubber_is_idle(const struct bb_db *db);

#endif
