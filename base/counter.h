/* Counters that one thread at a time adds to, while any thread reads them.
 *
 * An addition is a load and a store, not an atomic addition: it takes no bus lock, and only the
 * thread that owns the counter may make it. A reader sees the sum before or after an addition, and
 * never a smaller one than before. Threads: as above. */
#ifndef BB_BASE_COUNTER_H
#define BB_BASE_COUNTER_H

#include <stdint.h>

/* Any thread. */
static inline uint64_t bb_counter_get(const uint64_t *counter)
{
    return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

/* The owner. */
static inline void bb_counter_add(uint64_t *counter, uint64_t more)
{
    __atomic_store_n(counter, __atomic_load_n(counter, __ATOMIC_RELAXED) + more, __ATOMIC_RELAXED);
}

#endif
