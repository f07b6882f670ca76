/* See large_memory.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* MADV_HUGEPAGE */
#endif

#include "bench/large_memory.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "bench/die.h"

#define LARGE_PAGE_SIZE ((size_t)2 << 20)

uint8_t *large_memory_allocate(size_t size)
{
    size_t rounded = (size / LARGE_PAGE_SIZE + 1) * LARGE_PAGE_SIZE;
    uint8_t *memory = aligned_alloc(LARGE_PAGE_SIZE, rounded);
    if (memory == NULL)
        bench_die("no memory for %zu bytes", rounded);
#ifdef MADV_HUGEPAGE
    (void)madvise(memory, rounded, MADV_HUGEPAGE); /* a hint */
#endif
    return memory;
}
