/* The allocation seam over the C library.
 *
 * Sizes above PTRDIFF_MAX are refused here: no object can be that large, and a size that wrapped
 * below zero in a caller must end as "no memory", not as whatever the C library makes of it.
 */
#define BB_ALLOC_IMPLEMENTATION
#include "base/alloc.h"

#include "base/assert.h"

/* WHY by hand: calloc of glibc before 2.41 passes by the memory that the thread has just released,
 * and what is released then piles up for slower paths. Larger pieces may come zeroed from the
 * system. */
#define ZEROED_BY_HAND_MAX 4096

/* What the C library is asked for; 0 when the size is absurd. */
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
    __asm__("" : "+r"(memory)); /* or the compiler makes a calloc of the two */
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

char *bb_strdup(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = bb_alloc(size);
    if (copy != NULL)
        memcpy(copy, text, size);
    return copy;
}
