/* Exponential backoff for retries, counted in requests instead of time: after a failure, retry at
 * the 1st, 2nd, 4th, 8th, ... 1,024th request and then at every 1,024th.
 *
 * A short failure costs little more time than it lasts. A permanent one costs very little: of n
 * requests about log2(n) + n / 1024 retry. A zeroed struct is valid.
 * Threads: any.
 */
#ifndef BB_SSTABLE_BACKOFF_H
#define BB_SSTABLE_BACKOFF_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define BB_BACKOFF_SHIFT_MAX 10

struct bb_backoff {
    /* Consecutive failures, up to BB_BACKOFF_SHIFT_MAX + 1. */
    _Atomic uint32_t failures;
    /* Requests since the last failure or success. */
    _Atomic uint32_t asked;
};

/* True when a retry is due. Always true without failures. */
static inline bool bb_backoff_is_due(struct bb_backoff *backoff)
{
    uint32_t failures = atomic_load_explicit(&backoff->failures, memory_order_relaxed);
    if (failures == 0)
        return true;
    uint32_t asked = atomic_fetch_add_explicit(&backoff->asked, 1, memory_order_relaxed) + 1;
    return (asked & ((UINT32_C(1) << (failures - 1)) - 1)) == 0;
}

/* Records that a due retry failed. */
static inline void bb_backoff_fail(struct bb_backoff *backoff)
{
    uint32_t failures = atomic_load_explicit(&backoff->failures, memory_order_relaxed);
    if (failures <= BB_BACKOFF_SHIFT_MAX)
        atomic_store_explicit(&backoff->failures, failures + 1, memory_order_relaxed);
}

#endif
