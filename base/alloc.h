/* Memory allocation: the whole library allocates through these functions, so that a test can make
 * the n-th allocation fail.
 *
 * Two other files replace alloc.c at link time, by defining the same symbols: a file of the tests
 * (tests/support/alloc/alloc_fault.c), and a file of the Redis module, which takes memory from the
 * server (redis/memory/memory.c). There is no run-time hook and no global. A file that includes
 * this header cannot call the C library's allocation functions: they are poisoned. */
#ifndef BB_BASE_ALLOC_H
#define BB_BASE_ALLOC_H

/* musl's sched.h mentions calloc, so it must be included before the poison. */
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Like malloc. NULL: there is no memory, or the size is above PTRDIFF_MAX. Size 0 gives a unique
 * pointer. */
void *bb_alloc(size_t size) __attribute__((malloc, warn_unused_result));
/* A zeroed array. NULL also if count * size overflows. */
void *bb_alloc_zeroed(size_t count, size_t size) __attribute__((malloc, warn_unused_result));
/* Like realloc: on failure the old block remains valid. */
void *bb_realloc(void *memory, size_t size) __attribute__((warn_unused_result));
/* alignment: a power of two, at least sizeof(void *). Released with bb_free_aligned. */
void *bb_alloc_aligned(size_t alignment, size_t size) __attribute__((malloc, warn_unused_result));
/* memory: may be NULL. */
void bb_free(void *memory);
void bb_free_aligned(void *memory);

/* A copy of a C string; NULL when there is no memory. Released with bb_free. */
char *bb_strdup(const char *text) __attribute__((warn_unused_result));

#ifndef BB_ALLOC_IMPLEMENTATION
#pragma GCC poison malloc calloc realloc strdup strndup
#endif

#endif
