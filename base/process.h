/* Identifies the process, to distinguish the two sides of a fork.
 *
 * A child made by fork has a copy of everything that its parent had open, and none of its parent's
 * threads. Each opened object records the number of the process. The child has another number, and
 * so recognises that the object is its parent's.
 *
 *     parent   number 1   opens a store, which records 1
 *     child    number 2   the store has 1: the child does not touch its files
 *     child    number 2   opens a new store, which records 2
 *
 * The number is in a page that the kernel clears in a child (MADV_WIPEONFORK). So reading it costs
 * two loads and no system call, and every kind of fork is detected. If the kernel does not support
 * this, the number is the process id, and reading it is a system call.
 *
 * A child of vfork shares its parent's memory and has its number: it may only exec or _exit.
 * Threads: any. */
#ifndef BB_BASE_PROCESS_H
#define BB_BASE_PROCESS_H

#include <stdatomic.h>
#include <stdint.h>

/* Location of the number, which is 0 until it is assigned. */
extern _Atomic(_Atomic uint64_t *) bb_process_place;

/* Assigns this process a number, unless it has one. */
uint64_t bb_process_number_first(void);

/* The same number from every call in one process, another one in its children and their children.
 * Never 0. */
static inline uint64_t bb_process_number(void)
{
    const _Atomic uint64_t *place = atomic_load_explicit(&bb_process_place, memory_order_acquire);
    uint64_t number = atomic_load_explicit(place, memory_order_relaxed);
    return __builtin_expect(number != 0, 1) ? number : bb_process_number_first();
}

/* For tests: uses the process id, as if the kernel could not clear a page. Call it before this
 * process opens anything. */
void bb_process_use_id(void);

/* The process id, for messages. */
long bb_process_id(void);

#endif
