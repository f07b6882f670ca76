/* Scrubbing on a schedule (scrub_interval_seconds): a thread that checks every table once in each
 * interval, spread over it.
 *
 *     |-- checks at the rate that is done after 3/4 ---|-- rest --|-- checks ...
 *     0                                            interval
 *
 * Before each table the rate is computed anew from what is left of work and of time, so that a table
 * that took longer, or an interval that ends early by the clock, only makes it faster. */
#ifndef BB_KV_BACKGROUND_SCRUBBER_H
#define BB_KV_BACKGROUND_SCRUBBER_H

#include "base/status.h"
#include "kv/store.h"

/* A slower one would stretch a small store's checks over days for nothing. */
#define BB_SCRUB_RATE_MIN (UINT64_C(1) << 20)

/* Bytes per second, that so much work is done in three quarters of the time; 0, no limit: there is no
 * time left. */
uint64_t bb_scrub_rate(uint64_t bytes, uint64_t nanoseconds);

/* Starts the thread of a store that has a schedule and threads. Nothing, if it runs. */
BB_MUST_CHECK enum bb_status bb_scrubber_start(struct bb_db *db);
/* After is_closing was set: wakes the thread up, waits for its end and releases everything. The mutex is
 * not held. */
void bb_scrubber_stop(struct bb_db *db);
/* Where the thread is another process's: releases memory alone. */
void bb_scrubber_leave(struct bb_db *db);
/* In a child made by fork: did the thread hold nothing of the store? */
bool bb_scrubber_is_idle(const struct bb_db *db);

#endif
