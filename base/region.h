/* Memory straight from the system, placed so that it can stand in large pages.
 *
 * The processor finds a page's place in a small table of recent ones. Of 4 KiB pages it remembers a
 * few megabytes' worth: memory that is touched at random pays a walk through the page tables with
 * nearly every touch. One entry for a page of 2 MiB does the work of 512.
 *
 * A region comes in small pages, one by one as they are first touched, so that it costs what is
 * used of it; when it is full enough, it is moved into large ones. Where the system has none, it
 * stays as it is.
 *
 * Tests replace this file together with base/alloc.c, by what never has a region. So does the
 * AddressSanitizer, which knows the bounds and the end of what the allocator gives, and not those of
 * pieces of ours.
 * Threads: any.
 */
#ifndef BB_BASE_REGION_H
#define BB_BASE_REGION_H

#include <stddef.h>

#define BB_REGION_SIZE      ((size_t)2 * 1024 * 1024)
#define BB_REGION_PAGE_SIZE ((size_t)4096)

/* So many bytes at a multiple of BB_REGION_SIZE, zeroed; NULL: there are none, or the system's pages
 * have another size. size: a multiple of BB_REGION_PAGE_SIZE, not 0. */
void *bb_region_map(size_t size) __attribute__((warn_unused_result));
void bb_region_unmap(void *memory, size_t size);
/* Moves it into large pages, with what is in it, if the system can. It may be in use. size: a
 * multiple of BB_REGION_SIZE. */
void bb_region_enlarge(void *memory, size_t size);
/* From now on `size` bytes of the region are in small pages, */
void bb_region_reduce(void *memory, size_t size);
/* of which these go back to the system; later they read as zero. Both: whole pages. */
void bb_region_discard(void *memory, size_t size);

#endif
