/* The allocation functions, implemented with the C library.
 *
 * Sizes above PTRDIFF_MAX are rejected here. No object can be that large. A negative size of a
 * buggy caller is such a size, and must result in "no memory" with every C library. */
#define BB_ALLOC_IMPLEMENTATION
#include "base/alloc.h"

#include "base/assert.h"

/* Up to this size, bb_alloc_zeroed calls malloc and memset instead of calloc. WHY: calloc of glibc
 * before 2.41 does not reuse memory that the thread has just released, so that memory accumulates
 * for slower paths. Larger pieces may come zeroed from the system. */
#define ZEROED_BY_HAND_MAX 4096

/* The size to request from the C library; 0 if the size is above PTRDIFF_MAX. */
static size_t request_of(size_t size)
{
    if (size > PTRDIFF_MAX)
        return 0;
    return size == 0 ? 1 : size;
}

void *bb_alloc(size_t size)
{
    size_t request = request_of(size);
    return request == 0 ? NULL : malloc(request);
}

void *bb_alloc_zeroed(size_t count, size_t size)
{
    size_t bytes = 0;
    if (__builtin_mul_overflow(count, size, &bytes))
        return NULL;
    size_t request = request_of(bytes);
    if (request > ZEROED_BY_HAND_MAX)
        return calloc(1, request);
    void *memory = request == 0 ? NULL : malloc(request);
    __asm__("" : "+r"(memory)); /* otherwise the compiler merges malloc and memset into calloc */
    return memory == NULL ? NULL : memset(memory, 0, request);
}

void *bb_realloc(void *memory, size_t size)
{
    size_t request = request_of(size);
    return request == 0 ? NULL : realloc(memory, request);
}

void *bb_alloc_aligned(size_t alignment, size_t size)
{
    BB_ASSERT(alignment >= sizeof(void *) && (alignment & (alignment - 1)) == 0);
    size_t request = request_of(size);
    void *memory = NULL;
    if (request == 0 || posix_memalign(&memory, alignment, request) != 0)
        return NULL;
    return memory;
}

void bb_free(void *memory)
{
    free(memory);
}

void bb_free_aligned(void *memory)
{
    free(memory);
}
