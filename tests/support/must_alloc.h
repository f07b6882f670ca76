/* Memory of the test support itself: from the C library, so that allocation faults affect only the
 * product, and never NULL: a test without memory ends the process. Not to be included together with
 * base/alloc.h. */
#ifndef BB_TESTS_SUPPORT_MUST_ALLOC_H
#define BB_TESTS_SUPPORT_MUST_ALLOC_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline void *bb_must_realloc(void *memory, size_t size)
{
    void *grown = realloc(memory, size == 0 ? 1 : size);
    if (grown == NULL) {
        fprintf(stderr, "test support: no memory for %zu bytes\n", size);
        abort();
    }
    return grown;
}

static inline void *bb_must_alloc_zeroed(size_t size)
{
    return memset(bb_must_realloc(NULL, size), 0, size);
}

static inline char *bb_must_strdup(const char *text)
{
    size_t size = strlen(text) + 1;
    return memcpy(bb_must_realloc(NULL, size), text, size);
}

/* Space for one more element in an array that doubles. */
static inline void *bb_must_grow(void *array, size_t count, size_t *capacity, size_t element_size)
{
    if (count < *capacity)
        return array;
    *capacity = *capacity == 0 ? 8 : *capacity * 2;
    return bb_must_realloc(array, *capacity * element_size);
}

#endif
