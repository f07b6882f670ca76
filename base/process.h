/* Which side of a fork this is.
 *
 * A child made by fork has a copy of everything that its parent had open, and none of its parent's
 * threads. Whatever is opened remembers the number of the process; the child has another number, and
 * so finds out that the thing is not its own.
 *
 *     parent   number 1   opens a store, which remembers 1
 *     child    number 2   the store says 1: the child does not touch its files
 *     child    number 2   opens a store of its own, which remembers 2
 *
 * The number stands in a page that the kernel wipes in a child (MADV_WIPEONFORK), so that asking
 * costs two loads and no system call, and no way to fork goes unnoticed. Where the kernel cannot do
 * that, the number is the process id, and asking is a system call.
 *
 * A child of vfork shares its parent's memory and has its number: it may only exec or _exit.
 * Threads: any.
 */
#ifndef BB_BASE_PROCESS_H
#define BB_BASE_PROCESS_H

#include <stdatomic.h>
#include <stdint.h>

/* Where the number stands; what is there may be 0: no number was given out yet. */
extern _Atomic(_Atomic uint64_t *) bb_process_place;

/* Gives this process its number, if it has none. */
uint64_t bb_process_number_first(void);

/* The same number from every call in one process, another one in its children and their children.
 * Never 0. */
static inline uint64_t bb_process_number(void)
{
    const _Atomic uint64_t *place = atomic_load_explicit(&bb_process_place, memory_order_acquire);
    uint64_t number = atomic_load_explicit(place, memory_order_relaxed);
    return __builtin_expect(number != 0, 1) ? number : bb_process_number_first();
}

/* For tests: as where the kernel cannot wipe a page. Before this process opens anything. */
void bb_process_use_id(void);

/* The process id, for messages. */
long bb_process_id(void);

#endif
