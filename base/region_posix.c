/* Regions of memory from the operating system. See region.h. */
#include "base/region.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/assert.h"

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25 /* Linux 6.1 */
#endif

#if defined(__SANITIZE_ADDRESS__)
#define IS_LEFT_TO_ALLOCATOR true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer)
#define IS_LEFT_TO_ALLOCATOR true
#endif
#endif
#ifndef IS_LEFT_TO_ALLOCATOR
#define IS_LEFT_TO_ALLOCATOR false
#endif

/* All of these are wishes: a system that does not know one leaves the memory as it is. */
static void advise(void *memory, size_t size, int advice)
{
    (void)madvise(memory, size, advice);
}

/* Keeps the aligned middle part of the mapping. */
static void *cut_out(uint8_t *mapped, size_t mapped_size, size_t size)
{
    size_t before = (size_t)(-(uintptr_t)mapped & (BB_REGION_SIZE - 1));
    size_t after = mapped_size - before - size;
    if (before > 0)
        bb_region_unmap(mapped, before);
    if (after > 0)
        bb_region_unmap(mapped + before + size, after);
    return mapped + before;
}

void *bb_region_map(size_t size)
{
    BB_ASSERT(size > 0 && size % BB_REGION_PAGE_SIZE == 0);
    size_t mapped_size = 0;
    if (IS_LEFT_TO_ALLOCATOR || sysconf(_SC_PAGESIZE) != (long)BB_REGION_PAGE_SIZE ||
        __builtin_add_overflow(size, BB_REGION_SIZE - BB_REGION_PAGE_SIZE, &mapped_size))
        return NULL;
    void *mapped =
        mmap(NULL, mapped_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED)
        return NULL;
    void *memory = cut_out(mapped, mapped_size, size);
    bb_region_reduce(memory, size);
    return memory;
}

void bb_region_unmap(void *memory, size_t size)
{
    int result = munmap(memory, size);
    (void)result; /* ENOMEM, where a mapping would have to be split: the pages stay unused */
}

void bb_region_enlarge(void *memory, size_t size)
{
    bb_region_begin_large(memory, size); /* sooner or later, */
    advise(memory, size, MADV_COLLAPSE); /* and now */
}

void bb_region_begin_large(void *memory, size_t size)
{
    advise(memory, size, MADV_HUGEPAGE);
}

void bb_region_reduce(void *memory, size_t size)
{
    advise(memory, size, MADV_NOHUGEPAGE);
}

void bb_region_discard(void *memory, size_t size)
{
    advise(memory, size, MADV_DONTNEED);
}
