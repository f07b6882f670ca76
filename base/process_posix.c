/* See process.h. The variables are global, because there is one process: the location of its
 * number, and the largest number assigned so far, from which a child continues. */
#include "base/process.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

/* Always 0. It is the location of the number until a number is requested, and forever if the kernel
 * cannot clear a page in a child. */
static _Atomic uint64_t nowhere;
static _Atomic bool cannot_wipe;
static _Atomic uint64_t last;

_Atomic(_Atomic uint64_t *) bb_process_place = &nowhere;

/* Maps a page that the kernel clears in a child. NULL: the kernel does not support this. */
static _Atomic uint64_t *map_wiped(size_t size)
{
#ifdef MADV_WIPEONFORK
    void *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return NULL;
    if (madvise(page, size, MADV_WIPEONFORK) == 0)
        return page;
    (void)munmap(page, size);
#else
    (void)size;
#endif
    return NULL;
}

/* Returns the page of the process. The first thread that needs it maps it. */
static _Atomic uint64_t *find_place(void)
{
    _Atomic uint64_t *place = atomic_load_explicit(&bb_process_place, memory_order_acquire);
    size_t size = (size_t)sysconf(_SC_PAGESIZE);
    if (place != &nowhere || atomic_load_explicit(&cannot_wipe, memory_order_relaxed))
        return place;
    _Atomic uint64_t *made = map_wiped(size);
    if (made == NULL) {
        atomic_store_explicit(&cannot_wipe, true, memory_order_relaxed);
        return place;
    }
    if (atomic_compare_exchange_strong(&bb_process_place, &place, made))
        return made;
    (void)munmap((void *)made, size);
    return place;
}

/* WHY count before storing the number: a fork between the two only leaves a gap. In the other order
 * the child could reuse its parent's number. */
uint64_t bb_process_number_first(void)
{
    _Atomic uint64_t *place = find_place();
    uint64_t before = 0;
    if (place == &nowhere)
        return (uint64_t)getpid();
    uint64_t number = atomic_fetch_add(&last, 1) + 1;
    return atomic_compare_exchange_strong(place, &before, number) ? number : before;
}

void bb_process_use_id(void)
{
    atomic_store(&cannot_wipe, true);
    atomic_store(&bb_process_place, &nowhere);
}

long bb_process_id(void)
{
    return (long)getpid();
}
