/* Memory from the system, aligned so that it can be moved into large pages.
 *
 * The processor finds the address of a page in a small table of recent ones. For 4 KiB pages the
 * table covers a few megabytes, so nearly every random access walks the page tables. One entry for
 * a page of 2 MiB replaces 512 entries.
 *
 * A region starts in small pages, allocated when first touched, so that it costs only the memory in
 * use. When it is full enough, it is moved into large pages. Otherwise it remains in
 * small pages. Memory that is filled from front to back need not move: it can begin in large pages.
 *
 * Tests replace this file together with base/alloc.c, with functions that never return a region. So
 * does the AddressSanitizer, which knows the bounds of allocations, but not the bounds of pieces
 * of a region. Threads: any. */
#ifndef BB_BASE_REGION_H
#define BB_BASE_REGION_H

#include <stddef.h>

#define BB_REGION_SIZE      ((size_t)2 * 1024 * 1024)
#define BB_REGION_PAGE_SIZE ((size_t)4096)

/* Maps size zeroed bytes at a multiple of BB_REGION_SIZE. NULL: no memory, or the system has
 * another page size. size: a multiple of BB_REGION_PAGE_SIZE, not 0. */
void *bb_region_map(size_t size) __attribute__((warn_unused_result));
void bb_region_unmap(void *memory, size_t size);
/* Moves it into large pages, with its contents, if the system can. It may be in use. size: a
 * multiple of BB_REGION_SIZE. */
void bb_region_enlarge(void *memory, size_t size);
/* Pages of these bytes that are touched first from now on are large, if the system can. size: a
 * multiple of BB_REGION_SIZE. */
void bb_region_begin_large(void *memory, size_t size);
/* Moves `size` bytes of the region back into small pages. size: whole pages. */
void bb_region_reduce(void *memory, size_t size);
/* Returns these bytes, which are in small pages, to the system; they then read as zero. size:
 * whole pages. */
void bb_region_discard(void *memory, size_t size);

#endif
